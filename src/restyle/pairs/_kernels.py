"""The two loops that numpy has no word for: counting tokens, and remembering 64-bit keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from restyle.errors import MissingExtra

try:
    from restyle.text._overlap_kernels import compiled
except ModuleNotFoundError as error:
    raise MissingExtra("numba", "text", "filtering pairs") from error

# What str.split takes for white space in ASCII.
SPACES: NDArray[np.bool_] = np.isin(np.arange(256), list(b" \t\n\v\f\r\x1c\x1d\x1e\x1f"))
_LINE_END = ord("\n")


@compiled
def count_tokens(
    buffer: NDArray[np.uint8], spaces: NDArray[np.bool_], lines: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """How many runs of bytes that are no spaces each line has, and which lines are not ASCII."""
    counts, beyond_ascii = np.zeros(lines, np.int64), np.zeros(lines, np.bool_)
    line, within = 0, False
    for byte in buffer:
        if not spaces[byte]:
            counts[line] += not within
            within = True
            if byte >= 0x80:
                beyond_ascii[line] = True
        else:
            within = False
            line += byte == _LINE_END
    return counts, beyond_ascii


@compiled
def insert(table: NDArray[np.uint64], keys: NDArray[np.uint64], room: int) -> tuple[NDArray[np.bool_], int]:
    """Which keys, none of them 0, the table does not hold yet, and how many of these were put in: at most `room`.

    The table has a power of two of slots, 0 in an empty one; the keys are hashes, so that their low bits are places.
    """
    fresh = np.zeros(len(keys), np.bool_)
    mask = np.uint64(len(table) - 1)
    added = 0
    for row in range(len(keys)):
        slot = keys[row] & mask
        while table[slot] != 0 and table[slot] != keys[row]:
            slot = (slot + np.uint64(1)) & mask
        fresh[row] = table[slot] == 0
        if fresh[row] and added < room:
            table[slot] = keys[row]
            added += 1
    return fresh, added
