"""Sentences as vectors of a pretrained encoder: the mean of its last states, of length one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from torch import Tensor

from restyle.nets.by_length import DECIMALS, Floats, by_length
from restyle.nets.device import made_fast
from restyle.nets.pretrained import load_pretrained

# As its card says: longer texts are cut.
_MAX_TOKENS = 256


class Embedder:
    """A sentence encoder such as all-MiniLM-L6-v2 (Reimers and Gurevych 2019)."""

    def __init__(self, name: str) -> None:
        self.name = name
        loaded = load_pretrained(name)
        self._body = made_fast(loaded.body.requires_grad_(False))
        self._tokenizer = loaded.tokenizer

    def vectors(self, texts: Sequence[str], *, shown: bool | None = False) -> Floats:
        """The vector of each text, (N, H), of length one."""
        vectors = by_length(self._tokenizer(texts, _MAX_TOKENS), self._mean, shown=shown)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def cosines(self, ours: Sequence[str], theirs: Sequence[str], *, shown: bool | None = False) -> Floats:
        """The cosine of each of our texts with the one of theirs beside it, (N,)."""
        if not ours:
            return np.zeros(0)
        vectors = self.vectors([*ours, *theirs], shown=shown)  # (2N, H)
        products = np.einsum("nh,nh->n", vectors[: len(ours)], vectors[len(ours) :])
        cosines: Floats = np.clip(np.round(products, DECIMALS), -1.0, 1.0)
        return cosines

    def _mean(self, ids: Tensor) -> Tensor:
        return self._body(input_ids=ids).last_hidden_state.float().mean(1)  # type: ignore[no-any-return]


@lru_cache(maxsize=2)
def embedder(name: str) -> Embedder:
    """The encoder of this name, loaded once."""
    return Embedder(name)
