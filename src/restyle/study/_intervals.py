"""Bootstrap intervals of statistics that are no sums: kappas and rank correlations are computed again on each resample.

The numbers of a scorecard have their own, faster way (evaluation); the percentiles are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from restyle.evaluation import Interval
from restyle.evaluation._resampling import percentiles

Rows = NDArray[np.intp]


class Estimate(NamedTuple):
    """A statistic with its interval; NaN where it does not exist."""

    value: float
    interval: Interval


def estimated(
    statistic: Callable[[Any], float],
    units: int,
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    """A statistic of rows, and its percentile interval over draws with replacement of as many rows (Efron 1979)."""
    generator = np.random.Generator(np.random.PCG64(seed))
    with np.errstate(all="ignore"):  # a draw of one kind only has no correlation; it counts as unknown
        drawn = [statistic(generator.integers(0, units, units)) for _ in range(resamples)]
        value = statistic(np.arange(units))
    return Estimate(value, Interval(*percentiles(np.array(drawn, np.float64), level)))
