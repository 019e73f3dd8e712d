"""NAIVE from a corpus: which sentences it draws, and the p that its validation set gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from restyle.corpora import Corpus
from restyle.errors import UsageError
from restyle.evaluation._baselines import NaiveRow, naive_outputs, tuned_copy_probability
from restyle.evaluation._outputs import Outputs
from restyle.evaluation._score import ScoreSettings, score_systems
from restyle.metrics import Metric

# Development sentences of all styles together; the means of these are all that the tuning reads.
_DEVELOPMENT_SENTENCES = 1000


def naive_from_corpus(
    corpus: Corpus, targets: Sequence[str], settings: ScoreSettings, metrics: Sequence[str | Metric] | None = None
) -> NaiveRow:
    """NAIVE with the training sentences of the target styles, its p that of the settings, or else tuned on `valid`.

    Where the corpus has no validation set, or the metrics make no J, p stays as the paper has it for Shakespeare.
    Raises UnknownName when the corpus lacks a target style.
    """
    sentences = {target: corpus.sentences(target, "train") for target in dict.fromkeys(targets)}
    naive = NaiveRow(sentences, seed=settings.seed)
    p = settings.copy_probability
    if p is None:
        p = _tuned(corpus, naive, settings, metrics)
    return naive if p is None else replace(naive, copy_probability=p)


def _tuned(
    corpus: Corpus, naive: NaiveRow, settings: ScoreSettings, metrics: Sequence[str | Metric] | None
) -> float | None:
    rows = list(_development(corpus, list(naive.sentences)))
    if not rows:
        return None
    inputs, styles, targets, references = (list(column) for column in zip(*rows, strict=True))
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
    try:
        copied, drawn = score_systems(systems, replace(settings, baselines=False, aggregate=()), metrics=metrics)
    except UsageError:  # a metric needs what the validation set lacks, such as references
        return None
    return tuned_copy_probability(copied, drawn)


def _development(corpus: Corpus, targets: Sequence[str]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Validation sentences of other styles, to be written in each target: input, style, target, references."""
    pairs = [
        (style, target)
        for target in targets
        for style in corpus.styles
        if style != target and corpus.has(style, "valid")
    ]
    for style, target in pairs:
        texts = corpus.sentences(style, "valid")
        several = corpus.references(style, "valid") if corpus.has_references(style, "valid") else [[]] * len(texts)
        for text, references in islice(zip(texts, several, strict=True), max(1, _DEVELOPMENT_SENTENCES // len(pairs))):
            yield text, style, target, references
