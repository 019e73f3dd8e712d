"""What a learned pack is worth, on sentences that it never saw.

A style is judged by a classifier of the set `report` that knows it; a new one by a classifier that is trained for it,
on its own sentences against their paraphrases, which say the same in no style. The other judges are those of every
scorecard.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from restyle.errors import AssetError, MissingExtra, UsageError
from restyle.metrics import Metric, metrics
from restyle.metrics.judges import write_card
from restyle.metrics.training import JudgeData, JudgeSettings, Labelled, carded
from restyle.records import Record
from restyle.rewriters.strap._pack import Evaluation, Score

# What a number of a scorecard is called on a card; of those that stand for the same, the first is taken.
_STYLE_SCORES = {"acc": "ACC", "sim_input": "SIM", "sim-wieting": "SIM", "fl": "FL", "J(A,S)": "J(A,S)", "J": "J"}
_PARAPHRASE_SCORES = {"sim-wieting": "SIM", "unigram-f1": "F1", "kendall-tau": "TAU", "copy-rate": "COPY"}
_NETWORK = {"base": "minilm-l6"}
_PLAIN, _OTHER = "plain", "in no style"


class Scored(Protocol):
    """What is asked of a scorecard."""

    def __contains__(self, name: object) -> bool: ...
    def __getitem__(self, name: str) -> float: ...
    def interval(self, name: str) -> tuple[float, float]:
        """The 95% interval of a number."""
        ...

    @property
    def signature(self) -> Any:
        """What was measured with what."""
        ...


# (outputs, inputs, target, metrics) -> scorecard: this room knows none that can make one (docs/architecture.md).
Scorer = Callable[[Sequence[str], Sequence[str], str | None, Sequence[Metric]], Scored]


def train_judge(name: str, pairs: Sequence[Record], kind: str, most: int, seed: int, folder: Path) -> None:
    """A classifier that tells a style from the same sentences in no style; it learns from the training pairs alone.

    A run that was cut off goes on.
    """
    plain = _PLAIN if name != _PLAIN else _OTHER
    data = JudgeData(*(_labelled(name, plain, pairs, split, most) for split in ("train", "valid", "test")))
    settings = JudgeSettings(
        name=name,
        corpora=(f"sentences of {name}, and their paraphrases",),
        kind="linear" if kind == "linear" else "network",
        network=dict(_NETWORK) if kind == "network" else {},
        seed=seed,
    )
    _fit(settings, data, folder)
    # The command of a judge names corpora, and these sentences are of none.
    card = replace(carded(settings, data, folder), command=f"restyle learn … --name {name}")
    write_card(card, folder)


def _fit(settings: JudgeSettings, data: JudgeData, folder: Path) -> None:
    texts, labels = data.train.columns(data.train.labels)
    if settings.kind == "linear":
        from restyle.metrics.judges import WEIGHTS_FILES
        from restyle.metrics.ngram_classifier import NgramClassifier

        model = NgramClassifier.fit(texts, labels, data.train.labels, seed=settings.seed)
        model.save(folder / WEIGHTS_FILES["linear"])
        return
    from restyle.nets.classifier_training import Examples, fit
    from restyle.nets.encoder import EncoderClassifier

    training = settings.of_training()
    network = EncoderClassifier.new(
        data.train.labels, settings.of_network(), seed=settings.seed, dropout=training.dropout
    )
    fit(network, Examples(texts, labels), training, folder)
    network.save(folder)


def _labelled(name: str, plain: str, pairs: Sequence[Record], split: str, most: int) -> Labelled:
    mine = [record for record in pairs if record["split"] == split and not record["id"].startswith("teacher/")][:most]
    return Labelled({name: [record["text"] for record in mine], plain: [record["paraphrase"] for record in mine]})


def style_metrics(judge: str | Path) -> list[Metric]:
    """The judges of a style's outputs: as many as can be had on this machine."""
    from restyle.metrics.style import StyleAccuracy

    accuracy: Metric = StyleAccuracy(judge)
    similarity = _had("sim_input") or _had("sim-wieting")
    return [each for each in (accuracy, similarity, _had("fl")) if each]


def paraphrase_metrics() -> list[Metric]:
    """Those of Table 16."""
    return [metric for name in _PARAPHRASE_SCORES if (metric := _had(name))]


def _had(name: str) -> Metric | None:
    """A metric, ready to judge; None where what it needs is not on this machine."""
    try:
        metric: Any = metrics[name]()
        if hasattr(metric, "ready"):
            metric.ready()
    except (MissingExtra, AssetError, UsageError):
        return None
    found: Metric = metric
    return found


def evaluated(
    outputs: Sequence[Record], on: str, target: str | None, judges: Sequence[Metric], scorer: Scorer
) -> Evaluation:
    """The scores of a pack's outputs, with their intervals."""
    card = scorer([record["output"] for record in outputs], [record["input"] for record in outputs], target, judges)
    names = _PARAPHRASE_SCORES if target is None else _STYLE_SCORES
    return Evaluation(on, len(outputs), _scores(card, names), str(card.signature))


def _scores(card: Scored, names: Mapping[str, str]) -> dict[str, Score]:
    found: dict[str, Score] = {}
    for name, called in names.items():
        # Kendall's tau is no number where no two texts share words: a score that is none is not told.
        if name in card and called not in found and not math.isnan(card[name]):
            low, high = card.interval(name)
            found[called] = Score(*(round(float(each), 4) for each in (card[name], low, high)))
    return found
