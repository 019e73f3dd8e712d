"""One stage of STRAP: an engine and the format of its base, sentences in, sentences out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from restyle.lm.decoding import Decoding, Engine, Prompt
from restyle.lm.format import PairFormat

# A rewrite may be so much longer than its input, in subwords, and a few more: short sentences grow most.
_RATIO, _MORE = 1.5, 12


@dataclass(frozen=True)
class Written:
    """A sentence, the mean log-probability of its subwords, and whether it came to its end."""

    text: str
    score: float
    ended: bool


class Writer:
    """Writes sentences as its adapter taught it."""

    def __init__(self, engine: Engine, format_: PairFormat, *, longest: float = 1.0, prefix: str = "") -> None:
        """`longest` is how far an output may go beyond what was learned: what goes on is no input for a next stage.

        `prefix` is put before every input.
        """
        self.engine, self.format, self._prefix = engine, format_, prefix
        self._most = int(longest * format_.max_subwords)

    @property
    def longest_input(self) -> int:
        """In subwords."""
        return self.format.max_subwords - self.format.lengths([self._prefix])[0]

    def write(self, texts: Sequence[str], decoding: Decoding) -> list[list[Written]]:
        """`decoding.candidates` rewrites of each text, likeliest first; equal ones are one."""
        if not texts:  # an engine that is asked for nothing would be loaded all the same
            return []
        prompts = [
            Prompt(tuple(ids), min(self._most, int(_RATIO * len(ids)) + _MORE), text)
            for text, ids in zip(texts, self.format.prompts([self._prefix + text for text in texts]), strict=True)
        ]
        found = []
        for candidates in self.engine.generate(prompts, decoding):
            written = (Written(self.format.text(each.ids), each.score, each.ended) for each in candidates)
            found.append(list({each.text: each for each in written}.values()))
        return found
