"""The scorecard: a table with one row per sentence and a signature; every number is made from its columns again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from restyle._version import __version__
from restyle.errors import InputError, UnknownName, UsageError
from restyle.evaluation import _numbers
from restyle.evaluation._formula import Formula, parse
from restyle.evaluation._numbers import THRESHOLDS, Number
from restyle.evaluation._outputs import Column, Outputs, checked_column
from restyle.evaluation._resampling import bootstrap_totals, percentiles
from restyle.evaluation._roles import Roles, default_formulas, roles_of
from restyle.evaluation._signature import Signature
from restyle.records import Record

# The name of Pang and Gimpel's number, which no formula can have.
_GM_T = "GM_t"
Floats = NDArray[np.float64]
Corpus = Callable[[Floats], Floats]


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Statistics:
    """Counts per sentence, (sentences, counts), and what becomes of their totals: corpus BLEU, and its like."""

    counts: Floats
    corpus: Corpus


@dataclass(frozen=True, eq=False)
class Scorecard:
    """What judges say of one system's outputs, sentence by sentence.

    `card["J"]` is a corpus number, `card.interval("J")` its confidence interval, `print(card)` a table with the
    signature; `card.columns["acc"]` is what the judge `acc` gave each sentence. `baselines` are scorecards of COPY,
    NAIVE and REF on the same inputs.
    """

    outputs: Outputs
    columns: Mapping[str, Column]
    statistics: Mapping[str, Statistics] = field(default_factory=dict)
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # what each metric says of itself
    options: Mapping[str, str] = field(default_factory=dict)  # what else the signature must say
    formulas: tuple[Formula, ...] = ()  # those of the user; J and GM come by themselves
    thresholds: tuple[float, float, float, float] = THRESHOLDS
    baselines: tuple[Scorecard, ...] = ()
    notes: tuple[str, ...] = ()  # what a reader must know
    version: str = __version__

    @property
    def system(self) -> str:
        """The name of the system."""
        return self.outputs.system

    def __len__(self) -> int:
        return len(self.outputs)

    def __getitem__(self, name: str) -> float:
        """A corpus number: a judge's mean, J, GM, … ; UnknownName suggests the nearest."""
        return self._number(name).value()

    def __contains__(self, name: object) -> bool:
        return name in self.numbers

    @cached_property
    def signature(self) -> Signature:
        """Everything that changes a number of this card."""
        formulas = {formula.name: str(formula) for formula in self.products}
        if _GM_T in self:
            formulas[_GM_T] = f"pang-gimpel({','.join(f'{t:g}' for t in self.thresholds)})"
        facts = {name: self.facts.get(name, {}) for name in self.columns}
        return Signature(facts, formulas, self.options, self.version)

    @cached_property
    def roles(self) -> Roles:
        """Which columns stand for style, similarity, fluency and perplexity."""
        return roles_of(self.columns)

    @cached_property
    def products(self) -> tuple[Formula, ...]:
        """The formulas of this card: J and J(A,S) where their factors are there, then the user's."""
        return default_formulas(self.roles) + self.formulas

    @cached_property
    def numbers(self) -> dict[str, Number]:
        """Every corpus number by name, in the order of the tables: judges, corpus level, sentence level."""
        made = [
            _numbers.counted(name, self.statistics[name].counts, self.statistics[name].corpus)
            if name in self.statistics
            else _numbers.mean(name, column)
            for name, column in self.columns.items()
        ]
        numbers = {number.name: number for number in made}
        role = self.roles
        if role.acc and role.sim_of_pang_gimpel and role.ppl:
            parts = (numbers[role.acc], numbers[role.sim_of_pang_gimpel], numbers[role.ppl])
            numbers[_GM_T] = _numbers.pang_gimpel(_GM_T, *parts, self.thresholds)
        for formula in self.products:
            # J(A,S) of a card that has J has no corpus level of its own: one comparison of the two is enough.
            if formula.name != "J(A,S)" or not role.fl:
                numbers[formula.corpus_name] = _numbers.corpus_level(formula.corpus_name, formula, self.columns)
            numbers[formula.name] = _numbers.sentence_level(formula, self.columns)
        return numbers

    def sums(self, names: Sequence[str]) -> dict[str, Column]:
        """What these numbers sum over the sentences, each column once."""
        return {key: column for name in names for key, column in self._number(name).sums.items()}

    def interval(self, name: str, *, level: float = 0.95, resamples: int = 1000, seed: int = 0) -> Interval:
        """The confidence interval of a number by the percentile bootstrap over sentences (Efron 1979)."""
        return self.intervals([name], level=level, resamples=resamples, seed=seed)[name]

    def intervals(
        self, names: Sequence[str] | None = None, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
    ) -> dict[str, Interval]:
        """The intervals of several numbers, or of all, from the same resamples.

        Sentences are put in the order of their content's hash first, so that shuffled lines give the same interval.
        """
        chosen = list(self.numbers if names is None else names)
        made: dict[str, Interval] = {}
        missing = [name for name in chosen if (name, resamples, seed) not in self._resampled]
        if missing:
            order = np.argsort(self.outputs.answered, kind="stable")
            sums = {key: column[order] for key, column in self.sums(missing).items()}
            totals = bootstrap_totals(sums, resamples, seed)
            for name in missing:
                self._resampled[name, resamples, seed] = self.numbers[name].of_totals(totals)
        for name in chosen:
            made[name] = Interval(*percentiles(self._resampled[name, resamples, seed], level))
        return made

    @cached_property
    def _resampled(self) -> dict[tuple[str, int, int], Floats]:
        """Numbers of resamples by name, resamples and seed; a table and a report ask for the same ones."""
        return {}

    def rows(self) -> Iterator[Record]:
        """One record per sentence: the texts, every judge's value under `scores`, and `products` such as J."""
        texts = self.outputs
        products = {formula.name: _numbers.product(formula, self.columns) for formula in self.products}
        for row in range(len(self)):
            record: Record = {"id": texts.ids[row] if texts.ids else str(row + 1), "system": self.system}
            for key, column in _TEXTS.items():
                if (values := getattr(texts, column)) is not None:
                    record[key] = values[row]
            record["scores"] = {name: _plain(column[row]) for name, column in self.columns.items()}
            if products:
                record["products"] = {name: float(column[row]) for name, column in products.items()}
            if texts.selected_with:
                record["selected_with"] = list(texts.selected_with)
            yield {**(texts.others[row] if texts.others else {}), **record}

    def taken(self, rows: NDArray[np.intp]) -> Scorecard:
        """The scorecard of some of the sentences: nothing is judged again."""
        if not len(rows):
            raise UsageError(f"no sentence of {self.system} was chosen; a scorecard needs at least one")
        return replace(
            self,
            outputs=self.outputs.taken(rows),
            columns={name: column[rows] for name, column in self.columns.items()},
            statistics={name: replace(each, counts=each.counts[rows]) for name, each in self.statistics.items()},
            baselines=(),
        )

    def by_target(self) -> dict[str, Scorecard]:
        """A scorecard for each target style, by its name (STRAP Table 15); empty when no target is known."""
        targets = np.array(self.outputs.targets or [])
        return {str(style): self.taken(np.flatnonzero(targets == style)) for style in np.unique(targets)}

    def with_formulas(self, *formulas: str) -> Scorecard:
        """The same scorecard with more products, each written as `J2=acc*sim_ref*fl`; UsageError when one is wrong.

        Its baselines have them too, as far as they have the factors.
        """
        return self._with(tuple(parse(text) for text in formulas))

    def _with(self, added: Sequence[Formula]) -> Scorecard:
        taken = {*self.numbers, *self.columns, _GM_T}
        for formula in added:
            if formula.name in taken:
                raise UsageError(f"{self.system} has a number {formula.name} already; give the formula another name")
            taken.add(formula.name)
            _numbers.product(formula, self.columns)  # an unknown column is refused now, by name
        # A baseline lacks the columns that were given for the system's outputs alone.
        baselines = tuple(
            each._with([formula for formula in added if set(formula.columns) <= set(each.columns)])
            for each in self.baselines
        )
        return replace(self, formulas=(*self.formulas, *added), baselines=baselines)

    def with_columns(
        self,
        columns: Mapping[str, Sequence[float | None] | Column],
        facts: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Scorecard:
        """The same scorecard with more columns; `facts` says where they come from, and goes into the signature."""
        added = {name: checked_column(name, values) for name, values in columns.items()}
        for name, column in added.items():
            if len(column) != len(self):
                raise InputError(f"column {name} has {len(column):,} values for {len(self):,} outputs")
            if name in self.columns:
                raise UsageError(f"{self.system} has a column {name} already; give the new one another name")
        return replace(self, columns={**self.columns, **added}, facts={**(facts or {}), **self.facts})

    def merged(self, other: Scorecard) -> Scorecard:
        """This card with the columns of another card of the same outputs that it lacks; InputError if they differ."""
        if not np.array_equal(self.outputs.answered, other.outputs.answered):
            raise InputError(f"{self.system} and {other.system} are not the same outputs of the same inputs")
        new = {name: column for name, column in other.columns.items() if name not in self.columns}
        merged = self.with_columns(new, other.facts)
        statistics = {name: each for name, each in other.statistics.items() if name in new}
        return replace(merged, statistics={**self.statistics, **statistics})

    def __str__(self) -> str:
        from restyle.evaluation._leaderboard import Leaderboard

        return Leaderboard([self]).text()

    def _number(self, name: str) -> Number:
        if name not in self.numbers:
            raise UnknownName("number of this scorecard", name, self.numbers)
        return self.numbers[name]


# The keys of a record, and the lists of Outputs that they come from.
_TEXTS = {
    "input": "inputs",
    "output": "outputs",
    "references": "references",
    "target": "targets",
    "style": "styles",
    "predicted": "predicted",
}


def _plain(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return None if np.isnan(value) else float(value)
