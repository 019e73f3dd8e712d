"""What measures a transfer between two styles without references: the trained half of Pang and Gimpel 2019, Sec. 3.2.

    gauges.toml             the card: corpus, styles, how good each network is on validation sentences
    words.json              the vocabulary
    classifier.safetensors  a text CNN that tells the styles apart: Acc
    lm.safetensors          a GRU language model of both styles: PP
    lm-0, lm-1.safetensors  one of each style: what the language-model loss of the cross-aligned models asks (Eq. 6)

They learn from the corpus that the systems learn from, so they belong to it: a number of other gauges is another scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from restyle.assets import cache_home
from restyle.errors import InputError, UnknownName, UsageError
from restyle.metrics._base import Column
from restyle.settings import from_dict, read_toml

if TYPE_CHECKING:
    from restyle.nets.gru_lm import SentenceLm
    from restyle.nets.text_cnn import TextClassifier
    from restyle.nets.vocabulary import Vocabulary

CARD_FILE = "gauges.toml"
VERSION = 1
CLASSIFIER_FILE, LM_FILE, STYLE_LM_FILES = (
    "classifier.safetensors",
    "lm.safetensors",
    ("lm-0.safetensors", "lm-1.safetensors"),
)


@dataclass(frozen=True)
class GaugesCard:
    """All that is known of gauges."""

    version: int = VERSION
    corpus: str = ""
    styles: tuple[str, ...] = ()
    sentences: tuple[int, ...] = ()  # learned from, of each style
    data: str = ""  # a hash of the sentences and of the vocabulary
    accuracy: float = 0.0  # of the classifier on validation sentences (the paper: 0.974 on Yelp)
    perplexity: float = 0.0  # of the language model on them (the paper: 27.4)
    style_perplexities: tuple[float, ...] = ()
    cnn: dict[str, Any] = field(default_factory=dict)
    lm: dict[str, Any] = field(default_factory=dict)
    sha256: str = ""

    @property
    def fingerprint(self) -> str:
        """The corpus, and the first digits of the hash of the weights: what a signature says."""
        return f"{self.corpus}#{self.sha256[:8]}"


class Gauges:
    """Gauges in a folder, their networks read when they are asked for."""

    def __init__(self, folder: str | Path) -> None:
        """InputError when the folder holds none."""
        self.folder = Path(folder)
        self.card = from_dict(GaugesCard, read_toml(self.folder / CARD_FILE), where=str(self.folder / CARD_FILE))
        if self.card.version != VERSION:
            raise UsageError(
                f"the gauges in {folder} are of version {self.card.version}, and this restyle reads version {VERSION}: "
                "train them again (restyle judge gauges)"
            )
        self._loaded: dict[str, Any] = {}

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that all of them know."""
        from restyle.nets.vocabulary import load_vocabulary

        found: Vocabulary = self._once("vocabulary", lambda: load_vocabulary(self.folder))
        return found

    @property
    def classifier(self) -> TextClassifier:
        """What tells the styles apart."""
        from restyle.nets.text_cnn import TextClassifier, TextCnnSettings

        settings = from_dict(TextCnnSettings, self.card.cnn)
        found: TextClassifier = self._once(
            "classifier", lambda: TextClassifier.load(self.folder / CLASSIFIER_FILE, self.vocabulary, 2, settings)
        )
        return found

    @property
    def lm(self) -> SentenceLm:
        """The language model of both styles."""
        found: SentenceLm = self._once("lm", lambda: self._language_model(LM_FILE))
        return found

    @property
    def style_lms(self) -> tuple[SentenceLm, SentenceLm]:
        """The language model of each style, loaded anew."""
        return self._language_model(STYLE_LM_FILES[0]), self._language_model(STYLE_LM_FILES[1])

    def correct(self, texts: Sequence[str], target: str) -> Column:
        """1 where a text has the target style; 0 where it has the other, or no words."""
        if target not in self.card.styles:
            raise UnknownName(f"style of the gauges of {self.card.corpus}", target, self.card.styles)
        verdicts = self.classifier.probabilities(texts).argmax(1) == self.card.styles.index(target)
        correct: Column = np.where([bool(text.strip()) for text in texts], verdicts, 0.0)
        return correct

    def surprise(self, texts: Sequence[str]) -> Column:
        """The negative log-probability of each text and its words, the end among them, (N, 2)."""
        return self.lm.surprise([self.vocabulary.encode(text) for text in texts])

    def _language_model(self, file: str) -> SentenceLm:
        from restyle.nets.gru_lm import GruLmSettings, SentenceLm

        return SentenceLm.load(self.folder / file, self.vocabulary, from_dict(GruLmSettings, self.card.lm))

    def _once(self, name: str, load: Callable[[], Any]) -> Any:
        if name not in self._loaded:
            self._loaded[name] = load()
        return self._loaded[name]


def gauges_of(target: str, named: str | Path | None = None) -> Gauges:
    """The gauges in a folder or under a name in the cache; without either, the only ones that know the target.

    UsageError says what to do when there are none, or several.
    """
    root = cache_home() / "gauges"
    if named is not None:
        folder = Path(named) if (Path(named) / CARD_FILE).is_file() else root / str(named)
        if not (folder / CARD_FILE).is_file():
            raise UnknownName("gauges", str(named), _names(root))
        return _opened(folder)
    able = [each for name in _names(root) if target in (each := _opened(root / name)).card.styles]
    if len(able) != 1:
        found = ", ".join(each.folder.name for each in able) or "none"
        raise UsageError(
            f"the style {target!r} has {'no' if not able else 'several'} gauges ({found}); "
            "train them with restyle judge gauges; where there are several, name a folder: --gauges, or acc-cnn=FOLDER"
        )
    return able[0]


def gauges_fingerprint(named: str | Path | None = None) -> str:
    """Which gauges these are, for a signature; all that may be chosen, when none are named."""
    if named is not None:
        return gauges_of("", named).card.fingerprint
    root = cache_home() / "gauges"
    return "+".join(sorted(_opened(root / name).card.fingerprint for name in _names(root)))


def _names(root: Path) -> list[str]:
    return sorted(folder.name for folder in root.iterdir() if (folder / CARD_FILE).is_file()) if root.is_dir() else []


@lru_cache(maxsize=8)
def _opened(folder: Path) -> Gauges:
    gauges = Gauges(folder)
    if not gauges.card.sha256:
        raise InputError(f"the gauges in {folder} are unfinished: give the command that trains them again")
    return gauges
