"""Corpus numbers as sums over sentences: J, GM, the GM of Pang and Gimpel, means, BLEU.

A Number says what is summed over the sentences, and what becomes of the totals. Whoever has other totals, of a resample
or of half of the sentences, has the number of those: intervals and tests never look at a metric again.

A sentence to which a judge gave no value (NaN) is left out of the mean of that judge, and counts 0 in every product:
no system gains by an output that cannot be judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from restyle.errors import SettingsError
from restyle.evaluation._formula import Factor, Formula

Column = NDArray[np.float64]
Floats = NDArray[np.float64]
# The totals of the named sums: one each, or one each for many resamples.
Totals = Mapping[str, Floats]

# Pang and Gimpel 2019, Sec. 3.3: learned from 300 pairs that people judged.
THRESHOLDS = (63.0, 71.0, 97.0, -37.0)
SENTENCES = "(sentences)"


@dataclass(frozen=True)
class Number:
    """One number of a corpus: what is summed over its sentences, by name, and what is made of the totals."""

    name: str
    sums: Mapping[str, Column]
    of_totals: Callable[[Totals], Floats]

    def value(self) -> float:
        """The number of all sentences, whatever their order: each sum is rounded once."""
        totals = {name: np.float64(math.fsum(column)) for name, column in self.sums.items()}
        return float(self.of_totals(totals))  # type: ignore[arg-type]


def mean(name: str, column: Column) -> Number:
    """The mean over the sentences that have a value; NaN when none has."""
    judged = ~np.isnan(column)
    how_many = f"{name} judged"
    sums = {name: np.where(judged, column, 0.0), how_many: judged.astype(np.float64)}
    return Number(name, sums, lambda totals: _ratio(totals[name], totals[how_many]))


def product(formula: Formula, columns: Mapping[str, Column]) -> Column:
    """The product of the factors of each sentence; 0 where one of them has no value."""
    values = np.ones(len(next(iter(columns.values()))))
    for factor in formula.factors:
        values = values * factor.values(columns)
    return np.nan_to_num(values)


def sentence_level(formula: Formula, columns: Mapping[str, Column]) -> Number:
    """The mean over sentences of the product of the factors: J of STRAP Sec. 3.2, for its formula."""
    summed = f"={formula}"
    values = product(formula, columns)
    sums = {summed: values, SENTENCES: np.ones(len(values))}
    return Number(formula.name, sums, lambda totals: _ratio(totals[summed], totals[SENTENCES]))


def corpus_level(name: str, formula: Formula, columns: Mapping[str, Column]) -> Number:
    """The geometric mean of the corpus means of the factors: GM of STRAP Table 1, which a naive system can game."""
    constant = math.prod(float(factor.values(columns)) for factor in formula.factors if factor.column is None)
    means = [_mean_of(factor, columns) for factor in formula.factors if factor.column is not None]

    def of_totals(totals: Totals) -> Floats:
        of_means = np.prod([each.of_totals(totals) for each in means], axis=0) * constant
        power: Floats = np.maximum(of_means, 0.0) ** (1 / len(means))
        return power

    return Number(name, _joined(means), of_totals)


def pang_gimpel(name: str, acc: Number, sim: Number, ppl: Number, thresholds: Sequence[float] = THRESHOLDS) -> Number:
    """GM_t of corpus accuracy and similarity in [0, 1] and perplexity (Pang and Gimpel 2019, Eq. 1)."""

    def of_totals(totals: Totals) -> Floats:
        return adjusted_gm(acc.of_totals(totals), sim.of_totals(totals), ppl.of_totals(totals), thresholds)

    return Number(name, _joined([acc, sim, ppl]), of_totals)


def adjusted_gm(
    acc: float | Floats, sim: float | Floats, ppl: float | Floats, thresholds: Sequence[float] = THRESHOLDS
) -> Floats:
    """Eq. 1 of Pang and Gimpel 2019; perplexities that are too low are punished too.

    >>> round(float(adjusted_gm(0.818, 0.805, 29.0)), 1)
    22.8
    """
    t1, t2, t3, t4 = thresholds
    fluent = np.minimum(np.maximum(t3 - np.asarray(ppl), 0), np.maximum(np.asarray(ppl) - t4, 0))
    similar = np.maximum(100 * np.asarray(sim) - t2, 0)
    transferred = np.maximum(100 * np.asarray(acc) - t1, 0)
    gm: Floats = np.cbrt(transferred * similar * fluent)
    return gm


def checked_thresholds(thresholds: Sequence[float]) -> tuple[float, float, float, float]:
    """Four numbers, or SettingsError: a GM that is no number would choose any model."""
    if len(thresholds) != 4 or not all(math.isfinite(each) for each in thresholds):
        given = ", ".join(f"{each:g}" for each in thresholds)
        raise SettingsError(f"the thresholds are ({given}); four numbers were expected, such as {THRESHOLDS}")
    t1, t2, t3, t4 = thresholds
    if t3 <= t4:
        raise SettingsError(f"t3 is {t3:g} and t4 {t4:g}: no perplexity lies between them, and GM would always be 0")
    return t1, t2, t3, t4


def counted(name: str, statistics: Floats, corpus: Callable[[Floats], Floats]) -> Number:
    """A number made from summed counts, such as corpus BLEU; `statistics` is (sentences, counts)."""
    names = [f"{name} count {place}" for place in range(statistics.shape[1])]
    sums = {each: np.ascontiguousarray(column) for each, column in zip(names, statistics.T, strict=True)}
    return Number(name, sums, lambda totals: corpus(np.stack([totals[each] for each in names], axis=-1)))


def _mean_of(factor: Factor, columns: Mapping[str, Column]) -> Number:
    return mean(factor.text, factor.values(columns))


def _joined(numbers: Sequence[Number]) -> dict[str, Column]:
    return {name: column for number in numbers for name, column in number.sums.items()}


def _ratio(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=np.asarray(whole) > 0)
    return ratio
