"""Which pairs repeat an earlier one: a 64-bit key for each survivor, and the set of those that came before."""

from __future__ import annotations

from hashlib import blake2b
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from restyle.pairs._kernels import insert
from restyle.pairs.stages import Pairs

Keys = NDArray[np.uint64]

# A table of 2^26 slots is 512 MiB, and fast until five sixths are full: ParaNMT's 51.41M pairs fit if all survive.
MOST_SLOTS = 1 << 26
_FULL = 5 / 6
_FEWEST_SLOTS = 1 << 14


def keys_of(pairs: Pairs, kind: Literal["exact", "near"]) -> Keys:
    """A key for each pair; two pairs share one when they are duplicates, and else once in 2^64."""
    digest = _exact if kind == "exact" else _near
    return np.fromiter((digest(pairs, row) for row in range(len(pairs))), np.uint64, len(pairs))


def _exact(pairs: Pairs, row: int) -> int:
    text, paraphrase = pairs.texts[row], pairs.paraphrases[row]
    # The length, so that a character that moves from one side to the other makes another pair.
    return _key(f"{len(text)} {text}{paraphrase}".encode("utf-8", "surrogatepass"))


def _near(pairs: Pairs, row: int) -> int:
    """The key of the SQuAD-normalised words of both sides: case, punctuation and articles do not count."""
    sides = [words.hashes[words.starts[row] : words.ends[row]].tobytes() for words in pairs.words]
    return _key(b"%d " % len(sides[0]) + b"".join(sides))


def _key(content: bytes) -> int:
    # 0 stands for an empty slot.
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little") or 1


class Seen:
    """The keys that came before, in 8 bytes each.

    Beyond `most_slots * 5 / 6` of them no more are remembered: a later pair is still held against those, but no longer
    against the others that came after.
    """

    def __init__(self, most_slots: int = MOST_SLOTS) -> None:
        self.remembered = 0
        self.overflowed = False
        self._most_slots = most_slots
        self._table = np.zeros(min(_FEWEST_SLOTS, most_slots), np.uint64)

    def fresh(self, keys: Keys) -> NDArray[np.bool_]:
        """Which of these keys are new, in their order; they are old from now on."""
        while self._room() < len(keys) and len(self._table) < self._most_slots:
            self._grow()
        fresh, added = insert(self._table, keys, self._room())
        self.remembered += added
        self.overflowed = self.overflowed or added < int(np.count_nonzero(fresh))
        return fresh

    def _room(self) -> int:
        return int(len(self._table) * _FULL) - self.remembered

    def _grow(self) -> None:
        # Fourfold, so that the old table takes little beside the new one.
        bigger = np.zeros(min(4 * len(self._table), self._most_slots), np.uint64)
        insert(bigger, self._table[self._table != 0], self.remembered)
        self._table = bigger
