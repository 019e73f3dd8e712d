"""Judges: trained classifiers of sentences, each a folder of weights with a card that says what they are worth.

    judge.toml            the card: what it tells apart, from what it learned, how often it is right, its hash
    adapter.safetensors   of a network: adapters over a base that all judges share
    linear.safetensors    of a linear judge: n-grams and their weights
    words.safetensors     of an attacker: words and their weights (docs/privacy.md)
    README.md             the card for people

Two sets were trained on sentences of which none is in both: `select` is to choose among candidates with, `report` to
report with. Outputs that a judge helped to choose flatter that judge.
"""

from __future__ import annotations

import abc
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tomli_w
from numpy.typing import NDArray

import restyle
from restyle.assets import cache_home
from restyle.errors import Corrupt, InputError, UnknownName, UsageError, suggestion
from restyle.nets.word_weights import WordWeights, tokens_of
from restyle.records import writing_to
from restyle.settings import from_dict, read_toml, to_dict
from restyle.text.clean import clean

CARD_FILE = "judge.toml"
WEIGHTS_FILES = {"network": "adapter.safetensors", "linear": "linear.safetensors", "words": "words.safetensors"}

# Texts whose probabilities are kept; the oldest are not worth finding out.
_MOST_KNOWN = 50_000

Set = Literal["select", "report"]
SETS: tuple[Set, ...] = ("select", "report")
Kind = Literal["network", "linear", "words"]
# What the labels are: a style, acceptable or not, or an attribute of who wrote (gender, politics, dialect).
Task = Literal["style", "fluency", "attribute"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """How a judge did on sentences that it never saw."""

    sentences: int
    accuracy: float
    low: float  # 95% interval of the accuracy (Wilson 1927)
    high: float
    mcc: float  # Matthews correlation: 0 is chance, however unequal the labels
    confusion: list[list[int]]  # row: true label, column: the judge's
    drawn_from: int = 0  # how many the split holds, where only some of them were judged


@dataclass(frozen=True)
class Card:
    """All that is known of a judge."""

    name: str
    kind: Kind
    task: Task
    part: Set
    labels: tuple[str, ...]
    aliases: dict[str, str] = field(default_factory=dict)  # other names for labels: those of other papers' files
    threshold: float = 0.5  # of two labels, the first from this probability on
    network: dict[str, Any] = field(default_factory=dict)
    beside: str = ""  # the fingerprint of a linear judge whose probabilities are multiplied in
    corpora: tuple[str, ...] = ()
    sentences: dict[str, int] = field(default_factory=dict)  # trained on, by label
    results: dict[str, Result] = field(default_factory=dict)
    seed: int = 0
    command: str = ""
    first: str = ""  # the command that made the judge which it began as
    hardware: str = ""
    l2: float | None = None  # of weights of words
    sha256: str = ""

    def label_of(self, style: str) -> str:
        """The label that a style is called by here; UnknownName with those that there are."""
        label = self.aliases.get(style, style)
        if label not in self.labels:
            raise UnknownName(f"style of the judge {self.name}", style, self.styles)
        return label

    @property
    def styles(self) -> tuple[str, ...]:
        """Labels and their other names."""
        return (*self.labels, *self.aliases)

    @property
    def fingerprint(self) -> str:
        """Name and the first digits of the hash of the weights: what a signature says."""
        own = f"{self.name}#{self.sha256[:8]}"
        return f"{own}*{self.beside}" if self.beside else own

    @property
    def choosing(self) -> dict[str, str]:
        """What a signature says of a judge that is to choose outputs with, and not to report."""
        return {"set": "select"} if self.part == "select" else {}


class Judge(abc.ABC):
    """Sentences in, a probability for each label out."""

    def __init__(self, card: Card, folder: Path) -> None:
        self.card, self.folder = card, folder
        self._known: dict[str, Floats] = {}  # what acc and acc-prob, or a verdict and a label, would ask for twice

    @abc.abstractmethod
    def _probabilities(self, texts: Sequence[str]) -> Floats: ...

    @abc.abstractmethod
    def ready(self) -> None:
        """Fetch what the judge stands on; MissingExtra or AssetError when it cannot be had."""

    @property
    def precision(self) -> str:
        """In which numbers it computes, as they change the last digits."""
        return "float64"

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """The probability of each label, (N, L); NaN for an empty text, of which there is nothing to judge."""
        cleaned = [clean(text) for text in texts]
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        found = {text: self._known[text] for text in cleaned if text in self._known}
        different = [text for text in dict.fromkeys(cleaned) if text and text not in found]
        if different:
            found |= zip(different, self._probabilities(different), strict=True)
            self._known |= found
        nothing = np.full(len(self.card.labels), np.nan)
        return np.array([found.get(text, nothing) for text in cleaned]).reshape(len(cleaned), -1)

    def verdicts(self, texts: Sequence[str]) -> list[str]:
        """The label of each text; "" for an empty one."""
        return self.verdicts_from(self.probabilities(texts))

    def verdicts_from(self, probabilities: Floats) -> list[str]:
        """The label that probabilities speak for: of two the first from the threshold on, else the likeliest."""
        labels = self.card.labels
        empty = [bool(np.isnan(row).any()) for row in probabilities]
        if len(labels) == 2:
            chosen = (probabilities[:, 0] < self.card.threshold).astype(int)
        else:
            chosen = np.where(np.isnan(probabilities), -1.0, probabilities).argmax(1)
        return ["" if nothing else labels[number] for number, nothing in zip(chosen, empty, strict=True)]


class NetworkJudge(Judge):
    """A pretrained network with trained adapters, by itself or beside a linear judge.

    Beside one, the probabilities of both are multiplied (a product of experts; Hinton 2002): the network knows what is
    said in how, the n-grams the spelling and the marks that its subwords blur.
    """

    @cached_property
    def _network(self) -> Any:
        from restyle.nets.encoder import EncoderClassifier, NetworkSettings

        settings = from_dict(NetworkSettings, self.card.network, where=str(self.folder / CARD_FILE))
        return EncoderClassifier.load(self.folder, self.card.labels, settings)

    @property
    def precision(self) -> str:
        """bfloat16 or float32, as the processor has it."""
        from restyle.nets.device import precision

        return precision()

    def ready(self) -> None:
        """Fetch and unpack the base, and load the network."""
        _ = self._network, self._linear

    def _probabilities(self, texts: Sequence[str]) -> Floats:
        return self._beside(self._network.probabilities(texts), texts)

    def _beside(self, found: Floats, texts: Sequence[str]) -> Floats:
        """What the network found, with the probabilities of the linear judge multiplied in where there is one."""
        if self._linear is None:
            return found
        product = found * self._linear._probabilities(texts)
        together: Floats = np.round(product / product.sum(1, keepdims=True), 5)
        return together

    @cached_property
    def _linear(self) -> Judge | None:
        if not self.card.beside:
            return None
        judge = load_judge(self.card.beside.partition("#")[0])
        if judge.card.fingerprint != self.card.beside:
            raise Corrupt(f"{self.card.name} was measured beside {self.card.beside}, not {judge.card.fingerprint}")
        return judge


class LinearJudge(Judge):
    """Logistic regression on n-grams."""

    @cached_property
    def model(self) -> Any:
        """The weights, which can be looked at (`model.top(label)`)."""
        from restyle.metrics.ngram_classifier import NgramClassifier

        return NgramClassifier.load(self.folder / WEIGHTS_FILES["linear"], self.card.labels)

    def ready(self) -> None:
        """Load the weights."""
        _ = self.model

    def _probabilities(self, texts: Sequence[str]) -> Floats:
        found: Floats = self.model.probabilities(texts)
        return found


class WordJudge(Judge):
    """A weight for each word: the attacker of privacy-aware rewriting."""

    @cached_property
    def model(self) -> WordWeights:
        """The weights, which can be looked at (`model.top(label)`)."""
        return WordWeights.load(self.folder / WEIGHTS_FILES["words"], self.card.labels)

    def ready(self) -> None:
        """Load the weights."""
        _ = self.model

    def _probabilities(self, texts: Sequence[str]) -> Floats:
        return self.model.probabilities(map(tokens_of, texts))


def bundled_folder() -> Path:
    """Where the judges are that come with restyle."""
    return Path(restyle.__file__).parent / "packs" / "judges"


def cards() -> dict[str, Card]:
    """Every judge by name: those of the user, and those that come with restyle."""
    return {card.name: card for card in (read_card(folder) for folder in _folders())}


def load_judge(named: str | Path, *, part: Set = "report") -> Judge:
    """A judge by its name (`shakespeare-report`, or `shakespeare` and the set), or by its folder.

    Raises UnknownName with the nearest names; Corrupt when the weights are not those that the card names.
    """
    folders = {folder.name: folder for folder in _folders()}
    for name in (str(named), f"{named}-{part}"):
        if name in folders:
            return _loaded(folders[name])
    if (Path(named) / CARD_FILE).is_file():
        return _loaded(Path(named).resolve())
    raise UnknownName("judge", str(named), folders)


def judge_of(styles: Iterable[str], *, part: Set = "report", kind: Kind = "network") -> Judge:
    """The judge that tells these styles apart from the fewest others; UsageError names the styles that none knows."""
    wanted = list(dict.fromkeys(styles))
    fitting = [card for card in cards().values() if (card.task, card.part, card.kind) == ("style", part, kind)]
    able = [card for card in fitting if set(wanted) <= set(card.styles)]
    if not able:
        known = sorted({style for card in fitting for style in card.styles})
        # Several may each be known, but to no one judge: then none of them is misspelled.
        unknown = next((style for style in wanted if style not in known), "")
        raise UsageError(
            f"no {kind} judge of the set {part} knows {' and '.join(wanted) or 'no style'}{suggestion(unknown, known)} "
            "(or train one: restyle judge train)"
        )
    return load_judge(min(able, key=lambda card: (len(card.labels), card.name)).name)


def judge_in(card: Card, folder: Path) -> Judge:
    """The judge whose weights lie in a folder, as its card says what it is."""
    kinds: dict[Kind, type[Judge]] = {"network": NetworkJudge, "linear": LinearJudge, "words": WordJudge}
    return kinds[card.kind](card, folder)


def read_card(folder: Path) -> Card:
    """The card of a judge; InputError when the folder holds none."""
    return from_dict(Card, read_toml(folder / CARD_FILE), where=str(folder / CARD_FILE))


def write_card(card: Card, folder: Path) -> Path:
    """Write the card for programs."""
    path = folder / CARD_FILE
    with writing_to(path):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(tomli_w.dumps(to_dict(card)), encoding="utf-8")
    return path


def sha256_of(card: Card, folder: Path) -> str:
    """The hash of a judge's weights."""
    path = folder / WEIGHTS_FILES[card.kind]
    if not path.is_file():
        raise InputError(f"{folder} holds no {path.name}")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _folders() -> Iterator[Path]:
    """The folders of judges, the user's first: a name of theirs takes the place of one that comes with restyle."""
    seen: set[str] = set()
    for root in (cache_home() / "judges", bundled_folder()):
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            # Models of similarity lie there too, under cards of their own.
            if folder.name not in seen and _is_classifier(folder / CARD_FILE):
                seen.add(folder.name)
                yield folder


def _is_classifier(card: Path) -> bool:
    return card.is_file() and read_toml(card).get("kind") in WEIGHTS_FILES


@lru_cache(maxsize=8)
def _loaded(folder: Path) -> Judge:
    card = read_card(folder)
    if sha256_of(card, folder) != card.sha256:
        raise Corrupt(f"the weights in {folder} are not those that its {CARD_FILE} names; train the judge again")
    return judge_in(card, folder)
