"""From votes to labels: the answer of most, or the mean of a scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from restyle.study._items import Item, Judged
from restyle.study._protocol import Question


def most_voted(votes: Sequence[str]) -> str | None:
    """The answer that more people gave than any other; None where two answers lead together, or nobody answered.

    >>> most_voted(["0", "2", "2"]), most_voted(["0", "1", "2"])
    ('2', None)
    """
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def undecided(questions: Sequence[Question], votes: Sequence[dict[str, str]]) -> bool:
    """Whether the label of any nominal question is still open: App. A.10 then asks more people."""
    return any(
        question.scale == "nominal" and most_voted([answers[question.name] for answers in votes]) is None
        for question in questions
    )


def label_of(judged: Judged, item: Item, question: str) -> str | float | None:
    """The label of an item: the answer that was given with it, the answer of most, or the mean of a scale."""
    asked = judged.protocol.question(question)
    if question in item.given:
        return float(item.given[question]) if asked.scale == "ordinal" else item.given[question]
    votes = judged.answers(item, question)
    if asked.scale == "ordinal":
        return float(np.mean([float(vote) for vote in votes])) if votes else None
    return most_voted(votes)


def unanimous(judged: Judged, item: Item, question: str) -> bool | None:
    """Whether all raters of an item agreed; None where fewer than two were asked."""
    votes = judged.answers(item, question)
    return len(set(votes)) == 1 if len(votes) > 1 else None
