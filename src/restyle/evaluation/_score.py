"""From outputs to a scorecard: texts cleaned once, every metric asked once, baselines beside the system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from restyle.errors import InputError, UsageError
from restyle.evaluation._baselines import NaiveRow, baselines_of, naive_from_references
from restyle.evaluation._cache import JudgementCache
from restyle.evaluation._choice import JudgeSet, chosen
from restyle.evaluation._formula import parse
from restyle.evaluation._judging import Judge
from restyle.evaluation._numbers import THRESHOLDS, checked_thresholds
from restyle.evaluation._outputs import Column, Outputs, checked_column
from restyle.evaluation._reading import present_references
from restyle.evaluation._scorecard import Scorecard, Statistics
from restyle.evaluation._signature import judge_hash
from restyle.metrics import Metric
from restyle.settings import setting
from restyle.text.clean import clean as cleaned


@dataclass(frozen=True)
class ScoreSettings:
    """What is computed, of which texts, and how sure it is."""

    metrics: tuple[str, ...] | None = setting(
        None, "metrics by name, with commas (`restyle metrics`), ppl=gpt2 with their model; none: no metric"
    )
    judges: JudgeSet = setting("report", "the set of trained judges; select is to choose outputs with, not to report")
    aggregate: tuple[str, ...] = setting((), 'another product, such as "J2=acc*sim_ref*(fl>=0.5)"; may be repeated')
    thresholds: tuple[float, float, float, float] = setting(
        THRESHOLDS, "t of Pang and Gimpel's GM_t, where acc, sim and ppl are there; given four times"
    )
    clean: bool = setting(True, "clean outputs, inputs and references alike, as `restyle text clean` does")
    baselines: bool = setting(True, "score COPY, NAIVE and REF beside the systems")
    corpus: str | None = setting(
        None, "the corpus from which NAIVE draws sentences of the target style; the references, when not set"
    )
    copy_probability: float | None = setting(
        None, "how often NAIVE copies; tuned on the validation set of the corpus, when not set", minimum=0, maximum=1
    )
    cache: bool = setting(True, "remember what slow judges said")
    resamples: int = setting(1000, "bootstrap resamples of intervals and tests; 0 leaves intervals out", minimum=0)
    seed: int = setting(0, "the same seed gives the same intervals, p-values and NAIVE row", minimum=0)


def score(
    outputs: Sequence[str],
    *,
    inputs: Sequence[str] | None = None,
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    target: str | Sequence[str] | None = None,
    metrics: Sequence[str | Metric] | None = None,
    columns: Mapping[str, Sequence[float | None] | Column] | None = None,
    aggregate: Sequence[str] = (),
    system: str = "system",
    naive: NaiveRow | None = None,
    settings: ScoreSettings | None = None,
) -> Scorecard:
    """Score the outputs of one system, sentence by sentence.

    `references` is one per output, or a list of them for each; `target` one style, or one for each output. `metrics`
    are names (`restyle metrics` lists them) or objects; `columns` are numbers that are known already, one per output,
    such as the verdicts of published judges; None or NaN is a sentence without a value. `aggregate` holds more
    products, each as `J2=acc*sim_ref*fl`; `naive`, the sentences that the NAIVE row draws from. What else can be set
    stands in `settings`.

    Raises InputError for lists that do not pair, UsageError for a metric that lacks what it needs.

    >>> verdicts = {"acc": [1], "sim": [0.9], "fl": [1]}
    >>> card = score(["Art thou mad?"], inputs=["Are you mad?"], metrics=[], columns=verdicts)
    >>> card["J"]
    0.9
    """
    settings = settings or ScoreSettings()
    given = Outputs(
        _lines("outputs", outputs),
        system=system,
        inputs=None if inputs is None else _lines("inputs", inputs),
        references=_reference_lists(references),
        targets=[target] * len(outputs) if isinstance(target, str) else target and _lines("target", target),
        columns={name: checked_column(name, values) for name, values in (columns or {}).items()},
    )
    settings = replace(settings, aggregate=(*settings.aggregate, *aggregate))
    (card,) = score_systems([given], settings, metrics=metrics, naive=naive)
    return card


def score_systems(
    systems: Sequence[Outputs],
    settings: ScoreSettings | None = None,
    *,
    metrics: Sequence[str | Metric] | None = None,
    naive: NaiveRow | None = None,
    progress: bool | None = False,
) -> list[Scorecard]:
    """Score the outputs of several systems; those that answer the same inputs share their baselines.

    `metrics`, names or objects, come before those that the settings name.
    """
    settings = settings or ScoreSettings()
    if metrics is None:
        metrics = _named(settings.metrics)
    cache = JudgementCache() if settings.cache else None
    baselines: dict[bytes, tuple[Scorecard, ...]] = {}
    cards = []
    for outputs in systems:
        texts = _cleaned(outputs) if settings.clean else outputs
        asked_for, left_out = chosen(metrics, texts, settings.judges)
        judges = [Judge(metric, cache, progress) for metric in asked_for]
        for judge in judges:
            judge.check(texts)  # before any judge has worked for an hour
        card = _judged(texts, judges, settings)
        if not card.columns:
            raise UsageError("there is nothing to score with: name metrics, or give columns of numbers")
        card = card.with_formulas(*settings.aggregate)
        asked = bytes(texts.asked.tobytes())
        if settings.baselines and judges:
            row = naive or naive_from_references(texts, settings.copy_probability, settings.seed)
            if asked not in baselines:
                baselines[asked] = tuple(_baselines(texts, judges, settings, row))
            if any(each.system == "NAIVE" for each in baselines[asked]):
                card = replace(card, options={**card.options, "naive": str(row)})
        card = replace(card, baselines=baselines.get(asked, ()))
        cards.append(replace(card, notes=(*left_out, *_notes(card))))
    return cards


def _named(metrics: Sequence[str] | None) -> list[str] | None:
    """The names of `bleu,chrf`; none for `none`, and None where nothing was said."""
    if metrics is None:
        return None
    names = [name.strip() for each in metrics for name in each.split(",") if name.strip()]
    return [] if names == ["none"] else names


def _baselines(
    outputs: Outputs, judges: Sequence[Judge], settings: ScoreSettings, naive: NaiveRow | None
) -> Iterator[Scorecard]:
    """COPY, NAIVE and REF, with the user's formulas as far as no factor is a column that was given for the system."""
    for each in baselines_of(outputs, naive):
        card = _judged(each, judges, settings)
        known = [text for text in settings.aggregate if set(parse(text).columns) <= set(card.columns)]
        yield card.with_formulas(*known)


