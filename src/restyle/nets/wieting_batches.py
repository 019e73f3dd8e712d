"""What the similarity model learns from, as numbers: sentences as their subwords, and pairs drawn from their groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from restyle.nets.wieting_pairs import Group
from restyle.text import bpe

Ids = NDArray[np.int64]


class Sentences:
    """Sentences as their subwords, one after the other in one array."""

    def __init__(self, ids: Sequence[Sequence[int]]) -> None:
        self.lengths = np.fromiter(map(len, ids), np.int64, len(ids))  # (S,)
        self.ids = np.fromiter(chain.from_iterable(ids), np.int64, int(self.lengths.sum()))
        self._starts = np.cumsum(self.lengths) - self.lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def embed(self, rows: Ids, vectors: Tensor) -> Tensor:
        """The unit vectors, (N, D), of the sentences in these rows, (N,)."""
        lengths = self.lengths[rows]
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(self._starts[rows] - starts, lengths) + np.arange(lengths.sum())
        ids, bags = torch.from_numpy(self.ids[places]), torch.from_numpy(starts)
        return functional.normalize(functional.embedding_bag(ids, vectors, bags, mode="mean"), dim=1)


class Pairs:
    """Groups of sentences, of which pairs are drawn."""

    def __init__(self, groups: Sequence[Group], subwords: bpe.Subwords) -> None:
        self.sentences = Sentences(subwords.encode([text for group in groups for text in group]))
        self._sizes = np.array([len(group) for group in groups], dtype=np.int64)  # (G,)
        self._starts = np.cumsum(self._sizes) - self._sizes

    def drawn(self, most: int, generator: np.random.Generator) -> tuple[Ids, Ids, Ids]:
        """Pairs in random order, at most so many of a group: the rows of either side, and the group; (P,) each."""
        groups = np.repeat(np.arange(len(self._sizes)), np.minimum(self._sizes - 1, most))
        groups = generator.permutation(groups)
        sizes = self._sizes[groups]
        left = generator.integers(sizes)
        right = (left + 1 + generator.integers(sizes - 1)) % sizes  # never the same sentence twice
        return self._starts[groups] + left, self._starts[groups] + right, groups

    def count(self, most: int) -> int:
        """How many pairs are drawn."""
        return int(np.minimum(self._sizes - 1, most).sum())
