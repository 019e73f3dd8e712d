"""One sequence for two sentences, so that a language model can rewrite one as the other (STRAP App. A.2).

    begin  input …  separator  output …  end
    └────────── prompt ─────┘  └─ learned ─┘

The loss counts the output and the end alone. Positions are masked by attention, never by a token's number: many models
pad with the token that also ends a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restyle.lm.subwords import Subwords

# A line break stands in every vocabulary and never within a cleaned sentence.
_SEPARATOR = "\n"


@dataclass(frozen=True)
class Sequence2:
    """The numbers of one pair, and how many of them are the prompt."""

    ids: list[int]
    prompt: int
    attribute: int | None = None  # whose the output is, where an objective asks

    def __len__(self) -> int:
        return len(self.ids)


class PairFormat:
    """How a base model's tokenizer writes a pair."""

    def __init__(self, subwords: Subwords, max_subwords: int) -> None:
        self._subwords = subwords
        self.max_subwords = max_subwords
        # GPT-2 begins and ends with the same token; a sequence needs it at its end alone.
        self._begin = [] if subwords.begin is None or subwords.begin == subwords.end else [subwords.begin]
        self.end = subwords.end
        self._separator = subwords.encode([_SEPARATOR])[0]

    def prompts(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model is given, for each text; what is longer than `max_subwords` is cut at its end."""
        width = self._subwords.width
        room = width or self.max_subwords
        found = (ids[:room] for ids in self._subwords.encode(texts))
        padded = ([*[self.end] * (width - len(ids)), *ids] for ids in found) if width else found
        return [[*self._begin, *ids, *self._separator] for ids in padded]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The subwords of each text."""
        return [len(ids) for ids in self._subwords.encode(texts)]

    def examples(self, inputs: Sequence[str], outputs: Sequence[str]) -> list[Sequence2 | None]:
        """What the model learns from, for each pair.

        None for a pair whose output does not fit: a model that is shown sentences without their end learns to write
        such sentences.
        """
        prompts, targets = self.prompts(inputs), self._subwords.encode(outputs)
        return [
            Sequence2([*prompt, *target, self.end], len(prompt)) if 0 < len(target) <= self.max_subwords else None
            for prompt, target in zip(prompts, targets, strict=True)
        ]

    def text(self, ids: Sequence[int]) -> str:
        """The sentence that generated numbers stand for: up to the end, on one line."""
        kept = list(ids)
        if self.end in kept:
            kept = kept[: kept.index(self.end)]
        return " ".join(self._subwords.decode(kept).split())