def _judged(outputs: Outputs, judges: Sequence[Judge], settings: ScoreSettings) -> Scorecard:
    """The scorecard before the user's formulas: given columns first, then the metrics in their order."""
    columns = dict(outputs.columns)
    statistics: dict[str, Statistics] = {}
    facts: dict[str, dict[str, str]] = {name: {} for name in columns}
    predicted = outputs.predicted
    for judge in judges:
        name = judge.metric.name
        columns[name], counted = judge.column(outputs)
        facts[name] = dict(judge.metric.signature())
        if counted is not None:
            statistics[name] = counted
        predicted = predicted or judge.predicted(outputs)
    return Scorecard(
        replace(outputs, columns={}, predicted=predicted),
        columns,
        statistics,
        facts,
        _options(outputs, facts, settings),
        thresholds=checked_thresholds(settings.thresholds),
    )


def _options(outputs: Outputs, facts: Mapping[str, Mapping[str, str]], settings: ScoreSettings) -> dict[str, str]:
    """What the signature says beside the metrics: how many sentences of which data, cleaned or not, picked by whom."""
    references = sorted({len(several) for several in outputs.references or ()})
    options = {"n": str(len(outputs)), "refs": "-".join(map(str, references)) or "0"}
    # The sum does not depend on the order of the sentences.
    options["data"] = f"{int(outputs.asked.sum()):016x}"[:8]
    options["text"] = "clean" if settings.clean else "raw"
    if any(said.get("set") == "select" for said in facts.values()):
        options["judges"] = "select"
    if picked := _picked_by_reporting_judges(outputs, facts):
        options["selected-with"] = "+".join(picked)
    return options


def _picked_by_reporting_judges(outputs: Outputs, facts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The metrics with which, or with a part of which, these outputs were selected: they flatter the system."""
    picked = {part for judge in outputs.selected_with for part in (judge, *_parts(judge))}
    return sorted(name for name, said in facts.items() if picked & _called(name, said))


def _called(name: str, said: Mapping[str, str]) -> set[str]:
    """What a metric may be called by whoever selects with it: its name, or that of its judge, with or without hash."""
    judges = {part for key in ("judge", "model") for part in _parts(said.get(key, ""))}
    without_hash = {re.split("[#:]", judge)[0] for judge in judges}
    return {name, judge_hash(said), f"{name}#{judge_hash(said)}", *judges, *without_hash} - {""}


def _parts(judge: str) -> list[str]:
    """The fingerprints in one: of judges that share the targets (`a+b`), or that are multiplied (`a*b`)."""
    return re.split(r"[+*]", judge)


def _notes(card: Scorecard) -> list[str]:
    notes = []
    if picked := card.options.get("selected-with"):
        notes.append(
            f"the outputs of {card.system} were selected with {picked}, which also scores them: "
            "report with a judge that had no part in choosing"
        )
    if card.options.get("judges") == "select":
        choosing = ", ".join(name for name, said in card.facts.items() if said.get("set") == "select")
        notes.append(f"{choosing}: judged by the set select, which is for choosing outputs: report with the set report")
    if empty := sum(not text.strip() for text in card.outputs.outputs):
        notes.append(f"{empty:,} of {len(card):,} outputs of {card.system} are empty")
    multiplied = {name for formula in card.products for name in formula.columns}
    for name, column in card.columns.items():
        if missing := int(np.isnan(column).sum()):
            counted = "; they count 0 in products and are left out of its mean" if name in multiplied else ""
            notes.append(f"{name} has no value for {missing:,} of {len(card):,} outputs of {card.system}{counted}")
    if card.baselines and not any(each.system == "NAIVE" for each in card.baselines):
        notes.append("no NAIVE row: it needs target styles, and a corpus or several references to draw from")
    return notes


def _cleaned(outputs: Outputs) -> Outputs:
    return replace(
        outputs,
        outputs=[cleaned(text) for text in outputs.outputs],
        inputs=None if outputs.inputs is None else [cleaned(text) for text in outputs.inputs],
        references=None
        if outputs.references is None
        else [[cleaned(text) for text in several] for several in outputs.references],
    )


def _lines(what: str, given: Sequence[str]) -> list[str]:
    if isinstance(given, str):
        raise UsageError(f"one string was given for {what}; give a list of sentences")
    for number, text in enumerate(given, start=1):
        if not isinstance(text, str):
            raise InputError(f"{what}, line {number:,}: a sentence was expected, not {type(text).__name__}")
    return list(given)


def _reference_lists(references: Sequence[str] | Sequence[Sequence[str]] | None) -> list[list[str]] | None:
    if references is None:
        return None
    if isinstance(references, str):
        raise UsageError("one string was given for references; give a list of sentences")
    return [
        present_references(f"references, line {number:,}", each if isinstance(each, (list, tuple)) else [each])
        for number, each in enumerate(references, start=1)
    ]
