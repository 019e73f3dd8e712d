"""Resamples: the totals of many draws of the sentences, exact and the same on every machine.

Every sum is rounded to a grid on which all totals are whole numbers below 2^53. Such totals come out the same in any
order of addition, so neither threads nor processors change a bit; the grid is finer than 10^-10 of the largest value
for a million sentences. Random numbers are raw words of PCG64, a stream that NumPy promises never to change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.errors import UsageError

Column = NDArray[np.float64]
Floats = NDArray[np.float64]

# Weights held at once: 64 MB, whatever the number of sentences and of resamples.
_WEIGHTS_AT_ONCE = 8_000_000
# The largest whole number below which every whole number is a float.
_EXACT = 2.0**53


def bootstrap_totals(sums: Mapping[str, Column], resamples: int, seed: int) -> dict[str, Floats]:
    """The totals of each sum over `resamples` draws with replacement of as many sentences (Efron 1979)."""
    sentences = _sentences(sums, resamples)
    words = np.random.PCG64(seed)

    def weights() -> Iterator[NDArray[Any]]:
        while True:
            yield np.bincount(_draws(words, sentences), minlength=sentences)

    return _weighted(sums, weights(), resamples)


def sign_totals(sums: Mapping[str, Column], resamples: int, seed: int) -> dict[str, Floats]:
    """The totals of each sum when a coin gives every sentence its sign."""
    sentences = _sentences(sums, resamples)
    words = np.random.PCG64(seed)

    def signs() -> Iterator[NDArray[Any]]:
        while True:
            bits = np.unpackbits(words.random_raw(-(-sentences // 64)).view(np.uint8))[:sentences]
            yield 1.0 - 2.0 * bits

    return _weighted(sums, signs(), resamples)


def percentiles(resampled: Floats, level: float) -> tuple[float, float]:
    """The interval that holds `level` of the resampled numbers, as much left out below as above; NaN for none."""
    if not 0 < level < 1:
        raise UsageError(f"the level is {level}; it can be between 0 and 1, as in 0.95")
    known = resampled[~np.isnan(resampled)]
    if not len(known):
        return float("nan"), float("nan")
    low, high = np.percentile(known, [50 * (1 - level), 50 * (1 + level)])
    return float(low), float(high)


def _draws(words: np.random.PCG64, sentences: int) -> NDArray[np.int64]:
    """As many random places as there are sentences: a 32-bit word, times their number, over 2^32."""
    halves = words.random_raw(-(-sentences // 2)).view(np.uint32)[:sentences].astype(np.uint64)
    halves *= np.uint64(sentences)
    halves >>= np.uint64(32)
    return halves.view(np.int64)


def _weighted(sums: Mapping[str, Column], weights: Iterator[NDArray[Any]], resamples: int) -> dict[str, Floats]:
    """The weighted totals of each sum: (resamples,) each."""
    # Most columns that only count sentences are all ones; they share one row of the table.
    constant = {name: float(column[0]) for name, column in sums.items() if (column == column[0]).all()}
    varied = [name for name in sums if name not in constant]
    sentences = _sentences(sums, resamples)
    table = np.stack([np.ones(sentences), *(_on_grid(sums[name]) for name in varied)])  # (columns, sentences)
    totals = np.empty((resamples, len(table)))
    at_once = max(1, min(resamples, _WEIGHTS_AT_ONCE // sentences))
    chunk = np.empty((at_once, sentences))  # (resamples, sentences)
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        for row in range(size):
            chunk[row] = next(weights)
        totals[start : start + size] = chunk[:size] @ table.T
    ones, *others = np.ascontiguousarray(totals.T)  # (columns, resamples)
    return {name: value * ones for name, value in constant.items()} | dict(zip(varied, others, strict=True))


def _on_grid(column: Column) -> Column:
    """The column in steps so wide that any weighted total (weights sum to the sentences) is a whole number of them."""
    largest = float(np.abs(column).max()) * len(column)
    if largest == 0:
        return column
    _, exponent = np.frexp(largest / _EXACT)
    steps: Column = np.ldexp(np.rint(np.ldexp(column, -exponent)), exponent)
    return steps


def _sentences(sums: Mapping[str, Column], resamples: int) -> int:
    if resamples < 1:
        raise UsageError(f"{resamples} resamples were asked for; at least 1 is needed")
    return len(next(iter(sums.values())))
