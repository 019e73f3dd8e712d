"""Do our automatic metrics say what people say? Each of them against the ratings of Li et al. 2018 on Yelp.

    python benchmarks/people.py                  the metrics that need no network
    python benchmarks/people.py --all            and those that do: acc, sim_input, sim_ref, fl, ppl, J

Seven systems, 400 inputs, one person each, who rated grammar, style and content from 1 to 5. What a person wrote in
their place is left out: it is itself a reference. First the sentences (Spearman's rho over all outputs, its interval
over resamples of the inputs), then the systems (rho of their means, and how many of the 21 pairs the metric orders as
people do). `success` is what Li et al. count: 4 or 5 on all three. Lower is better for ppl and edit-distance.

This is evidence about metrics, and no place to choose a threshold.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from restyle.corpora import rows
from restyle.evaluation import ScoreSettings, score_systems
from restyle.study import Item, Judged, Vote
from restyle.study._correlate import Correlation, correlations
from restyle.study._measures import outputs_of_items
from restyle.study._published import published

CHEAP = (
    "bleu", "chrf", "meteor", "self-bleu", "unigram-f1", "unigram-precision", "jaccard", "edit-distance",
    "kendall-tau", "length-ratio", "copy-rate", "sim-wieting", "sim-wieting-ref", "sim-glove", "sim-glove-ref",
)  # fmt: skip
NETWORKS = ("acc", "acc-prob", "sim_input", "sim_ref", "fl", "fl-prob", "ppl")
RATED = ("grammar", "style", "content", "success")
# What a table of style transfer shows beside its factors; each is a product within a sentence.
PRODUCTS = {
    "J": ("acc", "sim_input", "fl"),
    "J(A,S)": ("acc", "sim_input"),
    "J of probabilities": ("acc-prob", "sim_input", "fl-prob"),
}


def main() -> None:
    """Score the rated outputs, correlate, print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="the metrics that need a network, too")
    parser.add_argument("--resamples", type=int, default=300, help="for the intervals (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    options = parser.parse_args()
    before = time.process_time()
    study = published("li2018-yelp")
    items = [item for item in study.systems_judged if item.systems != ("person",)]
    metrics = (*CHEAP, *NETWORKS) if options.all else CHEAP
    judged = replace(study, items=scored(items, metrics), votes=votes_on(study, items))
    found = correlations(judged, resamples=options.resamples, seed=options.seed)
    by_sentence(found)
    by_system(found)
    print(
        f"\n{len(items):,} outputs of {len({item.systems for item in items})} systems; {options.resamples} resamples, "
        f"seed {options.seed}; {time.process_time() - before:.0f} s of processor time"
    )


def scored(items: Sequence[Item], metrics: Sequence[str]) -> list[Item]:
    """The items with what each metric says of them."""
    references = {row["input"].strip(): row["references"] for row in rows("systems", "yelp")}
    made: list[Item] = []
    for system in sorted({item.systems[0] for item in items}):
        mine = [item for item in items if item.systems == (system,)]
        outputs = replace(outputs_of_items(system, mine), references=[references[item.input or ""] for item in mine])
        settings = ScoreSettings(metrics=tuple(metrics), baselines=False, resamples=0)
        (card,) = score_systems([outputs], settings)
        columns = dict(card.columns) | {
            name: np.prod([card.columns[factor] for factor in factors], axis=0)
            for name, factors in PRODUCTS.items()
            if all(factor in card.columns for factor in factors)
        }
        made += [
            replace(item, scores=({name: number(column[row]) for name, column in columns.items()},))
            for row, item in enumerate(mine)
        ]
    return made


def number(value: float) -> float | None:
    """A score; nothing where there is none."""
    return None if np.isnan(value) else float(value)


def votes_on(study: Judged, items: Sequence[Item]) -> list[Vote]:
    """The votes on some of the items."""
    kept = {item.id for item in items}
    return [vote for vote in study.votes if vote.item in kept]


def metrics_of(found: Sequence[Correlation]) -> list[str]:
    """The metrics that correlate most with the success that people see, first."""
    strength = {each.metric: each.estimate.value for each in pick(found, "sentence", "Spearman")["success"].values()}
    return sorted(strength, key=lambda name: -abs(strength[name]))


def pick(found: Sequence[Correlation], level: str, statistic: str) -> Mapping[str, Mapping[str, Correlation]]:
    """One statistic by what people rated, and by metric."""
    chosen: dict[str, dict[str, Correlation]] = {}
    for each in found:
        if (each.level, each.statistic) == (level, statistic):
            chosen.setdefault(each.human, {})[each.metric] = each
    return chosen


def by_sentence(found: Sequence[Correlation]) -> None:
    """Print rho with its interval."""
    rho = pick(found, "sentence", "Spearman")

    def cell(human: str, metric: str) -> str:
        value, (low, high) = rho[human][metric].estimate
        return f"{value:+.2f} ({low:+.2f} to {high:+.2f})"

    print_table("Sentences: Spearman's rho, 95% interval", found, cell)


def by_system(found: Sequence[Correlation]) -> None:
    """Print rho of the systems' means, and the share of pairs in the right order."""
    rho, pairs = pick(found, "system", "Spearman"), pick(found, "system", "pairwise accuracy")

    def cell(human: str, metric: str) -> str:
        share, (low, high) = pairs[human][metric].estimate
        return f"{rho[human][metric].estimate.value:+.2f}; {share:.0%} ({low:.0%} to {high:.0%})"

    print_table("Systems: Spearman's rho of their means; pairs in the order of people, 95% interval", found, cell)


def print_table(title: str, found: Sequence[Correlation], cell: Callable[[str, str], str]) -> None:
    """A row for each metric, a column for each thing that people rated."""
    print(f"\n{title}\n\n| metric | {' | '.join(RATED)} |\n|---|{'---|' * len(RATED)}")
    for metric in metrics_of(found):
        print(f"| {metric} | {' | '.join(cell(human, metric) for human in RATED)} |")


if __name__ == "__main__":
    main()
