"""The content of a sentence: what stays the same when it is spelled, spaced or tokenised another way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from html import unescape

from restyle.corpora._corpus import TEST, TRAIN, VALID, Line

# STRAP's smaller styles are split 90/5/5 (Table 14).
VALID_SHARE = TEST_SHARE = 0.05


class _Folding(dict[int, str | None]):
    """Character by character: case and apostrophes go, other marks and white space become a space."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        folded: str | None = character.casefold()
        if character in "'’‘ʼ`´":
            folded = None  # don't and dont differ in nothing that anyone would call content
        elif unicodedata.category(character)[0] in "PZC":
            folded = " "
        self[code] = folded
        return folded


_FOLDING = _Folding()
# What a tokeniser sets apart from its word: do n't, I 'm, it 's, we 'll.
_CLITIC = re.compile(r" (?=(?:nt|s|m|d|ll|re|ve)\b)")


def folded(text: str) -> str:
    """The words of a sentence in order, without case, punctuation, spacing and a tokeniser's marks.

    Ten times as fast as cleaning, after which two spellings of a sentence would be the same too.

    >>> folded("`` Do n't go , '' he said .")
    'dont go he said'
    """
    if "&" in text:
        text = unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _CLITIC.sub("", " ".join(text.translate(_FOLDING).split()))


def split_of(text: str) -> str:
    """The split that a text's content decides: the same on every machine, whatever else is in the corpus.

    >>> split_of("To horse!") == split_of("to horse")
    True
    """
    position = int.from_bytes(blake2b(folded(text).encode(), digest_size=8).digest(), "big") / 2**64
    if position < TEST_SHARE:
        return TEST
    return VALID if position < TEST_SHARE + VALID_SHARE else TRAIN


def only(split: str, lines: Iterable[Line]) -> Iterator[Line]:
    """The lines that belong to one split by their content, for a source that names no splits."""
    return (line for line in lines if split_of(line.text) == split)


def by_content(lines_of: Callable[[str], Iterable[Line]]) -> Callable[[str, str], Iterator[Line]]:
    """A function from a style and a split to the lines that belong there by their content.

    All lines of the style that was read last are held: who trains on a style reads its other splits as well, and prose
    takes a while to be cut into sentences.
    """

    @lru_cache(maxsize=1)
    def decided(style: str) -> list[tuple[str, Line]]:
        return [(split_of(line.text), line) for line in lines_of(style)]

    def read(style: str, split: str) -> Iterator[Line]:
        return (line for of_line, line in decided(style) if of_line == split)

    return read
