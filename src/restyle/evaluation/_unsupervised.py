"""The four measures of a transferred corpus, and the GM of three of them (Pang and Gimpel 2019, Sec. 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from restyle.evaluation._numbers import THRESHOLDS, adjusted_gm, checked_thresholds
from restyle.metrics import Batch
from restyle.metrics.gauges import Gauges
from restyle.metrics.similarity_glove import DEFAULT_VECTORS, SimGlove
from restyle.metrics.translation import Meteor
from restyle.metrics.unsupervised import CnnAccuracy, GruPerplexity


class UnsupervisedMeasures:
    """Acc, Sim, PP and Met of transferred sentences in both directions, and GM."""

    def __init__(
        self,
        gauges: Gauges,
        idf_from: Iterable[str],
        *,
        vectors: str = DEFAULT_VECTORS,
        thresholds: Sequence[float] = THRESHOLDS,
    ) -> None:
        """`idf_from` are the training sentences of both styles (Sec. 3.2)."""
        self._acc, self._pp = CnnAccuracy(gauges), GruPerplexity(gauges)
        self._sim, self._met = SimGlove(vectors, idf_from=idf_from), Meteor()
        self._thresholds = checked_thresholds(thresholds)

    def __call__(self, inputs: Sequence[str], outputs: Sequence[str], targets: Sequence[str]) -> Mapping[str, float]:
        """`acc`, `sim`, `meteor` (with the input, Sec. A.2), `pp` and `gm` of all sentences together."""
        acc, counts = np.zeros(len(outputs)), np.zeros((len(outputs), 2))
        for target in dict.fromkeys(targets):
            rows = [row for row, each in enumerate(targets) if each == target]
            batch = Batch([outputs[row] for row in rows], target=target)
            acc[rows], counts[rows] = self._acc.score(batch), self._pp.statistics(batch)
        measured = {
            "acc": float(acc.mean()),
            "sim": float(self._sim.score(Batch(outputs, inputs=inputs)).mean()),
            "meteor": float(self._met.score(Batch(outputs, references=[[text] for text in inputs])).mean()),
            # A system that says nothing at all is as little fluent as can be.
            "pp": float(np.nan_to_num(self._pp.corpus(counts.sum(0)), nan=np.inf)),
        }
        gm = float(adjusted_gm(measured["acc"], measured["sim"], measured["pp"], self._thresholds))
        return measured | {"gm": gm}
