"""Writing records: a file that appears whole or not at all, and refusals of the system told in one line."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import math
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from restyle.errors import OutputError, UsageError
from restyle.records._formats import STDIO, Format, Record, checked_format, format_of
from restyle.records._streams import compressed


class RecordWriter:
    """Write records to a file, whole or not at all: the file takes its name when the last record is on the disk.

    Until then they lie beside it, in `.NAME.unfinished-…`. Through a link, the file that it points to is written. What
    is no ordinary file, such as a named pipe or a device, is written straight into.

    >>> with RecordWriter("-", format="txt") as out:  # doctest: +SKIP
    ...     out.write({"id": "1", "text": "Art thou mad?"})
    """

    def __init__(
        self, target: str | Path, *, format: Format | None = None, fields: Sequence[str] | None = None
    ) -> None:
        """`fields` are the columns of a TSV or CSV; without it, they are the keys of the first record."""
        if not str(target):
            raise UsageError("the output has no name; name a file, or - for stdout")
        self.format: Format = checked_format(format) or format_of(target) or "jsonl"
        self.written = 0
        self._target = target
        self._fields = tuple(fields) if fields else None
        self._path = Path(target)  # the file itself, behind any links
        self._temporary: str | None = None
        self._stream: TextIO

    def __enter__(self) -> RecordWriter:
        if str(self._target) == STDIO:
            if sys.stdout is None:
                raise OutputError("cannot write stdout: it is closed; name a file")
            self._stream = sys.stdout
            return self
        path = Path(self._target)
        with writing_to(path):
            if _is_special(path):
                self._stream = compressed(path.open("wb"), path)
                return self
            self._path = Path(os.path.realpath(path))
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Of a long name only the beginning, or the longer one could be more than a file system allows.
            prefix = f".{self._path.name[:50]}.unfinished-"
            handle, self._temporary = tempfile.mkstemp(prefix=prefix, dir=self._path.parent)
            try:
                os.fchmod(handle, 0o666 & ~_umask())
                self._stream = compressed(os.fdopen(handle, "wb"), path)
            except BaseException:
                os.unlink(self._temporary)
                raise
        return self

    def write(self, record: Record) -> None:
        """Add one record; OutputError when the format cannot carry it."""
        line = self._render(record)
        with writing_to(self._target):
            self._stream.write(line)
        self.written += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary is None:
            with writing_to(self._target):
                if str(self._target) != STDIO:
                    self._stream.close()
                elif error is None:
                    self._stream.flush()
            return
        try:
            with writing_to(self._target):
                self._stream.close()
                if error is None:
                    with open(self._temporary, "rb") as written:
                        os.fsync(written.fileno())
                    os.replace(self._temporary, self._path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._temporary)

    def _render(self, record: Record) -> str:
        if self.format == "jsonl":
            return json_line(record)
        if self.format == "txt":
            text = str(record.get("text", ""))
            if "\n" in text or "\r" in text:
                raise OutputError(f"record {record.get('id')!r} holds a line break: write .jsonl instead of .txt")
            return text + "\n"
        header = ""
        if self._fields is None:
            self._fields = tuple(record)
        if self.written == 0:
            header = self._row(self._fields)
        unexpected = set(record) - set(self._fields)
        if unexpected:
            raise OutputError(
                f"record {record.get('id')!r} has {sorted(unexpected)}, which the header "
                f"{list(self._fields)} lacks: write .jsonl instead of .{self.format}"
            )
        return header + self._row([_cell(record.get(name)) for name in self._fields])

    def _row(self, cells: Sequence[str]) -> str:
        if self.format == "csv":
            buffer = io.StringIO()
            # With this line end the writer also quotes a lone carriage return, which would break the row.
            csv.writer(buffer, lineterminator="\r\n").writerow(cells)
            return buffer.getvalue().removesuffix("\r\n") + "\n"
        for cell in cells:
            if any(mark in cell for mark in "\t\n\r"):
                raise OutputError(f"{cell[:40]!r} holds a tab or a line break: write .jsonl or .csv instead of .tsv")
        return "\t".join(cells) + "\n"


def write_records(target: str | Path, records: Iterable[Record], *, format: Format | None = None) -> int:
    """Write a stream of records to a file (or `-`), whole or not at all; returns how many."""
    with RecordWriter(target, format=format) as writer:
        for record in records:
            writer.write(record)
    return writer.written


def json_line(record: Record) -> str:
    """A record as one line of JSON: readable Unicode, keys in their order, always the same bytes.

    OutputError for NaN and infinity, which are no JSON and which no other reader would take.
    """
    try:
        return json.dumps(record, ensure_ascii=False, separators=(", ", ": "), allow_nan=False) + "\n"
    except ValueError as error:
        raise OutputError(
            f"record {record.get('id')!r} cannot be written as JSON ({error}); give None where there is no number"
        ) from None


def finite(number: float) -> float | None:
    """The number, or None where it is endless or none at all, for which JSON has no word."""
    return number if math.isfinite(number) else None


@contextlib.contextmanager
def writing_to(target: str | Path) -> Iterator[None]:
    """Turn the operating system's refusals (full disk, no permission) into one line that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        advice = {
            errno.ENOSPC: "the disk is full; free some space and run the same command again",
            errno.EDQUOT: "your quota is used up; free some space and run the same command again",
            errno.EFBIG: "no larger file is allowed there (ulimit -f shows the limit); choose another place",
            errno.EACCES: "permission denied; choose another place",
            errno.EPERM: "permission denied; choose another place",
            errno.EROFS: "the file system is read-only; choose another place",
        }.get(error.errno or 0, error.strerror or str(error))
        raise OutputError(f"cannot write {'stdout' if str(target) == STDIO else target}: {advice}") from error


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_special(path: Path) -> bool:
    """Whether something is there that is no ordinary file; OutputError for a folder."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise OutputError(f"cannot write {path}: it is a folder; name a file in it")
    return not stat.S_ISREG(mode)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
