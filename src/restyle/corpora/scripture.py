"""Scripture: one verse in nineteen English versions, each version a style."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from restyle.corpora._catalogue import catalogued
from restyle.corpora._content import split_of
from restyle.corpora._corpus import SPLITS, TRAIN, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora._rows import Rows
from restyle.corpora.leaks import HeldOut, guarded, held_out
from restyle.records import Record

_HELD_OUT = ["cds/bible/test"]
_VERSES = "paraphrase/bible_verses.tsv.gz"


def bible(files: Files) -> Corpus:
    """A style per version; all versions of a verse are in one split, so that none gives away another's test."""

    @cache  # nineteen styles times three splits are read from the same table
    def verses() -> list[tuple[str, Record]]:
        return [(split_of(row["text"]), row) for row in files.rows(_VERSES, text="ref")]

    def read(version: str, split: str) -> Iterator[Line]:
        for of_verse, row in verses():
            if of_verse == split and row[version]:
                yield Line(row[version], row["source"], row["line"], row["text"], {"verse": row["text"]})

    versions = catalogued("bible").styles
    apart_from = dict.fromkeys(versions, _HELD_OUT)
    return guarded("bible", {version: partial(read, version) for version in versions}, SPLITS, apart_from=apart_from)


def verses(files: Files) -> Rows:
    """Each verse of a split with all its versions; those that CDS holds out are not in train."""

    def read(split: str) -> Iterator[Record]:
        tests = HeldOut(held_out(_HELD_OUT) if split == TRAIN else [])
        for row in files.rows(_VERSES, text="ref"):
            verse = row["text"]
            if split_of(verse) != split:
                continue
            versions = {name: row[name] for name in catalogued("bible").styles if row[name]}
            if not any(tests.leak(version) for version in versions.values()):
                yield {"id": f"bible/{split}/{verse}", "text": next(iter(versions.values())), "versions": versions}

    return {split: partial(read, split) for split in SPLITS}
