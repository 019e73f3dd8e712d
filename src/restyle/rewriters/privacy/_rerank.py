"""Risk-rerank: many paraphrases, of which the one with the least leak for the least loss of meaning is given.

Risk at decoding time: what Risk(alpha) teaches a model by training, chosen here among candidates, with no training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from restyle.metrics.leakage import attributes
from restyle.rewriters._base import Request, Rewrite, Rewriter, read_system_file, write_system_file
from restyle.rewriters.privacy._choosing import LeakChooser
from restyle.rewriters.privacy._lexical import Lexical
from restyle.rewriters.privacy._paraphrase import Paraphrase
from restyle.rewriters.strap._guard import AS_IT_WAS
from restyle.rewriters.strap._pack import DEFAULT_PARAPHRASER

_POOL = 8


class RiskRerank(Rewriter):
    """Paraphrases in many ways, and chooses by the inner attacker."""

    name = "risk-rerank"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        pool: int = _POOL,
        words: bool = True,
        paraphraser: str | Path = DEFAULT_PARAPHRASER,
        engine: str = "auto",
    ) -> None:
        """`alpha` weighs leak against meaning; `pool` is how many paraphrases of a text there are to choose from.

        With `words`, each of them is also there with its telling words replaced (Lexical).
        """
        self.alpha, self.pool, self.words = alpha, pool, words
        self._paraphrase = Paraphrase(paraphraser=paraphraser, engine=engine)
        self._lexical = Lexical("replace")
        self.styles = attributes()

    def checked(self, to: str | None) -> str:
        """The attribute that is meant."""
        return self._lexical.checked(to)

    def ready(self, request: Request) -> None:
        """Open the engine and the attacker."""
        LeakChooser(self.checked(request.to), fluent=True).ready()
        self._paraphrase.ready(request)

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """The best rewrite of every text, then the others."""
        return [list(each.outputs) for each in self.rewrites(texts, request)]

    def rewrites(self, texts: Sequence[str], request: Request) -> list[Rewrite]:
        """Each text with the best of its candidates first."""
        chooser = LeakChooser(request.to, alpha=self.alpha, fluent=True)
        pools = self.candidates(texts, request)
        chosen = chooser.chosen(texts, [pool.outputs for pool in pools])
        found = []
        for pool, choice in zip(pools, chosen, strict=True):
            outputs = [choice.output, *(each for each in pool.outputs if each != choice.output)]
            outputs += [outputs[-1]] * (request.candidates - len(outputs))
            picked = tuple(outputs[: request.candidates])
            found.append(replace(pool, outputs=picked, selected_with=chooser.fingerprints))
        return found

    def candidates(self, texts: Sequence[str], request: Request) -> list[Rewrite]:
        """All candidates of each text: the pool, and each of it with other words."""
        several = replace(request, candidates=max(self.pool, request.candidates))
        pools = self._paraphrase.rewrites(texts, several)
        if not self.words:
            return pools
        versions = [list(dict.fromkeys((pool.text, *pool.outputs))) for pool in pools]
        flat = iter(
            self._lexical.rewrites([each for some in versions for each in some], replace(request, candidates=1))
        )
        worded = [[next(flat).outputs[0] for _ in some] for some in versions]
        return [
            # What is not English, or has no words, is nobody's to change.
            pool
            if set(pool.flags) & set(AS_IT_WAS)
            else replace(pool, outputs=tuple(dict.fromkeys((*pool.outputs, *more))))
            for pool, more in zip(pools, worded, strict=True)
        ]

    def fingerprint(self, *targets: str) -> str:
        """The paraphraser, the attackers, and how it chooses."""
        how = f"alpha {self.alpha:g}, {self.pool} and words {self.words}"
        return f"{self.name}/{how}/{self._paraphrase.fingerprint()}/{self._lexical.fingerprint(*targets)}"

    def save(self, folder: str | Path) -> None:
        """Write how it chooses, and from what."""
        write_system_file(folder, {"system": self.name, "alpha": self.alpha, "pool": self.pool, "words": self.words})
        self._paraphrase.save(Path(folder) / "paraphrase")

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The same again."""
        settings: dict[str, Any] = read_system_file(folder)
        del settings["system"]
        paraphrase = read_system_file(Path(folder) / "paraphrase")
        del paraphrase["system"]
        return cls(**settings, **paraphrase)
