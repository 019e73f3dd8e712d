"""Where the text comes from: files, folders and stdin, each as a stream of numbered lines with a style."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from restyle.corpora._corpus import Line
from restyle.corpora.build._settings import BuildSettings, Layout
from restyle.errors import InputError, UsageError
from restyle.records import STDIO, Format, ReadingReport, Record, format_of, opened_bytes, read_records, writing_to

_MARKDOWN = (".md", ".markdown")
_SUFFIXES = (".txt", ".text", *_MARKDOWN, ".jsonl", ".ndjson", ".json", ".tsv", ".csv")
_COMPRESSIONS = (".gz", ".zst")


@dataclass(frozen=True)
class Source:
    """One file, or what a loader reads: its lines in order, and what is known before they are read.

    A `Line` may name its own style under `fields["style"]`. `document` text is searched for boilerplate and headings;
    the rows of a table are not. `ready` lines were cut into sentences by a loader, and each knows its own file. With
    `split`, all that is read is kept and goes there, and nothing like it goes to any other split. `read` counts the
    lines that it had to pass over in the report that it is given.
    """

    name: str
    style: str
    read: Callable[[ReadingReport], Iterable[Line]]
    layout: Layout = "auto"
    document: bool = True
    markdown: bool = False
    ready: bool = False
    split: str | None = None
    sha256: str | None = None
    note: str | None = None


def sources_of(inputs: Iterable[str | Path], style: str, settings: BuildSettings, scratch: Path) -> list[Source]:
    """A source for every file that the inputs name; a folder stands for the texts in it and below it, in order of name.

    Stdin (`-`) and pipes are copied into `scratch` first, since they are read twice. Raises InputError for what does
    not exist, and for a folder without texts.
    """
    found: list[Source] = []
    for given in inputs:
        path = Path(given)
        if str(given) == STDIO or path.is_fifo():
            copy = _copied(given, scratch / f"pipe{len(found)}")
            name = "stdin" if str(given) == STDIO else path.name
            found.append(_source(copy, name, style, settings, format=_guessed_format(copy)))
            continue
        for file in _texts(path):
            # Not where the folder is on this machine, but which of its files it is.
            name = f"{path.resolve().name}/{file.relative_to(path).as_posix()}" if path.is_dir() else path.name
            format = format_of(file) or "txt"
            found.append(_source(file, name, _style_of(file, style, settings), settings, format=format))
    if not found:
        raise UsageError("there is nothing to build from: name a file, a folder, or - for stdin")
    return found


def _texts(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and _is_text(file.relative_to(path))]
    if not files:
        raise InputError(f"{path} holds no text; what is read: {', '.join(_SUFFIXES)}, also with .gz or .zst")
    return files


def _is_text(path: Path) -> bool:
    """Whether a file of a folder is meant to be read: not hidden, and of a known ending under any compression."""
    if any(part.startswith(".") for part in path.parts):
        return False
    return _plain_suffix(path) in _SUFFIXES


def _plain_suffix(path: Path) -> str:
    name = path.name.lower()
    for compression in _COMPRESSIONS:
        name = name.removesuffix(compression)
    return Path(name).suffix


def _style_of(file: Path, style: str, settings: BuildSettings) -> str:
    if settings.style_from == "folder":
        return file.resolve().parent.name
    if settings.style_from == "file":
        return file.name.split(".")[0]
    return style


def _source(file: Path, name: str, style: str, settings: BuildSettings, *, format: Format) -> Source:
    return Source(
        name,
        style,
        partial(_lines, file, name, settings, format),
        layout=settings.layout,
        document=format == "txt",
        markdown=_plain_suffix(file) in _MARKDOWN,
        sha256=_sha256(file),
    )


def _lines(file: Path, name: str, settings: BuildSettings, format: Format, report: ReadingReport) -> Iterator[Line]:
    records = read_records(
        file,
        format=format,
        text_column="text" if format == "txt" else settings.text_column,
        on_error=settings.on_error,
        encoding=settings.encoding,
        report=report,
    )
    for record in records:
        yield Line(record["text"], name, report.line, fields=_style_field(record, settings))


def _style_field(record: Record, settings: BuildSettings) -> dict[str, str]:
    style = record.get(settings.style_column)
    return {"style": str(style)} if style not in (None, "") else {}


def _copied(pipe: str | Path, copy: Path) -> Path:
    with opened_bytes(pipe) as stream, writing_to(copy), copy.open("wb") as out:
        shutil.copyfileobj(stream, out)
    return copy


def _guessed_format(file: Path) -> Format:
    with file.open("rb") as stream:
        return "jsonl" if stream.read(4096).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") else "txt"


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        raise InputError(f"{file} does not exist") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from None
