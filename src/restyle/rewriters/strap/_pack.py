"""Style packs: a folder with an adapter, and a card that says what it is made of and what it is worth.

    style.toml            the card: base and its hash, sources, settings, scores with their signature, samples
    adapter.safetensors   what the style adds to the base
    model/                instead of an adapter: a whole model, where all weights were tuned
    README.md             the card for people

A paraphraser is a pack like any other: it writes in no style. A pack of several styles writes the one that its input
names; each is called PACK:STYLE. A name is looked for among the user's packs, then among those that come with restyle;
a path names a pack anywhere.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import tomli_w

import restyle
from restyle.assets import cache_home
from restyle.errors import Corrupt, InputError, RestyleError, UnknownName, UsageError
from restyle.records import writing_to
from restyle.settings import from_dict, read_toml, to_dict

CARD_FILE, ADAPTER_FILE, MODEL_FOLDER = "style.toml", "adapter.safetensors", "model"
Kind = Literal["style", "multi", "paraphraser"]
_WHOLE_FILE = "model.safetensors"
DEFAULT_PARAPHRASER = "diverse"
# What the base of a pack is called that stands on no pretrained model (nets/lstm.py).
LSTM = "lstm"


@dataclass(frozen=True)
class Score:
    """A number of a pack's scorecard, with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """How a pack did on sentences that it never saw."""

    on: str  # which sentences, from what
    sentences: int
    scores: dict[str, Score]
    signature: str


@dataclass(frozen=True)
class Sample:
    """One rewritten sentence, not chosen."""

    input: str
    paraphrase: str
    output: str


@dataclass(frozen=True)
class Card:
    """All that is known of a pack."""

    name: str
    kind: Kind = "style"
    summary: str = ""
    base: str = "smollm2-135m"
    base_sha256: str = ""
    max_subwords: int = 50
    paraphraser: str = DEFAULT_PARAPHRASER  # what its training sentences were paraphrased by
    strength: float = 1.0  # how much of the adapter is the full style (Mix): chosen on valid sentences
    styles: tuple[str, ...] = ()  # of kind multi: those that it writes
    sources: tuple[str, ...] = ()
    licence: str = ""
    sentences: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    dev_loss: float = 0.0
    made_on: str = ""
    command: str = ""
    sha256: str = ""
    evaluations: tuple[Evaluation, ...] = ()
    samples: tuple[Sample, ...] = ()


@dataclass(frozen=True)
class Pack:
    """A card, and where its adapter lies."""

    card: Card
    folder: Path
    prefix: str = ""  # what its inputs begin with: the name of the style, where the pack writes several

    @property
    def adapter(self) -> Path:
        """The file of its adapter."""
        return self.folder / ADAPTER_FILE

    @property
    def model(self) -> Path | None:
        """The folder of its model, where it holds a whole one."""
        folder = self.folder / MODEL_FOLDER
        return folder if folder.is_dir() else None

    @property
    def origin(self) -> str:
        """Whose it is."""
        return "bundled" if self.folder.parent == bundled_folder() else "yours"

    @property
    def scores(self) -> dict[str, float]:
        """The numbers of its first evaluation; none where it was not evaluated."""
        first = self.card.evaluations[:1]
        return {name: score.value for evaluation in first for name, score in evaluation.scores.items()}

    def checked(self) -> Pack:
        """The pack itself; Corrupt when its weights are not those that its card names."""
        weights = _weights(self.folder)
        if not weights.is_file():
            raise InputError(f"{self.folder} holds no {weights.name}: it is no whole pack")
        if _sha256(weights, weights.stat().st_mtime_ns) != self.card.sha256:
            raise Corrupt(f"{weights} does not have the sha256 that its {CARD_FILE} names; install the pack again")
        return self

    def writing(self, style: str) -> Pack:
        """One style of a pack of several; UnknownName when it is none of them."""
        if style not in self.card.styles:
            raise UnknownName(f"style of {self.card.name}", style, self.card.styles)
        prefix = prefix_of(style)
        its_own = tuple(evaluation for evaluation in self.card.evaluations if evaluation.on.startswith(prefix))
        return replace(self, card=replace(self.card, name=style, kind="style", evaluations=its_own), prefix=prefix)


