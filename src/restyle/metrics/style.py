"""Whether an output is in the style that was asked for: ACC of STRAP's Sec. 3.1, one verdict a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from restyle.errors import UsageError
from restyle.metrics._base import Batch, Column
from restyle.metrics.judges import Judge, Set, cards, judge_of, load_judge


class StyleAccuracy:
    """1 where the judge finds the target style in the output, 0 where it finds another; 0 for an empty output.

    Without a judge, each target is judged by the one that tells it from the fewest others: Shakespeare by the judge of
    Shakespeare and modern English, the Bible by that of eleven styles. `predict` and `styles` are there once a judge is
    chosen, by name here or by `for_targets`.
    """

    name: ClassVar[str] = "acc"
    kind: ClassVar[Literal["network", "linear"]] = "network"
    needs: ClassVar[frozenset[str]] = frozenset({"target"})
    slow: ClassVar[bool] = True

    def __init__(self, judge: str | Path | Judge | None = None, *, part: Set = "report") -> None:
        """`judge` is a name (`restyle judge ls`), a folder or a loaded judge; `part` the set to choose from."""
        self._part, self._targets = part, tuple[str, ...]()
        self._judge = load_judge(judge, part=part) if isinstance(judge, (str, Path)) else judge

    def for_targets(self, targets: Iterable[str]) -> StyleAccuracy:
        """The metric with the one judge that knows all these styles; without it, itself, and each has its own judge.

        UsageError names a style that no judge knows.
        """
        wanted = list(dict.fromkeys(targets))
        if self._judge:
            return self
        try:
            return type(self)(judge_of(wanted, part=self._part, kind=self.kind), part=self._part)
        except UsageError:
            several = type(self)(part=self._part)
            several._targets = tuple(wanted)
            several._judges()
            return several

    def ready(self) -> None:
        """Fetch what the judge stands on, where one is chosen."""
        if self._judge:
            self._judge.ready()

    def score(self, batch: Batch) -> Column:
        """One verdict per output sentence. UnknownName when the judge does not know the target."""
        probabilities, judge, label = self._judged(batch)
        return np.array([verdict == label for verdict in judge.verdicts_from(probabilities)], np.float64)

    def probabilities(self, batch: Batch) -> Column:
        """The probability of the target style for each output; 0 for an empty one."""
        probabilities, judge, label = self._judged(batch)
        return np.nan_to_num(probabilities[:, judge.card.labels.index(label)])

    @property
    def predict(self) -> Callable[[Sequence[str]], list[str]]:
        """The style that the chosen judge sees in each text."""
        return self._chosen().verdicts

    @property
    def styles(self) -> tuple[str, ...]:
        """The styles that the chosen judge knows."""
        return self._chosen().card.styles

    def signature(self) -> dict[str, str]:
        """Everything that changes the number: the judge, or the judges of the targets."""
        judges = self._judges()
        return {
            "metric": self.name,
            "judge": "+".join(sorted({judge.card.fingerprint for judge in judges})),
            "precision": "+".join(sorted({judge.precision for judge in judges})),
            **{key: said for judge in judges for key, said in judge.card.choosing.items()},
        }

    def _judged(self, batch: Batch) -> tuple[NDArray[np.float64], Judge, str]:
        batch.require(self)
        judge = self._judge or judge_of([batch.target or ""], part=self._part, kind=self.kind)
        return judge.probabilities(batch.outputs), judge, judge.card.label_of(batch.target or "")

    def _judges(self) -> list[Judge]:
        """The judge that was chosen, or that of each target; of all styles while no target is known."""
        if self._judge:
            return [self._judge]
        if self._targets:
            return [judge_of([style], part=self._part, kind=self.kind) for style in self._targets]
        fitting = ("style", self.kind, self._part)
        return [load_judge(name) for name, card in cards().items() if (card.task, card.kind, card.part) == fitting]

    def _chosen(self) -> Judge:
        if self._judge is None:
            raise AttributeError("no judge is chosen yet: name one, or call for_targets")
        return self._judge


class StyleProbability(StyleAccuracy):
    """The probability that the judge of `acc` gives the target style."""

    name = "acc-prob"

    def score(self, batch: Batch) -> Column:
        """One probability per output sentence; 0 for an empty one."""
        return self.probabilities(batch)


class LinearStyleAccuracy(StyleAccuracy):
    """The same verdict by n-grams and logistic regression: fast, and its weights can be read."""

    name = "acc-linear"
    kind = "linear"
    slow = False
