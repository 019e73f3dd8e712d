"""Sentences on the disk and numbers in memory: what the first pass over the inputs leaves for the second."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from restyle.corpora._content import folded
from restyle.corpora.build._duplicates import PairSets
from restyle.corpora.build._fingerprint import U64, content_hash, style_salt, word_pairs
from restyle.errors import InputError
from restyle.records import writing_to

# What two bytes a sentence can tell apart, and far more than anyone has styles.
MOST_STYLES = 65_536
# Enough sentences for numpy to be worth its calls, few enough to be nothing in memory.
_BATCH = 4096


@dataclass(frozen=True, slots=True)
class Spooled:
    """A sentence as it comes back from the disk."""

    style: str
    source: str
    line: int
    text: str


class Spool:
    """Takes sentences one by one, in order, and gives them back as often as wanted.

    Of each it holds the hash of its content, its style and its source (14 bytes), and its word pairs.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._styles: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._salts: list[int] = []
        self._contents, self._style_of, self._source_of = array("Q"), array("H"), array("I")
        self._waiting: list[str] = []  # folded, until there is a batch of them
        self.pairs = PairSets()

    def __enter__(self) -> Spool:
        with writing_to(self._path):
            self._out = self._path.open("w", encoding="utf-8", newline="\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with writing_to(self._path):
            self._out.close()
        self._add_pairs()

    def add(self, source: int, style: str, file: str, line: int, text: str) -> None:
        """Append one sentence of a source; its text holds no line break and no tab."""
        name = self._files.setdefault(file, len(self._files))
        number = self._styles.setdefault(style, len(self._styles))
        if number == MOST_STYLES:
            raise InputError(
                f"{file}, line {line}: {style[:40]!r} would be style number {number + 1:,}, and {MOST_STYLES:,} is the "
                "most that a corpus can have; does --style-column name a column of styles?"
            )
        if number == len(self._salts):
            self._salts.append(style_salt(style))
        content = folded(text)
        self._contents.append(content_hash(content))
        self._style_of.append(number)
        self._source_of.append(source)
        self._waiting.append(content)
        if len(self._waiting) == _BATCH:
            self._add_pairs()
        with writing_to(self._path):
            self._out.write(f"{number}\t{name}\t{line}\t{text}\n")

    def __len__(self) -> int:
        return len(self._contents)

    def __iter__(self) -> Iterator[Spooled]:
        styles, files = list(self._styles), list(self._files)
        with self._path.open(encoding="utf-8", newline="\n") as lines:
            for line in lines:
                style, file, number, text = line.rstrip("\n").split("\t", 3)
                yield Spooled(styles[int(style)], files[int(file)], int(number), text)

    @property
    def contents(self) -> U64:
        """The hash of each sentence's content (N,)."""
        return np.frombuffer(self._contents, np.uint64)

    @property
    def keys(self) -> U64:
        """The same (N,), told apart by style: the same sentence in two styles is no duplicate."""
        return self.contents ^ np.array(self._salts, np.uint64)[self.styles]

    @property
    def styles(self) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
        """The number of each sentence's style (N,), in the order in which styles were met."""
        return np.frombuffer(self._style_of, np.uint16)

    @property
    def sources(self) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """The number of each sentence's source (N,)."""
        return np.frombuffer(self._source_of, np.uint32)

    def _add_pairs(self) -> None:
        if self._waiting:
            styles = np.array(self._style_of[-len(self._waiting) :], np.int64)
            self.pairs.add(*word_pairs(self._waiting, np.array(self._salts, np.uint64)[styles]))
            self._waiting.clear()
