"""The stages of the filter: each gives a pair one number, and keeps the pairs whose number lies within bounds.

They are AND-ed, so that their order changes what they cost and not what survives. Each is asked only about what those
before it left, in the order of the paper's Table 8, which is nearly that of their cost: a score column costs nothing
and drops four pairs of ten; the lengths and the language come when little is left. Only a similarity that a model has
to find is moved, from first to last (docs/adr/0004-the-pair-filter.md).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from restyle.pairs.settings import FilterSettings
from restyle.pairs.similarity import COLUMN, OFF, similarity_by
from restyle.pairs.tokens import token_counts
from restyle.text import overlap
from restyle.text.language import is_english

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Pairs:
    """Some pairs, as columns; what several stages need of them is computed once."""

    texts: Sequence[str]
    paraphrases: Sequence[str]
    scores: Floats | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def where(self, mask: NDArray[np.bool_]) -> Pairs:
        """The pairs of some rows, with the words that were found in them."""
        texts, paraphrases = (list(itertools.compress(side, mask)) for side in (self.texts, self.paraphrases))
        chosen = Pairs(texts, paraphrases, None if self.scores is None else self.scores[mask])
        if "words" in self.__dict__:
            ours, theirs = self.words
            chosen.__dict__["words"] = ours[mask], theirs[mask]
        return chosen

    @cached_property
    def words(self) -> tuple[overlap.Words, overlap.Words]:
        """The SQuAD-normalised words of both sides."""
        return overlap.encode(self.texts), overlap.encode(self.paraphrases)

    @cached_property
    def tokens(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many tokens either side has."""
        return token_counts(self.texts), token_counts(self.paraphrases)


@dataclass(frozen=True)
class Stage:
    """One stage: the number that it gives a pair, and the least and the most that keep the pair."""

    name: str
    measures: str
    values: Callable[[Pairs], Floats]
    least: float = -math.inf
    most: float = math.inf

    def keeps(self, values: Floats) -> NDArray[np.bool_]:
        """Whether each value lies within the bounds; NaN never does."""
        within: NDArray[np.bool_] = (values >= self.least) & (values <= self.most)
        return within


@dataclass(frozen=True)
class Verdicts:
    """What the stages say of some pairs."""

    stages: tuple[Stage, ...]
    first_failed: Rows  # (N,) the place of the first stage that a pair fails; the number of stages where it fails none
    values: dict[str, Floats]  # (N,) by stage; NaN where a stage was not asked
    survivors: Pairs
    seconds: dict[str, float]  # of the processor, by stage

    @property
    def kept(self) -> Rows:
        """The rows that fail no stage."""
        return np.flatnonzero(self.first_failed == len(self.stages))


class Filter:
    """The stages that some settings switch on, in the order in which they are asked and counted.

    `similarity` is where it comes from, as `similarity.resolved` found: column, off or a metric.
    """

    def __init__(self, settings: FilterSettings, similarity: str) -> None:
        stages = list(_stages(settings, similarity))
        if similarity not in (COLUMN, OFF) and not settings.full_table:
            stages.sort(key=lambda stage: stage.name == "similarity")
        self.stages = tuple(stages)

    def judge(self, pairs: Pairs, *, ask_all: bool = False) -> Verdicts:
        """Ask each stage about the pairs that the ones before it left, or about all of them."""
        first_failed = np.full(len(pairs), len(self.stages), np.intp)
        values: dict[str, Floats] = {}
        seconds: dict[str, float] = {}
        left, rows = pairs, np.arange(len(pairs))
        for place, stage in enumerate(self.stages):
            begun = time.process_time()
            found = stage.values(left) if len(left) else np.empty(0)
            values[stage.name] = np.full(len(pairs), math.nan)
            values[stage.name][rows] = found
            keeps = stage.keeps(found)
            failed = rows[~keeps]
            first_failed[failed] = np.minimum(first_failed[failed], place)
            if not ask_all and len(failed):
                left, rows = left.where(keeps), rows[keeps]
            seconds[stage.name] = time.process_time() - begun
        survivors = left.where(first_failed == len(self.stages)) if ask_all else left
        return Verdicts(self.stages, first_failed, values, survivors, seconds)


