"""The page: everything that is shown, given to one template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from restyle.errors import MissingExtra
from restyle.evaluation._comparison import Comparison
from restyle.evaluation._leaderboard import Leaderboard
from restyle.evaluation._scorecard import Scorecard
from restyle.evaluation.report._plots import HEIGHT, WIDTH, clouds, tradeoff
from restyle.evaluation.report._sentences import embedded
from restyle.evaluation.report._styles import MOST_STYLES, Embeddings, confusion, similarity
from restyle.records import writing_to


def html_report(
    shown: Scorecard | Sequence[Scorecard] | Leaderboard | Comparison,
    *,
    title: str = "Style transfer scorecard",
    embeddings: Embeddings | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """The report as one HTML text: it needs no network, no server and no other file.

    It holds the leaderboard with intervals, ACC against SIM, and every sentence; the tests of a Comparison; for each
    system with predicted styles, the confusion after transfer; for several target styles, a table by style; with
    `embeddings`, how near the styles are to each other, and their t-SNE (`encoded` makes them of the sentences).
    `remarks` stand on top, with those of the leaderboard.
    """
    comparison = shown if isinstance(shown, Comparison) else None
    board = comparison.leaderboard if comparison else _board(shown)
    context: dict[str, Any] = {
        "title": title,
        "board": board,
        "remarks": [*board.remarks, *remarks],
        "rows": [_row(board, card.system, card) | {"baseline": card not in board.systems} for card in board.rows],
        "tests": comparison.cells() if comparison else [],
        "method": comparison.method if comparison else "",
        "tradeoff": tradeoff(board),
        "confusions": [(card.system, made) for card in board.systems if (made := confusion(card))],
        "by_style": [(card.system, lines) for card in board.systems if (lines := _by_style(board, card))],
        "similarity": similarity(embeddings) if embeddings else None,
        "clouds": clouds(embeddings) if embeddings else None,
        "note": embeddings.note if embeddings else "",
        "width": WIDTH,
        "height": HEIGHT,
    }
    return _rendered(context, embedded(board))


def write_report(
    path: str | Path, shown: Scorecard | Sequence[Scorecard] | Leaderboard | Comparison, **options: Any
) -> None:
    """Write the report to a file; `options` are those of `html_report`."""
    page = html_report(shown, **options)
    with writing_to(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate in a broken text has no UTF-8; it is shown as a question mark rather than ending the report.
        Path(path).write_text(page, encoding="utf-8", errors="replace")


def _board(shown: Any) -> Leaderboard:
    if isinstance(shown, Leaderboard):
        return shown
    return Leaderboard([shown] if isinstance(shown, Scorecard) else list(shown))


def _row(board: Leaderboard, name: str, card: Scorecard) -> dict[str, Any]:
    """One line of a table: each number of the leaderboard with its interval, ready to be printed."""
    cells = []
    for number in board.names:
        unit, interval = board.units[number], board.interval(card, number)
        known = number in card and not math.isnan(card[number])
        bounds = "" if not known or interval is None else f"{unit.shown(interval.low)} – {unit.shown(interval.high)}"
        value = card[number] if known else None
        cells.append({"value": "–" if value is None else unit.shown(value), "bounds": bounds, "sort": value})
    return {"name": name, "sentences": len(card), "cells": cells}


def _by_style(board: Leaderboard, card: Scorecard) -> list[dict[str, Any]]:
    """The numbers of each target style (Table 15), and of all; empty for a single style."""
    parts = card.by_target()
    if not 2 <= len(parts) <= MOST_STYLES:
        return []
    return [_row(board, style, part) for style, part in [*parts.items(), ("all", card)]]


def _rendered(context: dict[str, Any], data: str) -> str:
    try:
        import jinja2
        from markupsafe import Markup
    except ModuleNotFoundError as error:
        raise MissingExtra("jinja2", "judge", "the HTML report") from error
    # StrictUndefined: a name that the template misspells is an error and not an empty place.
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_file("page.html.j2"))
    return template.render(
        **context, style=Markup(_file("page.css")), script=Markup(_file("page.js")), data=Markup(data)
    )


def _file(name: str) -> str:
    return (resources.files("restyle.evaluation.report") / name).read_text(encoding="utf-8")
