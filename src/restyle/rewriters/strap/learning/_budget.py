"""How a time is shared out: so much for paraphrasing, so much for judging, and training gets the rest."""

from __future__ import annotations

from dataclasses import dataclass

from restyle.rewriters.strap.learning._sentences import LEAST

# The paraphraser reads a sentence once, training reads it several times: beyond a third it would be short of time.
_PARAPHRASING = 0.3
# The classifier, and the held-out sentences rewritten and judged.
_JUDGING = 0.2
# Held-out sentences that decide when to stop, at least.
_FEWEST_HELD = 20
# Of a GPU's or an idle machine's hour, most sentences are still more than a judge can use.
_MOST_JUDGED = 2000


@dataclass(frozen=True)
class Budget:
    """Minutes for everything together; None is as long as it takes."""

    minutes: float | None
    share: float = 1.0  # of the time for paraphrasing, up to the end of the style at hand, where there are several

    def sentences(self, seconds_each: float, spent: float) -> int | None:
        """How many sentences there is time to paraphrase, after so many seconds; None where there is no limit."""
        if self.minutes is None:
            return None
        return int(max(0.0, self.share * _PARAPHRASING * self._seconds - spent) / max(seconds_each, 1e-9))

    def split(self, sentences: int, most_tested: int) -> dict[str, int]:
        """So many sentences by what they are for; from too few nothing is learned, however little time there is."""
        test = self.tested(most_tested)
        valid = max(_FEWEST_HELD, sentences // 8)
        return {"test": test, "valid": valid, "train": max(LEAST, sentences - test - valid)}

    def training(self, spent: float) -> float | None:
        """The minutes that training has, after so many seconds."""
        if self.minutes is None:
            return None
        # When the time is up already, a little training is worth more than none.
        left = (1 - _JUDGING) * self._seconds - spent
        return round(max(left, 0.1 * self._seconds, 6.0) / 60, 3)

    def judged(self) -> int:
        """How many sentences of each label a classifier is trained on."""
        return _MOST_JUDGED if self.minutes is None else max(200, min(_MOST_JUDGED, round(50 * self.minutes)))

    def tested(self, most: int) -> int:
        """How many held-out sentences are rewritten, at most."""
        return most if self.minutes is None else min(most, max(20, round(10 * self.minutes)))

    @property
    def _seconds(self) -> float:
        return 60 * (self.minutes or 0.0)
