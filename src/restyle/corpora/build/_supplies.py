"""Styles of catalogued corpora as sources: what a paper's corpus is put together from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from restyle.corpora._catalogue import catalogued
from restyle.corpora._corpus import TRAIN, VALID, Corpus, Line
from restyle.corpora._open import load
from restyle.corpora.build._sources import Source
from restyle.errors import AssetError, UnknownName
from restyle.records import ReadingReport

Paths = Mapping[str, str | Path]


@dataclass(frozen=True)
class Supply:
    """One style of a catalogued corpus, and which of the paper's styles it serves.

    `stands_in_for` names the paper's source when this is another one. A valid split that is not to be trained on, such
    as a whole play, is left out with `splits`.
    """

    style: str
    corpus: str
    of: str
    stands_in_for: str = ""
    splits: tuple[str, ...] = (TRAIN, VALID)

    @property
    def name(self) -> str:
        """The corpus and its style, as one name."""
        return f"{self.corpus}/{self.of}"

    def source(self, paths: Paths, limit: int | None) -> Source:
        """The supply as a source that is read once; AssetError says why it cannot be had and what to do."""
        lines = self._lines(load(self.corpus, paths.get(self.corpus)))
        # Asked for now, so that a file that is missing is known before hours of work.
        first = list(islice(lines, 1))

        def read(report: ReadingReport) -> Iterator[Line]:
            del report  # a loader passes over nothing
            return islice(chain(first, lines), limit)

        note = f"stands in for {self.stands_in_for}" if self.stands_in_for else catalogued(self.corpus).title
        return Source(self.name, self.style, read, ready=True, note=note)

    def _lines(self, corpus: Corpus) -> Iterator[Line]:
        for split in self.splits:
            if corpus.has(self.of, split):
                yield from corpus.lines(self.of, split)


def sources_at_hand(supplies: Iterable[Supply], paths: Paths, limit: int | None) -> tuple[list[Source], list[str]]:
    """The supplies that can be had as sources, and for each of the others a sentence that says how to get it."""
    found, missing = [], []
    for supply in supplies:
        try:
            found.append(supply.source(paths, limit))
        except AssetError as error:
            missing.append(f"{supply.style}: {supply.name} is missing; {error}")
    return found, missing


def check_paths(paths: Paths, supplies: Sequence[Supply]) -> None:
    """Refuse a path for a corpus that none of the supplies is from."""
    known = {supply.corpus for supply in supplies}
    for name in paths:
        if name not in known:
            raise UnknownName("corpus of this recipe", name, known)
