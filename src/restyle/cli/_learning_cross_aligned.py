"""Learning a cross-aligned model: the training, with those who measure it and decide on it.

It stands here because this room alone sees both those who rewrite and those who judge.
"""

from __future__ import annotations

from restyle import corpora
from restyle.cli._learners import Order
from restyle.errors import UnknownName, UsageError
from restyle.evaluation import Rule, UnsupervisedMeasures
from restyle.metrics.gauges import Gauges
from restyle.rewriters import cross_aligned
from restyle.rewriters.cross_aligned import MODELS, CrossAlignedSettings, Watch
from restyle.settings import from_dict


def learn(order: Order) -> list[str]:
    """Train one of M0 to M7, and say which point of its trajectory was chosen and what it measures."""
    if order.variant and order.variant not in MODELS:
        raise UnknownName("cross-aligned model", order.variant, MODELS)
    if order.variant and order.values.get("model", order.variant) != order.variant:
        raise UsageError(f"the model is {order.variant} in --system and {order.values['model']} in --with")
    values = {"model": order.variant} if order.variant else {}
    settings = from_dict(CrossAlignedSettings, {**values, **order.values}, where="--with")
    rule = Rule.parse(settings.stop or "gm")
    made = cross_aligned.learn(
        corpora.load(order.corpus),
        order.styles,
        settings,
        order.output,
        Watch(
            measured=lambda gauges, sides: _measures(gauges, [*sides.texts[0], *sides.texts[1]]),
            ended=lambda points: bool(settings.stop) and rule.ended(points, settings.patience),
            chosen=rule.chosen,
        ),
        shown=order.progress,
        say=order.say,
    )
    return told(made, order)


def told(made: cross_aligned.CrossAligned, order: Order) -> list[str]:
    """What was chosen, where it is, and what to type next."""
    chosen = made.chosen
    measures = ", ".join(f"{name} {chosen[name]:.3g}" for name in ("acc", "sim", "meteor", "pp", "gm"))
    return [
        f"{made.settings.model} at epoch {chosen['epoch']:g}: {measures}",
        f"chosen, as {chosen['why']}",
        f"written to {order.output}; restyle select {order.output} chooses again",
        f'now: restyle rewrite --system {order.output} --to {made.styles[1]} "the food was cold ."',
    ]


def _measures(gauges: Gauges, sentences: list[str]) -> UnsupervisedMeasures:
    return UnsupervisedMeasures(gauges, sentences)
