"""Are two systems really different? Paired bootstrap, paired approximate randomisation, Holm's correction.

Both tests are paired: they compare what two systems made of the same sentences, which is much sharper than looking
whether two intervals overlap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, UnknownName, UsageError
from restyle.evaluation._numbers import Number
from restyle.evaluation._resampling import bootstrap_totals, percentiles, sign_totals
from restyle.evaluation._scorecard import Scorecard

Floats = NDArray[np.float64]
Column = NDArray[np.float64]
Rows = NDArray[np.intp]
Test = Literal["bootstrap", "randomisation"]
# Two differences that only rounding tells apart are the same difference.
_ROUNDING = 1e-9
_FIRST, _SECOND = "first: ", "second: "


@dataclass(frozen=True)
class PairedTest:
    """One number of two systems: how far they are apart, and how often chance alone would set them as far apart."""

    number: str
    first: str
    second: str
    difference: float  # of the first over the second
    low: float  # of the interval of the difference
    high: float
    p: float
    p_holm: float = float("nan")  # corrected for all tests of the same number

    def significant(self, level: float = 0.05) -> bool:
        """Whether chance is ruled out at this level, after correction."""
        return self.p_holm <= level


def paired_tests(
    cards: Sequence[Scorecard],
    *,
    numbers: Sequence[str] | None = None,
    test: Test = "bootstrap",
    baseline: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[PairedTest]:
    """Test every pair of systems, or each against `baseline`, on each number that they share (or on `numbers`).

    The p-values of one number are corrected together (Holm 1979); without resamples there is no test. InputError when
    the systems answer different inputs.
    """
    if test not in get_args(Test):
        raise UnknownName("test", test, get_args(Test))
    results: list[PairedTest] = []
    pairs = _pairs(cards, baseline)
    wanted = _shared_numbers(cards, numbers)
    if not resamples:
        return []  # only now: a name that does not exist is refused all the same
    of_pairs = [_tested(first, second, wanted, test, resamples, seed) for first, second in pairs]
    for place in range(len(wanted)):
        same_number = [tests[place] for tests in of_pairs]
        corrected = holm([each.p for each in same_number])
        results += [replace(each, p_holm=p) for each, p in zip(same_number, corrected, strict=True)]
    return results


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the chance of even one false alarm stays below the level.

    NaN, a test that could not be made, stays NaN and makes the others no harder to pass.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    known = int(np.count_nonzero(~np.isnan(p_values)))
    order = np.argsort(p_values, kind="stable")[:known]  # NaN is sorted last
    corrected, largest = [math.nan] * len(p_values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (known - rank) * p_values[place]))
        corrected[place] = largest
    return corrected


def _pairs(cards: Sequence[Scorecard], baseline: str | None) -> list[tuple[Scorecard, Scorecard]]:
    if len(cards) < 2:
        raise UsageError("one system alone cannot be compared; give the outputs of at least two")
    names = [card.system for card in cards]
    if baseline is None:
        return [(first, second) for place, first in enumerate(cards) for second in cards[place + 1 :]]
    if baseline not in names:
        raise UnknownName("system", baseline, names)
    reference = cards[names.index(baseline)]
    return [(card, reference) for card in cards if card is not reference]


def _shared_numbers(cards: Sequence[Scorecard], numbers: Sequence[str] | None) -> list[str]:
    shared = [name for name in cards[0].numbers if all(name in card.numbers for card in cards)]
    for name in numbers or ():
        if name not in shared:
            raise UnknownName("number of every system", name, shared)
    return list(numbers or shared)


def _tested(
    first: Scorecard, second: Scorecard, names: Sequence[str], test: Test, resamples: int, seed: int
) -> list[PairedTest]:
    """Both systems on the same resamples, for all numbers at once.

    Sentences are put in an order that their content alone decides, the same for (a, b) as for (b, a): shuffled lines,
    or systems named in another order, give the same p-values.
    """
    ours, theirs = _aligned(first, second)
    order = np.argsort(first.outputs.answered[ours] + second.outputs.answered[theirs], kind="stable")
    ours, theirs = ours[order], theirs[order]
    sums = _side_by_side(first.sums(names), ours, second.sums(names), theirs)
    boot = bootstrap_totals(sums, resamples, seed)
    by_chance = _coin_tossed(sums, resamples, seed) if test == "randomisation" else None
    tests = []
    for name in names:
        a, b = first.numbers[name], second.numbers[name]
        difference = a.value() - b.value()
        resampled = _apart(a, b, boot)
        # Shifted to a mean of 0, resampled differences are those that chance alone would give (Efron and Tibshirani).
        null = resampled - difference if by_chance is None else _apart(a, b, by_chance)
        low, high = percentiles(resampled, 0.95)
        p = _share_as_far(null, difference)
        tests.append(PairedTest(name, first.system, second.system, difference, low, high, p))
    return tests


def _side_by_side(
    first: Mapping[str, Column], ours: Rows, second: Mapping[str, Column], theirs: Rows
) -> dict[str, Column]:
    """The sums of both systems over the same sentences in the same order."""
    return {_FIRST + name: column[ours] for name, column in first.items()} | {
        _SECOND + name: column[theirs] for name, column in second.items()
    }


def _coin_tossed(sums: Mapping[str, Column], resamples: int, seed: int) -> dict[str, Floats]:
    """The totals when a coin decides for each sentence which of the two systems wrote which output (Noreen 1989).

    Swapping x and y in a sentence is adding or subtracting (x - y): a total is (sum(x + y) ± sum(s (x - y))) / 2.
    """
    names = [name.removeprefix(_FIRST) for name in sums if name.startswith(_FIRST)]
    apart = {name: sums[_FIRST + name] - sums[_SECOND + name] for name in names}
    signed = sign_totals(apart, resamples, seed)
    totals = {}
    for name in names:
        both = math.fsum(sums[_FIRST + name]) + math.fsum(sums[_SECOND + name])
        totals[_FIRST + name] = (both + signed[name]) / 2
        totals[_SECOND + name] = (both - signed[name]) / 2
    return totals


def _apart(first: Number, second: Number, totals: Mapping[str, Floats]) -> Floats:
    """How far the two are apart in each resample."""
    return _of_side(first, _FIRST, totals) - _of_side(second, _SECOND, totals)


def _of_side(number: Number, side: str, totals: Mapping[str, Floats]) -> Floats:
    return number.of_totals({name: totals[side + name] for name in number.sums})


def _share_as_far(null: Floats, difference: float) -> float:
    """The two-sided p-value; one is added to both counts, so that no finite number of trials gives 0."""
    if math.isnan(difference):
        return math.nan
    as_far = np.abs(null) >= abs(difference) - _ROUNDING * max(1.0, abs(difference))
    return float((as_far.sum() + 1) / (len(null) + 1))


def _aligned(first: Scorecard, second: Scorecard) -> tuple[Rows, Rows]:
    """The rows of both that answer the same, pair by pair; InputError when they do not answer the same sentences."""
    ours, theirs = first.outputs.asked, second.outputs.asked
    by_ours, by_theirs = np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable")
    if len(ours) == len(theirs) and np.array_equal(ours[by_ours], theirs[by_theirs]):
        return by_ours, by_theirs
    shared = len(np.intersect1d(ours, theirs))
    raise InputError(
        f"{first.system} ({len(ours):,} sentences) and {second.system} ({len(theirs):,}) do not answer the same "
        f"inputs ({shared:,} in common); score both on the same inputs, references and target styles"
    )
