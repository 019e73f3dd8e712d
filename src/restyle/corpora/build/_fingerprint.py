"""A sentence as numbers: the hash of its content, and the hashes of its word pairs.

Nothing here depends on the machine, the run or the other sentences, so that what is decided by these numbers (which
split, which duplicate) is decided for good.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
U32 = npt.NDArray[np.uint32]

# Odd constants of splitmix64: they spread what differs in few bits over all of them.
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


def content_hash(folded: str) -> int:
    """A 64-bit hash of folded content, the same on every machine: the number that `split_of` divides."""
    return int.from_bytes(blake2b(folded.encode(), digest_size=8).digest(), "big")


def style_salt(style: str) -> int:
    """A number that tells styles apart: the same sentence in two styles is no duplicate."""
    return content_hash(f"style {style}")


def word_pairs(folded: Sequence[str], salts: U64) -> tuple[U32, npt.NDArray[np.int64]]:
    """The sets of word-pair hashes of many sentences: all hashes (P,), sorted within a sentence, and offsets (N+1,).

    A pair is two neighbouring words, or the first or last word and the sentence's edge, so that a sentence of n words
    has up to n + 1 pairs.
    """
    hashes: list[int] = []
    counts = np.empty(len(folded), np.int64)
    for row, text in enumerate(folded):
        words = text.encode().split()
        hashes.append(0)
        hashes.extend(map(zlib.crc32, words))
        hashes.append(0)
        counts[row] = len(words) + 2
    words_ = np.array(hashes, np.uint64)  # (W,), an edge before and after each sentence
    rows = np.repeat(np.arange(len(folded), dtype=np.uint64), counts)  # (W,)
    with np.errstate(over="ignore"):
        pairs = ((words_[:-1] * _MIX) ^ (words_[1:] + salts[rows[1:].astype(np.int64)])) * _MIX >> _SHIFT
    within = rows[:-1] == rows[1:]
    # Sorted by sentence, then by hash; a pair that stands twice counts once: similarity is one of sets.
    tagged = np.sort(rows[:-1][within] << _SHIFT | pairs[within])
    unique = tagged[np.append(True, tagged[1:] != tagged[:-1])]
    offsets = np.searchsorted(unique >> _SHIFT, np.arange(len(folded) + 1, dtype=np.uint64))
    return (unique & np.uint64(0xFFFFFFFF)).astype(np.uint32), offsets.astype(np.int64)
