"""How often a judge is right: accuracy with its interval, Matthews correlation, confusion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from restyle.metrics.judges import Result

# The normal quantile of a two-sided 95% interval.
_Z = 1.959964


def measured(true: Sequence[int], predicted: Sequence[int], labels: int) -> Result:
    """The result on sentences of which both labels are known."""
    confusion = np.zeros((labels, labels), np.int64)
    np.add.at(confusion, (np.asarray(true), np.asarray(predicted)), 1)
    right, number = int(np.trace(confusion)), len(true)
    low, high = wilson(right, number)
    return Result(
        number, round(right / number, 4), round(low, 4), round(high, 4), round(mcc(confusion), 4), confusion.tolist()
    )


def wilson(right: int, number: int) -> tuple[float, float]:
    """The 95% interval of a share, which stays within 0 and 1 (Wilson 1927).

    >>> tuple(round(end, 3) for end in wilson(9, 10))
    (0.596, 0.982)
    """
    share, square = right / number, _Z**2
    centre = (share + square / (2 * number)) / (1 + square / number)
    half = _Z / (1 + square / number) * np.sqrt(share * (1 - share) / number + square / (4 * number**2))
    return float(max(0.0, centre - half)), float(min(1.0, centre + half))


def mcc(confusion: NDArray[np.int64]) -> float:
    """Matthews correlation of any number of labels (Gorodkin 2004); 0 where all are given one label."""
    counts = confusion.astype(np.float64)
    number, right = counts.sum(), np.trace(counts)
    true, said = counts.sum(1), counts.sum(0)
    spread = np.sqrt((number**2 - (said**2).sum()) * (number**2 - (true**2).sum()))
    return float((right * number - (true * said).sum()) / spread) if spread else 0.0
