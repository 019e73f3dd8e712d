"""Those who guess: by weights of words, as in the paper, and by a pretrained network that knows what words mean."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from restyle.metrics.judges import Floats
from restyle.metrics.privacy._settings import AuditSettings
from restyle.nets.word_weights import WordWeights, tokens_of
from restyle.text.clean import clean

# Texts to the probability of each label, (N, L).
Guess = Callable[[Sequence[str]], Floats]


def learned(
    kind: str, texts: Sequence[str], numbers: Sequence[int], labels: Sequence[str], settings: AuditSettings
) -> Guess:
    """An attacker of a kind that has learned from texts and the number of each one's label."""
    cleaned = [clean(text) for text in texts]
    if kind == "words":
        weights = WordWeights.fit([tokens_of(text) for text in cleaned], numbers, labels, l2=settings.l2)
        return lambda asked: weights.probabilities(tokens_of(clean(text)) for text in asked)
    return _network(cleaned, numbers, labels, settings)


def _network(texts: Sequence[str], numbers: Sequence[int], labels: Sequence[str], settings: AuditSettings) -> Guess:
    from restyle.nets.classifier_training import Examples, fit
    from restyle.nets.encoder import EncoderClassifier

    training = settings.of_training()
    network = EncoderClassifier.new(labels, settings.of_network(), seed=settings.seed, dropout=training.dropout)
    known = [place for place, text in enumerate(texts) if text]
    examples = Examples([texts[place] for place in known], [numbers[place] for place in known])
    with tempfile.TemporaryDirectory() as folder:
        fit(network, examples, training, Path(folder), shown=False)

    def guess(asked: Sequence[str]) -> Floats:
        cleaned = [clean(text) for text in asked]
        written = [place for place, text in enumerate(cleaned) if text]
        found = np.full((len(asked), len(labels)), 1 / len(labels))  # of an empty text nothing can be told
        if written:
            found[written] = network.probabilities([cleaned[place] for place in written])
        return found

    return guess
