"""The table of several systems beside COPY, NAIVE and REF, with intervals, remarks and the signature."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from restyle.errors import UsageError
from restyle.evaluation import _tables
from restyle.evaluation._outputs import Outputs
from restyle.evaluation._scorecard import Interval, Scorecard
from restyle.evaluation._units import Unit, unit_of

BASELINES = ("COPY", "NAIVE", "REF")
# The number that a leaderboard is sorted by: the first of these that every system has.
_HEADLINES = ("J", "J(A,S)", "GM_t")

GAMED = (
    "corpus-level means can be gamed by outputs that are each good at one thing only "
    "(Krishna et al. 2020, Sec. 3.2); rank by the sentence-level number"
)


class Leaderboard:
    """Scorecards as one table: the baselines first, then the systems, the best first.

    `level=None` leaves the intervals out, which are most of the work.
    """

    def __init__(
        self,
        cards: Sequence[Scorecard],
        *,
        level: float | None = 0.95,
        resamples: int = 1000,
        seed: int = 0,
    ) -> None:
        if not cards:
            raise UsageError("there is no scorecard to show")
        self.systems = list(cards)
        self.level, self.resamples, self.seed = level, resamples, seed
        _refuse_doubles(self.systems)

    @cached_property
    def rows(self) -> list[Scorecard]:
        """Every row of the table, baselines included."""
        ranked = sorted(self.systems, key=lambda card: card.system)
        if self.headline:
            headline = self.headline
            ranked.sort(key=lambda card: _rank(card[headline]))
        return [*_baselines_of(self.systems), *ranked]

    @cached_property
    def headline(self) -> str | None:
        """The number that ranks: J where every system has it."""
        shared = [name for name in self.systems[0].numbers if all(name in card for card in self.systems)]
        return next((name for name in (*_HEADLINES, *shared) if name in shared), None)

    @cached_property
    def names(self) -> list[str]:
        """The numbers that any row has, in the order of the first that has them."""
        return list(
            dict.fromkeys(name for card in (*self.systems, *_baselines_of(self.systems)) for name in card.numbers)
        )

    @cached_property
    def units(self) -> dict[str, Unit]:
        """How each number is printed."""
        return {name: unit_of(name, self.rows) for name in self.names}

    def interval(self, card: Scorecard, name: str) -> Interval | None:
        """The interval of one cell; None when it has none, or none is wanted."""
        if self.level is None or name not in card:
            return None
        if card not in self._intervals:
            self._intervals[card] = card.intervals(level=self.level, resamples=self.resamples, seed=self.seed)
        return self._intervals[card][name]

    @cached_property
    def _intervals(self) -> dict[Scorecard, dict[str, Interval]]:
        """All intervals of a row, or of a part of it: each is resampled once."""
        return {}

    @cached_property
    def remarks(self) -> list[str]:
        """What a reader must know before believing the table."""
        notes = list(dict.fromkeys(note for card in self.systems for note in card.notes))
        if len({_comparable(card) for card in self.systems}) > 1:
            notes.append("the signatures differ: these systems were not measured in the same way, do not rank them")
        return notes + list(self._reversals())

    @property
    def signatures(self) -> list[str]:
        """One line for all, or one for each system where they differ."""
        mark = f"|bs:{self.resamples}|seed:{self.seed}|level:{self.level}" if self.level is not None else ""
        lines = {card.system: card.signature.long() + mark for card in self.systems}
        if len(set(lines.values())) == 1:
            return list(dict.fromkeys(lines.values()))
        return [f"{system}: {line}" for system, line in lines.items()]

    def text(self) -> str:
        """The table, the remarks and the signature for a terminal."""
        return self._with_notes(_tables.as_text(*self._cells()), "{}\n", "warning: {}\n")

    def markdown(self) -> str:
        """The same in Markdown."""
        return self._with_notes(_tables.as_markdown(*self._cells()), "\n`{}`\n", "\n**Warning:** {}\n")

    def latex(self) -> str:
        """A booktabs tabular, with remarks and signature as comments."""
        return self._with_notes(_tables.as_latex(*self._cells()), "% {}\n", "% warning: {}\n")

    def json(self) -> str:
        """All numbers unrounded, as JSON; null for a number that does not exist."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values."""
        systems = [
            {
                "system": card.system,
                "sentences": len(card),
                "baseline": card not in self.systems,
                "signature": card.signature.to_dict(),
                "numbers": {name: self._plain(card, name) for name in self.names if name in card},
            }
            for card in self.rows
        ]
        return {"systems": systems, "warnings": self.remarks, "signatures": self.signatures}

    def _plain(self, card: Scorecard, name: str) -> dict[str, float | None]:
        interval = self.interval(card, name)
        bounds = {} if interval is None else {"low": _or_none(interval.low), "high": _or_none(interval.high)}
        return {"value": _or_none(card[name]), **bounds}

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [[card.system, f"{len(card):,}", *(self._cell(card, name) for name in self.names)] for card in self.rows]
        return ["system", "sentences", *self.names], rows

    def _cell(self, card: Scorecard, name: str) -> str:
        if name not in card or math.isnan(card[name]):
            return "-"
        unit, interval = self.units[name], self.interval(card, name)
        if interval is None or math.isnan(interval.low):
            return unit.shown(card[name])
        return f"{unit.shown(card[name])} ±{unit.shown((interval.high - interval.low) / 2)}"

    def _with_notes(self, table: str, signature: str, warning: str) -> str:
        notes = [warning.format(remark) for remark in self.remarks]
        return table + "".join([*notes, *(signature.format(line) for line in self.signatures)])

    def _reversals(self) -> Iterator[str]:
        """Where corpus level and sentence level rank two rows in opposite ways, as for NAIVE in Table 1."""
        pairs = dict.fromkeys((each.name, each.corpus_name) for card in self.systems for each in card.products)
        for name, corpus in pairs:
            known = [card for card in self.rows if name in card and corpus in card]
            for card in known:
                below = [other.system for other in known if card[corpus] > other[corpus] and card[name] < other[name]]
                if below:
                    yield f"{corpus} ranks {card.system} above {', '.join(below)}, {name} ranks it below: {GAMED}"


def _rank(value: float) -> float:
    """The best first, those without a value last."""
    return math.inf if math.isnan(value) else -value


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _comparable(card: Scorecard) -> tuple[str, ...]:
    signature = card.signature
    metrics = (f"{name}:{sorted(facts.items())}" for name, facts in sorted(signature.metrics.items()))
    return (signature.options.get("data", ""), signature.options.get("text", ""), *metrics)


def _refuse_doubles(cards: Sequence[Scorecard]) -> None:
    names = [card.system for card in cards]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two systems are called {name!r}; give each its own name")


def _baselines_of(cards: Sequence[Scorecard]) -> list[Scorecard]:
    """COPY, NAIVE and REF, once where the systems answer the same inputs."""
    found: dict[tuple[str, bytes], Scorecard] = {}
    published = {card.system for card in cards}  # a table of outputs may bring a COPY of its own
    for card in cards:
        for baseline in card.baselines:
            if baseline.system not in published:
                found.setdefault((baseline.system, _content(baseline.outputs)), baseline)
    return sorted(found.values(), key=lambda card: BASELINES.index(card.system) if card.system in BASELINES else 9)


def _content(outputs: Outputs) -> bytes:
    return bytes(np.sort(outputs.answered).tobytes())
