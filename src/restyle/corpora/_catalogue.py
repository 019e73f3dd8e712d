"""What is known of every corpus: catalogue.toml and books.toml, read and checked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from restyle.assets import RemoteFile
from restyle.errors import UnknownName

# The corpus whose files stand in books.toml, since there are too many for a readable catalogue.
BOOKS = "books"


@dataclass(frozen=True)
class CatalogueFile:
    """A file of a corpus: its path in mirror and cache, what it must hold, and what else is known of it."""

    path: str
    lines: int
    bytes: int
    sha256: str
    url: str | None = None
    columns: tuple[str, ...] = ()  # of a table without a header line
    style: str | None = None  # of a book
    author: str | None = None
    title: str | None = None
    year: str | None = None
    origin: str | None = None
    licence: str | None = None
    notes: str | None = None

    @property
    def has_header(self) -> bool:
        """Whether the first line names the columns."""
        return not self.columns and self.path.removesuffix(".gz").endswith((".tsv", ".csv"))


@dataclass(frozen=True)
class CatalogueEntry:
    """A corpus: what it is, whose it is, and its files; none where its licence lets nobody pass them on."""

    name: str
    title: str
    use: str
    origin: str
    licence: str
    redistribution: str
    citation: str
    styles: tuple[str, ...] = ()  # none for a table of pairs, outputs or ratings
    traps: tuple[str, ...] = ()
    ask: str | None = None
    layout: str | None = None  # of a user's own copy, where there is no file to name
    files: tuple[CatalogueFile, ...] = ()

    @property
    def on_request(self) -> bool:
        """Whether the corpus is only to be had from its owner."""
        return not self.files

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def lines(self) -> int:
        """The lines of data in all files."""
        return sum(file.lines for file in self.files)

    @property
    def advice(self) -> str:
        """Where to turn for a file that cannot be downloaded."""
        return f"see {self.origin}; {self.ask}" if self.ask else f"see {self.origin}"

    def file(self, path: str) -> CatalogueFile:
        """The file of this path; UnknownName when the corpus has none."""
        for file in self.files:
            if file.path == path:
                return file
        raise UnknownName(f"file of {self.name}", path, [file.path for file in self.files])

    def remote(self, file: CatalogueFile) -> RemoteFile:
        """The file as it is located and fetched."""
        return RemoteFile(file.path, file.sha256, file.bytes, file.url, self.advice)


@lru_cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Every corpus that restyle knows, by name, in the order of the catalogue."""
    tables = _toml("catalogue.toml")
    tables[BOOKS]["files"] = _toml("books.toml")
    return {name: _entry(name, table) for name, table in tables.items()}


def catalogued(name: str) -> CatalogueEntry:
    """What is known of one corpus; UnknownName suggests the nearest."""
    known = catalogue()
    if name not in known:
        raise UnknownName("corpus", name, known)
    return known[name]


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("restyle.corpora").joinpath(name).read_text(encoding="utf-8"))


def _entry(name: str, table: dict[str, Any]) -> CatalogueEntry:
    files = tuple(CatalogueFile(path, **_frozen(of_file)) for path, of_file in table.pop("files", {}).items())
    return CatalogueEntry(name, files=files, **_frozen(table))


def _frozen(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
