"""Asking the judges: each metric sees each sentence once, and slow ones never see the same sentence again.

Beside what the contract of a Metric asks for, a judge may have:

    slow = True                          equal sentences are judged once, and judgements are kept in the cache
    styles = ("shakespeare", …)          the targets that it knows; another one is refused by name
    predict(outputs) -> list[str]        the style that it sees in each output, for the confusion after transfer
    statistics(batch) -> (sentences, k)  counts whose totals make the corpus number, with
    of_counts(counts) -> (sentences,)    the number of each sentence, and
    corpus(totals) -> (…)                the number of a corpus from totals of shape (…, k)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, UnknownName, UsageError
from restyle.evaluation._cache import JudgementCache
from restyle.evaluation._outputs import Column, Outputs
from restyle.evaluation._scorecard import Statistics
from restyle.metrics import Metric
from restyle.progress import progress_bar

# Judged before they are remembered: what a killed run loses at most.
_ROWS_AT_ONCE = 4096

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Judge:
    """A metric with a cache; a metric whose `slow` is true is asked about equal sentences once, and remembered."""

    metric: Metric
    cache: JudgementCache | None = None
    progress: bool | None = None

    def column(self, outputs: Outputs) -> tuple[Column, Statistics | None]:
        """The number of each sentence, and its counts where the corpus number is made from counts."""
        values = np.stack(self._remembered("score", outputs, self._values, _from_bytes))  # (sentences, 1 + counts)
        # Any: only some metrics have counts and a corpus number of their own.
        corpus: Any = getattr(self.metric, "corpus", None)
        column: Column = np.ascontiguousarray(values[:, 0])
        return column, None if corpus is None else Statistics(np.ascontiguousarray(values[:, 1:]), corpus)

    def predicted(self, outputs: Outputs) -> list[str] | None:
        """The style that the judge sees in each output; None for a metric that names no styles."""
        if not hasattr(self.metric, "predict"):
            return None
        return self._remembered("predict", outputs, self._labels, lambda stored: stored.decode())

    def check(self, outputs: Outputs) -> None:
        """UsageError names what the metric lacks; UnknownName a target that it does not know."""
        name, needs = self.metric.name, self.metric.needs
        if name in outputs.columns:
            raise UsageError(f"the column {name} was given and would be computed; leave one of the two out")
        outputs.batch(target="" if outputs.targets else None).require(self.metric)
        if "references" in needs:
            for row, several in enumerate(outputs.references or (), start=1):
                if not several:
                    raise InputError(f"sentence {row:,} has no reference, which the metric {name} needs")
        styles = getattr(self.metric, "styles", None)
        if "target" in needs and styles:
            for target in dict.fromkeys(outputs.targets or ()):
                if target not in styles:
                    raise UnknownName(f"style of the judge {name}", target, styles)

    def _remembered(
        self,
        question: str,
        outputs: Outputs,
        ask: Callable[[Outputs, Rows], Sequence[bytes]],
        read: Callable[[bytes], Any],
    ) -> list[Any]:
        """The answer for every sentence, from the cache where it is known."""
        slow = getattr(self.metric, "slow", False)
        if not slow:
            return [read(answer) for answer in ask(outputs, np.arange(len(outputs)))]
        keys = self._keys(question, outputs)
        known = self.cache.read(dict.fromkeys(keys)) if self.cache else {}
        unknown: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in known:
                unknown.setdefault(key, row)
        pending = list(unknown)
        with progress_bar(f"judging {self.metric.name}", len(pending), shown=self.progress) as advance:
            for start in range(0, len(pending), _ROWS_AT_ONCE):
                some = pending[start : start + _ROWS_AT_ONCE]
                answers = ask(outputs, np.array([unknown[key] for key in some]))
                fresh = dict(zip(some, answers, strict=True))
                if self.cache:
                    self.cache.write(fresh)
                known |= fresh
                advance(len(some))
        return [read(known[key]) for key in keys]

    def _values(self, outputs: Outputs, rows: Rows) -> list[bytes]:
        """The number of each of these rows, followed by its counts, as bytes."""
        values: list[bytes] = [b""] * len(rows)
        for target, places in self._by_target(outputs, rows):
            batch = outputs.batch(rows[places], target)
            statistics: Any = getattr(self.metric, "statistics", None)
            if statistics is None:
                table = self._checked(self.metric.score(batch), len(places))[:, None]
            else:
                counts = statistics(batch)
                table = np.column_stack([self.metric.of_counts(counts), counts])  # type: ignore[attr-defined]
            for place, row in zip(places, table, strict=True):
                values[place] = row.astype(np.float64).tobytes()
        return values

    def _labels(self, outputs: Outputs, rows: Rows) -> list[bytes]:
        predict: Any = getattr(self.metric, "predict", None)
        return [str(label).encode() for label in predict([outputs.outputs[row] for row in rows])]

    def _by_target(self, outputs: Outputs, rows: Rows) -> list[tuple[str | None, Rows]]:
        """The places in `rows` that share a target; all of them for a metric that does not ask for one."""
        if "target" not in self.metric.needs:
            return [(None, np.arange(len(rows)))]
        targets = np.array(outputs.targets)[rows]
        return [(str(target), np.flatnonzero(targets == target)) for target in np.unique(targets)]

    def _checked(self, column: Column, expected: int) -> Column:
        if np.shape(column) != (expected,):
            raise UsageError(
                f"the metric {self.metric.name} gave numbers of shape {np.shape(column)} for {expected:,} sentences"
            )
        return np.asarray(column, np.float64)

    def _keys(self, question: str, outputs: Outputs) -> list[bytes]:
        """A hash of the judge and of everything that it is shown, for each sentence."""
        judge = json.dumps([question, self.metric.signature()], sort_keys=True)
        needs = self.metric.needs if question == "score" else frozenset[str]()
        shown: list[Sequence[object]] = [outputs.outputs]
        shown += [
            column
            for need, column in (
                ("inputs", outputs.inputs),
                ("references", outputs.references),
                ("target", outputs.targets),
            )
            if need in needs and column is not None
        ]
        return [hashlib.sha256(repr((judge, *row)).encode()).digest()[:16] for row in zip(*shown, strict=True)]


def _from_bytes(stored: bytes) -> Column:
    return np.frombuffer(stored, np.float64)
