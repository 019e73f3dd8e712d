"""Labelled texts from files, and the refusal of labels from which nothing can be told."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from restyle.errors import InputError, UnknownName
from restyle.records import Record, read_records

# A label so much rarer than one that it resembles is a slip of the pen.
_RARE = 0.1
_ALIKE = 0.82  # femlae and female are 0.83, male and female 0.8


@dataclass(frozen=True)
class Rewritten:
    """What a system made of labelled texts; for texts as they were written, outputs are the inputs."""

    system: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    labels: tuple[str, ...]
    selected_with: tuple[str, ...] = ()  # the judges that chose the outputs

    @property
    def originals(self) -> Rewritten:
        """The same texts as they were written."""
        return Rewritten("originals", self.inputs, self.inputs, self.labels)


def read_labelled(path: str | Path, label: str, *, text_column: str | None = None) -> list[Record]:
    """The records of a table or .jsonl, each with its text and its label as a string.

    The text is `text_column`, else `output` where there is one, else `text`. UnknownName for a label column that is not
    there; InputError for a record without one.
    """
    column = text_column or _text_column(path)
    records = list(read_records(path, text_column=column))
    if not records:
        raise InputError(f"{path} holds no texts")
    if not any(label in record for record in records):
        raise UnknownName(f"column of {path}", label, [key for key in records[0] if key not in ("id", "text")])
    for number, record in enumerate(records, 1):
        if not isinstance(record.get(label), (str, int, bool)) or record[label] == "":
            raise InputError(f"{path}, text {number:,} ({record['id']}): it has no {label}; every text needs one")
    return [{**record, label: str(record[label])} for record in records]


def read_rewritten(path: str | Path, label: str, *, text_column: str | None = None) -> list[Rewritten]:
    """What each system in a file made of labelled texts; one whose records name no input holds texts as written."""
    by_system: dict[str, list[Record]] = {}
    for record in read_labelled(path, label, text_column=text_column):
        by_system.setdefault(str(record.get("system") or Path(path).name.split(".")[0]), []).append(record)
    return [_rewritten(system, records, label) for system, records in by_system.items()]


def checked_labels(labels: Sequence[str], fewest: int) -> list[str]:
    """The labels that there are, sorted; InputError when nothing can be told from them, or one looks like a typo."""
    counts = Counter(labels)
    for rare, few in counts.items():
        usual = [label for label, many in counts.items() if few < _RARE * many]
        for label in difflib.get_close_matches(rare.strip().lower(), [each.lower() for each in usual], 1, _ALIKE):
            raise InputError(f"the label {rare!r} stands at {few:,} texts only; did you mean {label}? Mend the file")
    if len(counts) < 2:
        only = next(iter(counts), "none")
        raise InputError(f"all texts have one label ({only}): an attacker needs texts of at least two to tell apart")
    short = [f"{label} {count:,}" for label, count in counts.items() if count < fewest]
    if short:
        raise InputError(
            f"too few texts to tell anything: {', '.join(short)}, and {fewest:,} of each label are needed; give more"
        )
    return sorted(counts)


def _text_column(path: str | Path) -> str:
    if str(path) != "-":
        for column in ("output", "text"):
            try:
                next(read_records(path, text_column=column), None)
                return column
            except InputError:
                continue
    return "text"


def _rewritten(system: str, records: Sequence[Record], label: str) -> Rewritten:
    outputs = tuple(record["text"] for record in records)
    inputs = tuple(str(record.get("input", record["text"])) for record in records)
    judges = dict.fromkeys(judge for record in records for judge in record.get("selected_with") or ())
    return Rewritten(system, inputs, outputs, tuple(record[label] for record in records), tuple(judges))
