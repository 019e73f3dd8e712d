"""What a text gives away of who wrote it: how far an attacker's guess is from knowing nothing.

    leak      D(y) = |2 q(1|y) - 1| of two labels: 0 when neutral, 1 when certain
    entropy   of the guess, in bits over those of a coin with as many sides: 1 when neutral, 0 when certain

Nobody's true label stands in either: the least probability of the true label is the opposite class, and a text that
was flipped gives away as much as before.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from restyle.errors import UnknownName, UsageError
from restyle.metrics._base import Batch, Column
from restyle.metrics.judges import SETS, Card, Floats, Judge, Set, WordJudge, cards, load_judge

# "Thank you!" stands in every corpus: so many of the texts of two attackers may be the same.
MOST_SHARED = 0.01


def leak(probabilities: Floats) -> Column:
    """The leak of each text, (N, L) -> (N,): of more labels than two, how far the likeliest is above its fair share.

    >>> leak(np.array([[0.5, 0.5], [0.1, 0.9]])).tolist()
    [0.0, 0.8]
    """
    labels = probabilities.shape[1]
    found: Column = (labels * probabilities.max(1, initial=0.0) - 1) / (labels - 1)
    return found


def entropy(probabilities: Floats) -> Column:
    """The entropy of each guess as a share of the most that it could be, (N, L) -> (N,).

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    found: Column = np.abs((probabilities * logs).sum(1)) / np.log(probabilities.shape[1])
    return found


def attributes() -> tuple[str, ...]:
    """The attributes for which there is an attacker of words in both sets."""
    names = {part: {card.name.removesuffix(f"-{part}") for card in _attackers() if card.part == part} for part in SETS}
    return tuple(sorted(set.intersection(*names.values())))


def attacker(attribute: str | Path, part: Set) -> WordJudge:
    """The attacker of words that guesses an attribute, by its name or folder.

    UnknownName with those that there are; UsageError when it is another kind of judge.
    """
    try:
        found = load_judge(attribute, part=part)
    except UnknownName:
        raise UnknownName("attribute", str(attribute), attributes()) from None
    if not isinstance(found, WordJudge):
        raise UsageError(
            f"{found.card.name} is no attacker of words: train one (restyle judge train --kind words --task attribute)"
        )
    return found


def refuse_shared(evaluator: WordJudge, inner: WordJudge) -> None:
    """Refuse an evaluator that is the attacker inside a system, or has learned from the same texts: UsageError."""
    if evaluator.card.fingerprint == inner.card.fingerprint:
        raise UsageError(
            f"{inner.card.name} is the attacker inside the system, which cannot evaluate it: train one, --set report"
        )
    known = evaluator.model.known
    shared = float(np.isin(known, inner.model.known).mean()) if len(known) else 0.0
    refuse_seen(shared, f"what {evaluator.card.name} has learned from", inner.card.name)


def refuse_seen(shared: float, what: str, inner: str) -> None:
    """Refuse where more of something than chance explains are texts from which an attacker learned: UsageError."""
    if shared > MOST_SHARED:
        raise UsageError(
            f"{shared:.0%} of {what} are texts from which {inner} learned: an evaluator must learn from other texts "
            "than the attacker inside a system, and neither may have seen what is tested"
        )


def _attackers() -> list[Card]:
    return [card for card in cards().values() if (card.task, card.kind) == ("attribute", "words")]


class Leak:
    """The leak of each output under the attacker of an attribute; 0 for an empty output."""

    name: ClassVar[str] = "leak"
    attribute: ClassVar[str] = ""
    needs: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, judge: str | Path | Judge | None = None, *, part: Set = "report") -> None:
        """`judge` is a name, a folder or a loaded judge; by default the evaluator of the attribute."""
        self._judge = judge if isinstance(judge, Judge) else attacker(judge or self.attribute, part)

    def ready(self) -> None:
        """Load the weights."""
        self._judge.ready()

    def score(self, batch: Batch) -> Column:
        """One number per output sentence, from 0 to 1."""
        return leak(np.nan_to_num(self._judge.probabilities(batch.outputs), nan=1 / len(self._judge.card.labels)))

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {"metric": self.name, "judge": self._judge.card.fingerprint, **self._judge.card.choosing}


class LeakGender(Leak):
    """What gives the author's gender away, as reviews on Yelp do."""

    name = "leak-gender"
    attribute = "gender"


class LeakPolitics(Leak):
    """What gives the author's party away, as tweets of the US Congress do."""

    name = "leak-politics"
    attribute = "politics"
