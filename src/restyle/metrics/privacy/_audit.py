"""Attacks on texts before and after rewriting: what a static attacker finds, and what one that has adapted finds.

    static      learned from texts as they were written: what a system was built against
    retrained   learned from rewritten texts: the honest one, whom swapping words or classes does not fool

No attacker guesses a text that it learned from: texts are cut into folds by their content, and each fold is guessed by
those who learned from the others, or by those who learned from a file of its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, UsageError
from restyle.metrics.judges import Floats, Judge, WordJudge, load_judge
from restyle.metrics.leakage import entropy, leak, refuse_seen, refuse_shared
from restyle.metrics.privacy._attackers import Guess, learned
from restyle.metrics.privacy._labels import Rewritten, checked_labels
from restyle.metrics.privacy._settings import AuditSettings
from restyle.metrics.training import wilson
from restyle.nets.word_weights import WordWeights, tokens_of
from restyle.text.clean import clean

ORIGINALS = "originals"
STATIC, RETRAINED = "static", "retrained"


@dataclass(frozen=True)
class Attack:
    """What one attacker finds in what one system wrote."""

    system: str
    attacker: str  # words, network, or the name of a trained one
    trained: str  # static, or retrained
    texts: int
    accuracy: float  # the mean over the labels, so that chance is 1 / labels however unequal they are
    low: float  # 95% interval
    high: float
    advantage: float  # |accuracy - chance|: an attacker who is always wrong knows as much
    entropy: float
    leak: float
    flipped: float | None  # of texts that were guessed right before, the share that is now guessed as another label


@dataclass(frozen=True)
class Audit:
    """All attacks, the words that give each label away, and what a reader should know."""

    labels: tuple[str, ...]
    attacks: tuple[Attack, ...]
    words: dict[str, list[tuple[str, float]]]
    weights: WordWeights
    notes: tuple[str, ...] = ()


@dataclass
class _Texts:
    """Labelled texts as attackers take them, and who may learn from what."""

    labels: list[str]
    numbers: NDArray[np.int64]
    fold: NDArray[np.int64]
    extra: dict[str, Rewritten] = field(default_factory=dict)


def audited(
    systems: Sequence[Rewritten],
    settings: AuditSettings | None = None,
    *,
    train: Sequence[Rewritten] = (),
    say: Callable[[str], None] = lambda line: None,
) -> Audit:
    """Attack what systems made of the same labelled texts, and those texts as they were written.

    `train` holds texts of the same labels to learn from, by system; without it attackers learn from the other folds.
    InputError for labels from which nothing can be told, or systems that answer different texts; UsageError when an
    attacker outside has learned from what the one inside a system did.
    """
    settings = settings or AuditSettings()
    first = systems[0].originals
    for each in systems:
        if (each.inputs, each.labels) != (first.inputs, first.labels):
            raise InputError(f"{each.system} answers other texts than {systems[0].system}: audit them one by one")
    labels = checked_labels(first.labels, settings.fewest)
    if unknown := {label for each in train for label in each.labels} - set(labels):
        raise InputError(f"the texts to learn from have labels that the others have not: {', '.join(sorted(unknown))}")
    texts = _Texts(
        labels,
        np.array([labels.index(label) for label in first.labels]),
        np.array([_fold(text, settings.folds) for text in first.inputs]),
        {each.system: each for each in train} | ({ORIGINALS: train[0].originals} if train else {}),
    )
    evaluator = _evaluator(settings, labels)
    for each in systems:
        _refuse_shared(each, evaluator, [*first.inputs, *(text for part in train for text in part.inputs)])
    rewritten = [each for each in systems if each.inputs != each.outputs]
    attacks: list[Attack] = []
    for kind in ([evaluator] if evaluator else []) + list(settings.attackers):
        attacks += _attacks(kind, first, rewritten, texts, settings, say)
    weights = _weights(first, labels, settings)
    words = {label: weights.top(label, settings.words) for label in labels}
    return Audit(tuple(labels), tuple(attacks), words, weights, tuple(_notes(first, rewritten, settings, train)))


def _attacks(
    kind: str | Judge,
    first: Rewritten,
    rewritten: Sequence[Rewritten],
    texts: _Texts,
    settings: AuditSettings,
    say: Callable[[str], None],
) -> Iterator[Attack]:
    """The static attacker on all systems, then, of a kind that learns, one retrained on each."""
    name = kind if isinstance(kind, str) else kind.card.name
    asked = [first, *rewritten]
    say(f"{name}, static: learning from texts as they were written")
    before, *after = _guesses(kind, first, [each.outputs for each in asked], texts, settings)
    yield _attack(first.system, name, STATIC, before, None, texts)
    for each, found in zip(rewritten, after, strict=True):
        yield _attack(each.system, name, STATIC, found, before, texts)
    if isinstance(kind, Judge):
        return
    for each in rewritten:
        say(f"{name}, retrained: learning from what {each.system} wrote")
        [found] = _guesses(kind, each, [each.outputs], texts, settings)
        yield _attack(each.system, name, RETRAINED, found, None, texts)


def _guesses(
    kind: str | Judge, source: Rewritten, asked: Sequence[Sequence[str]], texts: _Texts, settings: AuditSettings
) -> list[Floats]:
    """The probabilities of the labels for each of several versions of the texts, by those who never saw them."""
    labels = texts.labels
    if isinstance(kind, Judge):
        order = [kind.card.labels.index(label) for label in labels]
        return [np.nan_to_num(kind.probabilities(each)[:, order], nan=1 / len(labels)) for each in asked]
    if given := texts.extra.get(source.system):
        held = {_content(text) for text in source.inputs}
        fresh = [place for place, text in enumerate(given.inputs) if _content(text) not in held]
        numbers = [labels.index(given.labels[place]) for place in fresh]
        guess = learned(kind, [given.outputs[place] for place in fresh], numbers, labels, settings)
        return [guess(each) for each in asked]
    found = [np.zeros((len(texts.numbers), len(labels))) for _ in asked]
    for fold in np.unique(texts.fold):
        inside, outside = np.flatnonzero(texts.fold == fold), np.flatnonzero(texts.fold != fold)
        guess = _learned_outside(kind, source, outside, texts, settings)
        for version, of_version in zip(asked, found, strict=True):
            of_version[inside] = guess([version[place] for place in inside.tolist()])
    return found


def _learned_outside(
    kind: str, source: Rewritten, places: NDArray[np.intp], texts: _Texts, settings: AuditSettings
) -> Guess:
    numbers = texts.numbers[places].tolist()
    return learned(kind, [source.outputs[place] for place in places], numbers, texts.labels, settings)


def _attack(system: str, name: str, trained: str, found: Floats, before: Floats | None, texts: _Texts) -> Attack:
    guessed, labels = found.argmax(1), len(texts.labels)
    accuracy, low, high = _accuracy(guessed, texts.numbers, labels)
    flipped = None
    if before is not None:
        known = before.argmax(1) == texts.numbers
        flipped = float((guessed != texts.numbers)[known].mean()) if known.any() else 0.0
    return Attack(
        system,
        name,
        trained,
        len(guessed),
        accuracy,
        low,
        high,
        abs(accuracy - 1 / labels),
        float(entropy(found).mean()),
        float(leak(found).mean()),
        flipped,
    )


def _accuracy(guessed: NDArray[np.intp], true: NDArray[np.int64], labels: int) -> tuple[float, float, float]:
    """The mean of the shares that are right of each label, and its 95% interval.

    Each share has Wilson's interval, and the distances from the shares to their ends are added as independent ones are
    (Zou and Donner 2008): it stays within 0 and 1, where a normal interval would not.
    """
    rights = [(int((guessed[true == label] == label).sum()), int((true == label).sum())) for label in range(labels)]
    shares = np.array([right / number for right, number in rights])
    ends = np.array([wilson(right, number) for right, number in rights])  # (L, 2)
    mean = float(shares.mean())
    below, above = (float(np.sqrt(((ends[:, side] - shares) ** 2).sum())) / labels for side in (0, 1))
    return mean, mean - below, mean + above


def _evaluator(settings: AuditSettings, labels: Sequence[str]) -> Judge | None:
    if settings.evaluator is None:
        return None
    found = load_judge(settings.evaluator, part="report")
    if sorted(found.card.labels) != list(labels):
        raise UsageError(
            f"{found.card.name} tells {', '.join(found.card.labels)} apart, and these texts are {', '.join(labels)}"
        )
    return found


def _refuse_shared(system: Rewritten, evaluator: Judge | None, texts: Sequence[str]) -> None:
    """Refuse an evaluator that is, or has learned from what, the attacker inside the system is or has learned from."""
    for fingerprint in system.selected_with:
        try:
            inner = load_judge(fingerprint.partition("#")[0])
        except UsageError:
            continue  # of another machine: what it learned from is not known here
        if not isinstance(inner, WordJudge):
            continue
        if isinstance(evaluator, WordJudge):
            refuse_shared(evaluator, inner)
        refuse_seen(inner.model.has_seen(texts) / len(texts), "the texts of this audit", inner.card.name)


def _weights(first: Rewritten, labels: Sequence[str], settings: AuditSettings) -> WordWeights:
    """Weights of words from all texts as they were written: for looking at, and for the bins of Figure 3."""
    numbers = [list(labels).index(label) for label in first.labels]
    return WordWeights.fit([tokens_of(clean(text)) for text in first.inputs], numbers, labels, l2=settings.l2)


def _notes(
    first: Rewritten, systems: Sequence[Rewritten], settings: AuditSettings, train: Sequence[Rewritten]
) -> Iterator[str]:
    counts = {label: first.labels.count(label) for label in sorted(set(first.labels))}
    if max(counts.values()) > 2 * min(counts.values()):
        told = ", ".join(f"{label} {count:,}" for label, count in counts.items())
        yield f"the labels are unequal ({told}): accuracy is the mean over labels, and every label weighs the same"
    how = (
        f"{len(train[0].inputs):,} other texts"
        if train
        else f"the other {settings.folds - 1} of {settings.folds} folds"
    )
    yield f"static attackers learned from {how}; words: L2 {settings.l2:g}"
    if train and (lacking := [each.system for each in systems if each.system not in {part.system for part in train}]):
        yield f"no other texts are written by {', '.join(lacking)}: attackers are retrained on folds of these texts"


def _fold(text: str, folds: int) -> int:
    return zlib.crc32(_content(text).encode("utf-8", "surrogatepass")) % folds


def _content(text: str) -> str:
    return " ".join(text.lower().split())
