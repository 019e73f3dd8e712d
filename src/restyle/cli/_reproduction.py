"""Doing a recipe: each step where its inputs have changed, then the tables, the paper's lines with ours beneath."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from restyle._version import __version__
from restyle.cli._recipe import Recipe, Step, Table, words_of
from restyle.corpora import rows as rows_of
from restyle.errors import InputError, RestyleError, UsageError
from restyle.jobs.stages import Stages, content_of
from restyle.records import Record, write_records, writing_to
from restyle.settings import to_dict

if TYPE_CHECKING:
    from restyle.rewriters.strap._pack import Kind


# Steps in which judges, or attackers, have a say.
_JUDGED = ("score", "compare", "obfuscate", "privacy")


def done(recipe: Recipe, folder: Path, say: Callable[[str], None]) -> None:
    """Do every step whose inputs have changed since it was done; a step that was killed goes on."""
    with Stages(folder, say) as stages:
        for step in recipe.step:
            if step.pack and step.pack in _installed("style") | _installed("paraphraser"):
                say(f"{step.output}: left out, the pack {step.pack} is installed")
                continue
            with _named(step):
                stages.made(
                    step.output, _made_of(step, folder), partial(_do, step, folder), leaves=[f"{step.output}.job"]
                )


def tables(recipe: Recipe, folder: Path) -> Iterator[tuple[Table, list[dict[str, Any]]]]:
    """Each table with its lines: what the paper says, and beneath it what was measured here."""
    for table in recipe.table:
        lines: list[dict[str, Any]] = []
        for row in table.row:
            if row.paper:
                lines.append({"system": row.name, "from": "paper", **dict(zip(table.columns, row.paper, strict=True))})
            if row.of:
                ours = _numbers(folder / row.of, table.take, row.where)
                lines.append({"system": row.name, "from": "here"} | {
                    column: None if value is None else value * table.scale_of(place)
                    for place, (column, value) in enumerate(zip(table.columns, ours, strict=True))
                })  # fmt: skip
        yield table, lines


def _made_of(step: Step, folder: Path) -> dict[str, Any]:
    """What decides a step's output: what it says, and the content of what it names."""
    words = _command(step, folder) if step.run else [str(folder / name) for name in (*step.join, step.rows) if name]
    output = folder / step.output
    # FOLDER:STYLE is a style of a pack of several.
    words += [several for several, _, style in (word.rpartition(":") for word in words) if several and style]
    inputs = {
        word.replace(str(folder), "{run}"): content_of(word)
        for word in words
        if Path(word) != output and Path(word).exists() and not output.is_relative_to(word)
    }
    return {
        "step": to_dict(step),
        "inputs": inputs,
        "packs": _packs_of(step, words),
        "judges": _judges(step),
        "restyle": __version__,
    }


def _installed(kind: Kind) -> dict[str, str]:
    """The installed packs, and the hash of each."""
    from restyle.rewriters.strap import packs

    return {name: pack.card.sha256 for name, pack in packs(kind).items()}


def _packs_of(step: Step, words: Sequence[str]) -> dict[str, str]:
    """The packs that have a part in a step: those that it names, and the paraphrasers, which need not be named."""
    if not step.run.startswith(("rewrite", "learn", "obfuscate", "privacy learn")):
        return {}
    styles = _installed("style")
    named = {part for word in words for part in word.replace(":", ",").split(",") if part in styles}
    return {name: styles[name] for name in sorted(named)} | _installed("paraphraser")


def _judges(step: Step) -> list[str]:
    """The judges that may have a say in the step."""
    from restyle.metrics.judges import cards

    return sorted(card.fingerprint for card in cards().values()) if step.run.startswith(_JUDGED) else []


def _do(step: Step, folder: Path, output: Path) -> None:
    with writing_to(output):
        output.parent.mkdir(parents=True, exist_ok=True)
    if step.rows:
        write_records(output, _rows(step, folder))
    elif step.join:
        write_records(output, (record for name in step.join for record in _records(folder / name)))
    else:
        _invoked(_command(step, folder), None if "{output}" in step.run else output)


def _command(step: Step, folder: Path) -> list[str]:
    output = str(folder / step.output)
    return [word.format(run=folder, output=output) for word in words_of(step.run, step.output)]


def _invoked(words: list[str], printed: Path | None) -> None:
    """Run a command of restyle in this process; what it prints goes to a file, or to stderr."""
    from restyle.cli._main import invoke

    if printed is None:
        with contextlib.redirect_stdout(sys.stderr):
            invoke(words)
        return
    whole = printed.with_name(f".{printed.name}.{os.getpid()}")
    with writing_to(printed), whole.open("w", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
        invoke(words)
    os.replace(whole, printed)


@contextlib.contextmanager
def _named(step: Step) -> Iterator[None]:
    """Say in which step something went wrong."""
    try:
        yield
    except RestyleError as error:
        error.args = (f"step {step.output}: {error}",)
        raise
    except typer.TyperException as error:
        said = getattr(error, "format_message", error.__str__)()
        raise UsageError(f"step {step.output}: {said}") from error
    except typer.Exit as stop:
        if stop.exit_code:
            raise RestyleError(f"step {step.output} failed; see above") from None


def _rows(step: Step, folder: Path) -> Iterator[Record]:
    """The rows that are wanted, each with the fields that are wanted; one that lacks a field is left out."""
    name, _, part = step.rows.partition("/")
    made = folder / step.rows
    fitting = (
        row
        for row in (_records(made) if made.is_file() else rows_of(name, part or None))
        if all(_fits(_at(row, key), wanted) for key, wanted in step.where.items())
    )
    for number, row in enumerate(fitting):
        if number % step.every == 0:
            picked = {key: _at(row, place) for key, place in step.fields.items()} if step.fields else row
            if None not in picked.values():
                yield {"id": row["id"], **picked, **step.adds}


def _at(row: Mapping[str, Any], place: str) -> Any:
    """The value at `a.b`, or at `a.0` of a list; None where there is none."""
    value: Any = row
    for key in place.split("."):
        if isinstance(value, list) and key.isdecimal():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _fits(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return value is not None and bool(value >= wanted.get("least", value))
    return value in wanted if isinstance(wanted, list) else bool(value == wanted)


def _records(file: Path) -> Iterator[Record]:
    """The records of an output as they stand: not every one has a text."""
    try:
        with file.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    except (OSError, ValueError) as error:
        raise InputError(f"{file} holds no records, one JSON object a line ({error})") from None


def _numbers(path: Path, names: Sequence[str], where: Mapping[str, Any]) -> list[float | None]:
    """Our numbers by name, from a saved scorecard or a table as JSON; None where there is none."""
    from restyle.evaluation import is_saved, load

    if is_saved(path):
        card = load(path)
        if where:
            targets = card.by_target()
            if where.get("target") not in targets:
                raise InputError(
                    f"{path} has no sentence with the target {where.get('target')!r}: {', '.join(targets)}"
                )
            card = targets[where["target"]]
        return [card[name] if name and name in card else None for name in names]
    if not path.is_file():
        raise InputError(f"{path} holds neither a scorecard nor a table")
    lines = json.loads(path.read_text(encoding="utf-8"))
    line = next((line for line in lines if all(line.get(key) == value for key, value in where.items())), None)
    if line is None:
        raise InputError(f"{path} has no row in which {', '.join(f'{key} is {value}' for key, value in where.items())}")
    return [line.get(name) if name else None for name in names]
