"""Which metrics are computed: those that were asked for, or those of the defaults that can be."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Literal

from restyle.errors import AssetError, MissingExtra, UsageError
from restyle.evaluation._outputs import Outputs
from restyle.metrics import Metric
from restyle.metrics import metrics as registry

# What is computed when nothing is asked for, as far as it is installed and its needs are given.
DEFAULT_METRICS = ("acc", "sim_ref", "sim_input", "fl", "bleu", "self-bleu", "chrf", "copy-rate")
JudgeSet = Literal["report", "select"]


def chosen(
    wanted: Sequence[str | Metric] | None, outputs: Outputs, judges: JudgeSet = "report"
) -> tuple[list[Metric], list[str]]:
    """The metrics, ready to judge, and one remark for each of the defaults that is left out though it could be had.

    `judges` is the set from which trained judges come. Raises what a metric that was asked for lacks, and MissingExtra
    when nothing at all could be computed.
    """
    if wanted is not None:
        named = [_made(metric, judges) if isinstance(metric, str) else metric for metric in wanted]
        names = [metric.name for metric in named]
        if doubled := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise UsageError(f"{doubled[0]} is asked for twice: score with one model after the other")
        return [_ready(metric, outputs) for metric in named], []
    have = {
        name
        for name, lines in (("inputs", outputs.inputs), ("references", outputs.references), ("target", outputs.targets))
        if lines is not None
    }
    found: list[Metric] = []
    missing: list[tuple[str, Exception]] = []
    for name in DEFAULT_METRICS:
        if name not in registry or name in outputs.columns:
            continue
        try:
            metric = _made(name, judges)
            if metric.needs <= have:
                found.append(_ready(metric, outputs))
        except (MissingExtra, AssetError, UsageError) as error:
            missing.append((name, error))
    if missing and not found and not outputs.columns:
        raise missing[0][1]
    return found, [f"{name} is left out: {error}" for name, error in missing]


def _made(asked: str, judges: JudgeSet) -> Metric:
    """The metric of a name; `ppl=gpt2`, `acc=noir-report` or `sim-glove=vectors.txt` names its model too."""
    name, given, model = asked.partition("=")
    metric: Any = registry[name]
    taken = inspect.signature(metric).parameters
    if given and not (model and taken):
        raise UsageError(f"the metric {name} {'takes no model' if model else 'is given an empty model'}: {asked!r}")
    options = {"part": judges} if "part" in taken else {}
    made: Metric = metric(model, **options) if model else metric(**options)
    return made


def _ready(metric: Metric, outputs: Outputs) -> Metric:
    """The metric with the judge of these targets, its model fetched; what it lacks is told before any work is done."""
    described: Any = metric
    if outputs.targets and hasattr(described, "for_targets"):
        described = described.for_targets(outputs.targets)
    if hasattr(described, "ready"):
        described.ready()
    ready: Metric = described
    return ready
