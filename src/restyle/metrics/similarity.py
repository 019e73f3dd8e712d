"""Whether an output means what its input, or its reference, means: SIM of STRAP's Sec. 3.1.

SIM has two meanings in STRAP: against the reference in Table 1, against the input in Table 6 and as the filter of the
paraphrases (App. A.1). Here each has its own name.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np

from restyle.errors import InputError
from restyle.metrics._base import Batch, Column
from restyle.nets.wieting import Wieting, bundled


class SimWieting:
    """The cosine of output and input by the model of Wieting et al. 2019."""

    name: ClassVar[str] = "sim-wieting"
    needs: ClassVar[frozenset[str]] = frozenset({"inputs"})

    def __init__(self, model: str | Path | None = None) -> None:
        """`model` is a folder that `restyle similarity train` made; by default the model that comes with restyle."""
        self._model = bundled() if model is None else Wieting.load(model)

    def score(self, batch: Batch) -> Column:
        """One number per output sentence, from -1 to 1; see `Wieting.similarity`."""
        batch.require(self)
        return self._model.similarity(list(batch.inputs or ()), batch.outputs)

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {"metric": self.name, "side": "input", "model": self._model.fingerprint}


class SimWietingReference(SimWieting):
    """The cosine of output and reference by the same model, the largest where there are several (Table 1)."""

    name = "sim-wieting-ref"
    needs = frozenset({"references"})

    def score(self, batch: Batch) -> Column:
        """One number per output sentence; InputError names one that has no reference."""
        batch.require(self)
        references = list(batch.references or ())
        for number, several in enumerate(references, start=1):
            if not several:
                raise InputError(f"sentence {number:,} has no reference, which the metric {self.name} needs")
        owners = [place for place, several in enumerate(references) for _ in several]
        outputs = [batch.outputs[owner] for owner in owners]
        best = np.full(len(references), -np.inf)
        np.maximum.at(best, owners, self._model.similarity(outputs, list(chain.from_iterable(references))))
        return best

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {**super().signature(), "side": "reference", "references": "max"}
