"""What a step learns from: as many sentences of either style, of about one length, and as many paraphrases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from restyle.nets.fitting import SORTED_BATCHES
from restyle.nets.gru_lm import shifted
from restyle.nets.vocabulary import PAD
from restyle.rewriters.cross_aligned._data import Rows
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings

# What a stream of random numbers is for.
_ORDER, _PAIRS = range(2)
Places = NDArray[np.intp]
Pairs = Sequence[tuple[Sequence[int], Sequence[int]]]


@dataclass(frozen=True)
class Sentences:
    """Sentences as tensors: what an encoder reads, what a decoder is fed and what it should answer."""

    ids: Tensor  # (N, T): the words
    lengths: Tensor  # (N,)
    before: Tensor  # (N, T + 1): BEGIN and the words
    after: Tensor  # (N, T + 1): the words and END
    styles: Tensor  # (N,): 0 or 1

    @classmethod
    def of(cls, rows: Rows, styles: Sequence[int]) -> Sentences:
        """The tensors of sentences, none of which is empty."""
        before, after = shifted(rows)
        lengths = torch.tensor([len(row) for row in rows])
        ids = torch.where(torch.arange(after.shape[1]) < lengths[:, None], after, PAD)[:, :-1]
        return cls(ids, lengths, before, after, torch.tensor(styles))

    def to(self, device: torch.device) -> Sentences:
        """The same where networks compute."""
        tensors = (self.ids, self.lengths, self.before, self.after, self.styles)
        return Sentences(*(tensor.to(device) for tensor in tensors))


@dataclass(frozen=True)
class Batch:
    """One step's sentences: first those of style 0, then as many of style 1; pairs likewise, once for each style."""

    sentences: Sentences
    texts: Sentences | None = None  # u of Eq. 5
    paraphrases: Sentences | None = None  # v

    def to(self, device: torch.device) -> Batch:
        """The same where networks compute."""
        return Batch(
            self.sentences.to(device),
            self.texts.to(device) if self.texts else None,
            self.paraphrases.to(device) if self.paraphrases else None,
        )


class Batches:
    """The batches of every epoch; the n-th follows from the seed and n alone, so that nothing need be remembered."""

    def __init__(
        self,
        rows: tuple[Rows, Rows],
        pairs: Pairs,
        settings: CrossAlignedSettings,
        process: int = 0,
        processes: int = 1,
    ) -> None:
        """Of several processes, each takes its share of every batch."""
        self._rows, self._pairs, self._seed = rows, pairs, settings.seed
        self._process, self._processes = process, processes
        self._size = min(settings.batch_size, *map(len, rows))
        self._pair_size = settings.pair_batch_size or self._size
        # The shorter side is gone through more than once, as in the code of Shen et al.
        self.per_epoch = -(-max(map(len, rows)) // self._size)

    def epoch(self, number: int, first: int = 0) -> Iterator[Batch]:
        """The batches of an epoch, from number `first` on."""
        generator = np.random.default_rng([self._seed, number, _ORDER])
        for place, (one, other) in enumerate(self._places(generator)):
            if place >= first:
                yield self._batch(one, other, np.random.default_rng([self._seed, number, place, _PAIRS, self._process]))

    def _places(self, generator: np.random.Generator) -> list[tuple[Places, Places]]:
        """Batches of both sides, of about one length each, in a random order."""
        orders = [_filled(generator.permutation(len(rows)), self.per_epoch * self._size) for rows in self._rows]
        batches: list[tuple[Places, Places]] = []
        stretch = self._size * SORTED_BATCHES
        for start in range(0, len(orders[0]), stretch):
            one, other = (
                part[np.argsort([len(rows[place]) for place in part], kind="stable")]
                for rows, part in (
                    (rows, order[start : start + stretch]) for rows, order in zip(self._rows, orders, strict=True)
                )
            )
            batches += [
                (one[at : at + self._size], other[at : at + self._size]) for at in range(0, len(one), self._size)
            ]
        return [batches[place] for place in generator.permutation(len(batches))]

    def _batch(self, one: Places, other: Places, generator: np.random.Generator) -> Batch:
        one, other = (places[self._process :: self._processes] for places in (one, other))
        rows = [self._rows[0][place] for place in one] + [self._rows[1][place] for place in other]
        styles = [0] * len(one) + [1] * len(other)
        sentences = Sentences.of(rows, styles)
        if not self._pairs:
            return Batch(sentences)
        # Each style has pairs of its own: the mean of Eq. 5 is the same, and more pairs are seen.
        each = -(-self._pair_size // self._processes)
        drawn = [self._pairs[place] for place in generator.integers(len(self._pairs), size=2 * each)]
        texts, others = ([pair[side] for pair in drawn] for side in (0, 1))
        styles = [0] * each + [1] * each
        return Batch(sentences, Sentences.of(texts, styles), Sentences.of(others, styles))


def _filled(order: Places, size: int) -> Places:
    return np.resize(order, size)
