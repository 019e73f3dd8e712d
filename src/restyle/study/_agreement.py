"""How far raters agree beyond chance: Fleiss' kappa, Cohen's kappa, Krippendorff's alpha, each with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.errors import MissingExtra
from restyle.evaluation import Interval
from restyle.study._intervals import estimated
from restyle.study._items import Judged
from restyle.study._protocol import Question

Counts = NDArray[np.float64]  # (items, values): how many raters gave the item this value

# Cohen's kappa of two people who share fewer items says little; of many people, the pairs that share most are shown.
_FEWEST_SHARED = 20
_MOST_PAIRS = 6


@dataclass(frozen=True)
class Agreement:
    """One statistic of one question: of the items of all systems or of one, of all raters or of a pair."""

    question: str
    statistic: str
    value: float
    interval: Interval
    items: int
    system: str = "all"
    raters: str = "all"


def agreements(judged: Judged, *, resamples: int = 1000, seed: int = 0) -> list[Agreement]:
    """Every statistic that the votes allow, question by question; controls are left out."""
    found: list[Agreement] = []
    for question in judged.protocol.questions:
        systems = sorted({" / ".join(item.systems) for item in judged.systems_judged})
        for system in ["all", *(systems if len(systems) > 1 else [])]:
            counts = vote_counts(judged, question, None if system == "all" else system)
            if len(counts):
                found += _of_all(question, counts, system, resamples, seed)
        found += _of_pairs(judged, question, resamples, seed)
    return found


def vote_counts(judged: Judged, question: Question, system: str | None = None) -> Counts:
    """(items, values): the votes on each item that at least two people judged; of one system where it is named."""
    rows = []
    for item in judged.systems_judged:
        if system is not None and " / ".join(item.systems) != system:
            continue
        votes = judged.answers(item, question.name)
        if len(votes) > 1:
            rows.append([votes.count(value) for value in question.values])
    return np.array(rows, np.float64).reshape(-1, len(question.values))


def fleiss_kappa(counts: Counts) -> float:
    """Fleiss' kappa (1971), also where items have unequal numbers of raters: each item then weighs the same.

    With equal numbers it is the published formula.
    """
    raters = counts.sum(axis=1)  # (items,)
    agreeing = ((counts**2).sum(axis=1) - raters) / (raters * (raters - 1))  # P_i, (items,)
    by_chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())  # P_e
    # Where all people say the same of all items, chance explains all of it.
    return float((agreeing.mean() - by_chance) / (1 - by_chance)) if by_chance < 1 else float("nan")


def cohen_kappa(first: Sequence[str], second: Sequence[str], question: Question) -> float:
    """Cohen's kappa of two raters of the same items; on a scale with quadratic weights (Cohen 1968)."""
    try:
        from sklearn.metrics import cohen_kappa_score
    except ModuleNotFoundError as error:
        raise MissingExtra("scikit-learn", "study", "Cohen's kappa") from error
    if len(set(first) | set(second)) < 2:
        return float("nan")
    # In the order of the scale, which the weights are counted along.
    places = {value: place for place, value in enumerate(question.values)}
    weights = "quadratic" if question.scale == "ordinal" else None
    codes = [[places[value] for value in votes] for votes in (first, second)]
    return float(cohen_kappa_score(*codes, labels=list(places.values()), weights=weights))


def krippendorff_alpha(counts: Counts, question: Question) -> float:
    """Krippendorff's alpha, nominal or ordinal; items may have any number of raters from two on."""
    try:
        import krippendorff
    except ModuleNotFoundError as error:
        raise MissingExtra("krippendorff", "study", "Krippendorff's alpha") from error
    if (counts.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    domain = np.array([float(value) for value in question.values]) if question.scale == "ordinal" else None
    return float(
        krippendorff.alpha(
            value_counts=counts,
            value_domain=np.arange(counts.shape[1]) if domain is None else domain,
            level_of_measurement=question.scale,
        )
    )


def _of_all(question: Question, counts: Counts, system: str, resamples: int, seed: int) -> list[Agreement]:
    statistics: Mapping[str, Any] = {
        "Fleiss' kappa": lambda rows: fleiss_kappa(counts[rows]),
        "Krippendorff's alpha": lambda rows: krippendorff_alpha(counts[rows], question),
    }
    return [
        Agreement(question.name, name, *estimate, len(counts), system)
        for name, statistic in statistics.items()
        for estimate in [estimated(statistic, len(counts), resamples=resamples, seed=seed)]
    ]


def _of_pairs(judged: Judged, question: Question, resamples: int, seed: int) -> list[Agreement]:
    """Cohen's kappa of the pairs of raters who share most items."""
    answers: dict[str, dict[str, str]] = {}
    shown = {item.id for item in judged.systems_judged}
    for vote in judged.votes:
        if vote.item in shown and question.name in vote.answers:
            answers.setdefault(vote.rater, {})[vote.item] = vote.answers[question.name]
    shared = {
        (one, other): sorted(answers[one].keys() & answers[other].keys())
        for one, other in combinations(sorted(answers), 2)
    }
    pairs = sorted(
        (pair for pair in shared if len(shared[pair]) >= _FEWEST_SHARED), key=lambda pair: -len(shared[pair])
    )
    found = []
    for one, other in pairs[:_MOST_PAIRS]:
        both = np.array([[answers[rater][item] for item in shared[one, other]] for rater in (one, other)])
        estimate = estimated(
            lambda rows, both=both: cohen_kappa(both[0, rows], both[1, rows], question),  # type: ignore[misc]
            both.shape[1],
            resamples=resamples,
            seed=seed,
        )
        name = "Cohen's kappa, quadratic" if question.scale == "ordinal" else "Cohen's kappa"
        found.append(Agreement(question.name, name, *estimate, both.shape[1], raters=f"{one}, {other}"))
    return found
