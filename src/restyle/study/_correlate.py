"""Do automatic metrics say what people say? Rank correlations and pairwise accuracy, by sentence and by system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError
from restyle.study._intervals import Estimate, estimated
from restyle.study._items import Item, Judged
from restyle.study._labels import label_of
from restyle.study._measures import measured, shown_measures
from restyle.study._protocol import FIRST, SECOND

Column = NDArray[np.float64]
Rows = NDArray[np.intp]
# With fewer systems, a correlation between them is an accident.
_FEWEST_SYSTEMS = 3


@dataclass(frozen=True)
class Correlation:
    """One automatic metric against one number of people."""

    human: str
    metric: str
    level: str  # sentence, or system
    statistic: str
    estimate: Estimate
    count: int  # outputs, systems, or pairs of outputs


def correlations(
    judged: Judged, metrics: Sequence[str] = (), *, resamples: int = 1000, seed: int = 0
) -> list[Correlation]:
    """Every metric that the items bring (or those named) against every measure of the protocol.

    Intervals are from resamples of the inputs, with all outputs that answer them. InputError when there is no metric.
    """
    known = sorted({name for item in judged.systems_judged for scores in item.scores for name in scores})
    if not known:
        raise InputError("the items bring no automatic scores; add them with --scorecard (restyle score --save)")
    wanted = list(metrics) or known
    for name in wanted:
        if name not in known:
            raise InputError(f"no item has the score {name!r}; there are: {', '.join(known)}")
    if judged.protocol.kind == "pair":
        return [made for name in wanted for made in _of_preferences(judged, name, resamples, seed)]
    items = judged.systems_judged
    humans = {name: column for name, column in measured(judged, items).items() if name in _of_people(judged)}
    found: list[Correlation] = []
    for human, said in humans.items():
        for metric in wanted:
            column = np.array([_number(item.score(metric)) for item in items])
            found += _of_measure(items, human, said, metric, column, resamples, seed)
    return found


def _of_people(judged: Judged) -> set[str]:
    """The measures that people alone made; one with a judge's verdict in it would be held against itself."""
    automatic: set[str] = set()
    for measure in judged.protocol.measures:
        if measure.column or automatic & set(measure.product):
            automatic.add(measure.name)
    return set(shown_measures(judged)) - automatic


def _of_measure(
    items: Sequence[Item], human: str, said: Column, metric: str, column: Column, resamples: int, seed: int
) -> list[Correlation]:
    both: list[int] = np.flatnonzero(~np.isnan(said) & ~np.isnan(column)).tolist()
    if len(both) < 2:
        return []
    said, column = said[both], column[both]
    systems = np.array([items[row].systems[0] for row in both])
    inputs = _groups([items[row].input or items[row].id for row in both])
    names, of_row = np.unique(systems, return_inverse=True)

    def over_inputs(statistic: Callable[[Rows], float]) -> Estimate:
        return estimated(
            lambda drawn: statistic(np.concatenate([inputs[place] for place in drawn])),
            len(inputs),
            resamples=resamples,
            seed=seed,
        )

    def means(values: Column, rows: Rows) -> Column:
        counts = np.bincount(of_row[rows], minlength=len(names))
        totals = np.bincount(of_row[rows], values[rows], minlength=len(names))
        averages: Column = np.divide(totals, counts, out=np.full(len(names), np.nan), where=counts > 0)
        return averages

    by_sentence: dict[str, Callable[[Rows], float]] = {
        "Spearman": lambda rows: spearman(said[rows], column[rows]),
        "Kendall": lambda rows: kendall(said[rows], column[rows]),
    }
    found = [
        Correlation(human, metric, "sentence", name, over_inputs(statistic), len(both))
        for name, statistic in by_sentence.items()
    ]
    if {*said.tolist(), *column.tolist()} <= {0.0, 1.0}:  # two verdicts: Table 5 of Pang and Gimpel says how many agree
        match = over_inputs(lambda rows: float((said[rows] == column[rows]).mean()))
        found.append(Correlation(human, metric, "sentence", "match", match, len(both)))
    right, pairs = _ordered_pairs(inputs, said, column)
    if pairs.sum():
        share = estimated(lambda drawn: _share(right[drawn], pairs[drawn]), len(inputs), resamples=resamples, seed=seed)
        found.append(Correlation(human, metric, "sentence", "pairwise accuracy", share, int(pairs.sum())))
    if len(names) >= _FEWEST_SYSTEMS:
        by_system: dict[str, Callable[[Column, Column], float]] = {
            "Spearman": spearman,
            "Kendall": kendall,
            "pairwise accuracy": pairwise_accuracy,
        }
        found += [
            Correlation(
                human,
                metric,
                "system",
                name,
                over_inputs(lambda rows, of=statistic: of(means(said, rows), means(column, rows))),  # type: ignore[misc]
                len(names),
            )
            for name, statistic in by_system.items()
        ]
    return found


