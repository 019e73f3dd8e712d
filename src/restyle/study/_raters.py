"""What is known of each rater: how many, how fast, how often right on controls, how often with the others."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from restyle.study._items import Judged, Vote
from restyle.study._labels import most_voted

# A rater who is wrong on more controls than this, or quicker than a third of the median, did not read; one who takes
# three times as long may be doing something else meanwhile.
_FEWEST_CONTROLS_RIGHT = 0.7
_CONTROLS_TO_JUDGE_BY = 2
_TOO_QUICK, _TOO_SLOW = 1 / 3, 3
_SAME_ANSWER = 0.95
_VOTES_TO_JUDGE_BY = 10


@dataclass(frozen=True)
class Conduct:
    """One rater; NaN for what cannot be told."""

    rater: str
    votes: int  # without controls
    seconds: float  # the median of an item
    with_others: float  # the share of nominal answers that the label of the others has as well
    controls: float  # the share of control answers that are right
    same_answer: float  # the share of the answer given most often
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"remarks": list(self.remarks)}


def conduct(judged: Judged) -> list[Conduct]:
    """Every rater who voted, by name, with remarks on those whose answers should be looked at."""
    by_rater: dict[str, list[Vote]] = {}
    for vote in judged.votes:
        by_rater.setdefault(vote.rater, []).append(vote)
    typical = float(np.median([vote.seconds for vote in judged.votes])) if judged.votes else math.nan
    return [_conduct(judged, rater, by_rater[rater], typical) for rater in sorted(by_rater)]


def _conduct(judged: Judged, rater: str, votes: list[Vote], typical: float) -> Conduct:
    expected = {item.id: item.expected for item in judged.items if item.is_control}
    ordinary = [vote for vote in votes if vote.item not in expected]
    right = [
        vote.answers.get(name) == value
        for vote in votes
        if vote.item in expected
        for name, value in expected[vote.item].items()
    ]
    # No time at all is one that nobody took, as in judgements that were imported.
    times = [vote.seconds for vote in ordinary if vote.seconds > 0]
    seconds = float(np.median(times)) if times else math.nan
    answers = Counter((name, value) for vote in ordinary for name, value in vote.answers.items())
    same = answers.most_common(1)[0][1] / len(ordinary) if answers else math.nan
    share_right = float(np.mean(right)) if right else math.nan
    remarks = []
    if len(right) >= _CONTROLS_TO_JUDGE_BY and share_right < _FEWEST_CONTROLS_RIGHT:
        remarks.append("wrong on controls")
    if len(ordinary) >= _VOTES_TO_JUDGE_BY and seconds < typical * _TOO_QUICK:
        remarks.append("very quick")
    if len(ordinary) >= _VOTES_TO_JUDGE_BY and seconds > typical * _TOO_SLOW > 0:
        remarks.append("very slow")
    if len(ordinary) >= _VOTES_TO_JUDGE_BY and same >= _SAME_ANSWER:
        remarks.append("almost always the same answer")
    return Conduct(rater, len(ordinary), seconds, _with_others(judged, ordinary), share_right, same, tuple(remarks))


def _with_others(judged: Judged, votes: list[Vote]) -> float:
    """How often the rater says what the others say, where the others have a label."""
    agreed = []
    for vote in votes:
        for question in judged.protocol.questions:
            others = [
                other.answers[question.name]
                for other in judged.of_item[vote.item]
                if other.rater != vote.rater and question.name in other.answers
            ]
            label = most_voted(others)
            if question.scale == "nominal" and label is not None:
                agreed.append(vote.answers.get(question.name) == label)
    return float(np.mean(agreed)) if agreed else math.nan
