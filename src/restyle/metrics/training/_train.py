"""From settings to a judge in a folder, with its card."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from restyle.errors import UsageError
from restyle.metrics.judges import (
    WEIGHTS_FILES,
    Card,
    Judge,
    Result,
    judge_in,
    load_judge,
    sha256_of,
    write_card,
)
from restyle.metrics.training._data import JudgeData, Labelled, counts_of, gathered, sources_of, with_broken
from restyle.metrics.training._measures import measured
from restyle.metrics.training._readme import readme
from restyle.metrics.training._settings import JudgeSettings
from restyle.nets.word_weights import WordWeights, tokens_of
from restyle.records import writing_to


def train_judge(settings: JudgeSettings, folder: Path, *, shown: bool | None = None) -> Card:
    """Train a judge into a folder, measure it, and write its card; the same command goes on where it was killed.

    The sentences that it is measured on are never trained on, nor those that give them away.
    """
    data = data_for(settings)
    if settings.kind == "linear":
        _train_linear(settings, data, folder)
    elif settings.kind == "words":
        _train_words(settings, data, folder)
    else:
        _train_network(settings, data, folder, shown)
    return carded(settings, data, folder)


def data_for(settings: JudgeSettings) -> JudgeData:
    """The sentences that these settings name."""
    drawn: dict[str, Any] = {"share": settings.share, "seed": settings.seed}
    data = gathered(sources_of(settings.corpora), settings.part, limit=settings.limit, **drawn)
    if settings.broken:
        broken = sources_of(settings.broken, least=1)
        data = with_broken(data, broken, settings.part, limit=settings.broken_limit, **drawn)
    return data


def carded(settings: JudgeSettings, data: JudgeData, folder: Path, *, hardware: str | None = None) -> Card:
    """Measure the weights in a folder and write card and README beside them.

    `hardware` is what they were trained on, where that is another machine.
    """
    labels = data.train.labels
    card = Card(
        name=settings.full_name,
        kind=settings.kind,
        task=settings.task,
        part=settings.part,
        labels=labels,
        aliases=dict(settings.aliases),
        network=_known(asdict(settings.of_network())) if settings.kind == "network" else {},
        beside=load_judge(settings.beside).card.fingerprint if settings.beside else "",
        corpora=tuple(settings.counts.values()) or settings.corpora,
        sentences={} if settings.counts else data.train.counts(),
        l2=settings.l2 if settings.kind == "words" and not settings.counts else None,
        seed=settings.seed,
        command=settings.command(),
        first=load_judge(settings.start).card.command if settings.start else "",
        hardware=_hardware(settings) if hardware is None else hardware,
    )
    card = replace(card, sha256=sha256_of(card, folder))
    judge = judge_in(card, folder)
    splits = {"valid": data.valid, "test": data.test}
    card = replace(card, results={name: _result(judge, part, settings) for name, part in splits.items()})
    write_card(card, folder)
    with writing_to(folder):
        (folder / "README.md").write_text(readme(card), encoding="utf-8")
    return card


def _train_linear(settings: JudgeSettings, data: JudgeData, folder: Path) -> None:
    from restyle.metrics.ngram_classifier import NgramClassifier

    labels = data.train.labels
    texts, numbers = data.train.columns(labels)
    NgramClassifier.fit(texts, numbers, labels, seed=settings.seed).save(folder / WEIGHTS_FILES["linear"])


def _train_words(settings: JudgeSettings, data: JudgeData, folder: Path) -> None:
    labels = data.train.labels
    if settings.counts:
        weights = WordWeights.from_counts(counts_of(settings.counts, labels), labels)
    else:
        texts, numbers = data.train.columns(labels)
        weights = WordWeights.fit([tokens_of(text) for text in texts], numbers, labels, l2=settings.l2)
        weights = weights.having_seen(texts)
    weights.save(folder / WEIGHTS_FILES["words"])


def _train_network(settings: JudgeSettings, data: JudgeData, folder: Path, shown: bool | None) -> None:
    from restyle.nets.classifier_training import Examples, fit
    from restyle.nets.encoder import EncoderClassifier, weights_in

    labels, training = data.train.labels, settings.of_training()
    network = EncoderClassifier.new(labels, settings.of_network(), seed=settings.seed, dropout=training.dropout)
    if settings.start:
        network.restore(weights_in(_first(settings.start, labels).folder))
    texts, true = data.valid.columns(labels)

    def quality(network: Any) -> float:
        return measured(true, network.probabilities(texts).argmax(1), len(labels)).mcc

    fit(network, Examples(*data.train.columns(labels)), training, folder, quality=quality, shown=shown)
    network.save(folder)


def _first(named: str, labels: Sequence[str]) -> Judge:
    """The judge to go on from; UsageError when its labels are others."""
    judge = load_judge(named)
    if judge.card.labels != tuple(labels):
        raise UsageError(
            f"{judge.card.name} tells {', '.join(judge.card.labels)} apart, and these corpora {', '.join(labels)}: "
            "it cannot be gone on from"
        )
    return judge


def _hardware(settings: JudgeSettings) -> str:
    if settings.kind != "network":
        return "CPU, float64"
    from restyle.nets.device import hardware

    return hardware()


def _result(judge: Judge, part: Labelled, settings: JudgeSettings) -> Result:
    labels: Sequence[str] = judge.card.labels
    sentences = list(zip(*part.columns(labels), strict=True))
    drawn = sentences
    if settings.measured is not None and settings.measured < len(sentences):
        drawn = random.Random(settings.seed).sample(sentences, settings.measured)
    said = judge.verdicts([text for text, _ in drawn])
    # An empty sentence gets no label; corpora hold none, as the loaders leave them out.
    result = measured([true for _, true in drawn], [labels.index(label) if label else 0 for label in said], len(labels))
    return replace(result, drawn_from=len(sentences) if drawn is not sentences else 0)


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
