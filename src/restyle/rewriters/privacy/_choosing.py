"""Which of many rewrites is given: the least leak for the least loss of meaning, without any training (Risk-rerank).

    cost(y) = 1 - sim(x, y) + max(0, fl(x) - fl(y)) + alpha D(y) + faults

with D(y) = |2 q(1|y) - 1| under the inner attacker q, and fl the probability of being acceptable by the judge of the
set `select`, which a rewrite may not lose: an attacker is fooled most easily by what is no English any more.

With `max_leak` the cost is not asked for where it need not be: of all that is no surer than that, the closest is given.
The text itself is always among the candidates: what gives nothing away needs no rewriting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from restyle.errors import UsageError
from restyle.rewriters.strap import _guard

if TYPE_CHECKING:
    from restyle.metrics.fluency import FluencyProbability
    from restyle.metrics.judges import WordJudge
    from restyle.metrics.similarity import SimWieting

# A denial that was turned round, or half of a text lost, outweighs all that could be hidden by it.
_FAULT = 1.0


@dataclass(frozen=True)
class Choice:
    """The rewrite that was chosen, and what the text and it give away."""

    text: str
    output: str
    before: float  # the leak of the text
    after: float  # the leak of the output
    similarity: float
    under: bool  # whether the leak is no more than was asked for; True where nothing was


class LeakChooser:
    """Chooses among rewrites with the inner attacker of an attribute, which therefore must not evaluate them."""

    def __init__(
        self, attribute: str | Path, *, alpha: float = 1.0, max_leak: float | None = None, fluent: bool = False
    ) -> None:
        """`alpha` weighs the leak against the loss of meaning; `max_leak` is how much a text may give away.

        `fluent` asks the judge of fluency, a network, as well.

        UsageError for values that they cannot have.
        """
        if alpha < 0:
            raise UsageError(f"alpha is {alpha}; it can be 0 (meaning alone) or more")
        if max_leak is not None and not 0 <= max_leak <= 1:
            raise UsageError(f"max_leak is {max_leak}; it can be from 0 (nothing may be told) to 1")
        self.attribute, self.alpha, self.max_leak, self.fluent = attribute, alpha, max_leak, fluent

    @cached_property
    def judge(self) -> WordJudge:
        """The inner attacker; UnknownName when there is none of this name."""
        from restyle.metrics.leakage import attacker

        return attacker(self.attribute, "select")

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """What a record says of who chose."""
        fluency = (self._fluency.signature()["judge"],) if self.fluent else ()
        return (self.judge.card.fingerprint, self._similarity.signature()["model"], *fluency)

    def ready(self) -> None:
        """Load what chooses."""
        _ = self.fingerprints

    def leaks(self, texts: Sequence[str]) -> list[float]:
        """What each text gives away; an empty one nothing."""
        from restyle.metrics.leakage import leak

        if not texts:
            return []
        labels = len(self.judge.card.labels)
        return [float(each) for each in leak(np.nan_to_num(self.judge.probabilities(texts), nan=1 / labels))]

    def chosen(self, texts: Sequence[str], candidates: Sequence[Sequence[str]]) -> list[Choice]:
        """For each text the best of its rewrites and itself."""
        rows = [
            (place, each)
            for place, (text, several) in enumerate(zip(texts, candidates, strict=True))
            for each in dict.fromkeys((text, *several))
        ]
        outputs, inputs = [each for _, each in rows], [texts[place] for place, _ in rows]
        leaks, similar, clumsy = self.leaks(outputs), self._similarities(inputs, outputs), self._clumsy(inputs, outputs)
        best: dict[int, tuple[tuple[float, ...], Choice]] = {}
        before: dict[int, float] = {}
        for (place, output), after, similarity, worse in zip(rows, leaks, similar, clumsy, strict=True):
            text = texts[place]
            start = before.setdefault(place, after)  # the text itself comes first
            under = self.max_leak is None or after <= self.max_leak
            faults = _guard.turned(text, output) + _guard.shrunk(text, output)
            lost = 1 - similarity + worse + _FAULT * faults
            # What says the opposite is no answer, however little it gives away.
            answers = under and not faults and self.max_leak is not None
            rank = (0.0, lost) if answers else (1.0, lost + self.alpha * after)
            if place not in best or rank < best[place][0]:
                best[place] = (rank, Choice(text, output, start, after, similarity, under))
        return [best[place][1] for place in range(len(texts))]

    def _similarities(self, inputs: Sequence[str], outputs: Sequence[str]) -> list[float]:
        from restyle.metrics import Batch

        found = {(text, text): 1.0 for text in inputs}
        different = [pair for pair in dict.fromkeys(zip(inputs, outputs, strict=True)) if pair not in found]
        if different:
            scores = self._similarity.score(Batch([new for _, new in different], inputs=[old for old, _ in different]))
            found |= zip(different, (max(0.0, float(score)) for score in scores), strict=True)
        return [found[pair] for pair in zip(inputs, outputs, strict=True)]

    def _clumsy(self, inputs: Sequence[str], outputs: Sequence[str]) -> list[float]:
        """By how much each output is less acceptable than its input."""
        if not self.fluent or not outputs:
            return [0.0] * len(outputs)
        from restyle.metrics import Batch

        texts = list(dict.fromkeys((*inputs, *outputs)))
        found = dict(zip(texts, self._fluency.score(Batch(texts)).tolist(), strict=True))
        return [max(0.0, found[old] - found[new]) for old, new in zip(inputs, outputs, strict=True)]

    @cached_property
    def _fluency(self) -> FluencyProbability:
        from restyle.metrics.fluency import FluencyProbability

        return FluencyProbability(part="select")

    @cached_property
    def _similarity(self) -> SimWieting:
        from restyle.metrics.similarity import SimWieting

        return SimWieting()
