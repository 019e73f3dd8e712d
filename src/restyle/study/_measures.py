"""From labels to numbers: the measures of the protocol, one value per item, as scorecards of the systems.

A scorecard brings intervals and paired tests with it: a number that people made is treated as one that a judge made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError
from restyle.evaluation import Outputs, Scorecard
from restyle.study._items import Item, Judged
from restyle.study._labels import label_of
from restyle.study._protocol import Measure, Question

Column = NDArray[np.float64]


def measured(judged: Judged, items: Sequence[Item]) -> dict[str, Column]:
    """Each measure of each item; NaN where it is not known. A measure that no item has is left out."""
    columns: dict[str, Column] = {}
    for measure in judged.protocol.measures:
        if measure.product:
            factors = [columns[name] for name in measure.product if name in columns]
            complete = len(factors) == len(measure.product)
            column = np.prod(factors, axis=0) if complete else np.full(len(items), np.nan)
        else:
            column = np.array([_value(judged, item, measure) for item in items], np.float64)
        if not np.isnan(column).all():
            columns[measure.name] = column
    return columns


def shown_measures(judged: Judged) -> dict[str, Measure]:
    """The measures that are columns of a table, by name."""
    return {measure.name: measure for measure in judged.protocol.measures if not measure.hidden}


def is_share(judged: Judged, measure: Measure) -> bool:
    """Whether a measure is a share of the items, and not a mean on a scale."""
    if measure.product or measure.column:
        return True
    return bool(measure.values or measure.equals or measure.at_least is not None)


def human_cards(judged: Judged) -> list[Scorecard]:
    """A scorecard per system whose columns are the measures; empty for a protocol of pairs."""
    if judged.protocol.kind == "pair":
        return []
    by_system: dict[str, list[Item]] = {}
    for item in judged.systems_judged:
        by_system.setdefault(item.systems[0], []).append(item)
    shown = shown_measures(judged)
    cards = []
    for system in sorted(by_system):
        items = by_system[system]
        columns = {name: column for name, column in measured(judged, items).items() if name in shown}
        cards.append(Scorecard(outputs_of_items(system, items), columns))
    return cards


def outputs_of_items(system: str, items: Sequence[Item]) -> Outputs:
    """The judged outputs of one system."""

    def column(key: str) -> list[str] | None:
        values = [getattr(item, key) for item in items]
        return None if any(value is None for value in values) else values

    return Outputs(
        outputs=[item.outputs[0] for item in items],
        system=system,
        inputs=column("input"),
        styles=column("style"),
        targets=column("target"),
        ids=[item.id for item in items],
    )


def with_scores(judged: Judged, cards: Sequence[Scorecard]) -> Judged:
    """The study with what automatic judges said of its outputs, found by system, input and output in scorecards.

    InputError names a system whose outputs no scorecard holds.
    """
    known = {
        (card.system, None if card.outputs.inputs is None else card.outputs.inputs[row], output): (card, row)
        for card in cards
        for row, output in enumerate(card.outputs.outputs)
    }
    items = []
    found: dict[str, int] = {}
    for item in judged.items:
        scores = []
        for place, (system, output) in enumerate(zip(item.systems, item.outputs, strict=True)):
            before = dict(item.scores[place]) if place < len(item.scores) else {}
            card, row = known.get((system, item.input, output)) or known.get((system, None, output)) or (None, 0)
            if card is not None:
                before |= {name: _plain(column[row]) for name, column in card.columns.items()}
            found[system] = found.get(system, 0) + (card is not None)
            scores.append(before)
        items.append(replace(item, scores=tuple(scores)))
    for system, count in found.items():
        if not count and system != "control":
            held = ", ".join(sorted(card.system for card in cards))
            raise InputError(f"no scorecard holds an output of {system}; they are of: {held}")
    return replace(judged, items=items)


def _value(judged: Judged, item: Item, measure: Measure) -> float:
    if measure.column:
        score = item.score(measure.column)
        return np.nan if score is None else float(score)
    question = judged.protocol.question(measure.question)
    label = label_of(judged, item, measure.question)
    if label is None and not judged.answers(item, measure.question):
        return np.nan
    return _of_label(label, measure, question, item)


def _of_label(label: str | float | None, measure: Measure, question: Question, item: Item) -> float:
    """The label as a number. An item on which no answer leads has been judged: it counts as none of the values."""
    if measure.values:
        return float(label in measure.values)
    if measure.equals:
        wanted = getattr(item, measure.equals)
        return np.nan if wanted is None else float(label == wanted)
    if label is None:
        return np.nan
    if measure.at_least is not None:
        return float(float(label) >= measure.at_least)
    return float(label) if question.scale == "ordinal" else np.nan


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
