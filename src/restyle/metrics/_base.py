"""What a metric is, what it is given, and the list of those that exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, UsageError
from restyle.registry import Registry

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Outputs to judge, with what a judge may need beside them; line n of each belongs to line n of the others."""

    outputs: Sequence[str]
    inputs: Sequence[str] | None = None
    references: Sequence[Sequence[str]] | None = None  # per output, one or more
    target: str | None = None

    def __post_init__(self) -> None:
        for name in ("inputs", "references"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.outputs):
                raise InputError(
                    f"{len(self.outputs):,} outputs, but {len(given):,} {name}; they must pair line by line"
                )

    def require(self, metric: Metric) -> None:
        """UsageError names what the metric needs and this batch lacks."""
        lacking = sorted(name for name in metric.needs if getattr(self, name) is None)
        if lacking:
            raise UsageError(f"the metric {metric.name} needs {' and '.join(lacking)}, which were not given")


class Metric(Protocol):
    """A judge of sentences."""

    @property
    def name(self) -> str:
        """What the metric is called in the registry and in every table."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What it is given beside the outputs: of inputs, references and target."""
        ...

    def score(self, batch: Batch) -> Column:
        """One number per output sentence."""
        ...

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        ...


metrics: Registry[type[Metric]] = Registry("metric")
for _name, _class, _summary in (
    ("unigram-f1", "UnigramF1", "words shared with the input, SQuAD-normalised: F1 of precision and recall"),
    ("unigram-precision", "UnigramPrecision", "share of the output's words that stand in the input"),
    ("jaccard", "Jaccard", "distinct words shared with the input, of all distinct words of both"),
    ("kendall-tau", "KendallTau", "order of the words shared with the input: 1 the same, -1 reversed"),
    ("edit-distance", "EditDistance", "word edits from input to output, per word of the longer"),
    ("copy-rate", "CopyRate", "1 when the output is its input, case and punctuation aside"),
    ("length-ratio", "LengthRatio", "words of the output per word of the input"),
):
    metrics.add(_name, f"restyle.metrics.overlap:{_class}", _summary, extra="text")
