"""Whether Acc, Sim, PP and their GM say what people say (Pang and Gimpel 2019, Secs. 3.3, 6.2 and 6.3).

Acc   how often it and people agree that an output has the target style    Table 5: 94%
Sim   Spearman's rho with ratings of the content                           0.79
-PP   Spearman's rho with ratings of the grammar                           0.81
GM    how often it prefers the output that people prefer                   86%
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from restyle.errors import InputError
from restyle.metrics import Batch
from restyle.metrics.gauges import Gauges
from restyle.metrics.similarity_glove import SimGlove
from restyle.metrics.unsupervised import CnnAccuracy, GruPerplexity
from restyle.records import Record, read_records
from restyle.study._correlate import Correlation, correlations
from restyle.study._intervals import estimated
from restyle.study._items import Item, Judged, Vote, read_judged
from restyle.study._labels import label_of
from restyle.study._protocol import load_protocol

# What stands beside what in Table 5; a high perplexity is bad.
_BESIDE = (("style", "acc-cnn"), ("content", "sim-glove"), ("grammar", "-pp"))
QUESTIONS = ("grammar", "style", "content")
# What other files call the questions: Li et al. 2018.
_ALIASES = {"grammaticality": "grammar", "fluency": "grammar", "topic": "content", "similarity": "content"}
# Of a scale from 1 to 5: rated so high the style was found, so low it was not; 3 says neither.
_FOUND, _NOT_FOUND = 4, 2


def read_ratings(file: str | Path) -> Judged:
    """Ratings as a study: one that `export` wrote, or rows with an input, an output, a target and ratings from 1 to 5.

    Rows may name their system. The ratings are called grammar, style and content, or as in the files of Li et al.; rows
    of one output are votes of several raters. InputError says what a row lacks.
    """
    if _is_study(file):
        return read_judged(file)
    items: dict[str, Item] = {}
    votes: list[Vote] = []
    for number, row in enumerate(read_records(file, text_column="output"), start=1):
        named = {_ALIASES.get(key, key): value for key, value in row.items()}
        for key in ("input", "target"):
            if not isinstance(named.get(key), str):
                raise InputError(f"{file}, row {number} has no {key}; an input, an output and a target are needed")
        system = str(named.get("system", "?"))
        item = Item(
            f"{system}: {named['input']} -> {row['text']}",
            (system,),
            (row["text"],),
            named["input"],
            None,
            named["target"],
        )
        items.setdefault(item.id, item)
        answers = {key: str(named[key]) for key in QUESTIONS if named.get(key) not in (None, "")}
        if not answers:
            raise InputError(f"{file}, row {number} has no rating; one of {', '.join(QUESTIONS)} is needed")
        for key, value in answers.items():
            if value not in {"1", "2", "3", "4", "5"}:
                raise InputError(f"{file}, row {number}: {key} is {value!r}; a rating from 1 to 5 was expected")
        votes.append(Vote(item.id, str(named.get("rater", number)), answers))
    return Judged(load_protocol("li"), list(items.values()), votes)


def measured_by(judged: Judged, gauges: Gauges, idf_from: Sequence[str] = ()) -> Judged:
    """The study with the scores acc-cnn, sim-glove, pp and -pp of every output."""
    items = judged.systems_judged
    outputs, inputs = [item.outputs[0] for item in items], [item.input or "" for item in items]
    sim = SimGlove(idf_from=idf_from or None).score(Batch(outputs, inputs=inputs))
    acc, pp = np.zeros(len(items)), np.zeros(len(items))
    for target in dict.fromkeys(item.target or "" for item in items):
        rows = [row for row, item in enumerate(items) if (item.target or "") == target]
        batch = Batch([outputs[row] for row in rows], target=target)
        acc[rows], pp[rows] = CnnAccuracy(gauges).score(batch), GruPerplexity(gauges).score(batch)
    scored = {
        item.id: {
            "acc-cnn": float(acc[row]),
            "sim-glove": float(sim[row]),
            "pp": float(pp[row]),
            "-pp": float(-pp[row]),
        }
        for row, item in enumerate(items)
    }
    return replace(
        judged, items=[replace(item, scores=(scored[item.id],)) if item.id in scored else item for item in judged.items]
    )


def validation(judged: Judged, *, resamples: int = 1000, seed: int = 0) -> list[Correlation]:
    """Table 5, by sentence, and the same rankings of systems (6.2): what people say beside what is measured."""
    found = [_matches(judged, resamples, seed)]
    for each in correlations(judged, [metric for _, metric in _BESIDE], resamples=resamples, seed=seed):
        wanted = (each.human, each.metric) in _BESIDE and each.statistic != "Kendall"
        # A verdict has no rank within a sentence's outputs: it is matched above.
        if wanted and not (each.metric == "acc-cnn" and each.level == "sentence"):
            found.append(each)
    return found


def preferences(judged: Judged, margin: float = 0.5) -> Iterator[Record]:
    """Pairs of outputs of one input of which people rate one better: the measures of both, `better_…` and `worse_…`.

    Better is what has the higher mean of all three ratings, by `margin` at least.
    """
    by_input: dict[str, list[tuple[float, Item]]] = {}
    for item in judged.systems_judged:
        ratings = [label_of(judged, item, question) for question in QUESTIONS]
        known = [rating for rating in ratings if isinstance(rating, float)]
        if len(known) == len(QUESTIONS):
            by_input.setdefault(f"{item.input}\0{item.target}", []).append((sum(known) / len(known), item))
    for rated in by_input.values():
        for one, other in combinations(rated, 2):
            better, worse = (one, other) if one[0] > other[0] else (other, one)
            if better[0] - worse[0] < margin or better[1].outputs == worse[1].outputs:
                continue
            row: Record = {"id": f"{better[1].id} > {worse[1].id}", "text": better[1].input or ""}
            for side, (_, item) in (("better", better), ("worse", worse)):
                for name, metric in (("acc", "acc-cnn"), ("sim", "sim-glove"), ("pp", "pp")):
                    row[f"{side}_{name}"] = _score(item, metric)
            if all(not isinstance(value, float) or np.isfinite(value) for value in row.values()):
                yield row


def _matches(judged: Judged, resamples: int, seed: int) -> Correlation:
    """The share of the outputs whose style people are sure of, in which Acc says the same."""
    by_input: dict[str, list[float]] = {}
    for item in judged.systems_judged:
        rating = label_of(judged, item, "style")
        if isinstance(rating, float) and (rating >= _FOUND or rating <= _NOT_FOUND):
            same = float((_score(item, "acc-cnn") == 1) == (rating >= _FOUND))
            by_input.setdefault(item.input or item.id, []).append(same)
    if not by_input:
        raise InputError("nobody rated the style of an output as clearly there (4 or 5) or not (1 or 2)")
    groups = [np.array(each) for each in by_input.values()]
    match = estimated(
        lambda rows: float(np.concatenate([groups[row] for row in rows]).mean()),
        len(groups),
        resamples=resamples,
        seed=seed,
    )
    return Correlation("style", "acc-cnn", "sentence", "match", match, sum(map(len, groups)))


def _score(item: Item, metric: str) -> float:
    value = item.score(metric)
    return float("nan") if value is None else value


def _is_study(file: str | Path) -> bool:
    """Whether a file is what a study was exported to."""
    first = next(iter(read_records(file, text_column="id")), {}) if str(file).endswith(".jsonl") else {}
    return {"protocol", "votes"} <= set(first)
