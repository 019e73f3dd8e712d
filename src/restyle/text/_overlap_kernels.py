"""The loops under `restyle.text.overlap`, compiled by numba once per machine (docs/adr/0003-overlap-kernels.md).

A column of sentences is one array of 64-bit numbers, one per word, with the places where each row starts and ends. The
kernels run on one core and release the GIL; spreading rows over cores is the business of `restyle.jobs`.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Symbols = NDArray[np.uint64]
Places = NDArray[np.int64]
Table = NDArray[np.int32]
Folding = NDArray[np.uint8]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# What a byte can be told to become instead of a byte of a word.
_ROW_END, _SPACE, _DROPPED = range(3)
_NEEDS_PYTHON = 0x80
# An odd constant near 2^64 / golden ratio: multiplying by it spreads close numbers far apart (Knuth 6.4).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_TOP_BIT = np.uint64(1 << 63)
_ONE, _EIGHT, _HALF, _WORD_BITS = np.uint64(1), np.uint64(8), np.uint64(32), np.uint64(64)


def compiled(function: Kernel) -> Kernel:
    """Compile with numba and keep the machine code beside the module (or where `$NUMBA_CACHE_DIR` says)."""
    try:
        return cast(Kernel, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder can be written: compile in every process rather than not work at all
        return cast(Kernel, numba.njit(nogil=True)(function))


def _folding() -> Folding:
    """What becomes of each byte of a sentence: the SQuAD script's rules, as far as they look at single ASCII bytes."""
    fold = np.arange(256, dtype=np.uint8)
    fold[:0x20] = fold[0x7F] = _NEEDS_PYTHON  # control characters; they are no letters and part words around them
    fold[list(b" \t\v\f\r\x1c\x1d\x1e\x1f")] = _SPACE  # what str.split takes for white space
    fold[ord("\n")] = _ROW_END
    fold[list(string.punctuation.encode())] = _DROPPED
    for letter in string.ascii_uppercase:
        fold[ord(letter)] = ord(letter.lower())
    return fold


def _spelled_folding() -> Folding:
    """The same for words that Python found: each byte stays, and those that mean something above become marks."""
    fold = np.arange(256, dtype=np.uint8)
    fold[[_ROW_END, _SPACE, _DROPPED]] = list(b'!"#')  # no word holds these any more
    fold[ord(" ")], fold[ord("\n")] = _SPACE, _ROW_END
    return fold


def _packed(word: bytes) -> np.uint64:
    return np.uint64(len(word) << 56 | int.from_bytes(word, "big"))


FOLDING, SPELLED_FOLDING = _folding(), _spelled_folding()
_A, _AN, _THE = _packed(b"a"), _packed(b"an"), _packed(b"the")


