"""Plays: Shakespeare beside a modern translation, and 36 plays in Shakespeare's words only."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from restyle.corpora._corpus import SPLITS, TEST, TRAIN, VALID, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded

_OTHER = {"shakespeare": "modern", "modern": "shakespeare"}
# Twelfth Night, which is the valid split of `shakespeare`: from its first line to the end of its last song.
_TWELFTH_NIGHT = range(46_423, 47_859)


def shakespeare(files: Files) -> Corpus:
    """Xu et al. 2012: 17 plays in two styles; valid is Twelfth Night, test Romeo and Juliet, each with references."""

    def read(style: str, split: str) -> Iterator[Line]:
        return files.lines(f"shakespeare/{split}.{style}.txt")

    def references(style: str, split: str) -> list[list[str]]:
        return [[line.text] for line in read(_OTHER[style], split)]

    return guarded(
        "shakespeare",
        {style: partial(read, style) for style in _OTHER},
        SPLITS,
        shuffled=True,
        references={(style, split): partial(references, style, split) for style in _OTHER for split in (VALID, TEST)},
    )


def plays36(files: Files) -> Corpus:
    """36 plays to learn Shakespeare from, without Twelfth Night and what else the tests hold."""

    def read(split: str) -> Iterator[Line]:
        lines = files.lines("shakespeare/plays36.txt.gz")
        return (line for line in lines if line.number not in _TWELFTH_NIGHT)

    apart_from = ["shakespeare/shakespeare/valid", "shakespeare/shakespeare/test", "cds/shakespeare/test"]
    return guarded("plays36", {"shakespeare": read}, [TRAIN], apart_from={"shakespeare": apart_from})
