"""Records: the one JSON object per line that travels through restyle, read and written as streams.

A record is a dict with a string under `text` and a string under `id`; every other key is carried through untouched.
Read from `.jsonl`, `.tsv`, `.csv` and `.txt`, plain or as `.gz` and `.zst`, from a file or (`-`) from stdin; never more
than a line is held in memory.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import gzip
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, BinaryIO, Literal, cast, get_args

from restyle.errors import InputError, MissingExtra, OutputError, RecordError, UsageError

Record = dict[str, Any]
Format = Literal["jsonl", "tsv", "csv", "txt"]
OnError = Literal["stop", "skip"]

STDIO = "-"
# One sentence is never this long; a line above it is a file without line breaks, and would fill the memory.
MAX_LINE_BYTES = 64 * 1024 * 1024
# A stray quote would otherwise swallow the rest of a file as one row.
MAX_CSV_ROW_LINES = 1000
_COMPRESSIONS = ("gz", "zst")
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".tsv": "tsv",
    ".csv": "csv",
    ".txt": "txt",
}


@dataclass
class ReadingReport:
    """What a reader has seen so far: records handed on, lines skipped, and the first few reasons."""

    records: int = 0
    skipped: int = 0
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
    with _opened(source) as stream:
        lines = _Lines(stream, name, encoding)
        chosen = format or format_of(source) or lines.guess_format()
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


def format_of(path: str | Path) -> Format | None:
    """The format that a file's name declares, under any `.gz` or `.zst`; None for stdin and stdout.

    >>> format_of("pairs.tsv.gz")
    'tsv'
    """
    if str(path) == STDIO:
        return None
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    while suffixes and suffixes[-1].lstrip(".") in _COMPRESSIONS:
        suffixes.pop()
    if not suffixes:
        return "txt"
    return _SUFFIXES.get(suffixes[-1], "txt")


class RecordWriter:
    """Write records to a file, whole or not at all: the file takes its name when the last record is on the disk.

    >>> with RecordWriter("-", format="txt") as out:  # doctest: +SKIP
    ...     out.write({"id": "1", "text": "Art thou mad?"})
    """

    def __init__(
        self, target: str | Path, *, format: Format | None = None, fields: Sequence[str] | None = None
    ) -> None:
        """`fields` are the columns of a TSV or CSV; without it, they are the keys of the first record."""
        self.format: Format = _checked_format(format) or format_of(target) or "jsonl"
        self.written = 0
        self._target = target
        self._fields = tuple(fields) if fields else None
        self._temporary: str | None = None
        self._stream: IO[str]

    def __enter__(self) -> RecordWriter:
        if str(self._target) == STDIO:
            self._stream = sys.stdout
            return self
        path = Path(self._target)
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, self._temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            os.fchmod(handle, 0o666 & ~_umask())
            self._stream = _compressed(os.fdopen(handle, "wb"), path)
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
            if error is None:
                with writing_to(self._target):
                    self._stream.flush()
            return
        try:
            with writing_to(self._target):
                self._stream.close()
                if error is None:
                    with open(self._temporary, "rb") as written:
                        os.fsync(written.fileno())
                    os.replace(self._temporary, self._target)
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
            csv.writer(buffer, lineterminator="\n").writerow(cells)
            return buffer.getvalue()
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
    """A record as one line of JSON: readable Unicode, keys in their order, always the same bytes."""
    return json.dumps(record, ensure_ascii=False, separators=(", ", ": ")) + "\n"


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
            errno.EACCES: "permission denied; choose another place",
            errno.EPERM: "permission denied; choose another place",
            errno.EROFS: "the file system is read-only; choose another place",
        }.get(error.errno or 0, error.strerror or str(error))
        raise OutputError(f"cannot write {target}: {advice}") from error


@contextlib.contextmanager
def opened_text(source: str | Path) -> Iterator[Iterator[str]]:
    """The lines of a text file, plain or compressed, without their line ends; InputError names file and line."""
    name = str(source)
    with _opened(source) as stream:
        lines = _Lines(stream, name, "utf-8")
        yield (lines.decode(number, line) for number, line in lines)


@contextlib.contextmanager
def _opened(source: str | Path) -> Iterator[BinaryIO]:
    """The bytes of a file or of stdin, decompressed."""
    if str(source) == STDIO:
        yield sys.stdin.buffer
        return
    path = Path(source)
    if path.is_dir():
        raise InputError(f"{path} is a folder; a file was expected")
    try:
        stream = _decompressed(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except PermissionError:
        raise InputError(f"{path} may not be read: permission denied") from None
    with stream:
        yield stream


def _decompressed(path: Path) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.suffix.lower() == ".zst":
        return io.BufferedReader(cast(io.RawIOBase, _zstandard().ZstdDecompressor().stream_reader(path.open("rb"))))
    return path.open("rb")


def _compressed(raw: BinaryIO, path: Path) -> IO[str]:
    binary: Any = raw
    if path.suffix.lower() == ".gz":
        # No name and no time in the header: the same records give the same bytes.
        binary = _Chained(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0), raw)
    elif path.suffix.lower() == ".zst":
        binary = _zstandard().ZstdCompressor().stream_writer(raw, closefd=True)
    return io.TextIOWrapper(binary, encoding="utf-8", newline="")


class _Chained(io.BufferedIOBase):
    """A GzipFile that closes the file under it, which GzipFile itself leaves open."""

    def __init__(self, outer: gzip.GzipFile, inner: BinaryIO) -> None:
        self._outer, self._inner = outer, inner

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._outer.write(data)

    def close(self) -> None:
        if not self.closed:
            self._outer.close()
            self._inner.close()
        super().close()


def _zstandard() -> Any:
    try:
        import zstandard
    except ModuleNotFoundError as error:
        raise MissingExtra("zstandard", "all", "reading and writing .zst") from error
    return zstandard


class _Lines:
    """The numbered lines of a byte stream, with every way in which a file can be broken told in one line."""

    def __init__(self, stream: BinaryIO, name: str, encoding: str) -> None:
        self._name = name
        self._number = 0
        self._stream = stream
        self._pending: list[bytes] = []
        first = self._readline()
        if first.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError(f"{name} is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8")
        if b"\0" in first:
            raise InputError(f"{name} is a binary file; text with one sentence or one record a line was expected")
        # A byte-order mark is no part of the first sentence.
        self._pending = [first.removeprefix(b"\xef\xbb\xbf")] if first else []
        try:
            b"".decode(encoding)
        except LookupError:
            raise UsageError(f"no encoding is called {encoding!r}; utf-8, latin-1 and cp1252 are common ones") from None
        self._encoding = encoding

    def guess_format(self) -> Format:
        return "jsonl" if self._pending and self._pending[0].lstrip().startswith(b"{") else "txt"

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while line := (self._pending.pop() if self._pending else self._readline()):
            self._number += 1
            yield self._number, line

    def decode(self, number: int, line: bytes) -> str:
        try:
            text = line.decode(self._encoding)
        except UnicodeDecodeError as error:
            raise RecordError(
                self._name,
                number,
                f"byte {error.start + 1} (0x{line[error.start]:02x}) is not {self._encoding}; "
                "give the file's encoding, e.g. --encoding cp1252",
            ) from None
        if "\0" in text:
            raise RecordError(self._name, number, "a NUL byte stands in the line; is this a text file?")
        # Only \n and \r\n end a line: str.splitlines would also cut at form feeds and U+2028.
        return text.removesuffix("\n").removesuffix("\r")

    def _readline(self) -> bytes:
        try:
            line = self._stream.readline(MAX_LINE_BYTES + 1)
        except EOFError:
            raise InputError(
                f"{self._name} is cut off after line {self._number}: the compressed file is incomplete"
            ) from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self._name}, after line {self._number}: {error}") from None
        except Exception as error:
            if type(error).__module__.startswith(("zlib", "zstandard")):
                raise InputError(f"{self._name} is damaged after line {self._number}: {error}") from None
            raise
        if len(line) > MAX_LINE_BYTES:
            raise InputError(
                f"{self._name}, line {self._number + 1} is longer than {MAX_LINE_BYTES >> 20} MiB; "
                "one sentence or one record a line was expected"
            )
        return line


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
        self._parse = parsers[_checked_format(format) or "txt"]

    def __call__(self, number: int, line: str) -> Record | None:
        return self._parse(number, line)

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
            if not line:
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
        text, self._unfinished, self._quotes = "\n".join(self._unfinished), [], 0
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


def _checked_format(format: str | None) -> Format | None:
    if format is not None and format not in get_args(Format):
        raise UsageError(f"no record format is called {format!r}; there are: {', '.join(get_args(Format))}")
    return cast("Format | None", format)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
