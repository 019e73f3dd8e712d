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


def _made(named: str, judges: JudgeSet) -> Metric:
    """A metric by its name; behind an @ stands which judge, model or gauges it is to ask: `acc-cnn@runs/gauges`."""
    name, _, asked = named.partition("@")
    metric: Any = registry[name]
    if asked:
        if len(inspect.signature(metric).parameters) == 0:
            raise UsageError(f"the metric {name} asks nobody: leave @{asked} out")
        of_that: Metric = metric(asked)
        return of_that
    made: Metric = metric(part=judges) if "part" in inspect.signature(metric).parameters else metric()
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
