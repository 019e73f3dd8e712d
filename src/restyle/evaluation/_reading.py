"""Outputs from files: plain lines, tables and output records, of one system or of many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from restyle.corpora import rows as rows_of
from restyle.errors import InputError, UsageError
from restyle.evaluation._formula import is_name
from restyle.evaluation._outputs import Outputs, checked_column
from restyle.evaluation._roles import ALIASES
from restyle.records import Record, format_of, read_records, stem_of
from restyle.settings import setting

# What the keys of published tables mean here.
_SYNONYMS = {
    "target_style": "target",
    "source_style": "style",
    "reference": "references",
    "predicted_style": "predicted",
}
_TEXTS = {"input": "inputs", "target": "targets", "style": "styles", "predicted": "predicted"}
# The other keys that have a place of their own; what else a record holds is carried along.
_KNOWN = ("id", "output", "text", "system", "origin", "references", "scores", "products", "counts", "selected_with")


@dataclass(frozen=True)
class OutputsSettings:
    """What a file of outputs does not say itself."""

    to: str | None = setting(None, "the target style of all outputs")
    inputs: str | None = setting(None, "a file of inputs, line by line, where the outputs do not hold them")
    references: tuple[str, ...] = setting((), "a file of references, line by line; repeated for several references")
    system: str | None = setting(None, "what the system is called")
    column: tuple[str, ...] = setting(
        (), "numbers in a field of the file, such as acc=roberta_verdict; may be repeated"
    )
    style_name: tuple[str, ...] = setting((), "another name for a style, such as original=shakespeare; may be repeated")


def read_outputs(source: str | Path, settings: OutputsSettings | None = None) -> list[Outputs]:
    """The outputs of every system in a file, in the order in which they appear there.

    A `.txt` holds one output a line. A table or `.jsonl` has a field `output`, and may have `input`, `target`, `style`,
    `system`, `id`, `predicted`, `references` (a list; in tables `reference`, or `ref0`, `ref1` …), `scores` (numbers by
    name: they become columns) and `selected_with` (the judges that picked the output among candidates).
    """
    settings = settings or OutputsSettings()
    plain = format_of(source) == "txt"
    found = outputs_of(
        read_records(
            source,
            text_column="text" if plain else "output",
            remedy="give that name to the column that holds what the system wrote",
        ),
        system=settings.system or stem_of(source),
        columns=_pairs(settings.column),
        one_system=settings.system is not None,
    )
    inputs = None if settings.inputs is None else [record["text"] for record in read_records(settings.inputs)]
    references = _reference_files(settings.references)
    return [_completed(each, inputs, references, settings) for each in found]


def published_outputs(table: str, settings: OutputsSettings | None = None) -> list[Outputs]:
    """The outputs of published systems by the name of their table: `systems/shakespeare`, `strap-judged`."""
    settings = settings or OutputsSettings()
    if settings.inputs or settings.references:
        raise UsageError(f"{table} brings its own inputs and references; leave the files out")
    name, _, part = table.partition("/")
    columns = _pairs(settings.column)
    found = outputs_of(rows_of(name, part or None), system=settings.system or part or name, columns=columns)
    return [_completed(each, None, None, settings) for each in found]


def outputs_of(
    records: Iterable[Record],
    *,
    system: str = "system",
    columns: Mapping[str, str] | None = None,
    one_system: bool = False,
) -> list[Outputs]:
    """The outputs of every system in a stream of records; `system` is the name of those that carry none."""
    by_system: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        said = {_SYNONYMS.get(key, key): value for key, value in record.items()}
        key = (system, "") if one_system else (str(said.get("system") or system), str(said.get("origin") or ""))
        by_system.setdefault(key, []).append(said)
    if not by_system:
        raise InputError(f"{system} has no outputs; at least one sentence is needed")
    names = [name for name, _ in by_system]
    # Some systems stand twice in the published tables; only with the origin does the name tell one run.
    return [
        _outputs(f"{name} ({origin})" if names.count(name) > 1 else name, rows, columns or {})
        for (name, origin), rows in by_system.items()
    ]


def _outputs(system: str, rows: list[Record], columns: Mapping[str, str]) -> Outputs:
    texts: dict[str, Any] = {
        name: values for key, name in _TEXTS.items() if (values := _column(system, rows, key)) is not None
    }
    references = [_references(system, number, row) for number, row in enumerate(rows, start=1)]
    others = [{key: value for key, value in row.items() if not _is_known(key)} for row in rows]
    picked = dict.fromkeys(judge for row in rows for judge in _names(row.get("selected_with")))
    return Outputs(
        outputs=[str(row["output"] if "output" in row else row["text"]) for row in rows],
        system=system,
        references=references if any(references) else None,
        ids=[str(row["id"]) for row in rows],
        columns=_numbers(system, rows, columns),
        selected_with=tuple(picked),
        others=others if any(others) else None,
        **texts,
    )


def _column(system: str, rows: list[Record], key: str) -> list[str] | None:
    """The field of every record; None where no record has it, InputError where only some have."""
    # An empty cell is no style, but an empty line is an input.
    if all(row.get(key) in ((None,) if key == "input" else (None, "")) for row in rows):
        return None
    # And in an empty output a judge sees no style.
    absent = (None,) if key in ("input", "predicted") else (None, "")
    if missing := [number for number, row in enumerate(rows, start=1) if row.get(key) in absent]:
        raise InputError(f"{system}: output {missing[0]:,} has no {key!r}, which others have")
    return [str(row[key]) for row in rows]


def _references(system: str, number: int, row: Record) -> list[str]:
    """What a record gives as references, without what is empty; InputError where one is no text."""
    given = row.get("references")
    if given is None or given == []:
        given = [row[key] for key in sorted(row, key=_reference_number) if _reference_number(key) >= 0]
    several = given if isinstance(given, list) else [given]
    return present_references(f"{system}: output {number:,}", several)


def present_references(where: str, several: Sequence[object]) -> list[str]:
    """The references that are not empty; InputError where one is no text."""
    if wrong := [each for each in several if each is not None and not isinstance(each, str)]:
        raise InputError(f"{where}: a reference is a text, and not '{str(wrong[0])[:40]}'")
    return [each for each in several if isinstance(each, str) and each.strip()]


def _is_known(key: str) -> bool:
    """Whether a field of a record has a place of its own in Outputs."""
    return key in _KNOWN or key in _TEXTS or _reference_number(key) >= 0


def _reference_number(key: str) -> int:
    """5 for `ref5`; -1 for what is no reference."""
    number = key.removeprefix("ref")
    return int(number) if key.startswith("ref") and number.isdigit() else -1


def _numbers(system: str, rows: list[Record], columns: Mapping[str, str]) -> dict[str, Any]:
    """The numbers under `scores`, and those in the fields that were named."""
    scored = dict.fromkeys(name for row in rows if isinstance(row.get("scores"), dict) for name in row["scores"])
    found = {
        ALIASES.get(name, name): [(row.get("scores") or {}).get(name) for row in rows]
        for name in scored
        if is_name(name)
    }
    for name, key in columns.items():
        if not any(key in row for row in rows):
            known = ", ".join(sorted(rows[0]))
            raise InputError(f"{system} has no field {key!r} for the column {name}; the fields are: {known}")
        found[name] = [row.get(key) for row in rows]
    return {
        name: checked_column(name, [_number(system, name, value) for value in values]) for name, values in found.items()
    }


def _number(system: str, name: str, value: object) -> float | None:
    """A number as JSON or a table holds it; None for an empty cell."""
    if value is None or (isinstance(value, str) and value.strip().lower() in ("", "nan", "null", "-")):
        return None
    try:
        return float(value if isinstance(value, (bool, int, float)) else str(value))
    except (ValueError, OverflowError):
        shown = value if isinstance(value, str) else type(value).__name__
        raise InputError(f"{system}: {shown[:40]!r} in the column {name} is not a number") from None


def _names(given: object) -> list[str]:
    return [given] if isinstance(given, str) else [str(each) for each in given] if isinstance(given, list) else []


def _reference_files(files: Sequence[str | Path]) -> list[list[str]] | None:
    """One list per sentence from one file per reference; files may not differ in length."""
    if not files:
        return None
    columns = [[record["text"] for record in read_records(file)] for file in files]
    lengths = dict(zip(map(str, files), map(len, columns), strict=True))
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {length:,} lines" for name, length in lengths.items())
        raise InputError(f"the files of references differ in length: {shown}")
    return [present_references("references", row) for row in zip_longest(*columns)]


def _completed(
    outputs: Outputs, inputs: list[str] | None, references: list[list[str]] | None, settings: OutputsSettings
) -> Outputs:
    """The outputs with what was given beside them; InputError where a record says otherwise."""
    outputs = outputs.with_styles_called(_pairs(settings.style_name))
    if settings.to is not None:
        for number, style in enumerate(outputs.targets or (), start=1):
            if style != settings.to:
                raise InputError(
                    f"{outputs.system}: output {number:,} was to be {style!r}, but the target that was given is "
                    f"{settings.to!r}"
                )
        outputs = replace(outputs, targets=[settings.to] * len(outputs))
    return replace(
        outputs,
        inputs=outputs.inputs if inputs is None else inputs,
        references=outputs.references if references is None else references,
    )


def _pairs(given: Sequence[str]) -> dict[str, str]:
    """`acc=verdict` as acc and verdict; `acc` alone stands for both."""
    split = [each.partition("=") for each in given]
    return {name: other or name for name, _, other in split}
