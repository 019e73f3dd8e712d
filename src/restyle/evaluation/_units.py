"""How a number is printed: shares as percentages with one decimal, as in the papers; the rest as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from restyle.evaluation._outputs import Column
from restyle.evaluation._scorecard import Scorecard

# From 0 to 1 or beyond, but nobody reads them as percentages (Table 16: Kendall tau 0.46).
_NOT_SHARES = ("kendall-tau", "length-ratio", "edit-distance")


@dataclass(frozen=True)
class Unit:
    """What a value is multiplied by, and with how many decimals it is shown."""

    scale: float
    decimals: int

    def shown(self, value: float) -> str:
        """The value as it stands in a table."""
        return f"{self.scale * value:,.{self.decimals}f}"


SHARE = Unit(100, 1)
HUNDRED = Unit(1, 1)  # already from 0 to 100, as BLEU
PLAIN = Unit(1, 2)


def unit_of(name: str, cards: Sequence[Scorecard]) -> Unit:
    """The unit of a number in a table of these systems: the same for every row."""
    for card in cards:
        if name in card.statistics:
            return HUNDRED
    if name == "GM_t":
        return PLAIN
    read = {column for card in cards for column in _columns_of(name, card)}
    known = [card.columns[column] for card in cards for column in read if column in card.columns]
    if any(column in _NOT_SHARES for column in read) or not all(_within_one(column) for column in known):
        return PLAIN
    return SHARE


def _columns_of(name: str, card: Scorecard) -> tuple[str, ...]:
    if name in card.columns:
        return (name,)
    for formula in card.products:
        if name in (formula.name, formula.corpus_name):
            return formula.columns
    return ()


def _within_one(column: Column) -> bool:
    """Whether all values lie within -1 and 1, as a cosine does but for its rounding."""
    return bool((np.abs(column[~np.isnan(column)]) <= 1.001).all())
