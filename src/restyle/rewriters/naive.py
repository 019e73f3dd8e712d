"""NAIVE, the system that games corpus-level metrics without transferring any style (STRAP 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from restyle.errors import UsageError
from restyle.rewriters._base import Request
from restyle.rewriters._by_example import ByExample

# Footnote 11: tuned on the validation sets, p = 0.4 for Formality and 0.5 for Shakespeare.
DEFAULT_COPY_PROBABILITY = 0.5


class Naive(ByExample):
    """Copies a text with probability p, and answers with any sentence of the target style otherwise."""

    name = "naive"

    def __init__(
        self, sentences: Mapping[str, Sequence[str]], copy_probability: float = DEFAULT_COPY_PROBABILITY
    ) -> None:
        if not 0 <= copy_probability <= 1:
            raise UsageError(f"copy_probability is {copy_probability}; it can be from 0 to 1")
        super().__init__(sentences)
        self.copy_probability = copy_probability

    def settings(self) -> dict[str, Any]:
        """The probability p."""
        return {"copy_probability": self.copy_probability}

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """Toss one coin per candidate, and draw a sentence where it falls on the other side."""
        return [self._candidates(text, request) for text in texts]

    def _candidates(self, text: str, request: Request) -> list[str]:
        random = request.random_for(text)
        of_style = self.sentences[request.to]
        return [
            text if random.random() < self.copy_probability else random.choice(of_style)
            for _ in range(request.candidates)
        ]