def _of_preferences(judged: Judged, metric: str, resamples: int, seed: int) -> list[Correlation]:
    """How often the metric prefers the output that people prefer; ties of people are left out (Sec. 6.3: 86%)."""
    found = []
    for question in judged.protocol.questions:
        verdicts = []
        for item in judged.systems_judged:
            label = label_of(judged, item, question.name)
            left, right = _number(item.score(metric, 0)), _number(item.score(metric, 1))
            if label in (FIRST, SECOND) and not np.isnan(left - right):
                ahead = np.sign(left - right) * (1 if label == FIRST else -1)
                verdicts.append((ahead + 1) / 2)  # 1 where they agree, a half where the metric sees no difference
        if verdicts:
            matches = np.array(verdicts)
            match = estimated(
                lambda rows, matches=matches: float(matches[rows].mean()),  # type: ignore[misc]
                len(matches),
                resamples=resamples,
                seed=seed,
            )
            found.append(Correlation(question.name, metric, "sentence", "match", match, len(matches)))
    return found


def spearman(one: Column, other: Column) -> float:
    """Spearman's rho: the correlation of the ranks, tied values sharing theirs; NaN where one side is constant."""
    from scipy.stats import rankdata

    first, second = (rankdata(values) for values in _known(one, other))
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first**2).sum() * (second**2).sum())
    return float((first * second).sum() / scale) if scale > 0 else float("nan")


def kendall(one: Column, other: Column) -> float:
    """Kendall's tau-b, which corrects for ties; NaN where one side is constant."""
    from scipy.stats import kendalltau

    first, second = _known(one, other)
    return float(kendalltau(first, second).statistic) if len(first) > 1 else float("nan")


def pairwise_accuracy(said: Column, column: Column) -> float:
    """Of the pairs that people tell apart, the share that the metric orders as they do; half for one it ties."""
    said, column = _known(said, column)
    right, pairs = _ordered_pairs([np.arange(len(said))], said, column)
    return _share(right, pairs)


def _ordered_pairs(groups: Sequence[Rows], said: Column, column: Column) -> tuple[Column, Column]:
    """Of each group: how many of its pairs the metric orders as people do, and how many people tell apart."""
    right, pairs = np.zeros(len(groups)), np.zeros(len(groups))
    for place, rows in enumerate(groups):
        for one, other in combinations(rows, 2):
            if said[one] != said[other]:
                pairs[place] += 1
                right[place] += (np.sign(said[one] - said[other]) * np.sign(column[one] - column[other]) + 1) / 2
    return right, pairs


def _groups(keys: Sequence[str]) -> list[Rows]:
    by_key: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        by_key.setdefault(key, []).append(row)
    return [np.array(rows, np.intp) for rows in by_key.values()]


def _known(one: Column, other: Column) -> tuple[Column, Column]:
    known = ~np.isnan(one) & ~np.isnan(other)
    return one[known], other[known]


def _share(right: Column, pairs: Column) -> float:
    return float(right.sum() / pairs.sum()) if pairs.sum() else float("nan")


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def as_rows(found: Sequence[Correlation]) -> list[Mapping[str, object]]:
    """The correlations as rows of a table."""
    return [
        {
            "people": each.human,
            "metric": each.metric,
            "level": each.level,
            "statistic": each.statistic,
            "value": each.estimate.value,
            "low": each.estimate.interval.low,
            "high": each.estimate.interval.high,
            "n": each.count,
        }
        for each in found
    ]
