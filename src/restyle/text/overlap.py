"""How much of one sentence is found in another, for millions of pairs at a time.

The measures and their edge cases are those of `restyle.text.overlap_pair`, to the last bit; here each takes two equally
long columns, of sentences or of `Words`, and answers with an array. A column that is measured more than once is best
encoded once:

    source, rewrite = encode(sources), encode(rewrites)
    lexical, order = unigram_f1(source, rewrite), kendall_tau(source, rewrite)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from restyle.errors import MissingExtra, UnknownName, UsageError
from restyle.text import overlap_pair

try:
    from restyle.text import _overlap_kernels as kernels
except ModuleNotFoundError as error:
    raise MissingExtra("numba", "text", "the word overlap of many pairs") from error

Floats = NDArray[np.float64]
# What one pair may cost before it is refused rather than left to run for minutes: some seconds.
MAX_EDIT_CELLS = 10**11


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """A column of sentences as numbers, one for each word; `words[rows]` picks rows without copying a word."""

    hashes: kernels.Symbols
    starts: kernels.Places
    ends: kernels.Places

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, rows: slice | NDArray[Any] | list[int]) -> Words:
        return Words(self.hashes, self.starts[rows], self.ends[rows])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each sentence has."""
        return self.ends - self.starts

    def ngrams(self, n: int) -> Words:
        """The runs of n words of each sentence, each taken as one word."""
        if n < 1:
            raise UsageError(f"n-grams of {n} words were asked for; n is at least 1")
        return _contiguous(*kernels.ngrams(self.hashes, self.starts, self.ends, n))

    def distinct(self) -> Words:
        """The words of each sentence, each once."""
        return _contiguous(*kernels.distinct(self.hashes, self.starts, self.ends))


Texts = Words | Sequence[str]


def encode(texts: Sequence[str]) -> Words:
    """Turn a column of sentences into numbers, one for each word of `overlap_pair.words`.

    Different words have different numbers, but for the chance of a 63-bit hash (two given words of eight bytes or more
    meet once in 10^18): docs/adr/0003-overlap-kernels.md.
    """
    texts = _listed(texts)
    joined = _lines(texts)
    if joined.count("\n") != len(texts):  # inside a sentence a line break is as good as a space
        joined = _lines([text.replace("\n", " ") for text in texts])
    hashes, ends, needs_python = kernels.hash_words(_bytes(joined), kernels.FOLDING, len(texts))
    words = _contiguous(hashes, ends)
    odd = np.flatnonzero(needs_python)
    return words if not len(odd) else _replaced(words, odd, [overlap_pair.words(texts[row]) for row in odd])


def unigram_precision(source: Texts, rewrite: Texts) -> Floats:
    """The share of each rewrite's words that are found in its source."""
    return _unigram_scores(source, rewrite)[0]


def unigram_recall(source: Texts, rewrite: Texts) -> Floats:
    """The share of each source's words that are found in its rewrite."""
    return _unigram_scores(source, rewrite)[1]


def unigram_f1(source: Texts, rewrite: Texts) -> Floats:
    """The harmonic mean of unigram precision and recall, as SQuAD computes it.

    >>> unigram_f1(["Are you crazy?"], ["Art thou crazy?"]).round(2).tolist()
    [0.33]
    """
    precision, recall = _unigram_scores(source, rewrite)
    return _ratio(2 * precision * recall, precision + recall, 0.0)


def ngram_overlap(source: Texts, rewrite: Texts, n: int = 3) -> Floats:
    """The share of each rewrite's n-grams that are found in its source; 0 for a rewrite of fewer than n words."""
    ours, theirs = _pair(source, rewrite)
    theirs = theirs.ngrams(n)
    return _ratio(kernels.shared(*_columns(ours.ngrams(n), theirs)), theirs.lengths, 0.0)


def jaccard(source: Texts, rewrite: Texts) -> Floats:
    """The words in both sentences of a pair over the words in either."""
    ours, theirs = (words.distinct() for words in _pair(source, rewrite))
    shared = kernels.shared(*_columns(ours, theirs))
    return _ratio(shared, ours.lengths + theirs.lengths - shared, 1.0)


def kendall_tau(source: Texts, rewrite: Texts, undefined: float = math.nan) -> Floats:
    """Kendall's tau-b of the order of the words that each pair shares; `undefined` where it shares fewer than two."""
    discordant, pairs = _discordant(source, rewrite)
    return _ratio(pairs - 2 * discordant, pairs, undefined)


