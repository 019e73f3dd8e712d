"""The text CNN of Kim 2014: filters over a few words in a row, the strongest answer of each, one linear layer.

It classifies sentences (Acc of Pang and Gimpel 3.2), and tells the states of a decoder apart (their discriminators).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from restyle.nets.by_length import BATCH_TOKENS, DECIMALS, Floats, by_length
from restyle.nets.device import best_device, fast_products
from restyle.nets.fitting import FitSettings, examples_by_length, fit
from restyle.nets.vocabulary import PAD, Vocabulary
from restyle.nets.weights import load_weights, save_weights
from restyle.settings import setting

# A row of states is as long as all filters together: fewer tokens a batch than where only states are made.
_SHARE = 2


class Filters(nn.Module):
    """So many filters of each width over the rows of a matrix, and the largest answer of each: (B, T, D) -> (B, F).

    All filters at all places are one product of matrices; what a filter says of a window is the sum of what its rows
    say of the rows in it.
    """

    def __init__(self, width: int, widths: Sequence[int], filters: int, precision: str = "float32") -> None:
        """`width` is D; `precision` is that of the product, as `fast_products` takes it."""
        super().__init__()
        self.precision = precision
        self.widths, self.filters = tuple(widths), filters
        self.size = len(self.widths) * filters
        # Each filter begins as a convolution of its width does (He et al. 2015), whatever it shares the matrix with.
        blocks = [torch.empty(width, each * filters).uniform_(-1, 1) * (each * width) ** -0.5 for each in self.widths]
        self.weight = nn.Parameter(torch.cat(blocks, dim=1))  # (D, sum of widths * filters)
        self.bias = nn.Parameter(torch.zeros(self.size))

    def forward(self, rows: Tensor) -> Tensor:
        """The strongest answer of each filter; rows shorter than the widest filter are followed by zeros."""
        lacking = max(self.widths) - rows.shape[1]
        if lacking > 0:
            rows = nn.functional.pad(rows, (0, 0, 0, lacking))
        with fast_products(self.precision):
            answers = (rows.flatten(0, 1) @ self.weight).view(*rows.shape[:2], -1).to(rows.dtype)
        blocks = torch.split(answers, self.filters, dim=2)  # sum of widths x (B, T, filters)
        strongest, place = [], 0
        for width in self.widths:
            windows = rows.shape[1] - width + 1
            summed = blocks[place][:, :windows]
            for shift in range(1, width):
                summed = summed + blocks[place + shift][:, shift : shift + windows]
            strongest.append(summed.amax(dim=1))  # (B, filters)
            place += width
        # Neither a constant nor relu changes which answer is the largest.
        return (torch.cat(strongest, dim=1) + self.bias).relu()  # (B, F)


@dataclass(frozen=True)
class TextCnnSettings:
    """The classifier and its training; Kim 2014, Sec. 3.1, where nothing else is said."""

    word_dim: int = setting(128, "numbers of a word vector (Kim: 300, of word2vec)", minimum=1)
    widths: tuple[int, ...] = setting((3, 4, 5), "of the filters, in words")
    filters: int = setting(100, "of each width", minimum=1)
    dropout: float = setting(0.5, "before the last layer", minimum=0, maximum=0.95)
    fit: FitSettings = setting(FitSettings(), "how it is trained")


class TextCnn(nn.Module):
    """Word numbers in, a score for each label out."""

    def __init__(self, words: int, labels: int, settings: TextCnnSettings) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, settings.word_dim, padding_idx=PAD)
        self.filters = Filters(settings.word_dim, settings.widths, settings.filters)
        self.dropout = nn.Dropout(settings.dropout)
        self.out = nn.Linear(self.filters.size, labels)

    def forward(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, L)."""
        scores: Tensor = self.out(self.dropout(self.filters(self.embedding(ids))))
        return scores


class TextClassifier:
    """A trained text CNN with its vocabulary: sentences in, probabilities out."""

    def __init__(self, network: TextCnn, vocabulary: Vocabulary) -> None:
        self._network, self._vocabulary = network.to(best_device()).eval(), vocabulary

    @classmethod
    def trained(
        cls,
        rows: Sequence[Sequence[Sequence[int]]],
        dev: Sequence[Sequence[Sequence[int]]],
        vocabulary: Vocabulary,
        settings: TextCnnSettings,
        *,
        shown: bool | None = False,
    ) -> TextClassifier:
        """Learn to tell lists of sentences apart, list n being label n; the epoch that is best on `dev` is kept."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.fit.seed)
            network = TextCnn(len(vocabulary), len(rows), settings)
        made = cls(network, vocabulary)
        examples = [(row, label) for label, of_label in enumerate(rows) for row in of_label]

        def loss(batch: Sequence[tuple[Sequence[int], int]]) -> Tensor:
            ids, labels = _padded([row for row, _ in batch]), torch.tensor([label for _, label in batch])
            return nn.functional.cross_entropy(network(ids.to(best_device())), labels.to(best_device()))

        def accuracy() -> float:
            verdicts = [made.of_rows(of_label).argmax(1) == label for label, of_label in enumerate(dev)]
            return float(np.concatenate(verdicts).mean())

        batches = examples_by_length(examples, [len(row) for row, _ in examples], settings.fit)
        fit(network, batches, loss, accuracy, settings.fit, what="learning to tell the styles apart", shown=shown)
        return made

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """The probability of each label, (N, L)."""
        return self.of_rows([self._vocabulary.encode(text) for text in texts])

    def of_rows(self, rows: Sequence[Sequence[int]]) -> Floats:
        """The same of texts as word numbers; that of no words is whatever no words look like."""
        if not rows:
            return np.zeros((0, self._network.out.out_features))
        widest = max(self._network.filters.widths)
        # Whatever stands beside it, a sentence is followed by the same padding.
        filled = [[*row, *[PAD] * (widest - len(row))] for row in rows]
        size = BATCH_TOKENS[best_device().type] // _SHARE
        found = by_length(filled, lambda ids: self._network(ids).softmax(1), batch_tokens=size)
        rounded: Floats = np.round(found, DECIMALS)
        return rounded

    def save(self, file: Path) -> None:
        """Write the weights."""
        save_weights(self._network, file)

    @classmethod
    def load(cls, file: Path, vocabulary: Vocabulary, labels: int, settings: TextCnnSettings) -> TextClassifier:
        """The classifier whose weights were saved; InputError when they are of another one."""
        network = TextCnn(len(vocabulary), labels, settings)
        load_weights(network, file)
        return cls(network, vocabulary)


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    ids = torch.full((len(rows), max(1, *map(len, rows))), PAD)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row, dtype=torch.long)
    return ids
