"""How a privacy pack is learned: what it hides, by which objective, from which texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from restyle.errors import SettingsError, UsageError
from restyle.lm.adapters import Precision
from restyle.rewriters.strap._pack import DEFAULT_PARAPHRASER
from restyle.settings import setting

ObjectiveName = Literal["rec", "risk", "risk-sampled", "adv", "adv-bounded"]
# What stands on every card, in every table and on every page.
INFERRED = "re-implementation with inferred objective"


@dataclass(frozen=True)
class PrivacyLearnSettings:
    """What is hidden, and how it is learned."""

    attribute: str = setting("", "what is hidden: gender, politics, or the folder of an attacker of your own")
    corpora: tuple[str, ...] = setting((), "whose texts are learned from, by label: CORPUS/STYLE=LABEL, several")
    objective: ObjectiveName = setting("risk", "beside the reconstruction: rec (nothing), risk, risk-sampled, adv …")
    alpha: float = setting(1.0, "weight of a risk: 0.1, 0.5, 1, 2, 5", minimum=0)
    strength: float = setting(1.0, "lambda: weight of an adversary", minimum=0)
    samples: int = setting(4, "risk-sampled: outputs that are drawn of each text", minimum=2)
    kappa: float = setting(0.005, "risk-sampled: how much a likelier output counts above others", minimum=0)
    share: float = setting(0.5, "share of the texts that are learned from: the others are the evaluator's", maximum=1)
    most: int = setting(5000, "training texts of each label at most", minimum=1)
    test: int = setting(
        200, "held-out texts of each label that are rewritten to see what the pack is worth", minimum=10
    )
    paraphraser: str = setting(DEFAULT_PARAPHRASER, "what is said between: a paraphraser's pack")
    epochs: float = setting(2.0, "how often every pair is seen", minimum=0.01)
    minutes: float | None = setting(None, "time for the training alone", minimum=0.1)
    rank: int = setting(32, "rank of the adapter: larger learns more, and makes a larger pack", minimum=1)
    precision: Precision = setting("int8", "how the weights are stored; int8 takes half the place")
    min_similarity: float = setting(0.35, "least similarity of a text and its paraphrase", minimum=-1, maximum=1)
    engine: str = setting("auto", "the engine that paraphrases and rewrites")
    seed: int = setting(0, "the same seed gives the same pack", minimum=0)
    training: dict[str, Any] = setting({}, "more of how the base is tuned: batch_size, learning_rate, …")

    def __post_init__(self) -> None:
        if not self.attribute:
            raise UsageError("no attribute was given; name what is to be hidden: --attribute politics")
        if len(self.corpora) < 2:
            raise UsageError("name texts of each label: --corpora congress/democrat --corpora congress/republican")
        if not 0 < self.share < 1:
            raise SettingsError(f"share is {self.share}; something must be left for the evaluator, and for the system")

    @property
    def weight(self) -> str:
        """The objective with its weight, as tables call it."""
        if self.objective == "rec":
            return "L_rec only"
        if self.objective.startswith("risk"):
            return f"{self.objective}, alpha {self.alpha:g}"
        return f"{self.objective}, lambda {self.strength:g}"
