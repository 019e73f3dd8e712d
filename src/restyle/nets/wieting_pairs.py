"""Sentences that say the same: what the similarity model learns from, and what is kept from it to choose and to test.

A group is a list of sentences of one meaning: a verse in its versions, the captions of a picture, a question and those
who asked it again. Groups that share a sentence are one group, so that no sentence can be the negative of its own
paraphrase, and none stands in training and validation both.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from restyle.corpora import HeldOut, load, rows

Group = list[str]

# KJVPCE, Webster, RWebster and UKJV differ from each other in little but spelling: one of them is enough.
_NEAR_REPEATS = frozenset({"Webster", "RWebster", "UKJV"})
# On the scale of the STS benchmark 4 is "mostly equivalent, but some unimportant details differ".
_SAME_MEANING = 4.0
# One group in so many is kept back to validate with.
_VALIDATION_SHARE = 20


def _paraphrased(table: str, part: str) -> Iterator[Group]:
    for row in rows(table, part):
        yield [row["text"], *row["paraphrases"]]


def _scored(table: str, part: str, least: float) -> Iterator[Group]:
    for row in rows(table, part):
        if row["score"] >= least:
            yield [row["text"], row["other"]]


def _verses() -> Iterator[Group]:
    for row in rows("bible", "train"):
        yield [text for version, text in row["versions"].items() if version not in _NEAR_REPEATS]


def _strap() -> Iterator[Group]:
    """What STRAP made of CDS; but for Shakespeare, whose sample is the test of every system (see corpora/cds.py)."""
    for row in rows("strap-cds", "outputs"):
        if row["style"] != "shakespeare":
            yield [row["text"], row["paraphrase"]]


# The parts of each corpus that may be trained on, never their tests, and nothing of the aligned Shakespeare.
SOURCES: dict[str, Callable[[], Iterator[Group]]] = {
    "quora": partial(_paraphrased, "quora", "train"),
    "twitter-url": partial(_paraphrased, "twitter-url", "train"),
    "flickr8k": partial(_paraphrased, "flickr8k", "captions"),
    "paradetox": partial(_paraphrased, "paradetox", "rows"),
    "pan": partial(_scored, "pan", "train", 1.0),
    "stsb": partial(_scored, "stsb", "train", _SAME_MEANING),
    "bible": _verses,
    "strap-cds": _strap,
}
# What is reported on: a training sentence that gives one of these away is left out.
_TESTS = (("quora", "test"), ("twitter-url", "test"), ("pan", "test"), ("stsb", "dev"), ("stsb", "test"))


def gathered(sources: Iterable[str] = tuple(SOURCES)) -> Iterator[Group]:
    """The groups of these sources, without the sentences that give away a test."""
    held_out = HeldOut(_held_out())
    for source in sources:
        for group in SOURCES[source]():
            kept = [text for text in group if held_out.leak(text) is None]
            if len(kept) > 1:
                yield kept


def _held_out() -> Iterator[str]:
    for table, part in _TESTS:
        for row in rows(table, part):
            yield from (row[key] for key in ("text", "other") if key in row)
            yield from row.get("paraphrases", ())
    plays, styles = load("shakespeare"), load("cds")
    for split in ("valid", "test"):
        for style in plays.styles:
            yield from plays.sentences(style, split, raw=True)
    for style in styles.styles:
        yield from styles.sentences(style, "test", raw=True)


def merged(groups: Iterable[Group]) -> list[Group]:
    """The groups with those made one that share a sentence; each sentence once, groups of one left out.

    >>> merged([["a", "b"], ["c", "d"], ["e", "b"], ["f", "f"]])
    [['a', 'b', 'e'], ['c', 'd']]
    """
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        parent.setdefault(text, text)
        while parent[text] != text:
            parent[text] = text = parent[parent[text]]
        return text

    for group in groups:
        for text in group:
            parent[root(text)] = root(group[0])
    together: dict[str, Group] = {}
    for text in parent:
        together.setdefault(root(text), []).append(text)
    return [group for group in together.values() if len(group) > 1]


def split(groups: list[Group]) -> tuple[list[Group], list[Group]]:
    """Groups to learn from, and one in twenty to validate with, as the content of each decides."""
    train: list[Group] = []
    valid: list[Group] = []
    for group in groups:
        (valid if zlib.crc32(group[0].encode()) % _VALIDATION_SHARE == 0 else train).append(group)
    return train, valid
