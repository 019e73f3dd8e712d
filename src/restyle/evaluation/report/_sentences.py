"""The sentences of the report as one compact JSON object, which the page's own script sorts, filters and shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from restyle.evaluation._leaderboard import Leaderboard
from restyle.evaluation._numbers import product
from restyle.evaluation._outputs import Column
from restyle.evaluation._scorecard import Scorecard

# What a browser shows, and no more: 12 MB less for 100,000 sentences than full floats.
_DECIMALS = 4


def embedded(board: Leaderboard) -> str:
    """The JSON of all sentences, safe inside a <script> element: columns, not rows, and shared texts once."""
    asked: dict[bytes, int] = {}
    shared: list[dict[str, Any]] = []
    systems = []
    for card in board.systems:
        key = bytes(card.outputs.asked.tobytes())
        if key not in asked:
            asked[key] = len(shared)
            shared.append(_shared(card))
        systems.append(_system(card, asked[key]))
    names = dict.fromkeys(name for each in systems for name in each["columns"])
    data = {"shared": shared, "systems": systems, "columns": list(names)}
    # Escaped, no text can end the script element or start another one.
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        written = written.replace(mark, f"\\u{ord(mark):04x}")
    return written


def _shared(card: Scorecard) -> dict[str, Any]:
    """What systems with the same inputs have in common."""
    texts = card.outputs
    known = {
        "input": texts.inputs,
        "references": texts.references,
        "target": _coded(texts.targets),
        "style": _coded(texts.styles),
    }
    return {name: column for name, column in known.items() if column is not None}


def _system(card: Scorecard, shared: int) -> dict[str, Any]:
    columns = {name: _rounded(column) for name, column in card.columns.items()}
    columns |= {formula.name: _rounded(product(formula, card.columns)) for formula in card.products}
    system: dict[str, Any] = {
        "name": card.system,
        "shared": shared,
        "output": list(card.outputs.outputs),
        "columns": columns,
    }
    if card.outputs.predicted is not None:
        system["predicted"] = _coded(card.outputs.predicted)
    return system


def _coded(names: Sequence[str] | None) -> dict[str, Any] | None:
    """A column of few names as the names and their numbers."""
    if names is None:
        return None
    known = sorted(set(names))
    places = {name: place for place, name in enumerate(known)}
    return {"names": known, "rows": [places[name] for name in names]}


def _rounded(column: Column) -> list[float | int | None]:
    return [None if np.isnan(value) else _short(float(value)) for value in column]


def _short(value: float) -> float | int:
    rounded = round(value, _DECIMALS)
    return int(rounded) if rounded == int(rounded) else rounded
