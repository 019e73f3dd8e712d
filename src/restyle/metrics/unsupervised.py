"""Acc and PP of Pang and Gimpel 2019 (Sec. 3.2): what the gauges of a corpus say of each output."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from restyle.metrics._base import Batch, Column
from restyle.metrics.fluency import Perplexity
from restyle.metrics.gauges import Gauges, gauges_fingerprint, gauges_of

Named = str | Path | Gauges | None


class CnnAccuracy:
    """1 where a text CNN trained on the corpus (Kim 2014) finds the target style in the output, else 0."""

    name: ClassVar[str] = "acc-cnn"
    needs: ClassVar[frozenset[str]] = frozenset({"target"})

    def __init__(self, gauges: Named = None) -> None:
        """`gauges` is a folder, or a name; when not given, those that know the target."""
        self._gauges = gauges

    def score(self, batch: Batch) -> Column:
        """One verdict per output sentence; 0 for an empty one."""
        batch.require(self)
        return _chosen(self._gauges, batch).correct(batch.outputs, batch.target or "")

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {"metric": self.name, "gauges": _signed(self._gauges)}


class GruPerplexity(Perplexity):
    """Perplexity of each output under a GRU language model of both styles' corpus, per word; NaN for an empty output.

    The target says whose gauges are asked, and changes nothing else.
    """

    name = "pp"
    needs = frozenset({"target"})
    slow = False

    def __init__(self, gauges: Named = None) -> None:
        """`gauges` is a folder, or a name; when not given, those that know the target."""
        self._gauges = gauges

    def ready(self) -> None:
        """There is nothing to fetch."""

    def statistics(self, batch: Batch) -> Column:
        """The negative log-probability of each output and its words, (N, 2); zeros for an empty one."""
        batch.require(self)
        counts = _chosen(self._gauges, batch).surprise(batch.outputs)
        counts[[not text.strip() for text in batch.outputs]] = 0.0
        return counts

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {"metric": self.name, "gauges": _signed(self._gauges), "unit": "word"}


def _chosen(gauges: Named, batch: Batch) -> Gauges:
    return gauges if isinstance(gauges, Gauges) else gauges_of(batch.target or "", gauges)


def _signed(gauges: Named) -> str:
    return gauges.card.fingerprint if isinstance(gauges, Gauges) else gauges_fingerprint(gauges)
