"""Studies on MTurk and Prolific: the batch that is uploaded there, and the raw judgements that come back.

A row of a batch is one item with the fields that its page would show. What comes back is a CSV with a row for each
judgement: MTurk's own (`Input.item`, `WorkerId`, `WorkTimeInSeconds`, `Answer.…`), Prolific's participant ids beside
the columns of a survey, or any other whose columns are named.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from restyle.errors import InputError, UsageError
from restyle.records import Record, opened_text
from restyle.settings import setting
from restyle.study._items import Item, Judged, Vote
from restyle.study._lots import is_swapped, turned
from restyle.study._protocol import Protocol, Question

# Which output of a pair is A in a batch is drawn once for each item, whoever judges it there.
_BATCH = "batch"
_ITEMS = ("Input.item", "item")
_RATERS = ("WorkerId", "Participant id", "participant_id", "PROLIFIC_PID", "rater")
_SECONDS = ("WorkTimeInSeconds", "Time taken", "time_taken", "seconds")
_PREFIXES = ("Answer.", "")
_INPUTS = ("Input.", "")
_TEXTS = ("input", "style", "target")

Row = Mapping[str, str]


@dataclass(frozen=True)
class ColumnSettings:
    """What the columns of a CSV of judgements are called."""

    item_column: str | None = setting(None, f"the column of the item; otherwise one of {', '.join(_ITEMS)}")
    rater_column: str | None = setting(None, f"the column of the rater; otherwise one of {', '.join(_RATERS)}")
    seconds_column: str | None = setting(None, f"the column of the time; otherwise one of {', '.join(_SECONDS)}")
    answer: tuple[str, ...] = setting((), "the column of a question, such as paraphrase=Q1; may be repeated")


def batch(items: Iterable[Item], wanted: Mapping[str, int], protocol: Protocol, seed: int) -> list[Record]:
    """A row for each item that wants people: its id, how many are wanted, and what its page shows."""
    rows = []
    for item in items:
        if item.id not in wanted:
            continue
        row: Record = {"item": item.id, "wanted": str(wanted[item.id])}
        if protocol.shows_input:
            row["input"] = item.input or ""
        if protocol.shows_target:
            row["target"] = item.target or ""
        sides = item.outputs[::-1] if is_swapped(item, _BATCH, seed) else item.outputs
        names = ("output_a", "output_b") if protocol.kind == "pair" else ("output",)
        rows.append({**row, **dict(zip(names, sides, strict=True))})
    return rows


def read_rows(path: str | Path) -> Iterator[Row]:
    """The rows of a CSV (a TSV by its name) with a header line; InputError names a row of another length."""
    delimiter = "\t" if str(path).removesuffix(".gz").endswith(".tsv") else ","
    with opened_text(path) as lines:
        table = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
        header = [name.removeprefix("\ufeff") for name in next(table, [])]
        for row in table:
            if row and len(row) != len(header):
                raise InputError(f"{path}, line {table.line_num}: fields: {len(row)}; the header has {len(header)}")
            if row:
                yield dict(zip(header, row, strict=True))


def batch_votes(
    rows: Iterable[Row], items: Mapping[str, Item], protocol: Protocol, seed: int, columns: ColumnSettings
) -> list[Vote]:
    """The votes of a CSV on a batch of these items, in terms of the systems; rejected work is passed over."""
    votes = []
    for number, row in enumerate(rows, start=1):
        if row.get("AssignmentStatus") == "Rejected":
            continue
        name = _cell(row, number, "item", columns.item_column, _ITEMS)
        if name not in items:
            raise InputError(f"row {number}: the study has no item {name!r}; was the batch made by another store?")
        vote = _vote(row, number, name, protocol, columns)
        votes.append(replace(vote, answers=turned(vote.answers)) if is_swapped(items[name], _BATCH, seed) else vote)
    return votes


def judged_rows(rows: Iterable[Row], protocol: Protocol, columns: ColumnSettings) -> Judged:
    """A study of raw judgements that no store of ours gave out: each row brings its texts and its system."""
    if protocol.kind == "pair":
        raise UsageError(f"judgements of pairs ({protocol.name}) can only go into the store that made their batch")
    rows = list(rows)
    if not protocol.complete:
        styles = {_first(row, [f"{each}{name}" for each in _INPUTS]) for row in rows for name in ("style", "target")}
        protocol = protocol.with_styles(sorted(style for style in styles if style))
    items: dict[tuple[str, str, str], Item] = {}
    votes = []
    for number, row in enumerate(rows, start=1):
        if row.get("AssignmentStatus") == "Rejected":
            continue
        system = _cell(row, number, "system", None, ("Input.system", "system"))
        output = _cell(row, number, "output", None, ("Input.output", "output"))
        texts: dict[str, Any] = {name: _first(row, [f"{each}{name}" for each in _INPUTS]) for name in _TEXTS}
        item = Item(f"{len(items) + 1:05d}", (system,), (output,), **texts)
        item = items.setdefault((system, output, texts["input"] or ""), item)
        votes.append(_vote(row, number, item.id, protocol, columns))
    return Judged(protocol, list(items.values()), votes)


def _vote(row: Row, number: int, item: str, protocol: Protocol, columns: ColumnSettings) -> Vote:
    rater = _cell(row, number, "rater", columns.rater_column, _RATERS)
    named = _named(columns.answer, protocol)
    answers = {}
    for question in protocol.questions:
        given = (named[question.name],) if question.name in named else [f"{each}{question.name}" for each in _PREFIXES]
        said = _first(row, given) or _task_answers(row).get(question.name)
        answers[question.name] = _value(said, question, number, given)
    seconds = _first(row, [columns.seconds_column] if columns.seconds_column else _SECONDS)
    return Vote(item, rater, answers, _seconds(seconds or "0", number))


def _seconds(told: str, number: int) -> float:
    try:
        seconds = float(told)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise InputError(f"row {number}: {told!r} is no number of seconds")
    return seconds


def _value(said: str | None, question: Question, number: int, columns: Sequence[str]) -> str:
    """An answer by its value or its label, whatever the case."""
    if said is None:
        raise InputError(
            f"row {number} has no answer to {question.name!r} (looked in {', '.join(columns)}); "
            f"name its column with --answer {question.name}=COLUMN"
        )
    told = {choice.label.lower(): choice.value for choice in question.choices}
    told |= {choice.value.lower(): choice.value for choice in question.choices}
    value = told.get(said.strip().lower())
    if value is None:
        raise InputError(
            f"row {number}: {said!r} is no answer to {question.name!r}; it can be {' or '.join(question.values)}"
        )
    return value


def _task_answers(row: Row) -> dict[str, str]:
    """MTurk's newer forms write all answers into one cell, as in [{"style": {"old": true, "new": false}}]."""
    try:
        said = json.loads(row.get("Answer.taskAnswers") or "[{}]")[0]
    except (ValueError, LookupError, TypeError):
        return {}
    if not isinstance(said, dict):
        return {}
    found = {}
    for name, value in said.items():
        chosen = [key for key, on in value.items() if on is True] if isinstance(value, dict) else [str(value)]
        if len(chosen) == 1:
            found[name] = chosen[0]
    return found


def _named(given: Sequence[str], protocol: Protocol) -> dict[str, str]:
    found = {}
    for each in given:
        question, mark, column = each.partition("=")
        if not mark:
            raise UsageError(f"{each!r} names no column; write QUESTION=COLUMN, as in paraphrase=Q1")
        found[protocol.question(question).name] = column
    return found


def _cell(row: Row, number: int, what: str, column: str | None, usual: Sequence[str]) -> str:
    looked = [column] if column else usual
    found = _first(row, looked)
    if found is None:
        held = ", ".join(list(row)[:12])
        raise InputError(f"row {number} has no {what} (looked in {', '.join(looked)}); its columns are {held}")
    return found


def _first(row: Row, columns: Sequence[str]) -> str | None:
    return next((row[column] for column in columns if row.get(column)), None)
