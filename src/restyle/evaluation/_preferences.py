"""Learning the thresholds of GM from pairs of outputs of which people preferred one (Pang and Gimpel 2019, Sec. 3.3).

The loss of a pair is max(0, GM_t(y-) - GM_t(y+) + 1), y+ being the preferred output. It has no gradient wherever an
output lies outside the thresholds, and an endless one at their edges, so it is minimised by a search that needs none.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, MissingExtra
from restyle.evaluation._numbers import THRESHOLDS, adjusted_gm, checked_thresholds
from restyle.records import format_of, opened_text, read_objects

Floats = NDArray[np.float64]
MEASURES = ("acc", "sim", "pp")
COLUMNS = tuple(f"{side}_{measure}" for side in ("better", "worse") for measure in MEASURES)
# Half a pair is an agreement where GM sees no difference: a coin would be right so often.
_TIE = 0.5


@dataclass(frozen=True)
class Preferences:
    """Measures of outputs that people preferred, and of those that they did not, (N, 3) each: acc, sim, pp."""

    better: Floats
    worse: Floats

    def __len__(self) -> int:
        return len(self.better)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Preferences:
        """From rows with `better_acc`, `better_sim`, `better_pp` and `worse_…`; Acc and Sim in [0, 1].

        InputError names the row that is none, and says when there are none, or nothing varies in them.
        """
        found = [_numbers(row, number) for number, row in enumerate(rows, start=1)]
        if not found:
            raise InputError("there are no preferences to learn from")
        table = np.array(found).reshape(len(found), 2, len(MEASURES))
        made = cls(table[:, 0], table[:, 1])
        if (made.better == made.worse).all():
            raise InputError(
                f"the preferences do not vary: in all {len(made):,} pairs both outputs have the same Acc, Sim and PP, "
                "and any thresholds fit them alike"
            )
        return made

    @classmethod
    def read(cls, file: str | Path) -> Preferences:
        """From a .tsv, .csv or .jsonl, plain or compressed; InputError when it cannot be read as one."""
        format = format_of(file)
        if format not in ("tsv", "csv", "jsonl"):
            raise InputError(f"{file} is no .tsv, .csv or .jsonl of preferences")
        if format == "jsonl":
            return cls.of(row for _, row in read_objects(file))
        with opened_text(file) as lines:
            return cls.of(csv.DictReader(lines, delimiter="\t" if format == "tsv" else ","))

    def __getitem__(self, rows: Any) -> Preferences:
        return Preferences(self.better[rows], self.worse[rows])

    def loss(self, thresholds: Sequence[float], margin: float = 1.0) -> float:
        """The mean of the printed hinge loss, whose margin is 1."""
        difference = self._gm(self.worse, thresholds) - self._gm(self.better, thresholds)
        return float(np.maximum(0.0, difference + margin).mean())

    def agreement(self, thresholds: Sequence[float]) -> Floats:
        """For each pair 1 where GM prefers what people prefer, 0 where the other, and a half where it sees a tie."""
        difference = self._gm(self.better, thresholds) - self._gm(self.worse, thresholds)
        agreed: Floats = np.where(difference == 0, _TIE, (difference > 0).astype(np.float64))
        return agreed

    @staticmethod
    def _gm(measures: Floats, thresholds: Sequence[float]) -> Floats:
        return adjusted_gm(measures[:, 0], measures[:, 1], measures[:, 2], thresholds)


@dataclass(frozen=True)
class Learned:
    """Thresholds, and how well they fit."""

    thresholds: tuple[float, float, float, float]
    loss: float  # the mean hinge loss of the pairs that they were learned from
    agreement: float  # the share of those in which GM agrees with people


def learn_thresholds(preferences: Preferences, *, margin: float = 1.0, seed: int = 0, rounds: int = 200) -> Learned:
    """The four thresholds with the least mean hinge loss that differential evolution finds (Storn and Price 1997).

    The search begins among the paper's thresholds and random ones. The same seed gives the same thresholds.

    `margin` is 1 as printed. GM is of the order of 20: where people do not all think alike, one pair in the wrong order
    costs what twenty in the right order gain, and the least loss is that of a GM shrunk to nothing. A margin of the
    order of GM itself learns from such pairs too.
    """
    try:
        from scipy.optimize import differential_evolution
    except ModuleNotFoundError as error:
        raise MissingExtra("scipy", "judge", "learning thresholds") from error
    perplexities = np.concatenate([preferences.better[:, 2], preferences.worse[:, 2]])
    # A few sentences are a thousand times as perplexing as the rest. The middle one must be fluent, or the search would
    # end where hardly any is, GM is 0 of both outputs, and every pair costs just the margin.
    low, middle, high = np.percentile(perplexities, [2.5, 50, 97.5])
    spread = max(high - low, 1.0)
    # Below a bound every output is above a threshold, and nothing changes any more but the scale.
    bounds = [(-100.0, 100.0), (-100.0, 100.0), (middle, high + spread), (min(low - spread, -100.0), middle)]
    found = differential_evolution(
        lambda t: preferences.loss(t, margin) if t[2] > t[3] else 1e3 + t[3] - t[2],
        bounds,
        x0=np.clip(THRESHOLDS, *np.transpose(bounds)),
        maxiter=rounds,
        rng=np.random.default_rng(seed),
        polish=False,  # by gradients, of which there are none
        tol=1e-8,
    )
    thresholds = checked_thresholds([float(each) for each in found.x])
    return Learned(thresholds, preferences.loss(thresholds, margin), float(preferences.agreement(thresholds).mean()))


def _numbers(row: Mapping[str, Any], number: int) -> list[float]:
    try:
        values = [float(row[column]) for column in COLUMNS]
    except KeyError as error:
        raise InputError(f"row {number} has no {error}; the columns {', '.join(COLUMNS)} are needed") from None
    except (TypeError, ValueError):
        raise InputError(
            f"row {number} holds something else than numbers: {[row[column] for column in COLUMNS]}"
        ) from None
    if not np.isfinite(values).all():
        raise InputError(f"row {number} holds a value that is no number: {dict(zip(COLUMNS, values, strict=True))}")
    if not all(-1 <= value <= 1 for column, value in zip(COLUMNS, values, strict=True) if not column.endswith("_pp")):
        raise InputError(f"row {number}: Acc and Sim are shares, from 0 to 1 (Sim from -1): {values}")
    return values
