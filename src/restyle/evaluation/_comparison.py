"""Several systems side by side: the leaderboard, and which differences are more than chance."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from restyle.evaluation import _tables
from restyle.evaluation._leaderboard import Leaderboard
from restyle.evaluation._scorecard import Scorecard
from restyle.evaluation._significance import PairedTest, Test, paired_tests

_HEADER = ["number", "first", "second", "difference", "95% interval", "p", "p (Holm)", ""]


@dataclass(frozen=True)
class Comparison:
    """A leaderboard with the paired tests between its systems; without resamples there are none."""

    leaderboard: Leaderboard
    tests: Sequence[PairedTest]
    test: Test
    level: float = 0.05

    def text(self) -> str:
        """Both tables for a terminal."""
        return f"{self.leaderboard.text()}\n{self._table(_tables.as_text)}{self.method}\n"

    def markdown(self) -> str:
        """Both tables in Markdown."""
        return f"{self.leaderboard.markdown()}\n{self._table(_tables.as_markdown)}\n{self.method}\n"

    def latex(self) -> str:
        """Both tables as LaTeX tabulars."""
        return f"{self.leaderboard.latex()}\n{self._table(_tables.as_latex)}% {self.method}\n"

    def json(self) -> str:
        """All numbers unrounded."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The tables as plain values; null for a p that does not exist."""
        tests = [
            {key: None if value != value else value for key, value in asdict(each).items()}
            | {"significant": each.significant(self.level)}
            for each in self.tests
        ]
        return self.leaderboard.to_dict() | {"tests": tests, "method": self.method}

    @property
    def method(self) -> str:
        """How the differences were tested, in one line."""
        if not self.leaderboard.resamples:
            return "no intervals and no tests, as no resamples were asked for"
        kind = {"bootstrap": "paired bootstrap", "randomisation": "paired approximate randomisation"}[self.test]
        board = self.leaderboard
        return (
            f"{kind}, {board.resamples} resamples, seed {board.seed}, two-sided; p (Holm) is corrected for all pairs "
            f"of a number; * is significant at {self.level:g}"
        )

    def cells(self) -> list[list[str]]:
        """The tests as they are printed."""
        return [self._cells(each) for each in self.tests]

    def _table(self, written: Callable[..., str]) -> str:
        """The tests in one of the formats; nothing where there are none."""
        return written(_HEADER, self.cells(), names=3) if self.tests else ""

    def _cells(self, test: PairedTest) -> list[str]:
        unit = self.leaderboard.units[test.number]
        difference = "-" if math.isnan(test.difference) else unit.shown(test.difference)
        interval = "-" if math.isnan(test.low) else f"{unit.shown(test.low)} to {unit.shown(test.high)}"
        star = "*" if test.significant(self.level) else ""
        return [test.number, test.first, test.second, difference, interval, _p(test.p), _p(test.p_holm), star]

    def __str__(self) -> str:
        return self.text()


def compare(
    cards: Sequence[Scorecard],
    *,
    numbers: Sequence[str] | None = None,
    test: Test = "bootstrap",
    baseline: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Compare systems that answer the same inputs: a table with intervals, and a paired test of every difference.

    `numbers` are those to test (by default the number that ranks the table and its factors); `baseline` tests every
    system against one instead of all pairs; 0 `resamples` leave out intervals and tests. UsageError for a single
    system, InputError when the inputs differ.

    >>> print(compare([first, second], numbers=["J"]))  # doctest: +SKIP
    """
    board = Leaderboard(cards, level=0.95 if resamples else None, resamples=resamples, seed=seed)
    chosen = numbers or _worth_testing(board)
    # The better system stands first, in whatever order they were given.
    ranked = [card for card in board.rows if card in board.systems]
    tests = paired_tests(ranked, numbers=chosen, test=test, baseline=baseline, resamples=resamples, seed=seed)
    return Comparison(board, tests, test)


def _worth_testing(board: Leaderboard) -> list[str] | None:
    """The headline number and the columns that it multiplies; more tests only make each of them harder to pass."""
    if board.headline is None:
        return None
    card = board.systems[0]
    factors = [column for each in card.products if each.name == board.headline for column in each.columns]
    return [board.headline, *(name for name in factors if all(name in each for each in board.systems))]


def _p(value: float) -> str:
    return "-" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"
