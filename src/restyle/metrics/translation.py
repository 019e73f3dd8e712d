"""The overlap measures of machine translation: BLEU, self-BLEU and chrF are sacrebleu's, METEOR is NLTK's.

BLEU and chrF of a corpus are not means over its sentences. They are made from counts that are summed first, so these
metrics also hand out each sentence's counts (`statistics`) and turn any sum of them into the number (`corpus`): of the
whole corpus, or of a resample of it.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Any, ClassVar, cast

import numpy as np
import sacrebleu
from numpy.typing import NDArray

from restyle.errors import InputError, MissingExtra
from restyle.metrics._base import Batch, Column

Counts = NDArray[np.float64]  # (sentences, counts)


class _Counted(abc.ABC):
    """A sacrebleu metric: counts per sentence, and one number from any sum of them."""

    name: ClassVar[str]
    needs: ClassVar[frozenset[str]]

    @abc.abstractmethod
    def statistics(self, batch: Batch) -> Counts:
        """The counts of each sentence, in sacrebleu's order."""

    @abc.abstractmethod
    def corpus(self, totals: Counts) -> Column:
        """The number of a corpus from its summed counts: (…, counts) -> (…), from 0 to 100."""

    @abc.abstractmethod
    def of_counts(self, counts: Counts) -> Column:
        """The number of each single sentence from its counts: (sentences, counts) -> (sentences,)."""

    def score(self, batch: Batch) -> Column:
        """One number per output sentence, from 0 to 100; 0 for an empty output."""
        return self.of_counts(self.statistics(batch))


class Bleu(_Counted):
    """BLEU against the references (Papineni et al. 2002), as sacrebleu computes it; STRAP Table 12 uses it for SIM."""

    name = "bleu"
    needs = frozenset({"references"})

    @cached_property
    def _bleu(self) -> Any:
        # force: a line that ends in " ." is scored as it stands; whether text is cleaned was decided before.
        return sacrebleu.BLEU(force=True)

    def statistics(self, batch: Batch) -> Counts:
        """Output and reference length, four counts of shared n-grams, four of all n-grams."""
        return _extracted(self._bleu, batch.outputs, _references_of(self, batch))

    def corpus(self, totals: Counts) -> Column:
        """Corpus BLEU, as sacrebleu.corpus_bleu gives it."""
        return self._scores(totals, effective_order=False)

    def of_counts(self, counts: Counts) -> Column:
        """Sentence BLEU: orders that a short sentence has no n-grams of are left out, as sacrebleu recommends."""
        return self._scores(counts, effective_order=True)

    def signature(self) -> dict[str, str]:
        """Everything that changes the number, in sacrebleu's words."""
        return {
            "metric": self.name,
            "side": "reference",
            "case": "mixed",
            "tok": "13a",
            "smooth": "exp",
            "sacrebleu": sacrebleu.__version__,
        }

    def _scores(self, totals: Counts, *, effective_order: bool) -> Column:
        def one(row: NDArray[np.float64]) -> float:
            output_length, reference_length, *counts = (round(count) for count in row)
            return float(
                sacrebleu.BLEU.compute_bleu(
                    correct=counts[:4],
                    total=counts[4:],
                    sys_len=output_length,
                    ref_len=reference_length,
                    smooth_method="exp",
                    effective_order=effective_order,
                ).score
            )

        return _row_by_row(one, totals)


class SelfBleu(Bleu):
    """BLEU against the input: how much was merely copied (STRAP 3.1)."""

    name = "self-bleu"
    needs = frozenset({"inputs"})

    def statistics(self, batch: Batch) -> Counts:
        """The counts of BLEU, with the input as the one reference."""
        batch.require(self)
        return _extracted(self._bleu, batch.outputs, [[text] for text in cast("Sequence[str]", batch.inputs)])

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return super().signature() | {"side": "input"}


