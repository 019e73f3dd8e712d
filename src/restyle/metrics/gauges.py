"""What measures a transfer between two styles without references: the trained half of Pang and Gimpel 2019, Sec. 3.2.

    gauges.toml             the card: corpus, styles, how good each network is on validation sentences
    words.json              the vocabulary
    classifier.safetensors  a text CNN that tells the styles apart: Acc
    lm.safetensors          a GRU language model of both styles: PP
    lm-0, lm-1.safetensors  one of each style: what the language-model loss of the cross-aligned models asks (Eq. 6)

They learn from the corpus that the systems learn from, so they belong to it: a number of other gauges is another scale.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import tomli_w

from restyle.assets import cache_home
from restyle.errors import InputError, UnknownName, UsageError
from restyle.metrics._base import Batch, Column
from restyle.records import writing_to
from restyle.settings import from_dict, read_toml, to_dict

if TYPE_CHECKING:
    from restyle.nets.gru_lm import SentenceLm
    from restyle.nets.text_cnn import TextClassifier
    from restyle.nets.vocabulary import Vocabulary

CARD_FILE = "gauges.toml"
VERSION = 1
_CLASSIFIER, _LM, _STYLE_LMS = "classifier.safetensors", "lm.safetensors", ("lm-0.safetensors", "lm-1.safetensors")
Rows = Sequence[Sequence[int]]


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
            "classifier", lambda: TextClassifier.load(self.folder / _CLASSIFIER, self.vocabulary, 2, settings)
        )
        return found

    @property
    def lm(self) -> SentenceLm:
        """The language model of both styles."""
        found: SentenceLm = self._once("lm", lambda: self._language_model(_LM))
        return found

    @property
    def style_lms(self) -> tuple[SentenceLm, SentenceLm]:
        """The language model of each style, loaded anew."""
        return self._language_model(_STYLE_LMS[0]), self._language_model(_STYLE_LMS[1])

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


def train_gauges(
    folder: Path,
    corpus: str,
    read: Read,
    *,
    cnn: Any = None,
    lm: Any = None,
    shown: bool | None = False,
    say: Callable[[str], None] = lambda line: None,
) -> Gauges:
    """Train the four networks on the sentences of two styles; one that the folder holds already is left as it is.

    `cnn` and `lm` are TextCnnSettings and GruLmSettings. UsageError when the folder holds gauges of other sentences.
    """
    from restyle.nets.gru_lm import GruLmSettings, SentenceLm
    from restyle.nets.text_cnn import TextClassifier, TextCnnSettings

    cnn, lm = cnn or TextCnnSettings(), lm or GruLmSettings()
    styles, vocabulary, rows, dev_rows = read.styles, read.vocabulary, read.rows, read.dev_rows
    data = _digest(vocabulary, rows, dev_rows)
    begun = GaugesCard(
        corpus=corpus,
        styles=tuple(styles),
        sentences=tuple(map(len, rows)),
        data=data,
        cnn=to_dict(cnn),
        lm=to_dict(lm),
    )
    if (folder / CARD_FILE).is_file():
        card = Gauges(folder).card
        if (card.data, card.styles, card.cnn, card.lm) != (data, tuple(styles), begun.cnn, begun.lm):
            raise UsageError(
                f"{folder} holds gauges of other sentences or settings ({card.corpus}, {' and '.join(card.styles)}): "
                "name another folder"
            )
        if card.sha256:
            return Gauges(folder)
    _write(begun, folder)
    vocabulary.save(folder)
    both, dev_both = ([row for of_style in each for row in of_style] for each in (rows, dev_rows))
    if not (folder / _CLASSIFIER).is_file():
        TextClassifier.trained(rows, dev_rows, vocabulary, cnn, shown=shown).save(folder / _CLASSIFIER)
    for file, learned, measured in (
        (_LM, both, dev_both),
        *((file, rows[style], dev_rows[style]) for style, file in enumerate(_STYLE_LMS)),
    ):
        if not (folder / file).is_file():
            made = SentenceLm.trained(learned, measured, len(vocabulary), lm, shown=shown)
            made.save(folder / file)
            say(f"{file}: perplexity {made.perplexity(measured):.1f} on validation sentences")
    gauges = Gauges(folder)
    verdicts = [gauges.classifier.of_rows(of_style).argmax(1) == style for style, of_style in enumerate(dev_rows)]
    card = replace(
        begun,
        accuracy=round(float(np.concatenate(verdicts).mean()), 4),
        perplexity=round(gauges.lm.perplexity(dev_both), 3),
        style_perplexities=tuple(
            round(model.perplexity(of_style), 3) for model, of_style in zip(gauges.style_lms, dev_rows, strict=True)
        ),
        sha256=_sha256(folder),
    )
    _write(card, folder)
    say(f"gauges of {corpus}: accuracy {card.accuracy:.3f}, perplexity {card.perplexity:.1f} on validation sentences")
    return Gauges(folder)


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
            "train them with restyle judge gauges, and name a folder where there are several (--gauges)"
        )
    return able[0]


class CnnAccuracy:
    """1 where a text CNN trained on the corpus (Kim 2014) finds the target style in the output, else 0."""

    name = "acc-cnn"
    needs = frozenset({"target"})

    def __init__(self, gauges: str | Path | Gauges | None = None) -> None:
        """`gauges` is a folder, or a name; when not given, those that know the target."""
        self._gauges = gauges

    def score(self, batch: Batch) -> Column:
        """One verdict per output sentence; 0 for an empty one."""
        batch.require(self)
        return _of(self._gauges, batch.target or "").correct(batch.outputs, batch.target or "")

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {"metric": self.name, "gauges": _signed(self._gauges)}


class GruPerplexity:
    """Perplexity of each output under a GRU language model of both styles' corpus, per word; NaN for an empty output.

    That of a corpus is made from summed log-probabilities and words, and is no mean of sentences'.
    """

    name = "pp"
    needs = frozenset({"target"})

    def __init__(self, gauges: str | Path | Gauges | None = None) -> None:
        """`gauges` is a folder, or a name; when not given, those that know the target."""
        self._gauges = gauges

    def statistics(self, batch: Batch) -> Column:
        """The negative log-probability of each output and its words, (N, 2); zeros for an empty one."""
        batch.require(self)
        counts = _of(self._gauges, batch.target or "").surprise(batch.outputs)
        counts[[not text.strip() for text in batch.outputs]] = 0.0
        return counts

    def corpus(self, totals: Column) -> Column:
        """The perplexity of summed counts, (…, 2) -> (…); NaN where there are no words."""
        with np.errstate(invalid="ignore", divide="ignore"):
            perplexity: Column = np.exp(totals[..., 0] / totals[..., 1])
        return perplexity

    def of_counts(self, counts: Column) -> Column:
        """The perplexity of each sentence."""
        return self.corpus(counts)

    def score(self, batch: Batch) -> Column:
        """One perplexity per output sentence."""
        return np.round(self.of_counts(self.statistics(batch)), 4)

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {"metric": self.name, "gauges": _signed(self._gauges), "unit": "word"}


def _of(given: str | Path | Gauges | None, target: str) -> Gauges:
    return given if isinstance(given, Gauges) else gauges_of(target, given)


def _signed(given: str | Path | Gauges | None) -> str:
    """Which gauges, or all that may be chosen."""
    if isinstance(given, Gauges):
        return given.card.fingerprint
    if given is not None:
        return gauges_of("", given).card.fingerprint
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


def _digest(vocabulary: Vocabulary, rows: Sequence[Rows], dev_rows: Sequence[Rows]) -> str:
    digest = hashlib.sha256(str(len(vocabulary)).encode())
    for of_style in (*rows, *dev_rows):
        digest.update(str([list(row) for row in of_style]).encode())
    return digest.hexdigest()[:16]


def _sha256(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in (_CLASSIFIER, _LM, *_STYLE_LMS):
        digest.update((folder / file).read_bytes())
    return digest.hexdigest()


def _write(card: GaugesCard, folder: Path) -> None:
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CARD_FILE).write_text(tomli_w.dumps(to_dict(card)), encoding="utf-8")
