"""How a line holds a pair: as the cells of a table or as the keys of a JSON object."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from restyle.errors import InputError
from restyle.pairs.stages import Pairs
from restyle.records import Record, json_line

LineFormat = Literal["tsv", "jsonl"]
# Both are far longer than any sentence; a longer line is a file without line breaks.
MAX_LINE = 8 * 1024 * 1024


@dataclass(frozen=True)
class ColumnNames:
    """What the columns, or the keys, are called that a pair is made of."""

    text: str = "text"
    paraphrase: str = "paraphrase"
    score: str = "score"
    source: str = "source"

    @property
    def of_paranmt(self) -> tuple[str, str, str]:
        """The columns of a table without a header line, as in ParaNMT."""
        return self.text, self.paraphrase, self.score


@dataclass(frozen=True)
class Layout:
    """The format of a file's lines, and the columns that it has: all of a table, and of JSONL those that are named."""

    format: LineFormat
    columns: tuple[str, ...]
    names: ColumnNames
    header: str | None = None

    @property
    def scored(self) -> bool:
        """Whether every line has a score."""
        return self.names.score in self.columns

    def parse(self, line: str) -> tuple[str, str, float | None]:
        """The two sides and the score of a line; ValueError says what is wrong with it."""
        if len(line) > MAX_LINE:
            raise ValueError(
                f"{len(line):,} characters; one pair of sentences was expected, not more than {MAX_LINE:,}"
            )
        if "\r" in line:
            raise ValueError("a carriage return stands amid the line")
        if self.format == "tsv":
            cells = self._cells(line)
            at_text, at_paraphrase, at_score = self._places
            return cells[at_text], cells[at_paraphrase], None if at_score is None else _number(cells[at_score])
        fields = _json_object(line)
        text, paraphrase = (_sentence(fields, name) for name in (self.names.text, self.names.paraphrase))
        if not self.scored:
            return text, paraphrase, None
        if self.names.score not in fields:
            raise ValueError(f"no score under {self.names.score!r}, where the first line has one")
        return text, paraphrase, _number(fields[self.names.score])

    def fields(self, line: str) -> dict[str, Any]:
        """All that a line holds, by the names of the columns."""
        if self.format == "jsonl":
            return _json_object(line)
        return dict(zip(self.columns, self._cells(line), strict=True))

    @cached_property
    def _places(self) -> tuple[int, int, int | None]:
        """Where in a table the sides and the score stand."""
        place = self.columns.index
        return place(self.names.text), place(self.names.paraphrase), place(self.names.score) if self.scored else None

    def _cells(self, line: str) -> list[str]:
        cells = line.split("\t")
        if len(cells) != len(self.columns):
            raise ValueError(f"{len(cells)} columns; {len(self.columns)} were expected")
        return cells

    def pairs(self, lines: list[str]) -> Pairs:
        """Lines that `parse` has seen, as columns."""
        if self.format == "jsonl":
            parsed = [self.parse(line) for line in lines]
            scores = np.array([score for _, _, score in parsed], np.float64) if self.scored else None
            return Pairs([text for text, _, _ in parsed], [paraphrase for _, paraphrase, _ in parsed], scores)
        # Every line has as many cells, so that one split does for all.
        cells = "\t".join(lines).split("\t") if lines else []
        width, (text, paraphrase, score) = len(self.columns), self._places
        scores = None if score is None else np.array(list(map(float, cells[score::width])), np.float64)
        return Pairs(cells[text::width], cells[paraphrase::width], scores)

    def rendered(self, line: str, number: int, format: LineFormat) -> str:
        """The line in another format; in its own, as it stands."""
        if format == self.format:
            return line
        fields = self.fields(line)
        text, paraphrase = fields.pop(self.names.text), fields.pop(self.names.paraphrase)
        score = fields.pop(self.names.score, None)
        if format == "tsv":
            cells = [text, paraphrase, *([str(score)] if self.scored else [])]
            # A sentence of a table cannot hold these; they are white space, and stay it.
            return "\t".join(re.sub(r"[\t\n\r]", " ", cell) for cell in cells)
        record: Record = {"id": str(number), "text": text, "paraphrase": paraphrase}
        return json_line({**record, **({"score": float(score)} if self.scored else {}), **fields}).removesuffix("\n")


def layout_of_table(first: str, names: ColumnNames, columns: tuple[str, ...] | None, name: str) -> Layout:
    """The layout of a table by its first line: its header, if it names both sides, else ParaNMT's two or three."""
    cells = tuple(first.split("\t"))
    if columns is not None:
        header = None
    elif names.text in cells and names.paraphrase in cells:
        columns, header = cells, first
    elif 2 <= len(cells) <= 3:
        columns, header = names.of_paranmt[: len(cells)], None
    else:
        raise InputError(
            f"{name} has {len(cells)} columns and no header line that names {names.text!r} and {names.paraphrase!r}: "
            f"name them all with --columns {names.text},{names.paraphrase},…"
        )
    if len(set(columns)) < len(columns) or not {names.text, names.paraphrase} <= set(columns):
        raise InputError(
            f"{name}: the columns are {', '.join(columns)}; {names.text!r} and {names.paraphrase!r} must stand among "
            "them, and none twice (--text-column and --paraphrase-column say what they are called)"
        )
    return Layout("tsv", columns, names, header)


def layout_of_json(first: str, names: ColumnNames) -> Layout:
    """The layout of JSONL by its first line: whether there are scores; ValueError when that is no record."""
    fields = _json_object(first)
    return Layout("jsonl", tuple(name for name in (*names.of_paranmt, names.source) if name in fields), names)


def _json_object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"a JSON object was expected, not {type(value).__name__}")
    if "\\u" in line:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair (\\ud800 to \\udfff) stands alone") from None
    return value


def _sentence(fields: dict[str, Any], name: str) -> str:
    side = fields.get(name)
    if not isinstance(side, str):
        problem = f"no string ({type(side).__name__}) under" if name in fields else "no field"
        raise ValueError(f"{problem} {name!r}; the fields are {sorted(fields)}")
    return side


def _number(given: Any) -> float:
    try:
        number = float("nan" if isinstance(given, bool) else given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"the score {str(given)[:40]!r} is not a number")
    return number