class Chrf(_Counted):
    """chrF2 against the references (Popović 2015), as sacrebleu computes it."""

    name = "chrf"
    needs = frozenset({"references"})

    @cached_property
    def _chrf(self) -> Any:
        return sacrebleu.CHRF()

    def statistics(self, batch: Batch) -> Counts:
        """For each order from 1 to 6, the character n-grams of output, reference and both."""
        return _extracted(self._chrf, batch.outputs, _references_of(self, batch))

    def corpus(self, totals: Counts) -> Column:
        """Corpus chrF, as sacrebleu.corpus_chrf gives it."""
        return _row_by_row(lambda row: float(self._chrf._compute_f_score(row.tolist())), totals)

    def of_counts(self, counts: Counts) -> Column:
        """Sentence chrF is corpus chrF of one sentence."""
        return self.corpus(counts)

    def signature(self) -> dict[str, str]:
        """Everything that changes the number, in sacrebleu's words."""
        return {
            "metric": self.name,
            "side": "reference",
            "case": "mixed",
            "nc": "6",
            "nw": "0",
            "space": "no",
            "sacrebleu": sacrebleu.__version__,
        }


class Meteor:
    """METEOR (Lavie and Agarwal 2007) with NLTK's alignment: exact words, then Porter stems; no synonyms.

    The synonyms of the original come from WordNet, which NLTK does not carry and would have to download: they are left
    out, the signature says so, and the numbers are therefore lower than those with WordNet.
    """

    name: ClassVar[str] = "meteor"
    needs: ClassVar[frozenset[str]] = frozenset({"references"})

    def score(self, batch: Batch) -> Column:
        """One number from 0 to 1 per output sentence: the best over its references; 0 for an empty output."""
        meteor_score, stemmer = _nltk()
        references = _references_of(self, batch)
        return np.array(
            [
                meteor_score(
                    [tokens(reference) for reference in several], tokens(output), stemmer=stemmer, wordnet=_NoWordNet()
                )
                for output, several in zip(batch.outputs, references, strict=True)
            ],
            np.float64,
        )

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        import nltk

        return {
            "metric": self.name,
            "side": "reference",
            "case": "lower",
            "tok": "13a",
            "match": "exact+porter",
            "synonyms": "none",
            "nltk": nltk.__version__,
        }


def tokens(text: str) -> list[str]:
    """The words that METEOR aligns: those of BLEU's tokeniser, so that the two see the same text."""
    return cast(str, _tokenizer()(text.rstrip())).split()


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    return sacrebleu.BLEU(force=True).tokenizer


class _NoWordNet:
    """A WordNet that knows no word."""

    def synsets(self, word: str) -> tuple[()]:
        return ()


class _Stemmer:
    """A stemmer that stems each word once; NLTK's takes longer over a word than all else takes over a sentence."""

    def __init__(self, stemmer: Any) -> None:
        self.stem = lru_cache(maxsize=1 << 18)(stemmer.stem)


@lru_cache(maxsize=1)
def _nltk() -> tuple[Any, _Stemmer]:
    try:
        from nltk.stem.porter import PorterStemmer
        from nltk.translate.meteor_score import meteor_score
    except ModuleNotFoundError as error:
        raise MissingExtra("nltk", "judge", "the metric meteor") from error
    return meteor_score, _Stemmer(PorterStemmer())


def _references_of(metric: Any, batch: Batch) -> list[Sequence[str]]:
    """The references of every output; InputError names the first that has none."""
    batch.require(metric)
    references = list(batch.references or ())
    for number, several in enumerate(references, start=1):
        if not several:
            raise InputError(f"sentence {number:,} has no reference, which the metric {metric.name} needs")
    return references


def _extracted(metric: Any, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
    """The counts of each sentence, (sentences, counts); the step that sacrebleu's own significance tests start from."""
    if not outputs:
        raise InputError("there are no outputs to score")
    # sacrebleu takes one list per reference, and None where a sentence has fewer than another.
    streams = list(zip_longest(*references))
    return np.array(metric._extract_corpus_statistics(list(outputs), streams), np.float64)


def _row_by_row(one: Any, totals: Counts) -> Column:
    """A function of one row of counts, over the last axis: (…, counts) -> (…)."""
    rows = totals.reshape(-1, totals.shape[-1])
    return np.array([one(row) for row in rows], np.float64).reshape(totals.shape[:-1])
