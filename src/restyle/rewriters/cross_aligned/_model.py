"""The encoder and the decoder of Shen et al. 2017, shared by both styles (Pang and Gimpel, Sec. 4).

    E(x, y)   a GRU that starts at (y, 0) and reads x; what its last state holds beside y is the content z
    G(y, z)   a GRU that starts at (y, z) and writes; its states are what the discriminators see

With x from one style and the y of the other, G writes the transferred sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from restyle.nets.device import fast_products
from restyle.nets.vocabulary import BEGIN, END, PAD
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings


class Written(NamedTuple):
    """What the decoder wrote by itself."""

    states: Tensor  # (N, T, H): the state that each word was written in; zeros after the end
    words: Tensor  # (N, T): the likeliest words, END at the end, PAD after it
    lengths: Tensor  # (N,): words before the end


class Transfer(nn.Module):
    """Both halves and what they share: the vectors of words and of the two styles."""

    def __init__(self, words: int, settings: CrossAlignedSettings) -> None:
        super().__init__()
        self.style_dim, self.content_dim = settings.style_dim, settings.content_dim
        self.precision = settings.precision
        state = settings.style_dim + settings.content_dim
        self.words = nn.Embedding(words, settings.word_dim)
        self.styles = nn.Embedding(2, settings.style_dim)  # y of each style
        self.encoder = nn.GRU(settings.word_dim, state, batch_first=True)
        self.decoder = nn.GRU(settings.word_dim, state, batch_first=True)
        self.out = nn.Linear(state, words)

    def encode(self, ids: Tensor, lengths: Tensor, styles: Tensor) -> Tensor:
        """E(x, y): the contents (N, Z) of sentences (N, T) of these lengths and styles (N,); none may be empty."""
        y = self.styles(styles)
        start = torch.cat([y, y.new_zeros(len(y), self.content_dim)], dim=1)  # (N, H)
        states, _ = self.encoder(self.words(ids), start[None])  # (N, T, H)
        last = states[torch.arange(len(ids), device=ids.device), lengths - 1]  # padding is read after it
        content: Tensor = last[:, self.style_dim :]
        return content

    def start(self, styles: Tensor, contents: Tensor) -> Tensor:
        """(y, z), where the decoder starts, (N, H)."""
        return torch.cat([self.styles(styles), contents], dim=1)

    def unfold(self, start: Tensor, before: Tensor) -> Tensor:
        """The states of the decoder while it is fed given words, (N, H) and (N, T) -> (N, T, H): one fused call."""
        states: Tensor = self.decoder(self.words(before), start[None].contiguous())[0]
        return states

    def write(self, start: Tensor, steps: int, temperature: float) -> Written:
        """Run free for so many steps, fed with its own distributions (Sec. 4.1), so that gradients pass through them.

        The words are the likeliest ones, through which no gradient passes (Sec. 4.2). Nothing else needs a loop.
        """
        state, fed = start, self.words.weight[BEGIN].expand(len(start), -1)  # (N, H), (N, E)
        running = torch.ones(len(start), dtype=torch.bool, device=start.device)
        states, words, lengths = [], [], torch.zeros(len(start), dtype=torch.long, device=start.device)
        for _ in range(steps):
            state = self.step(fed, state)
            logits = self.scores(state, temperature)  # (N, V)
            best = logits.argmax(1)
            # A state after the end is the state of no word: discriminators see zeros there, on both sides.
            states.append(state * running[:, None])
            words.append(torch.where(running, best, PAD))
            running = running & (best != END)
            lengths = lengths + running
            with fast_products(self.precision):
                fed = logits.softmax(1) @ self.words.weight  # (N, E)
            fed = fed.to(state.dtype)
        return Written(torch.stack(states, dim=1), torch.stack(words, dim=1), lengths)

    def scores(self, states: Tensor, temperature: float = 1.0) -> Tensor:
        """The score of every word in these states, divided by the temperature, (N, H) -> (N, V)."""
        # The states are divided, which are shorter than the scores.
        with fast_products(self.precision):
            made = functional.linear(states / temperature, self.out.weight, self.out.bias / temperature)
        return made.to(states.dtype)

    def step(self, fed: Tensor, state: Tensor) -> Tensor:
        """One step of the decoder, with the weights of the fused one: (N, E), (N, H) -> (N, H)."""
        weights = (getattr(self.decoder, name) for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"))
        made: Tensor = torch.gru_cell(fed, state, *weights)
        return made
