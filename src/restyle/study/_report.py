"""What comes out of a study: the tables of the papers, agreement, and what is known of each rater."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from restyle.errors import InputError
from restyle.evaluation import Scorecard, _tables, holm, paired_tests
from restyle.records import json_line
from restyle.study._agreement import agreements
from restyle.study._items import Item, Judged
from restyle.study._labels import label_of, unanimous
from restyle.study._measures import human_cards, is_share, shown_measures
from restyle.study._protocol import FIRST, SECOND
from restyle.study._raters import conduct

# A cell of Table 4 stands out where one system wins by at least so many percent.
_WIN = 10.0


@dataclass(frozen=True)
class Section:
    """One table: what is printed, and the same unrounded."""

    name: str
    title: str
    header: list[str]
    cells: list[list[str]]
    data: list[dict[str, Any]]
    names: int = 1  # how many columns hold names, and not numbers
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """All tables of a study."""

    title: str
    sections: list[Section]

    def text(self) -> str:
        """For a terminal."""
        return "\n".join(
            f"{each.title}\n{_tables.as_text(each.header, each.cells, each.names)}"
            + "".join(f"{note}\n" for note in each.notes)
            for each in self.sections
        )

    def markdown(self) -> str:
        """In Markdown."""
        return "\n".join(
            f"### {each.title}\n\n{_tables.as_markdown(each.header, each.cells, each.names)}"
            + "".join(f"\n{note}\n" for note in each.notes)
            for each in self.sections
        )

    def latex(self) -> str:
        """As LaTeX tabulars with the rules of booktabs, notes as comments."""
        return "\n".join(
            f"% {each.title}\n{_tables.as_latex(each.header, each.cells, each.names)}"
            + "".join(f"% {note}\n" for note in each.notes)
            for each in self.sections
        )

    def json(self) -> str:
        """All numbers unrounded; null for one that does not exist."""
        plain = {
            each.name: {"title": each.title, "rows": _without_nan(each.data), "notes": each.notes}
            for each in self.sections
        }
        return json.dumps({"study": self.title, **plain}, ensure_ascii=False, indent=2) + "\n"

    def jsonl(self) -> str:
        """A line for each row of each table, unrounded."""
        return "".join(
            json_line({"table": each.name, **_without_nan(row)}) for each in self.sections for row in each.data
        )


def report(judged: Judged, *, resamples: int = 1000, seed: int = 0) -> Report:
    """Every table that the votes allow. InputError where there is no vote yet."""
    if not judged.votes and not any(item.given for item in judged.items):
        raise InputError("nobody has judged anything yet; see: restyle study status")
    cards = human_cards(judged)
    sections = [votes_section(judged)]
    if cards:
        sections.append(systems_section(judged, cards, resamples, seed))
        sections += differences_section(cards, resamples, seed)
    sections += pairs_section(judged)
    sections += agreement_section(judged, resamples, seed)
    sections += raters_section(judged)
    return Report(judged.protocol.title, sections)


def votes_section(judged: Judged) -> Section:
    """How much was judged, and how often all agreed."""
    rows: list[dict[str, Any]] = []
    for name, items in _by_system(judged):
        for question in judged.protocol.questions:
            voted = [item for item in items if judged.answers(item, question.name)]
            agreed = [unanimous(judged, item, question.name) for item in voted]
            several = [each for each in agreed if each is not None]
            labels = Counter(label_of(judged, item, question.name) for item in items)
            nominal = question.scale == "nominal"
            rows.append(
                {
                    "system": name,
                    "question": question.name,
                    "items": len(items),
                    "judged": len(voted),
                    "given": sum(question.name in item.given for item in items),
                    "votes": sum(len(judged.answers(item, question.name)) for item in items),
                    "unanimous": sum(several) / len(several) if several else math.nan,
                    "undecided": sum(label_of(judged, item, question.name) is None for item in voted),
                    "labels": {value: labels[value] for value in question.values} if nominal else {},
                }
            )
    cells = [
        [
            row["system"], row["question"], f"{row['items']:,}", f"{row['judged']:,}", f"{row['given']:,}",
            f"{row['votes']:,}", _percent(row["unanimous"]), f"{row['undecided']:,}",
            "  ".join(f"{value}:{count}" for value, count in row["labels"].items()) or "-",
        ]
        for row in rows
    ]  # fmt: skip
    header = ["system", "question", "items", "judged", "given", "votes", "unanimous", "undecided", "labels"]
    return Section("votes", "Votes", header, cells, rows, names=2)


def systems_section(judged: Judged, cards: Sequence[Scorecard], resamples: int, seed: int) -> Section:
    """The measures of the protocol by system: Table 2 of STRAP, the scales of Li et al. and of Xu et al."""
    measures = {name: each for name, each in shown_measures(judged).items() if any(name in card for card in cards)}
    cells, rows = [], []
    for card in cards:
        intervals = card.intervals([name for name in measures if name in card], resamples=resamples, seed=seed)
        row: dict[str, Any] = {"system": card.system, "items": len(card)}
        line = [card.system, f"{len(card):,}"]
        for name, measure in measures.items():
            if name not in card or math.isnan(card[name]):
                line.append("-")
                continue
            low, high = intervals[name]
            row[name] = {"value": card[name], "low": low, "high": high}
            scale, decimals = (100, 1) if is_share(judged, measure) else (1, 2)
            line.append(f"{scale * card[name]:.{decimals}f} ±{scale * (high - low) / 2:.{decimals}f}")
        cells.append(line)
        rows.append(row)
    notes = [f"± half of the 95% interval, bootstrap over items, {resamples:,} resamples, seed {seed}"]
    missing = [name for name in shown_measures(judged) if name not in measures]
    if missing:
        notes.append(f"not known: {', '.join(missing)}; the outputs bring no such scores (--scorecard adds them)")
    return Section("systems", "Systems", ["system", "items", *measures], cells, rows, notes=notes)


def differences_section(cards: Sequence[Scorecard], resamples: int, seed: int) -> list[Section]:
    """Whether the systems really differ: paired bootstrap over the items that both answer, corrected by Holm."""
    shared = [name for name in cards[0].numbers if all(name in card for card in cards)]
    if len(cards) < 2 or not shared:
        return []
    header = ["measure", "first", "second", "difference", "95% interval", "p", "p (Holm)", ""]
    cards = _on_shared_inputs(cards)
    if not cards:
        return [Section("differences", "Differences", header, [], [], 3, ["not tested: the systems share no input"])]
    tests = paired_tests(cards, numbers=shared, resamples=resamples, seed=seed)
    cells = [
        [
            test.number, test.first, test.second, f"{test.difference:+.3f}", f"{test.low:+.3f} to {test.high:+.3f}",
            f"{test.p:.3f}", f"{test.p_holm:.3f}", "*" if test.significant() else "",
        ]
        for test in tests
    ]  # fmt: skip
    rows = [
        {
            "measure": test.number, "first": test.first, "second": test.second, "difference": test.difference,
            "low": test.low, "high": test.high, "p": test.p, "p_holm": test.p_holm,
        }
        for test in tests
    ]  # fmt: skip
    notes = [
        f"paired bootstrap over the {len(cards[0]):,} inputs that all systems answer, {resamples:,} resamples, "
        f"seed {seed}; * p (Holm) is 0.05 at most"
    ]
    return [Section("differences", "Differences", header, cells, rows, 3, notes)]


def pairs_section(judged: Judged) -> list[Section]:
    """Wins, losses and ties of each pair of systems: Table 4 of Pang and Gimpel, with the sign test."""
    if judged.protocol.kind != "pair":
        return []
    rows = [row for row in _pair_rows(judged) if row["items"]]
    for question in judged.protocol.questions:
        same = [row for row in rows if row["question"] == question.name]
        for row, corrected in zip(same, holm([row["p"] for row in same]), strict=True):
            row["p_holm"] = corrected
    deltas = list(dict.fromkeys(name for row in rows for name in row["deltas"]))
    cells = [
        [
            row["A"], row["B"], row["question"], f"{row['items']:,}", _won(row, "A>B", "B>A"), _won(row, "B>A", "A>B"),
            f"{row['tie']:.1f}", f"{row['p']:.3f}", f"{row['p_holm']:.3f}", "*" if row["p_holm"] <= 0.05 else "",
            *(f"{row['deltas'][name]:+.2f}" if name in row["deltas"] else "-" for name in deltas),
        ]
        for row in rows
    ]  # fmt: skip
    header = [
        "A",
        "B",
        "question",
        "items",
        "A>B",
        "B>A",
        "tie",
        "p",
        "p (Holm)",
        "",
        *(f"Δ {each}" for each in deltas),
    ]
    notes = [
        f"percent of the items; in brackets a win by {_WIN:.0f} or more; an item on which no answer leads is a tie",
        "p: two-sided sign test without the ties, corrected over the pairs of one question",
        *(["Δ: the mean of A less that of B"] if deltas else []),
    ]
    return [Section("pairs", "Pairs of systems", header, cells, rows, 3, notes)]


def agreement_section(judged: Judged, resamples: int, seed: int) -> list[Section]:
    """Fleiss' and Cohen's kappa and Krippendorff's alpha."""
    found = agreements(judged, resamples=resamples, seed=seed)
    if not found:
        return []
    cells = [
        [
            each.question, each.statistic, each.system, each.raters, f"{each.items:,}", _signed(each.value),
            f"{_signed(each.interval.low)} to {_signed(each.interval.high)}",
        ]
        for each in found
    ]  # fmt: skip
    rows = [
        {
            "question": each.question, "statistic": each.statistic, "system": each.system, "raters": each.raters,
            "items": each.items, "value": each.value, "low": each.interval.low, "high": each.interval.high,
        }
        for each in found
    ]  # fmt: skip
    header = ["question", "statistic", "system", "raters", "items", "value", "95% interval"]
    return [Section("agreement", "Agreement", header, cells, rows, 4)]


