"""How a pack is learned: every choice that changes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from restyle.errors import SettingsError
from restyle.lm.adapters import Precision
from restyle.rewriters.strap._pack import DEFAULT_PARAPHRASER, LSTM, Kind
from restyle.settings import setting

# The base model where neither the settings nor a paraphraser name one.
DEFAULT_BASE = "smollm2-135m"
# Beyond this many of a user's own sentences a style gets better slowly, and takes a night to paraphrase.
MOST_OWN = 50_000


@dataclass(frozen=True)
class LearnSettings:
    """What is learned, from how much, for how long."""

    kind: Kind = setting(
        "style", "what is learned: a style, several in one model, or a paraphraser that takes styles out"
    )
    styles: tuple[str, ...] = setting(
        (), "for multi, which styles of the recipe; for --system, which two of the corpus; several"
    )
    base: str | None = setting(
        None, f"the base model, or {LSTM} for none; that of the paraphraser, or {DEFAULT_BASE}, when not given"
    )
    paraphraser: str = setting(DEFAULT_PARAPHRASER, "the paraphraser that takes the style out: a pack or its folder")
    start: str | None = setting(
        None, "a pack of this kind that goes on learning, where a new one would begin from the base; name or folder"
    )
    minutes: float | None = setting(
        None, "time for everything together; as long as it takes, when not given", minimum=0.1
    )
    epochs: float = setting(3.0, "how often every pair is seen, where the time allows", minimum=0.01)
    rank: int = setting(
        32, "rank of the adapter: larger learns more, and makes a larger pack; 0 tunes all weights", minimum=0
    )
    precision: Precision = setting("int8", "how the weights are stored; int8 takes half the place")
    most: int | None = setting(
        None,
        f"training sentences at most; what the recipe says, or {MOST_OWN:,} of text files, when not given",
        minimum=1,
    )
    # A paraphrase that has lost the meaning teaches the style to make things up.
    min_similarity: float = setting(0.35, "least similarity of a sentence and its paraphrase", minimum=-1, maximum=1)
    # Beyond these the paraphraser has left something out, or added something.
    min_length: float = setting(0.5, "fewest words of a paraphrase for each word of its sentence", minimum=0)
    max_length: float = setting(2.0, "most words of a paraphrase for each word of its sentence", minimum=0)
    test: int = setting(200, "held-out sentences that are rewritten to see what the pack is worth", minimum=10)
    judge: Literal["network", "linear"] = setting("network", "the classifier that is trained to tell the new style")
    engine: str = setting("auto", "the engine that paraphrases and rewrites")
    seed: int = setting(0, "the same seed gives the same pack", minimum=0)
    summary: str = setting("", "what the style is, in a few words, for the card")
    licence: str = setting("", "the licence of the sentences, for the card")
    corpus: dict[str, Any] = setting({}, "how text files are read (`restyle corpora build`)")
    training: dict[str, Any] = setting({}, "more of how the base is tuned: batch_size, learning_rate, patience …")
    lstm: dict[str, Any] = setting({}, f"of the base {LSTM}: vocabulary, width, layers, dropout")

    def __post_init__(self) -> None:
        if self.min_length >= self.max_length:
            raise SettingsError(f"min_length is {self.min_length} and max_length {self.max_length}: no pair is kept")
