"""Where things stand in the pictures of the report; the template draws them as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from restyle.evaluation._leaderboard import Leaderboard
from restyle.evaluation._scorecard import Scorecard
from restyle.evaluation.report._styles import Embeddings, projection

# Pictures are drawn this wide, which a phone shows without shrinking the letters much.
WIDTH, HEIGHT = 420, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 14, 40
_LABEL_HEIGHT, _LETTER_WIDTH = 13, 6.2
# As many hues as an eye tells apart, then the same as rings; the style sheet gives lightness for light and dark.
_HUES = (215, 25, 145, 285, 50, 340, 180, 95)


@dataclass(frozen=True)
class Mark:
    """A system in the trade-off plot: its place, its whiskers, and the place of its name."""

    name: str
    baseline: bool
    x: float
    y: float
    left: float
    right: float
    top: float
    bottom: float
    label_x: float
    label_y: float
    anchor: str
    title: str


@dataclass(frozen=True)
class Axis:
    """The ticks of one axis: where, and what is written."""

    title: str
    ticks: list[tuple[float, str]]


@dataclass(frozen=True)
class Tradeoff:
    """ACC against SIM, which pull against each other (STRAP Sec. 5)."""

    x: Axis
    y: Axis
    marks: list[Mark]


def tradeoff(board: Leaderboard) -> Tradeoff | None:
    """The plot of style against similarity with intervals; None where a system lacks one of the two."""
    roles = board.systems[0].roles
    x_name, y_name = roles.sim, roles.acc
    if x_name is None or y_name is None:
        return None
    cards = [card for card in board.rows if _known(card, x_name) and _known(card, y_name)]
    if not cards:
        return None
    spans = {
        name: _span([bound for card in cards for bound in _bounds(board, card, name)]) for name in (x_name, y_name)
    }

    def across(value: float) -> float:
        low, high = spans[x_name]
        return round(_LEFT + (value - low) / (high - low) * (WIDTH - _LEFT - _RIGHT), 1)

    def up(value: float) -> float:
        low, high = spans[y_name]
        return round(HEIGHT - _BOTTOM - (value - low) / (high - low) * (HEIGHT - _TOP - _BOTTOM), 1)

    marks: list[Mark] = []
    dots = [(across(card[x_name]), up(card[y_name])) for card in cards]
    for card in cards:
        x, y = across(card[x_name]), up(card[y_name])
        left, right = (across(bound) for bound in _bounds(board, card, x_name))
        bottom, top = (up(bound) for bound in _bounds(board, card, y_name))
        anchor = _side(x, card.system)
        label_x = x - 7 if anchor == "end" else x + 7
        label_y = _free(marks, dots, label_x, y - 5, card.system, anchor)
        shown = [f"{name} {board.units[name].shown(card[name])}" for name in (y_name, x_name)]
        baseline = card not in board.systems
        title = f"{card.system}: {', '.join(shown)}"
        marks.append(Mark(card.system, baseline, x, y, left, right, top, bottom, label_x, label_y, anchor, title))
    axes = [
        Axis(name, [(place(tick), board.units[name].shown(tick)) for tick in _ticks(*spans[name])])
        for name, place in ((x_name, across), (y_name, up))
    ]
    return Tradeoff(axes[0], axes[1], marks)


@dataclass(frozen=True)
class Cloud:
    """One picture of t-SNE: circles by style."""

    title: str
    points: list[tuple[float, float, int]]  # x, y, and the style's place in the legend


@dataclass(frozen=True)
class Clouds:
    """Originals, and paraphrases beside them; the legend has a hue for each style, and whether it is drawn as rings."""

    clouds: list[Cloud]
    legend: list[tuple[str, int, bool]]


def clouds(embeddings: Embeddings) -> Clouds:
    """The pictures of Fig. 2."""
    originals, paraphrases, styles = projection(embeddings)
    names = sorted(set(styles))
    places = [names.index(style) for style in styles]
    size = WIDTH - 20

    def cloud(title: str, within: Sequence[Sequence[float]]) -> Cloud:
        points = [
            (round(10 + x * size, 1), round(10 + (1 - y) * size, 1), place)
            for (x, y), place in zip(within, places, strict=True)
        ]
        return Cloud(title, points)

    drawn = [cloud(embeddings.title, originals.tolist())]
    if paraphrases is not None:
        drawn.append(cloud("their paraphrases", paraphrases.tolist()))
    rounds = [divmod(place, len(_HUES)) for place in range(len(names))]
    return Clouds(drawn, [(name, _HUES[at], turn % 2 == 1) for name, (turn, at) in zip(names, rounds, strict=True)])


def _known(card: Scorecard, name: str) -> bool:
    return name in card and not math.isnan(card[name])


def _bounds(board: Leaderboard, card: Scorecard, name: str) -> tuple[float, float]:
    interval = board.interval(card, name)
    return (card[name], card[name]) if interval is None or math.isnan(interval.low) else interval


def _span(values: Sequence[float]) -> tuple[float, float]:
    """From a little below the lowest value to a little above the highest."""
    low, high = min(values), max(values)
    air = max((high - low) * 0.08, 0.01 * max(abs(high), abs(low)), 1e-6)
    return low - air, high + air


def _ticks(low: float, high: float) -> list[float]:
    """Four to eight round numbers between two bounds."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough)
    first = math.ceil(low / step)
    return [place * step for place in range(first, math.floor(high / step) + 1)]


def _side(x: float, name: str) -> str:
    """Which end of a name stands at its dot: the start, unless only the left of the dot has room for it."""
    width = 7 + len(name) * _LETTER_WIDTH
    return "end" if x + width > WIDTH and x - width > 0 else "start"


def _free(
    marks: Sequence[Mark], dots: Sequence[tuple[float, float]], x: float, y: float, name: str, anchor: str
) -> float:
    """The height nearest to y where the name meets no other name and no dot; those of close systems would overprint."""
    start, end = _extent(x, name, anchor)
    for away in range(40):
        for side in (-1, 1):
            height = y + side * away * 3
            inside = _TOP < height < HEIGHT - _BOTTOM
            on_dot = any(
                start < dot_x + 5 and dot_x - 5 < end and -4 < dot_y - height + 4 < 10 for dot_x, dot_y in dots
            )
            if inside and not on_dot and not any(_meets(mark, x, height, name, anchor) for mark in marks):
                return round(height, 1)
    return y


def _meets(mark: Mark, x: float, y: float, name: str, anchor: str) -> bool:
    ours, theirs = _extent(x, name, anchor), _extent(mark.label_x, mark.name, mark.anchor)
    return abs(mark.label_y - y) < _LABEL_HEIGHT and ours[0] < theirs[1] and theirs[0] < ours[1]


def _extent(x: float, name: str, anchor: str) -> tuple[float, float]:
    width = len(name) * _LETTER_WIDTH
    return (x - width, x) if anchor == "end" else (x, x + width)