def raters_section(judged: Judged) -> list[Section]:
    """What is known of each rater."""
    rows = [each.to_dict() for each in conduct(judged)]
    if not rows:
        return []
    cells = [
        [
            row["rater"], f"{row['votes']:,}", _decimal(row["seconds"]), _percent(row["with_others"]),
            _percent(row["controls"]), _percent(row["same_answer"]), ", ".join(row["remarks"]) or "-",
        ]
        for row in rows
    ]  # fmt: skip
    header = ["rater", "votes", "seconds", "with others", "controls", "same answer", "remarks"]
    return [Section("raters", "Raters", header, cells, rows)]


def _on_shared_inputs(cards: Sequence[Scorecard]) -> list[Scorecard]:
    """The scorecards of what all systems answer, each input once; none where they share nothing."""
    shared = set.intersection(*(set(card.outputs.asked.tolist()) for card in cards))
    if not shared:
        return []
    taken = []
    for card in cards:
        first: dict[int, int] = {}
        for row, key in enumerate(card.outputs.asked.tolist()):
            if key in shared:
                first.setdefault(key, row)
        taken.append(card.taken(np.array(sorted(first.values()), np.intp)))
    return taken


def _by_system(judged: Judged) -> Iterator[tuple[str, list[Item]]]:
    def system(item: Item) -> tuple[str, ...]:
        return item.systems

    for systems, items in groupby(sorted(judged.systems_judged, key=system), key=system):
        yield " / ".join(systems), list(items)


