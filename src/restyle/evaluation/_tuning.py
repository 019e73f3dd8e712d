"""NAIVE from a corpus: which sentences it draws, and the p that its validation set gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from restyle.corpora import Corpus
from restyle.errors import InputError
from restyle.evaluation._baselines import NaiveRow, naive_outputs, tuned_copy_probability
from restyle.evaluation._outputs import Outputs
from restyle.evaluation._score import ScoreSettings, score_systems
from restyle.metrics import Metric

# Development sentences of each style; the means of these are all that the tuning reads.
_DEVELOPMENT_SENTENCES = 500


def naive_from_corpus(
    corpus: Corpus, targets: Sequence[str], settings: ScoreSettings, metrics: Sequence[str | Metric] | None = None
) -> NaiveRow:
    """NAIVE with the training sentences of the target styles; with `settings.tune`, its p is tuned on `valid`.

    Raises UnknownName when the corpus lacks a target style, InputError when p cannot be tuned.
    """
    sentences = {target: corpus.sentences(target, "train") for target in dict.fromkeys(targets)}
    naive = NaiveRow(sentences, settings.copy_probability, settings.seed)
    return replace(naive, copy_probability=_tuned(corpus, naive, settings, metrics)) if settings.tune else naive


def _tuned(corpus: Corpus, naive: NaiveRow, settings: ScoreSettings, metrics: Sequence[str | Metric] | None) -> float:
    inputs, styles, targets, references = _development(corpus, list(naive.sentences))
    systems = [
        Outputs(
            outputs=naive_outputs(inputs, targets, replace(naive, copy_probability=p)),
            system=f"NAIVE p={p}",
            inputs=inputs,
            styles=styles,
            targets=targets,
            references=references if all(references) else None,
        )
        for p in (1.0, 0.0)
    ]
    copied, drawn = score_systems(systems, replace(settings, baselines=False, aggregate=()), metrics=metrics)
    return tuned_copy_probability(copied, drawn)


def _development(corpus: Corpus, targets: Sequence[str]) -> tuple[list[str], list[str], list[str], list[list[str]]]:
    """Validation sentences of the other styles, to be written in each target: inputs, styles, targets, references."""
    rows = [row for target in targets for row in _inputs(corpus, target)]
    if not rows:
        raise InputError(f"the corpus {corpus.name} has no validation sentences to tune p on; give a p instead")
    inputs, styles, wanted, references = (list(column) for column in zip(*rows, strict=True))
    return inputs, styles, wanted, references


def _inputs(corpus: Corpus, target: str) -> Iterator[tuple[str, str, str, list[str]]]:
    for style in corpus.styles:
        if style == target or not corpus.has(style, "valid"):
            continue
        texts = corpus.sentences(style, "valid")
        several = corpus.references(style, "valid") if corpus.has_references(style, "valid") else [[]] * len(texts)
        for text, references in list(zip(texts, several, strict=True))[:_DEVELOPMENT_SENTENCES]:
            yield text, style, target, references