@compiled
def hash_words(buffer: NDArray[np.uint8], folding: Folding, rows: int) -> tuple[Symbols, Places, NDArray[np.bool_]]:
    """A number for each word of each row, where each row of them ends, and which rows Python has to look at instead.

    Each row ends with the byte that `folding` makes a row's end. A word of up to seven bytes is its own bytes and how
    many, so these never collide; a longer one is a 63-bit hash (FNV-1a with another factor) under a set top bit.
    """
    hashes = np.empty(len(buffer) // 2 + 1, np.uint64)  # a word takes two bytes or more, its space included
    ends, needs_python = np.empty(rows, np.int64), np.empty(rows, np.bool_)
    word = digest = np.uint64(0)
    count = row = length = seen = 0
    for byte in buffer:
        sign = folding[byte]
        if sign > _DROPPED:
            digest = (digest ^ np.uint64(sign)) * _SPREAD
            word = word << _EIGHT | np.uint64(sign)
            length += 1
            seen |= sign
        elif sign != _DROPPED:
            if length:
                long = digest ^ digest >> _HALF | _TOP_BIT
                hashes[count] = word | np.uint64(length) << np.uint64(56) if length < 8 else long
                if hashes[count] not in (_A, _AN, _THE):
                    count += 1
                word = digest = np.uint64(0)
                length = 0
            if sign == _ROW_END:
                ends[row], needs_python[row] = count, seen >= _NEEDS_PYTHON
                seen = 0
                row += 1
    return hashes[:count].copy(), ends, needs_python


@compiled
def ngrams(hashes: Symbols, starts: Places, ends: Places, n: int) -> tuple[Symbols, Places]:
    """A number for each run of n words of each row, and where each row of them ends."""
    grams = np.empty((ends - starts).sum(), np.uint64)
    gram_ends = np.empty_like(ends)
    count = 0
    for row in range(len(ends)):
        for place in range(starts[row], ends[row] - n + 1):
            digest = np.uint64(n)
            for word in range(place, place + n):
                digest = (digest ^ hashes[word]) * _SPREAD
                digest ^= digest >> _HALF
            grams[count] = digest
            count += 1
        gram_ends[row] = count
    return grams[:count].copy(), gram_ends


@compiled
def distinct(hashes: Symbols, starts: Places, ends: Places) -> tuple[Symbols, Places]:
    """Each row without its repetitions, and where it ends."""
    table = _table(starts, ends)
    once = np.empty((ends - starts).sum(), np.uint64)
    once_ends = np.empty_like(ends)
    count = 0
    for row in range(len(ends)):
        words = hashes[starts[row] : ends[row]]
        bits = _cleared(table, len(words))
        for place in range(len(words)):
            slot = _slot(table, bits, words, words[place])
            if not table[slot]:
                table[slot] = place + 1
                once[count] = words[place]
                count += 1
        once_ends[row] = count
    return once[:count].copy(), once_ends


@compiled
def shared(
    ours: Symbols, our_starts: Places, our_ends: Places, theirs: Symbols, their_starts: Places, their_ends: Places
) -> Places:
    """How many words each pair of rows shares, a word counted as often as it stands on both sides."""
    table = _table(our_starts, our_ends)
    following = np.empty(1 + _longest(our_starts, our_ends), np.int32)
    matches = np.empty(_longest(their_starts, their_ends), np.int32)
    counts = np.empty_like(our_ends)
    for row in range(len(our_ends)):
        mine, other = ours[our_starts[row] : our_ends[row]], theirs[their_starts[row] : their_ends[row]]
        counts[row] = _matched(mine, other, table, following, matches)
    return counts


@compiled
def discordant(
    ours: Symbols, our_starts: Places, our_ends: Places, theirs: Symbols, their_starts: Places, their_ends: Places
) -> tuple[Places, Places]:
    """How many pairs of shared words changed their order in each pair of rows, and how many words are shared."""
    longest = _longest(our_starts, our_ends)
    table = _table(our_starts, our_ends)
    following = np.empty(1 + longest, np.int32)
    matches = np.empty(_longest(their_starts, their_ends), np.int32)
    tree = np.empty(1 + longest, np.int32)
    swapped, counts = np.empty_like(our_ends), np.empty_like(our_ends)
    for row in range(len(our_ends)):
        mine, other = ours[our_starts[row] : our_ends[row]], theirs[their_starts[row] : their_ends[row]]
        counts[row] = _matched(mine, other, table, following, matches)
        swapped[row] = _inversions(matches[: counts[row]], tree[: len(mine) + 1])
    return swapped, counts


@compiled
def edit_distances(
    ours: Symbols, our_starts: Places, our_ends: Places, theirs: Symbols, their_starts: Places, their_ends: Places
) -> Places:
    """The Levenshtein distance of each pair of rows."""
    table = _table(our_starts, our_ends)
    seen = np.zeros(1 + _longest(our_starts, our_ends), np.uint64)
    steps = np.empty(_longest(their_starts, their_ends), np.int8)
    where = np.empty(_longest(their_starts, their_ends), np.int32)
    distances = np.empty_like(our_ends)
    for row in range(len(our_ends)):
        mine, other = ours[our_starts[row] : our_ends[row]], theirs[their_starts[row] : their_ends[row]]
        distances[row] = _levenshtein(mine, other, table, seen, steps[: len(other)], where)
    return distances


@compiled
def _longest(starts: Places, ends: Places) -> int:
    longest = 0
    for row in range(len(ends)):
        longest = max(longest, ends[row] - starts[row])
    return longest


# A row's hash table: open addressing in a power of two of slots, at most an eighth full. A slot holds the place of a
# word in its row, counted from 1; 0 is empty, and -1 was a word whose occurrences are all matched.


@compiled
def _bits(count: int) -> int:
    bits = 4
    while 1 << bits < 8 * count:
        bits += 1
    return bits


@compiled
def _table(starts: Places, ends: Places) -> Table:
    return np.empty(1 << _bits(_longest(starts, ends)), np.int32)


@compiled
def _cleared(table: Table, count: int) -> int:
    bits = _bits(count)
    table[: 1 << bits] = 0
    return bits


@compiled
def _slot(table: Table, bits: int, words: Symbols, word: np.uint64) -> int:
    """Where the word stands in the table, or the empty slot where it would."""
    slot = np.int64(word * _SPREAD >> (_WORD_BITS - np.uint64(bits)))
    while table[slot] != 0 and (table[slot] < 0 or words[table[slot] - 1] != word):
        slot = (slot + 1) & ((1 << bits) - 1)
    return slot  # type: ignore[return-value]


@compiled
def _matched(mine: Symbols, other: Symbols, table: Table, following: Table, matches: Table) -> int:
    """Match each word's k-th occurrence with its k-th; fills `matches` with places in `mine`, in the order of `other`.

    One pass over either row whatever its length, so that a sentence of a megabyte takes milliseconds.
    """
    bits = _cleared(table, len(mine))
    for place in range(len(mine), 0, -1):  # from the end, so that a slot holds the first occurrence
        slot = _slot(table, bits, mine, mine[place - 1])
        following[place] = table[slot]
        table[slot] = place
    count = 0
    for word in other:
        slot = _slot(table, bits, mine, word)
        place = table[slot]
        if place:
            table[slot] = following[place] if following[place] else -1
            matches[count] = place
            count += 1
    return count


@compiled
def _inversions(order: Table, tree: Table) -> int:
    """How many pairs stand in descending order; `tree` is a Fenwick tree that counts the places already seen."""
    tree[:] = 0
    count = 0
    for seen in range(len(order)):
        count += seen
        place = order[seen]
        while place:
            count -= tree[place]
            place &= place - 1
        place = order[seen]
        while place < len(tree):
            tree[place] += 1
            place += place & -place
    return count


@compiled
def _levenshtein(
    mine: Symbols,
    other: Symbols,
    table: Table,
    seen: Symbols,
    steps: NDArray[np.int8],
    where: Table,
) -> int:
    """Myers' bit-parallel distance in blocks of 64 rows (Hyyrö 2003, Fig. 8); `seen` comes and goes all zero."""
    bits = _cleared(table, len(mine))
    for place in range(len(mine), 0, -1):
        table[_slot(table, bits, mine, mine[place - 1])] = place
    for column in range(len(other)):
        where[column] = table[_slot(table, bits, mine, other[column])]
        steps[column] = 1  # D[0, j] - D[0, j-1]
    for block in range(0, len(mine), 64):
        stop = min(block + 64, len(mine))
        for place in range(block, stop):
            seen[table[_slot(table, bits, mine, mine[place])]] |= _ONE << np.uint64(place - block)
        _advance_block(np.uint64(stop - block - 1), seen, steps, where)
        for place in range(block, stop):
            seen[table[_slot(table, bits, mine, mine[place])]] = np.uint64(0)
    distance = len(mine)  # D[m, 0]
    for step in steps:
        distance += step
    return distance


@compiled
def _advance_block(last: np.uint64, seen: Symbols, steps: NDArray[np.int8], where: Table) -> None:
    """Turn the horizontal steps above a block of rows into those along its last row."""
    up, down = ~np.uint64(0), np.uint64(0)  # where the column's vertical step is +1, and where it is -1
    for column in range(len(steps)):
        equal = seen[where[column]]
        enters_up, enters_down = np.uint64(steps[column] > 0), np.uint64(steps[column] < 0)
        vertical = equal | down
        equal |= enters_down
        horizontal = ((equal & up) + up ^ up) | equal
        right_up, right_down = down | ~(horizontal | up), up & horizontal
        steps[column] = np.int8(right_up >> last & _ONE) - np.int8(right_down >> last & _ONE)
        right_up, right_down = right_up << _ONE | enters_up, right_down << _ONE | enters_down
        up, down = right_down | ~(vertical | right_up), right_up & vertical
