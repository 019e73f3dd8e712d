"""How surprised a causal language model is by each sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from restyle.nets.by_length import BATCH_TOKENS, Floats, by_length
from restyle.nets.device import best_device, made_fast
from restyle.nets.pretrained import Tokenizer, load_language_model

_MAX_TOKENS = 256
# A row of logits is as long as the vocabulary: fewer tokens a batch than where only states are made.
_SHARE = 4


class SentenceModel:
    """A language model that gives sentences their probability."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._model: nn.Module
        self._tokenizer: Tokenizer
        self._model, self._tokenizer = load_language_model(name)
        made_fast(self._model.requires_grad_(False))

    def surprise(self, texts: Sequence[str], *, shown: bool | None = False) -> Floats:
        """For each text, the negative log-probability of its tokens and how many they are, (N, 2).

        Every token but the first of the model's input is predicted: the sentence after the mark of the beginning, and
        the mark of the end. The sum is in nats.
        """
        rows = self._tokenizer(texts, _MAX_TOKENS)
        if not rows:
            return np.zeros((0, 2))
        return by_length(rows, self._summed, batch_tokens=BATCH_TOKENS[best_device().type] // _SHARE, shown=shown)

    def _summed(self, ids: Tensor) -> Tensor:
        logits = self._model(input_ids=ids).logits[:, :-1].float()  # (B, T-1, V)
        losses = nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")  # (B, T-1)
        tokens = torch.full((len(ids),), float(ids.shape[1] - 1), device=ids.device)
        return torch.stack([losses.sum(1), tokens], dim=1)  # (B, 2)


@lru_cache(maxsize=1)
def sentence_model(name: str) -> SentenceModel:
    """The language model of this name, loaded once."""
    return SentenceModel(name)
