"""What is decided by lot: the order of items, and which output of a pair stands first. One seed, one lot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from restyle.study._items import Item
from restyle.study._protocol import FIRST, SECOND

_OTHER = {FIRST: SECOND, SECOND: FIRST}


def lot(*parts: object) -> int:
    """A number that looks drawn at random, and is the same whenever it is drawn for the same parts."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=4).digest(), "big")


def is_swapped(item: Item, rater: object, seed: int) -> bool:
    """Whether this rater sees the second output of a pair as A; half do, whatever the item."""
    return len(item.outputs) == 2 and bool(lot(seed, item.id, rater, "side") % 2)


def turned(answers: Mapping[str, str]) -> dict[str, str]:
    """Answers of a swapped page in terms of the systems, or the other way round."""
    return {name: _OTHER.get(value, value) for name, value in answers.items()}
