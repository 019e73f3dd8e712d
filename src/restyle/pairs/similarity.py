"""Where the similarity of a pair comes from: a column of the file, or a metric that compares the two sides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, UsageError
from restyle.metrics import Batch, metrics

Similarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]

DEFAULT_METRIC = "sim-wieting"  # App. A.1, footnote 20: the SIM model of Wieting et al. 2019
AUTO, COLUMN, OFF = "auto", "column", "off"


def resolved(similarity: str, *, scored: bool, name: str) -> str:
    """What `auto` means for a file that is `scored` or not: the answer is column, off, or the name of a metric.

    Raises InputError when a column is needed that is not there, UnknownName for a metric that is none.
    """
    if similarity == AUTO:
        similarity = COLUMN if scored or DEFAULT_METRIC not in metrics else DEFAULT_METRIC
    if similarity == COLUMN and not scored:
        others = f"{DEFAULT_METRIC} or off" if DEFAULT_METRIC in metrics else "off"
        raise InputError(
            f"{name} has no score column, by which pairs of little similarity are dropped: name it with --score-column "
            f"or --columns, or give --similarity {others}"
        )
    if similarity not in (COLUMN, OFF):
        metrics.entry(similarity)
    return similarity


@lru_cache(maxsize=1)
def similarity_by(name: str) -> Similarity:
    """A metric as a function of both sides, made once in a process; UsageError when it needs more than them."""
    metric = metrics[name]()
    if metric.needs - {"inputs"}:
        raise UsageError(f"the metric {name} needs {' and '.join(sorted(metric.needs))}; a pair has only its two sides")
    return lambda texts, paraphrases: metric.score(Batch(outputs=paraphrases, inputs=texts))
