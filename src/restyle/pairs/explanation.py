"""Why a pair survives or goes: what every stage measured, what it allows, and which stage was the first to drop it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from restyle.pairs import similarity
from restyle.pairs.settings import FilterSettings
from restyle.pairs.stages import Filter, Pairs, Stage, Verdicts
from restyle.records import Record


def explain_pair(
    text: str, paraphrase: str, settings: FilterSettings | None = None, *, score: float | None = None
) -> list[dict[str, Any]]:
    """What each stage says of one pair: a row with the stage, its value, what it allows, and whether it keeps the pair.

    Duplicates are not looked for: they are a matter between pairs.
    """
    settings = replace(settings or FilterSettings(), full_table=True)
    found = similarity.resolved(settings.similarity, scored=score is not None, name="the pair")
    pairs = Pairs([text], [paraphrase], None if score is None else np.array([score], np.float64))
    verdicts = Filter(settings, found).judge(pairs, ask_all=True)
    return [
        {
            "stage": stage.name,
            "measures": stage.measures,
            "value": float(verdicts.values[stage.name][0]),
            "allowed": allowed(stage),
            "keeps": bool(stage.keeps(verdicts.values[stage.name])[0]),
        }
        for stage in verdicts.stages
    ]


def explained(pairs: Pairs, verdicts: Verdicts, numbers: list[int]) -> Iterator[Record]:
    """A record for each pair: whether it is kept, else by which stage it is dropped, and what all stages measured."""
    for row, place in enumerate(verdicts.first_failed):
        dropped = place < len(verdicts.stages)
        yield {
            "id": str(numbers[row]),
            "text": pairs.texts[row],
            "paraphrase": pairs.paraphrases[row],
            "kept": not dropped,
            "dropped_by": verdicts.stages[place].name if dropped else None,
            "values": values_of(verdicts, row),
        }


def values_of(verdicts: Verdicts, row: int) -> dict[str, float]:
    """What the stages that were asked measured of one pair."""
    values = ((name, float(column[row])) for name, column in verdicts.values.items())
    return {name: round(value, 4) for name, value in values if not math.isnan(value)}


def allowed(stage: Stage) -> str:
    """The bounds of a stage in words."""
    least = [] if math.isinf(stage.least) else [f"at least {stage.least:g}"]
    most = [] if math.isinf(stage.most) else [f"at most {stage.most:g}"]
    return ", ".join(least + most)
