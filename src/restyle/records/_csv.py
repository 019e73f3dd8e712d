"""The rows of a CSV: which lines each one takes, and what a stray quote costs."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from itertools import chain

from restyle.errors import RecordError
from restyle.records._streams import MAX_LINE_BYTES, Lines

# A quote that nothing closes would otherwise swallow the rest of a file as one row.
MAX_CSV_ROW_LINES = 1000


class CsvRows:
    """Row after row, each with the number of its first line.

    A row that is none raises RecordError and costs its first line: the next row begins at the line after that. So no
    more than one row is ever held, and a stray quote takes no other row with it.
    """

    def __init__(self, lines: Lines, name: str) -> None:
        csv.field_size_limit(MAX_LINE_BYTES)
        self._name = name
        self._decode = lines.decode
        self._unread = iter(lines)
        self._again: deque[tuple[int, bytes]] = deque()  # lines that a failed row gave back
        self._row: list[tuple[int, bytes]] = []  # the lines of the row that is being read
        self._bytes = 0

    @property
    def span(self) -> int:
        """How many lines the last row took, or cost."""
        return len(self._row)

    def __iter__(self) -> CsvRows:
        return self

    def __next__(self) -> tuple[int, list[str]]:
        lines = self._taken()
        try:
            cells = next(csv.reader(chain([self._first(lines)], lines), strict=True))
        except (csv.Error, RecordError) as error:
            self._again.extendleft(reversed(self._row[1:]))
            del self._row[1:]
            if isinstance(error, RecordError):
                raise
            raise RecordError(self._name, self._row[0][0], f"not CSV: {error}") from None
        return self._row[0][0], cells

    def _first(self, lines: Iterator[str]) -> str:
        """The first line of the next row; a blank line is no row."""
        while True:
            self._row, self._bytes = [], 0
            line = next(lines)
            if line not in ("\n", "\r\n"):
                return line

    def _taken(self) -> Iterator[str]:
        """Lines, for as long as the parser asks for more of them to end its row."""
        while line := self._again.popleft() if self._again else next(self._unread, None):
            number, data = line
            self._row.append(line)
            self._bytes += len(data)
            self._check_length()
            try:
                text = self._decode(number, data)
            except RecordError as error:
                if len(self._row) == 1:
                    raise
                raise self._unclosed(f"goes on to line {number}: {error.problem}") from None
            yield text + "\n"
        if self._row:
            raise self._unclosed("is never closed")

    def _check_length(self) -> None:
        if len(self._row) > MAX_CSV_ROW_LINES:
            raise self._unclosed(f"is not closed within {MAX_CSV_ROW_LINES} lines")
        if len(self._row) > 1 and self._bytes > MAX_LINE_BYTES:
            raise self._unclosed(f"is not closed within {MAX_LINE_BYTES >> 20} MiB")

    def _unclosed(self, problem: str) -> RecordError:
        return RecordError(self._name, self._row[0][0], f"a quoted CSV field {problem}")