def _stages(settings: FilterSettings, similarity: str) -> Iterator[Stage]:
    """The stages that are on, in the order of Table 8; those that it does not list, beside what they are akin to."""
    if similarity == COLUMN:
        yield Stage("similarity", "the score column", _score, least=settings.min_similarity)
    elif similarity != OFF:
        yield Stage("similarity", similarity, partial(_similarity, metric=similarity), least=settings.min_similarity)
    # Ours: a side of nothing but punctuation shares no word with the other, and would pass as fully rewritten. Here the
    # words are found that the next three stages compare.
    yield Stage("empty", "words of the side that has fewer", _fewest_words, least=1)
    if settings.max_trigram_overlap < 1:
        yield Stage("trigram", "paraphrase's trigrams found in the text", _trigrams, most=settings.max_trigram_overlap)
    if settings.max_unigram_overlap < 1:
        yield Stage("unigram", "paraphrase's words found in the text", _unigrams, most=settings.max_unigram_overlap)
    if settings.min_shuffled > 0:
        yield Stage("kendall", "pairs of shared words that changed order", _shuffled, least=settings.min_shuffled)
    if settings.max_length_difference < math.inf:
        most = settings.max_length_difference
        yield Stage("length-difference", "difference of the lengths in tokens", _length_difference, most=most)
    if settings.min_average_length > 0 or settings.max_average_length < math.inf:
        least, most = settings.min_average_length, settings.max_average_length
        yield Stage("average-length", "average length of the sides in tokens", _average_length, least, most)
    if settings.drop_substrings:
        yield Stage("substring", "1 when one side is part of the other", _is_substring, most=0)
    if settings.language != "off":
        yield Stage("language", "1 when a side is English", partial(_has_english, engine=settings.language), least=1)


def _fewest_words(pairs: Pairs) -> Floats:
    ours, theirs = pairs.words
    return np.minimum(ours.lengths, theirs.lengths).astype(np.float64)


def _score(pairs: Pairs) -> Floats:
    assert pairs.scores is not None  # what reads the files has seen to it
    return pairs.scores


def _similarity(pairs: Pairs, metric: str) -> Floats:
    return similarity_by(metric)(pairs.texts, pairs.paraphrases)


def _trigrams(pairs: Pairs) -> Floats:
    return overlap.ngram_overlap(*pairs.words, n=3)


def _unigrams(pairs: Pairs) -> Floats:
    # App. A.1: "words in the backtranslated sentence [that] can be found in the source sentence", so precision, not F1.
    return overlap.unigram_precision(*pairs.words)


def _shuffled(pairs: Pairs) -> Floats:
    # Fewer than two shared words have no order to keep: fully shuffled, as in STRAP's code.
    return overlap.shuffled(*pairs.words, undefined=1.0)


def _length_difference(pairs: Pairs) -> Floats:
    ours, theirs = pairs.tokens
    difference: Floats = np.abs(ours - theirs).astype(np.float64)
    return difference


def _average_length(pairs: Pairs) -> Floats:
    ours, theirs = pairs.tokens
    average: Floats = (ours + theirs) / 2
    return average


def _is_substring(pairs: Pairs) -> Floats:
    """As the strings stand, but for the white space around them."""
    sides = ((text.strip(), other.strip()) for text, other in zip(pairs.texts, pairs.paraphrases, strict=True))
    return np.fromiter((text in other or other in text for text, other in sides), np.float64, len(pairs))


def _has_english(pairs: Pairs, engine: str) -> Floats:
    english = np.array(is_english(pairs.texts, engine), np.float64)
    rest = [int(row) for row in np.flatnonzero(english == 0)]  # the other side can only save these
    english[rest] = is_english([pairs.paraphrases[row] for row in rest], engine)
    return english