def bundled_folder() -> Path:
    """Where the packs are that come with restyle."""
    return Path(restyle.__file__).parent / "packs" / "styles"


def users_folder() -> Path:
    """Where `restyle learn` puts the user's own packs."""
    return cache_home() / "styles"


def packs(kind: Kind = "style") -> dict[str, Pack]:
    """Every pack of a kind by name, the user's in the place of those of restyle; what is broken is left out."""
    found = {}
    for name, folder in _folders().items():
        with contextlib.suppress(RestyleError):
            if (pack := read_pack(folder)).card.kind == kind:
                found[name] = pack
    return found


def find_pack(named: str | Path, kind: Kind = "style") -> Pack:
    """A pack by its name or its folder, its weights checked.

    UnknownName with the nearest names; InputError when the card is broken, or is one of another kind; Corrupt when the
    weights are not those of the card.
    """
    folder = _folders().get(str(named)) or Path(named)
    if (folder / CARD_FILE).is_file():
        pack = read_pack(folder)
        if pack.card.kind != kind:
            raise InputError(f"{named} is a {pack.card.kind}, and not a {kind}")
        return pack.checked()
    if folder.is_dir():
        raise InputError(f"{folder} is no pack: it holds no {CARD_FILE}")
    raise UnknownName(kind, str(named), packs(kind))


def find_style(named: str) -> Pack:
    """The pack of one style: its own, or as PACK:STYLE one of those that a pack of several writes."""
    several, _, style = named.rpartition(":")
    if several and is_multi(several):
        return find_pack(several, "multi").writing(style)
    if is_multi(named):
        pack = find_pack(named, "multi")
        one = ", ".join(f"{named}:{each}" for each in pack.card.styles)
        raise UsageError(f"{named} writes several styles: name one of them, {one}")
    return find_pack(named)


def is_multi(named: str) -> bool:
    """Whether a name, or a folder, is that of a pack of several styles."""
    folder = _folders().get(named) or Path(named)
    return (folder / CARD_FILE).is_file() and read_pack(folder).card.kind == "multi"


def prefix_of(style: str) -> str:
    """What tells a model of several styles which one is meant (STRAP Sec. 5 has vectors in its place)."""
    return f"{style}: "


def read_pack(folder: str | Path) -> Pack:
    """The pack in a folder; InputError when it holds none."""
    folder = Path(folder)
    return Pack(from_dict(Card, read_toml(folder / CARD_FILE), where=str(folder / CARD_FILE)), folder)


def write_card(card: Card, folder: str | Path) -> Pack:
    """Write the card beside the weights that lie there, for programs and for people."""
    from restyle.rewriters.strap._readme import readme

    folder = Path(folder)
    weights = _weights(folder)
    card = from_dict(Card, {**to_dict(card), "sha256": _sha256(weights, weights.stat().st_mtime_ns)})
    with writing_to(folder):
        (folder / CARD_FILE).write_text(tomli_w.dumps(to_dict(card)), encoding="utf-8")
        (folder / "README.md").write_text(readme(card), encoding="utf-8")
    return Pack(card, folder)


def _weights(folder: Path) -> Path:
    whole = folder / MODEL_FOLDER
    return whole / _WHOLE_FILE if whole.is_dir() else folder / ADAPTER_FILE


def _folders() -> dict[str, Path]:
    """The folder of each pack by its name: the user's count before those that come with restyle."""
    return {
        card.parent.name: card.parent
        for root in (bundled_folder(), users_folder())
        for card in sorted(root.glob(f"*/{CARD_FILE}"))
    }


@lru_cache(maxsize=64)
def _sha256(path: Path, mtime: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
