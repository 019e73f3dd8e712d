"""Reading records: lines of one format become dicts, and a bad line says what is wrong with it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from restyle.errors import InputError, RecordError
from restyle.records._formats import STDIO, Format, Record, checked_format, format_of
from restyle.records._streams import MAX_LINE_BYTES, Lines, opened

OnError = Literal["stop", "skip"]

# A stray quote would otherwise swallow the rest of a file as one row.
MAX_CSV_ROW_LINES = 1000


@dataclass
class ReadingReport:
    """What a reader has seen so far: records handed on, lines skipped, and the first few reasons."""

    records: int = 0
    skipped: int = 0
    format: Format | None = None  # known when the first record was read
    problems: list[str] = field(default_factory=list)

    KEPT_PROBLEMS = 5

    def skip(self, error: RecordError) -> None:
        """Count a bad line, and keep its reason while there are few."""
        self.skipped += 1
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
) -> Iterator[Record]:
    """Stream the records of a file, or of stdin for `-`.

    `format` is told from the file's name when it is not given (stdin: JSONL when it starts with `{`, else plain text).
    `text_column` names the field that becomes `text`. `columns` names the fields of a TSV or CSV without a header
    line. A record without an `id` gets its line number. Plain text keeps its empty lines, since line n of an output
    answers line n of its input; JSONL, TSV and CSV pass over blank lines.

    Raises InputError for a file that cannot be read at all, and RecordError (file, line, what is wrong) for a bad line,
    unless `on_error="skip"`, which counts it in `report` and goes on.
    """
    report = report if report is not None else ReadingReport()
    name = "stdin" if str(source) == STDIO else str(source)
    with opened(source) as stream:
        lines = Lines(stream, name, encoding)
        chosen = format or format_of(source) or lines.guess_format()
        report.format = chosen
        parse = _Parser(chosen, name, text_column, columns)
        for number, line in lines:
            try:
                record = parse(number, lines.decode(number, line))
            except RecordError as error:
                if on_error == "stop":
                    raise
                report.skip(error)
                continue
            if record is not None:
                report.records += 1
                yield record
        try:
            parse.finish()
        except RecordError as error:
            if on_error == "stop":
                raise
            report.skip(error)


class _Parser:
    """Lines of one format, one after the other, to records; None for a line that holds none (blank, header)."""

    def __init__(self, format: Format, name: str, text_column: str, columns: Sequence[str] | None) -> None:
        self._name = name
        self._text_column = text_column
        self._columns = list(columns) if columns else None
        self._unfinished: list[str] = []  # the lines of a CSV row whose quoted field holds line breaks
        self._quotes = 0
        self._started_at = 0
        csv.field_size_limit(MAX_LINE_BYTES)
        if self._columns is not None:
            self._check_columns(1)
        parsers: dict[Format, Callable[[int, str], Record | None]] = {
            "jsonl": self._json,
            "tsv": self._tsv,
            "csv": self._csv,
            "txt": lambda number, line: {"id": str(number), "text": line},
        }
        self._parse = parsers[checked_format(format) or "txt"]

    def __call__(self, number: int, line: str) -> Record | None:
        # Within a quoted CSV field a carriage return is text; elsewhere it is the rest of a Windows line end.
        return self._parse(number, line if self._parse == self._csv else line.removesuffix("\r"))

    def finish(self) -> None:
        if self._unfinished:
            raise RecordError(self._name, self._started_at, "a quoted CSV field is never closed")

    def _json(self, number: int, line: str) -> Record | None:
        if not line.strip():
            return None
        try:
            value = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise RecordError(self._name, number, f"not JSON: {error}") from None
        if not isinstance(value, dict):
            raise RecordError(self._name, number, f"a JSON object was expected, not {type(value).__name__}")
        if "\\u" in line and not _encodable(value):
            raise RecordError(self._name, number, "half of a surrogate pair (\\ud800 to \\udfff) stands alone")
        return self._record(number, value)

    def _tsv(self, number: int, line: str) -> Record | None:
        return self._row(number, line.split("\t")) if line else None

    def _csv(self, number: int, line: str) -> Record | None:
        if not self._unfinished:
            if line in ("", "\r"):
                return None
            self._started_at = number
        self._unfinished.append(line)
        self._quotes += line.count('"')
        # An odd number of quotes: the field goes on in the next line.
        if self._quotes % 2:
            if len(self._unfinished) > MAX_CSV_ROW_LINES:
                self._unfinished, self._quotes = [], 0
                raise RecordError(
                    self._name, self._started_at, f"a quoted CSV field is not closed within {MAX_CSV_ROW_LINES} lines"
                )
            return None
        text, self._unfinished, self._quotes = "\n".join(self._unfinished).removesuffix("\r"), [], 0
        try:
            cells = next(csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error as error:
            raise RecordError(self._name, self._started_at, f"not CSV: {error}") from None
        return self._row(self._started_at, cells)

    def _row(self, number: int, cells: list[str]) -> Record | None:
        if self._columns is None:
            self._columns = cells
            self._check_columns(number)
            return None
        if len(cells) != len(self._columns):
            raise RecordError(self._name, number, f"{len(cells)} fields; the header has {len(self._columns)}")
        return self._record(number, dict(zip(self._columns, cells, strict=True)))

    def _check_columns(self, number: int) -> None:
        columns = self._columns or []
        if len(set(columns)) != len(columns):
            raise InputError(f"{self._name}, line {number}: a column name stands twice in {columns}")
        if self._text_column not in columns:
            shown = ", ".join(repr(column[:40]) for column in columns[:8])
            raise InputError(
                f"{self._name} has no column {self._text_column!r} (its first line: {shown}); name the one to read "
                "with --text-column, or the columns of a file without a header line with --columns"
            )

    def _record(self, number: int, fields: Record) -> Record:
        text = fields.get(self._text_column)
        if self._text_column != "text" and "text" in fields:
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


def _encodable(value: Any) -> bool:
    """False when an escape left a lone surrogate, which no UTF-8 file can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