def _pair_rows(judged: Judged) -> Iterator[dict[str, Any]]:
    from scipy.stats import binomtest

    for _, items in _by_system(judged):
        for question in judged.protocol.questions:
            decided = [item for item in items if item.given or judged.answers(item, question.name)]
            labels = Counter(label_of(judged, item, question.name) for item in decided)
            wins, losses, count = labels[FIRST], labels[SECOND], max(len(decided), 1)
            first, second = items[0].systems
            yield {
                "A": first,
                "B": second,
                "question": question.name,
                "items": len(decided),
                "A>B": 100 * wins / count,
                "B>A": 100 * losses / count,
                "tie": 100 * (len(decided) - wins - losses) / count,
                "p": float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0,
                "deltas": _deltas(items),
            }


def _deltas(items: Sequence[Item]) -> dict[str, float]:
    """Of each automatic metric: the mean over the first outputs less that over the second."""
    names = dict.fromkeys(name for item in items for scores in item.scores for name in scores)
    found = {}
    for name in names:
        apart = [
            left - right
            for item in items
            if (left := item.score(name, 0)) is not None and (right := item.score(name, 1)) is not None
        ]
        if apart:
            found[name] = float(np.mean(apart))
    return found


def _won(row: dict[str, Any], side: str, other: str) -> str:
    shown = f"{row[side]:.1f}"
    return f"[{shown}]" if row[side] - row[other] >= _WIN else shown


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}"


def _decimal(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"


def _signed(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _without_nan(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
