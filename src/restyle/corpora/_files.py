"""The files of one corpus on this machine: in the mirror, in the cache, fetched, or a user's own copy."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from restyle.assets import fetch, locate
from restyle.corpora._catalogue import CatalogueEntry
from restyle.corpora._corpus import Line
from restyle.errors import Corrupt, InputError, OnRequest
from restyle.records import ReadingReport, Record, opened_text, read_records

# Of the files of a corpus: on this machine; to be downloaded by `fetch`; to be had in another way, which `info` tells;
# only from the owner; on this machine, but one of them is not what the catalogue names.
Whereabouts = Literal["here", "to fetch", "see info", "on request", "damaged"]


class Files:
    """Where the files of a corpus are; one that is not on this machine is fetched when it is first asked for.

    With `folder`, a copy of the user's own is read instead. What it holds is not compared with the catalogue.
    """

    def __init__(self, entry: CatalogueEntry, folder: Path | None = None) -> None:
        self.entry = entry
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The user's own copy of a corpus that only its owner gives out; OnRequest when there is none."""
        entry = self.entry
        if self._folder is None:
            raise OnRequest(
                f"{entry.name} may not be passed on ({entry.licence}): {entry.advice}; "
                f"then name its folder with --path. Expected in it: {entry.layout}"
            )
        if not self._folder.is_dir():
            raise InputError(f"{self._folder} is no folder; expected is one with {entry.layout or 'its files'}")
        return self._folder

    def all_paths(self) -> list[Path]:
        """Where all files are, fetched if need be; OnRequest says where to ask for what cannot be fetched."""
        if not self.entry.files:
            return [self.folder]
        return [self.path(file.path) for file in self.entry.files]

    def whereabouts(self) -> Whereabouts:
        """Where the files of a corpus are, without fetching any."""
        if not self.entry.files:
            return "on request"
        try:
            missing = [file for file in self.entry.files if locate(self.entry.remote(file)) is None]
        except Corrupt:
            return "damaged"
        if not missing:
            return "here"
        return "to fetch" if all(file.url for file in missing) else "see info"

    def count_lines(self, name: str) -> int:
        """The lines of data in a file, counted: a table's header line is none."""
        with opened_text(self.path(name)) as texts:
            return sum(1 for _ in texts) - self.entry.file(name).has_header

    def path(self, name: str) -> Path:
        """Where one file of the catalogue is."""
        if self._folder is None:
            return fetch(self.entry.remote(self.entry.file(name)))
        for candidate in (self.folder / name, self.folder / Path(name).name):
            if candidate.is_file():
                return candidate
        raise InputError(f"{self.folder} holds no {Path(name).name}, which {self.entry.name} needs")

    def lines(self, name: str) -> Iterator[Line]:
        """The lines of a text file, one sentence each, those without any text left out."""
        for line in self.all_lines(name):
            if line.text.strip():
                yield line

    def all_lines(self, name: str) -> Iterator[Line]:
        """The lines of a text file, the empty ones too."""
        with opened_text(self.path(name)) as texts:
            for number, text in enumerate(texts, start=1):
                yield Line(text, name, number)

    def texts(self, name: str) -> list[str]:
        """All lines of a text file."""
        return [line.text for line in self.all_lines(name)]

    def rows(self, name: str, text: str = "text") -> Iterator[Record]:
        """The rows of a TSV or CSV with `text` as the column of that name; `line` is where each stands."""
        columns = self.entry.file(name).columns or None
        # A column called `id` would take the place of the line number.
        report = ReadingReport()
        for record in read_records(self.path(name), text_column=text, columns=columns, report=report):
            yield {**record, "id": str(report.line), "source": name, "line": report.line}

    def quoted_rows(self, name: str) -> Iterator[Record]:
        """The rows of a TSV whose cells may be quoted, and may then hold a line break."""
        with opened_text(self.path(name)) as lines:
            table = csv.reader((line + "\n" for line in lines), delimiter="\t")
            header: list[str] = next(table, [])
            for row in table:
                if len(row) != len(header):
                    raise InputError(f"{name}, line {table.line_num}: fields: {len(row)}; the header has {len(header)}")
                yield {**dict(zip(header, row, strict=True)), "source": name, "line": table.line_num}
