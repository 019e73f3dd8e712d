"""How much of the input an output keeps: its words, their order, its length. No model, no reference, no opinion.

The measures are those of `restyle.text.overlap` (STRAP App. A.1 and A.7); a metric only says what it compares with.
"""

from __future__ import annotations

import abc
from typing import ClassVar

import numpy as np

from restyle.metrics._base import Batch, Column
from restyle.text import overlap


class _AgainstInput(abc.ABC):
    """A measure of each output against its input."""

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]] = frozenset({"inputs"})

    def score(self, batch: Batch) -> Column:
        """One number per output sentence."""
        batch.require(self)
        assert batch.inputs is not None  # require() saw to it
        return self._measure(list(batch.inputs), list(batch.outputs))

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {"metric": self.name, "side": "input", "words": "squad"}

    @abc.abstractmethod
    def _measure(self, inputs: list[str], outputs: list[str]) -> Column: ...


class UnigramF1(_AgainstInput):
    """Words that input and output share, as F1 (Table 16)."""

    name = "unigram-f1"

    def _measure(self, inputs: list[str], outputs: list[str]) -> Column:
        return overlap.unigram_f1(inputs, outputs)


class UnigramPrecision(_AgainstInput):
    """The share of the output's words that stand in the input (the filter of App. A.1)."""

    name = "unigram-precision"

    def _measure(self, inputs: list[str], outputs: list[str]) -> Column:
        return overlap.unigram_precision(inputs, outputs)


class Jaccard(_AgainstInput):
    """The distinct words of both over the distinct words of either."""

    name = "jaccard"

    def _measure(self, inputs: list[str], outputs: list[str]) -> Column:
        return overlap.jaccard(inputs, outputs)


class KendallTau(_AgainstInput):
    """Kendall's tau-b of the order of the shared words (Table 16); NaN where fewer than two are shared."""

    name = "kendall-tau"

    def _measure(self, inputs: list[str], outputs: list[str]) -> Column:
        return overlap.kendall_tau(inputs, outputs)


class EditDistance(_AgainstInput):
    """Word edits from input to output, per word of the longer of the two: 0 a copy, 1 nothing left."""

    name = "edit-distance"

    def _measure(self, inputs: list[str], outputs: list[str]) -> Column:
        ours, theirs = overlap.encode(inputs), overlap.encode(outputs)
        longer = np.maximum(ours.lengths, theirs.lengths)
        edits: Column = overlap.edit_distance(ours, theirs) / np.maximum(longer, 1)
        return edits


class CopyRate(_AgainstInput):
    """1 where the output says its input word for word, 0 elsewhere; the mean is the share of copies."""

    name = "copy-rate"

    def _measure(self, inputs: list[str], outputs: list[str]) -> Column:
        copies: Column = (overlap.edit_distance(inputs, outputs) == 0).astype(np.float64)
        return copies


class LengthRatio(_AgainstInput):
    """Words of the output per word of the input; NaN where the input has none."""

    name = "length-ratio"

    def _measure(self, inputs: list[str], outputs: list[str]) -> Column:
        given, said = overlap.encode(inputs).lengths, overlap.encode(outputs).lengths
        ratio: Column = np.divide(said, given, out=np.full(len(given), np.nan), where=given > 0)
        return ratio
