"""The bytes under records: files and stdin, plain or compressed, cut into numbered lines."""

from __future__ import annotations

import contextlib
import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from restyle.errors import InputError, MissingExtra, RecordError, UsageError
from restyle.records._formats import STDIO, Format

# One sentence is never this long; a line above it is a file without line breaks, and would fill the memory.
MAX_LINE_BYTES = 64 * 1024 * 1024


@contextlib.contextmanager
def opened_text(source: str | Path) -> Iterator[Iterator[str]]:
    """The lines of a text file, plain or compressed, without their line ends; InputError names file and line."""
    name = str(source)
    with opened_bytes(source) as stream:
        lines = Lines(stream, name, "utf-8")
        yield (lines.decode(number, line).removesuffix("\r") for number, line in lines)


@contextlib.contextmanager
def opened_bytes(source: str | Path) -> Iterator[BinaryIO]:
    """The bytes of a file or of stdin, decompressed; InputError when it cannot be opened."""
    if str(source) == STDIO:
        if sys.stdin is None:
            raise InputError("stdin is closed; name a file, or pipe one in")
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
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    with stream:
        yield stream


def _decompressed(path: Path) -> BinaryIO:
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    if path.suffix.lower() == ".zst":
        return io.BufferedReader(_ZstdReader(path.open("rb")), buffer_size=1 << 18)
    return path.open("rb")


def compressed(raw: BinaryIO, path: Path) -> TextIO:
    """Text that is written into `raw`, compressed as the name says; `raw` is closed with it, or when it cannot be."""
    binary: Any = raw
    if path.suffix.lower() == ".gz":
        # No name and no time in the header: the same records give the same bytes.
        binary = _Chained(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0), raw)
    elif path.suffix.lower() == ".zst":
        try:
            binary = _zstandard().ZstdCompressor().stream_writer(raw, closefd=True)
        except MissingExtra:
            raw.close()
            raise
    return io.TextIOWrapper(binary, encoding="utf-8", newline="")


class _ZstdReader(io.RawIOBase):
    """Decompresses frame after frame; zstandard's own stream reader takes a truncated file for a whole one."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._frame: Any = None  # zstandard's decompressor of the frame being read
        self._ready = memoryview(b"")
        self._unread = b""  # compressed bytes after the end of a frame

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._unread or self._raw.read(1 << 17)
            self._unread = b""
            if not chunk:
                if self._frame is not None:
                    raise EOFError("the last frame is not complete")
                return 0
            self._frame = self._frame or _zstandard().ZstdDecompressor().decompressobj()
            self._ready = memoryview(self._frame.decompress(chunk))
            if self._frame.eof:
                self._unread, self._frame = self._frame.unused_data, None
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def close(self) -> None:
        self._raw.close()
        super().close()


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


def read_document(source: str | Path, encoding: str = "utf-8") -> str:
    """A whole document, plain or compressed, to the last byte; InputError where it is no text or cannot be read."""
    name = "stdin" if str(source) == STDIO else str(source)
    with opened_bytes(source) as stream:
        try:
            raw = stream.read()
        except Exception as error:
            if broken := _broken(error, name, 0):
                raise broken from None
            raise
    if b"\0" in raw:
        raise InputError(f"{name} is no text in {encoding}: a NUL byte stands in it")
    try:
        return raw.decode(_checked_encoding(encoding))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is no text in {encoding}: byte {error.start + 1} is 0x{raw[error.start]:02x}; give its encoding, "
            "e.g. --encoding cp1252"
        ) from None


def _broken(error: Exception, name: str, number: int) -> InputError | None:
    """What is wrong with a file that fails after so many lines; None for an error that is not the file's."""
    if isinstance(error, EOFError):
        return InputError(f"{name} is cut off after line {number}: the compressed file is incomplete")
    if isinstance(error, gzip.BadGzipFile):
        if number == 0 and "Not a gzipped" in str(error):
            return InputError(f"{name} is no gzip file, whatever its name says; rename it if it is not compressed")
        return InputError(f"{name} is damaged after line {number}: {error}")
    if isinstance(error, OSError | ValueError):
        return InputError(f"{name}, after line {number}: {error}")
    if type(error).__module__.startswith(("zlib", "zstandard")):
        return InputError(f"{name} is damaged after line {number}: {error}")
    return None


def _checked_encoding(name: str) -> str:
    """The encoding, or UsageError: Python also calls rot13, hex and zip encodings, which turn no bytes into text."""
    try:
        b"x".decode(name)
    except UnicodeDecodeError:
        pass  # half a character of UTF-16
    except (LookupError, ValueError):
        raise UsageError(f"no encoding is called {name!r}; utf-8, latin-1 and cp1252 are common ones") from None
    return name


class Lines:
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
        self._encoding = _checked_encoding(encoding)

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
        # str.splitlines would also cut at form feeds and U+2028, which may stand in a sentence.
        return text.removesuffix("\n")

    def _readline(self) -> bytes:
        try:
            line = self._stream.readline(MAX_LINE_BYTES + 1)
        except Exception as error:
            if broken := _broken(error, self._name, self._number):
                raise broken from None
            raise
        if len(line) > MAX_LINE_BYTES:
            raise InputError(
                f"{self._name}, line {self._number + 1} is longer than {MAX_LINE_BYTES >> 20} MiB; "
                "one sentence or one record a line was expected"
            )
        return line
