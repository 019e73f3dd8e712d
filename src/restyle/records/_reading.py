"""Reading records: lines of one format become dicts, and a bad line says what is wrong with it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from restyle.errors import InputError, RecordError
from restyle.records._csv import CsvRows
from restyle.records._formats import STDIO, Format, Record, checked_format, format_of
from restyle.records._streams import Lines, opened_bytes

OnError = Literal["stop", "skip"]

_REMEDY = "name the one to read with --text-column, or the columns of a file without a header line with --columns"


@dataclass
class ReadingReport:
    """What a reader has seen so far: records handed on, lines skipped, and the first few reasons."""

    records: int = 0
    skipped: int = 0
    line: int = 0  # where the last record begins
    format: Format | None = None  # known when the first record was read
    problems: list[str] = field(default_factory=list)

    KEPT_PROBLEMS = 5

    def skip(self, error: RecordError, lines: int = 1) -> None:
        """Count a bad line, or those of a bad row, and keep its reason while there are few."""
        self.skipped += lines
        if len(self.problems) < self.KEPT_PROBLEMS:
            self.problems.append(str(error))

    def __str__(self) -> str:
        if not self.skipped:
            return f"{self.records:,} records read"
        return f"{self.records:,} records read, {self.skipped:,} bad lines skipped (the first: {self.problems[0]})"


def read_records(
    source: str | Path,
    *,
    format: Format | None = None,
    text_column: str = "text",
    columns: Sequence[str] | None = None,
    on_error: OnError = "stop",
    encoding: str = "utf-8",
    report: ReadingReport | None = None,
    remedy: str = _REMEDY,
) -> Iterator[Record]:
    """Stream the records of a file, or of stdin for `-`.

    `format` is told from the file's name when it is not given (stdin: JSONL when it starts with `{`, else plain text).
    `text_column` names the field that becomes `text`. `columns` names the fields of a TSV or CSV without a header
    line. A record without an `id` gets its line number. Plain text keeps its empty lines, since line n of an output
    answers line n of its input; JSONL, TSV and CSV pass over blank lines. `remedy` is what to do where a table lacks
    that column.

    Raises InputError for a file that cannot be read at all, and RecordError (file, line, what is wrong) for a bad line,
    unless `on_error="skip"`, which counts it in `report` and goes on.
    """
    report = report if report is not None else ReadingReport()
    name = "stdin" if str(source) == STDIO else str(source)
    with opened_bytes(source) as stream:
        lines = Lines(stream, name, encoding)
        chosen = checked_format(format) or format_of(source) or lines.guess_format()
        report.format = chosen
        records = _Records(lines, chosen, name, text_column, columns, remedy)
        while True:
            try:
                record = next(records, None)
            except RecordError as error:
                # Without its header, no line of a table could be told from any other.
                if on_error == "stop" or records.lacks_header:
                    raise
                report.skip(error, records.span)
                continue
            if record is None:
                break
            report.records += 1
            report.line = records.line
            yield record


def read_objects(source: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file that holds one in each line, and the line's number: of rows that are no records.

    Blank lines are passed over. InputError for a file that cannot be read, RecordError for a line that is no object.
    """
    name = str(source)
    with opened_bytes(source) as stream:
        lines = Lines(stream, name, "utf-8")
        for number, line in lines:
            text = lines.decode(number, line)
            if text.strip():
                yield number, _object(name, number, text)


class _Records:
    """The records in lines of one format; after the RecordError of a bad line, the next record can be asked for."""

    def __init__(
        self, lines: Lines, format: Format, name: str, text_column: str, columns: Sequence[str] | None, remedy: str
    ) -> None:
        self.line = 0  # where the last record, or what should have been one, begins
        self._name = name
        self._text_column, self._remedy = text_column, remedy
        self._columns = list(columns) if columns else None
        if self._columns is not None:
            self._check_columns(1)
        self._is_table = format in ("tsv", "csv")
        self._decode = lines.decode
        self._rows = CsvRows(lines, name) if format == "csv" else None
        self._lines = iter(lines)
        parsers: dict[Format, Callable[[int, str], Record | None]] = {
            "jsonl": self._json,
            "tsv": self._tsv,
            "txt": lambda number, line: {"id": str(number), "text": line},
        }
        self._parse = parsers.get(format)

    @property
    def span(self) -> int:
        """How many lines the last record took."""
        return self._rows.span if self._rows else 1

    @property
    def lacks_header(self) -> bool:
        """Whether the columns of a table are still to come."""
        return self._is_table and self._columns is None

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        while True:
            record = self._of_csv(self._rows) if self._rows else self._of_line()
            if record is not None:
                return record

    def _of_csv(self, rows: CsvRows) -> Record | None:
        self.line, cells = next(rows)
        return self._row(self.line, cells)

    def _of_line(self) -> Record | None:
        """The record of the next line; None for a line that holds none (blank, header)."""
        self.line, line = next(self._lines)
        assert self._parse is not None
        # A carriage return at the end is the rest of a Windows line end.
        return self._parse(self.line, self._decode(self.line, line).removesuffix("\r"))

    def _json(self, number: int, line: str) -> Record | None:
        if not line.strip():
            return None
        value = _object(self._name, number, line)
        if "\\u" in line and not _encodable(value):
            raise RecordError(self._name, number, "half of a surrogate pair (\\ud800 to \\udfff) stands alone")
        return self._record(number, value)

    def _tsv(self, number: int, line: str) -> Record | None:
        return self._row(number, line.split("\t")) if line else None

    def _row(self, number: int, cells: list[str]) -> Record | None:
        if self._columns is None:
            self._columns = cells
            self._check_columns(number)
            return None
        if len(cells) != len(self._columns):
            raise RecordError(self._name, number, f"fields: {len(cells)}; the header has {len(self._columns)}")
        return self._record(number, dict(zip(self._columns, cells, strict=True)))

    def _check_columns(self, number: int) -> None:
        columns = self._columns or []
        if len(set(columns)) != len(columns):
            raise InputError(f"{self._name}, line {number}: a column name stands twice in {columns}")
        if self._text_column not in columns:
            shown = ", ".join(repr(column[:40]) for column in columns[:8])
            raise InputError(
                f"{self._name} has no column {self._text_column!r} (its first line: {shown}); {self._remedy}"
            )

    def _record(self, number: int, fields: Record) -> Record:
        text = fields.get(self._text_column)
        if self._text_column != "text" and {"text", self._text_column} <= fields.keys():
            raise RecordError(
                self._name, number, f"{self._text_column!r} is to become 'text', but there is one already"
            )
        if not isinstance(text, str):
            problem = "no field" if self._text_column not in fields else f"no string ({type(text).__name__}) under"
            raise RecordError(self._name, number, f"{problem} {self._text_column!r}; the fields are {sorted(fields)}")
        identity = fields.get("id")
        # An empty cell of a table is no name either.
        record: Record = {"id": str(number if identity in (None, "") else identity), "text": text}
        record.update((key, value) for key, value in fields.items() if key not in ("id", "text", self._text_column))
        return record


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        value = _JSON.decode(line)
    except (ValueError, RecursionError) as error:  # ValueError also for an integer of thousands of digits
        raise RecordError(name, number, f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RecordError(name, number, f"a JSON object was expected, not {type(value).__name__}")
    return value


def _encodable(value: Any) -> bool:
    """False when an escape left a lone surrogate, which no UTF-8 file can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _finite(written: str) -> float:
    """A number of JSON, which has no NaN and no infinity; Python would read both, and 1e999 as the latter."""
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written[:40]} is no finite number; write null where there is none")
    return number


_JSON = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
