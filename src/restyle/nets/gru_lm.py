"""A language model with one layer of gated recurrent units (Cho et al. 2014), for a corpus of some ten thousand lines.

On both styles together it measures fluency (PP of Pang and Gimpel 3.2); on one of them it is the frozen model of their
language-model loss (Eq. 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from restyle.nets.by_length import BATCH_TOKENS, Floats, by_length
from restyle.nets.device import best_device, fast_products
from restyle.nets.fitting import FitSettings, examples_by_length, fit
from restyle.nets.vocabulary import BEGIN, END, PAD, Vocabulary
from restyle.nets.weights import load_weights, save_weights
from restyle.settings import setting

# A row of logits is as long as the vocabulary: fewer tokens a batch than where only states are made.
_SHARE = 4
# Sums are rounded here: what the other sentences of a batch may change is smaller.
_DECIMALS = 4


@dataclass(frozen=True)
class GruLmSettings:
    """The language model and its training; the paper gives the dropout alone (4.4)."""

    word_dim: int = setting(128, "numbers of a word vector", minimum=1)
    hidden: int = setting(256, "numbers of the state", minimum=1)
    dropout: float = setting(0.5, "of word vectors and states (Pang and Gimpel 4.4)", minimum=0, maximum=0.95)
    fit: FitSettings = setting(FitSettings(epochs=20, learning_rate=2e-3), "how it is trained")


class GruLm(nn.Module):
    """Word numbers in, at each place a score for every word that could come next."""

    def __init__(self, words: int, settings: GruLmSettings) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, settings.word_dim)
        self.dropout = nn.Dropout(settings.dropout)
        self.gru = nn.GRU(settings.word_dim, settings.hidden, batch_first=True)
        self.out = nn.Linear(settings.hidden, words)

    def forward(self, ids: Tensor) -> Tensor:
        """The states, (B, T, H); `out` makes scores of those that matter."""
        states: Tensor = self.dropout(self.gru(self.dropout(self.embedding(ids)))[0])
        return states


class SentenceLm:
    """A trained GRU language model."""

    def __init__(self, network: GruLm) -> None:
        self.network = network.to(best_device()).eval()

    @classmethod
    def trained(
        cls,
        rows: Sequence[Sequence[int]],
        dev: Sequence[Sequence[int]],
        words: int,
        settings: GruLmSettings,
        *,
        what: str = "learning a language model",
        shown: bool | None = False,
    ) -> SentenceLm:
        """Learn from sentences as word numbers; the epoch whose perplexity is lowest on `dev` is kept."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.fit.seed)
            network = GruLm(words, settings)
        made = cls(network)

        def loss(batch: Sequence[Sequence[int]]) -> Tensor:
            before, after = (each.to(best_device()) for each in shifted(batch))
            known = after != PAD
            states = network(before)[known]  # (W, H): scores of padding would be work for nothing
            with fast_products():
                scores = network.out(states)
            return nn.functional.cross_entropy(scores.float(), after[known])

        batches = examples_by_length(list(rows), [len(row) for row in rows], settings.fit)
        fit(network, batches, loss, lambda: -made.perplexity(dev), settings.fit, what=what, shown=shown)
        return made

    def surprise(self, rows: Sequence[Sequence[int]], *, shown: bool | None = False) -> Floats:
        """For each sentence its negative log-probability in nats and how many words that is, the end among them."""
        if not rows:
            return np.zeros((0, 2))
        batch_tokens = BATCH_TOKENS[best_device().type] // _SHARE
        framed = [[BEGIN, *row, END] for row in rows]
        found: Floats = np.round(by_length(framed, self._summed, batch_tokens=batch_tokens, shown=shown), _DECIMALS)
        return found

    def perplexity(self, rows: Sequence[Sequence[int]]) -> float:
        """Of all sentences together, per word."""
        nats, words = self.surprise(rows).sum(0)
        return float(np.exp(nats / words))

    def save(self, file: Path) -> None:
        """Write the weights."""
        save_weights(self.network, file)

    @classmethod
    def load(cls, file: Path, vocabulary: Vocabulary, settings: GruLmSettings) -> SentenceLm:
        """The model whose weights were saved; InputError when they are of another one."""
        network = GruLm(len(vocabulary), settings)
        load_weights(network, file)
        return cls(network)

    def _summed(self, ids: Tensor) -> Tensor:
        logits = self.network.out(self.network(ids[:, :-1]))  # (B, T-1, V)
        losses = nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")  # (B, T-1)
        words = torch.full((len(ids),), float(ids.shape[1] - 1), device=ids.device)
        return torch.stack([losses.sum(1), words], dim=1)  # (B, 2)


def shifted(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """What a decoder reads and what it should answer, (B, T) each: the begin and the words, the words and the end."""
    longest = max(map(len, rows)) + 1
    before, after = (torch.full((len(rows), longest), PAD) for _ in range(2))
    for place, row in enumerate(rows):
        words = torch.tensor(row, dtype=torch.long)
        before[place, 0], before[place, 1 : len(row) + 1] = BEGIN, words
        after[place, : len(row)], after[place, len(row)] = words, END
    return before, after
