"""Which of many rewrites is given: the one that the judges of the set `select` find best.

A judge that chose must not report (docs/footguns.md): scores come from the set `report`, trained on other sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from restyle.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from restyle.metrics.fluency import FluencyProbability
    from restyle.metrics.judges import Judge
    from restyle.metrics.similarity import SimWieting

Floats = NDArray[np.float64]

# What each fault leaves of a rewrite's worth: a lost negation or name outweighs any style.
_FAULT = 0.3


class Chooser:
    """Scores rewrites by style x similarity x fluency, all of them probabilities or cosines.

    A style that no judge knows, such as one that the user has learned, is chosen by the other two.
    """

    def __init__(self, style: str) -> None:
        self._style = style

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The judges that choose, as a signature names them. UsageError when there are none."""
        style = () if self._judge is None else (self._judge.card.fingerprint,)
        return (*style, self._fluency.signature()["judge"], self._similarity.signature()["model"])

    def worth(self, inputs: Sequence[str], outputs: Sequence[str], faults: Sequence[int]) -> Floats:
        """How good each output is as a rewrite of the input beside it, from 0 to 1; `faults` says how much is wrong."""
        from restyle.metrics import Batch

        if not outputs:
            return np.zeros(0)
        batch = Batch(list(outputs), inputs=list(inputs), target=self._style)
        worth = np.clip(self._similarity.score(batch), 0.0, 1.0) * self._fluency.score(batch)
        if self._judge is not None:
            column = self._judge.card.labels.index(self._judge.card.label_of(self._style))
            worth *= np.nan_to_num(self._judge.probabilities(list(outputs))[:, column])
        found: Floats = worth * _FAULT ** np.asarray(faults, np.float64)
        return found

    # Judges are imported with the first choice: a greedy rewrite needs none of them.

    @cached_property
    def _judge(self) -> Judge | None:
        """The style's own judge; None for a style that none of them knows."""
        from restyle.metrics.judges import judge_of

        try:
            return judge_of([self._style], part="select")
        except UsageError:
            return None

    @cached_property
    def _fluency(self) -> FluencyProbability:
        from restyle.metrics.fluency import FluencyProbability

        try:
            return FluencyProbability(part="select")
        except UnknownName as error:
            raise UsageError(
                "several candidates are chosen from by the judge fluency-select, which is not here: train it "
                "(restyle judge train --help), or ask for one candidate"
            ) from error

    @cached_property
    def _similarity(self) -> SimWieting:
        from restyle.metrics.similarity import SimWieting

        return SimWieting()
