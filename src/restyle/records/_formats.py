"""Which formats there are, and which one a file's name declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, cast, get_args

from restyle.errors import UsageError

Record = dict[str, Any]
Format = Literal["jsonl", "tsv", "csv", "txt"]

STDIO = "-"
_COMPRESSIONS = ("gz", "zst")
_SUFFIXES: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".tsv": "tsv",
    ".csv": "csv",
    ".txt": "txt",
}


def stem_of(path: str | Path) -> str:
    """What a file is called without the kind of file that it is.

    >>> stem_of("runs/dlsm.jsonl.gz")
    'dlsm'
    """
    return "stdin" if str(path) == STDIO else Path(path).name.split(".")[0] or Path(path).name


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


def checked_format(format: str | None) -> Format | None:
    """The format, or UsageError with those that there are."""
    if format is not None and format not in get_args(Format):
        raise UsageError(f"no record format is called {format!r}; there are: {', '.join(get_args(Format))}")
    return cast("Format | None", format)
