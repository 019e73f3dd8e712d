"""Training the gauges of a corpus: the classifier and three language models, each kept as soon as it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import tomli_w

from restyle.errors import UsageError
from restyle.metrics.gauges import CARD_FILE, CLASSIFIER_FILE, LM_FILE, STYLE_LM_FILES, Gauges, GaugesCard
from restyle.nets.gru_lm import GruLmSettings, SentenceLm
from restyle.nets.text_cnn import TextClassifier, TextCnnSettings
from restyle.nets.vocabulary import Vocabulary
from restyle.records import writing_to
from restyle.settings import to_dict

Rows = Sequence[Sequence[int]]


class Read(Protocol):
    """What gauges learn from: sentences of two styles as the numbers of their words."""

    @property
    def styles(self) -> tuple[str, str]:
        """What the styles are called."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """Which words are known."""
        ...

    @property
    def rows(self) -> tuple[Rows, Rows]:
        """The training sentences of each style."""
        ...

    @property
    def dev_rows(self) -> tuple[Rows, Rows]:
        """The validation sentences of each style."""
        ...


def train_gauges(
    folder: Path,
    corpus: str,
    read: Read,
    cnn: TextCnnSettings | None = None,
    lm: GruLmSettings | None = None,
    *,
    shown: bool | None = False,
    say: Callable[[str], None] = lambda line: None,
) -> Gauges:
    """Train the four networks on the sentences of two styles; one that the folder holds already is left as it is.

    UsageError when the folder holds gauges of other sentences or settings.
    """
    cnn, lm = cnn or TextCnnSettings(), lm or GruLmSettings()
    begun = GaugesCard(
        corpus=corpus,
        styles=read.styles,
        sentences=tuple(map(len, read.rows)),
        data=_digest(read),
        cnn=to_dict(cnn),
        lm=to_dict(lm),
    )
    if (folder / CARD_FILE).is_file():
        found = Gauges(folder)
        _check_same(found.card, begun, folder)
        if found.card.sha256:
            return found
    _write(begun, folder)
    read.vocabulary.save(folder)
    if not (folder / CLASSIFIER_FILE).is_file():
        made = TextClassifier.trained(read.rows, read.dev_rows, read.vocabulary, cnn, shown=shown)
        made.save(folder / CLASSIFIER_FILE)
    for file, rows, dev_rows in _language_models(read):
        if not (folder / file).is_file():
            model = SentenceLm.trained(rows, dev_rows, len(read.vocabulary), lm, shown=shown)
            model.save(folder / file)
            say(f"{file}: perplexity {model.perplexity(dev_rows):.1f} on validation sentences")
    card = _measured(begun, folder, read)
    _write(card, folder)
    say(f"gauges of {corpus}: accuracy {card.accuracy:.3f}, perplexity {card.perplexity:.1f} on validation sentences")
    return Gauges(folder)


def _language_models(read: Read) -> Iterator[tuple[str, Rows, Rows]]:
    """The file of each, and the sentences that it learns from and is measured on."""
    yield LM_FILE, [*read.rows[0], *read.rows[1]], [*read.dev_rows[0], *read.dev_rows[1]]
    for style, file in enumerate(STYLE_LM_FILES):
        yield file, read.rows[style], read.dev_rows[style]


def _measured(begun: GaugesCard, folder: Path, read: Read) -> GaugesCard:
    """The card with how good the networks in the folder are, and their hash."""
    gauges = Gauges(folder)
    right = [gauges.classifier.of_rows(rows).argmax(1) == style for style, rows in enumerate(read.dev_rows)]
    return replace(
        begun,
        accuracy=round(float(np.concatenate(right).mean()), 4),
        perplexity=round(gauges.lm.perplexity([*read.dev_rows[0], *read.dev_rows[1]]), 3),
        style_perplexities=tuple(
            round(model.perplexity(rows), 3) for model, rows in zip(gauges.style_lms, read.dev_rows, strict=True)
        ),
        sha256=_sha256(folder),
    )


def _check_same(found: GaugesCard, wanted: GaugesCard, folder: Path) -> None:
    if any(getattr(found, name) != getattr(wanted, name) for name in ("data", "styles", "cnn", "lm")):
        raise UsageError(
            f"{folder} holds gauges of other sentences or settings ({found.corpus}, {' and '.join(found.styles)}): "
            "name another folder"
        )


def _digest(read: Read) -> str:
    digest = hashlib.sha256(str(len(read.vocabulary)).encode())
    for rows in (*read.rows, *read.dev_rows):
        digest.update(str([list(row) for row in rows]).encode())
    return digest.hexdigest()[:16]


def _sha256(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in (CLASSIFIER_FILE, LM_FILE, *STYLE_LM_FILES):
        digest.update((folder / file).read_bytes())
    return digest.hexdigest()


def _write(card: GaugesCard, folder: Path) -> None:
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CARD_FILE).write_text(tomli_w.dumps(to_dict(card)), encoding="utf-8")