def shuffled(source: Texts, rewrite: Texts, undefined: float = 1.0) -> Floats:
    """The share of pairs of shared words that changed their order; `undefined` where fewer than two are shared."""
    discordant, pairs = _discordant(source, rewrite)
    return _ratio(discordant, pairs, undefined)


def edit_distance(source: Texts, rewrite: Texts, unit: Literal["word", "character"] = "word") -> NDArray[np.int64]:
    """How many words, or characters of the texts as they stand, to insert, delete or replace.

    The time grows with the product of the lengths: half a second for 100,000 characters against as many. UsageError
    for a pair that would take more than MAX_EDIT_CELLS, and for characters of `Words`, which no longer know theirs.
    """
    encoders = {"word": _words, "character": _characters}
    if unit not in encoders:
        raise UnknownName("unit of edits", unit, encoders)
    ours, theirs = _pair(source, rewrite, encoders[unit])
    cells = ours.lengths.astype(np.float64) * theirs.lengths
    if len(cells) and cells.max() > MAX_EDIT_CELLS:
        row = int(cells.argmax())
        raise UsageError(
            f"pair {row} is too long to count edits: {ours.lengths[row]:,} against {theirs.lengths[row]:,} {unit}s; "
            f"cut it, or leave it out (at most {MAX_EDIT_CELLS:.0e} for the product)"
        )
    return kernels.edit_distances(*_columns(ours, theirs))


def _listed(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise UsageError("one sentence was given where a list of them is expected; overlap_pair compares single pairs")
    return texts if isinstance(texts, list) else list(texts)


def _lines(texts: list[str]) -> str:
    return "\n".join(texts) + "\n" if texts else ""


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)


def _replaced(words: Words, rows: NDArray[np.intp], spelled: list[list[str]]) -> Words:
    """The column with other words, as Python found them, in these rows."""
    lines = _bytes(_lines([" ".join(row) for row in spelled]))
    hashes, ends, _ = kernels.hash_words(lines, kernels.SPELLED_FOLDING, len(rows))
    others = _contiguous(hashes, ends)
    words.starts[rows] = others.starts + len(words.hashes)
    words.ends[rows] = others.ends + len(words.hashes)
    return Words(np.concatenate((words.hashes, hashes)), words.starts, words.ends)


def _characters(texts: Texts) -> Words:
    if isinstance(texts, Words):
        raise UsageError("encoded words no longer know their characters; give the sentences themselves")
    texts = _listed(texts)
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return _contiguous(codes.astype(np.uint64), np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts))))


def _words(texts: Texts) -> Words:
    return texts if isinstance(texts, Words) else encode(texts)


def _contiguous(hashes: kernels.Symbols, ends: kernels.Places) -> Words:
    return Words(hashes, np.concatenate((np.zeros(1, np.int64), ends))[:-1], ends)


def _pair(source: Texts, rewrite: Texts, encoder: Callable[[Texts], Words] = _words) -> tuple[Words, Words]:
    ours, theirs = encoder(source), encoder(rewrite)
    if len(ours) != len(theirs):
        raise UsageError(f"{len(ours):,} sentences cannot be paired with {len(theirs):,}; give as many of each")
    return ours, theirs


def _columns(ours: Words, theirs: Words) -> tuple[NDArray[Any], ...]:
    """The arrays of both columns, as the kernels take them."""
    return ours.hashes, ours.starts, ours.ends, theirs.hashes, theirs.starts, theirs.ends


def _unigram_scores(source: Texts, rewrite: Texts) -> tuple[Floats, Floats]:
    ours, theirs = _pair(source, rewrite)
    shared = kernels.shared(*_columns(ours, theirs))
    both_empty = (ours.lengths + theirs.lengths == 0).astype(np.float64)
    return _ratio(shared, theirs.lengths, both_empty), _ratio(shared, ours.lengths, both_empty)


def _discordant(source: Texts, rewrite: Texts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    discordant, shared = kernels.discordant(*_columns(*_pair(source, rewrite)))
    return discordant, shared * (shared - 1) // 2


def _ratio(part: NDArray[Any], whole: NDArray[Any], undefined: float | Floats) -> Floats:
    """Part over whole, and `undefined` where the whole is nothing."""
    answer: Floats = np.full(len(whole), undefined, np.float64)
    np.divide(part, whole, out=answer, where=whole != 0)
    return answer
