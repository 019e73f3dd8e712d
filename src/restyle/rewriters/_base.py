"""What a rewriter is, how a saved one comes back, and the list of those that exist."""

from __future__ import annotations

import abc
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, overload

import tomli_w

from restyle.errors import InputError, UnknownName, UsageError
from restyle.records import writing_to
from restyle.registry import Registry
from restyle.settings import read_toml

SYSTEM_FILE = "system.toml"
# A folder with this file is a style pack (strap/_pack.py).
_PACK_FILE = "style.toml"


# What must stay in a rewrite unless it is said otherwise: what patterns find (see strap/_keeping.py).
DEFAULT_KEEP = ("addresses", "numbers")
# Beyond this the sum of two adapters is neither of them.
MOST_STRENGTH = 1.5


@dataclass(frozen=True)
class Request:
    """How texts are to be rewritten. A system takes from it what it knows: one that does not sample has no nucleus."""

    to: str
    from_: str | None = None
    candidates: int = 1
    nucleus: float = 0.0  # 0 is greedy; p of nucleus sampling (Holtzman et al. 2020) otherwise
    strength: float = 1.0  # how much of the style: 0 is none
    keep: tuple[str, ...] = DEFAULT_KEEP  # of names, numbers, addresses, and the kinds of text.entities
    seed: int = 0
    batch_size: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise UsageError(f"candidates is {self.candidates}; it can be 1 or more")
        if not 0 <= self.nucleus <= 1:
            raise UsageError(f"nucleus is {self.nucleus}; it can be from 0 (greedy) to 1")
        if not 0 <= self.strength <= MOST_STRENGTH:
            raise UsageError(f"strength is {self.strength}; it can be from 0 (no style) over 1 to {MOST_STRENGTH}")

    def random_for(self, text: str) -> random.Random:
        """The generator for one text: the same whatever else is in the batch and in which order."""
        key = f"{self.seed}\0{self.to}\0{text}".encode("utf-8", "surrogatepass")
        return random.Random(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big"))


@dataclass(frozen=True)
class Rewrite:
    """What became of a text: its rewrites, best first, and what a reader should know of them."""

    text: str
    outputs: tuple[str, ...]
    paraphrase: str = ""  # what was said between, by systems that go over one
    flags: tuple[str, ...] = ()  # why it came back as it was, or what to look at
    selected_with: tuple[str, ...] = ()  # the judges that chose, which therefore must not report


class Rewriter(abc.ABC):
    """A system that says the same thing in another style."""

    name: str
    styles: tuple[str, ...]  # what it can write; empty when it writes any

    @abc.abstractmethod
    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """`request.candidates` rewrites of every text, best first, in the order of the texts."""

    def rewrites(self, texts: Sequence[str], request: Request) -> list[Rewrite]:
        """As `generate`, with all that there is to say of each text."""
        made = self.generate(texts, request)
        return [Rewrite(text, tuple(outputs)) for text, outputs in zip(texts, made, strict=True)]

    def checked(self, to: str | None) -> str:
        """The style that is meant; UnknownName when the system cannot write it, UsageError when none was named."""
        if to is None and len(self.styles) == 1:
            return self.styles[0]
        if to is None:
            raise UsageError(f"no style was named; {self.name} writes {', '.join(self.styles) or 'any'}")
        if self.styles and to not in self.styles:
            raise UnknownName("style", to, self.styles)
        return to

    def called(self, to: str) -> str:
        """The style's name in tables, where it can be asked for in other ways."""
        return to

    def ready(self, request: Request) -> None:
        """Load what a request needs, so that what is missing is told before the work begins."""
        self.checked(request.to)

    def fingerprint(self, *targets: str) -> str:
        """What tells it, when it writes these styles, from others of its kind: a job is not resumed with another."""
        return self.name

    @abc.abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write all that `load` needs into a folder."""

    @classmethod
    @abc.abstractmethod
    def load(cls, folder: str | Path) -> Self:
        """The rewriter that was saved in a folder."""

    @overload
    def rewrite(self, texts: str, to: str | None = None, **options: Any) -> Any: ...
    @overload
    def rewrite(self, texts: Sequence[str], to: str | None = None, **options: Any) -> list[Any]: ...
    def rewrite(self, texts: str | Sequence[str], to: str | None = None, **options: Any) -> Any:
        """Rewrite one text, or many in their order; `options` are the fields of Request.

        `to` may be left out where the rewriter was made for one style. A string comes back for a string and a list for
        a list; with `candidates=n` (n > 1), a list of n for each text. UnknownName when the system cannot write the
        style.
        """
        request = Request(to=self.checked(to), **options)
        many = self.generate([texts] if isinstance(texts, str) else list(texts), request)
        rewritten: list[Any] = many if request.candidates > 1 else [candidates[0] for candidates in many]
        return rewritten[0] if isinstance(texts, str) else rewritten


systems: Registry[type[Rewriter]] = Registry("system")
systems.add("copy", "restyle.rewriters.copy:Copy", "gives its input back: the lower bound of every table")
systems.add(
    "naive",
    "restyle.rewriters.naive:Naive",
    "copies with probability p, else any sentence of the target style: games corpus-level metrics (STRAP 3.2)",
)
systems.add(
    "retrieve",
    "restyle.rewriters.retrieve:Retrieve",
    "the sentence of the target style that is nearest to the input (Li et al. 2018, RetrieveOnly)",
    extra="judge",
)
systems.add(
    "strap",
    "restyle.rewriters.strap:Strap",
    "paraphrases, then paraphrases inversely into the style (Krishna et al. 2020)",
    extra="local",
)
for _name, _kind, _summary in (
    ("no-inference-paraphrase", "WithoutParaphrase", "its second step alone: what the paraphrase is worth (-Inf. PP)"),
    ("multi", "Conditioned", "one model for several styles (-Mult. PP), learned with --kind multi"),
    ("nondiverse", "NonDiverse", "a paraphraser learned from pairs that are alike (-Div. PP)"),
    ("lstm", "Recurrent", "LSTMs that were never pretrained (-GPT2), learned with --base lstm"),
    ("BASE", "OnBase", "packs learned on another base, such as strap-gpt2 (GPT2-sm), learned with --base"),
):
    systems.add(f"strap-{_name}", f"restyle.rewriters.strap:{_kind}", f"strap, Table 3: {_summary}", extra="local")
systems.add(
    "lexical", "restyle.rewriters.privacy:Lexical", "replaces the words that give an attribute away", extra="text"
)
systems.add(
    "back-translation",
    "restyle.rewriters.back_translation:BackTranslation",
    "into another language and back: Apertium, or Marian models (Prabhumoye et al. 2018, Adelani et al. 2021)",
)
systems.add("paraphrase", "restyle.rewriters.privacy:Paraphrase", "the diverse paraphraser alone", extra="local")
systems.add(
    "risk-rerank",
    "restyle.rewriters.privacy:RiskRerank",
    "of many paraphrases the least telling for the least loss of meaning (after Xu et al. 2019, inferred objective)",
    extra="local",
)
systems.add(
    "cross-aligned",
    "restyle.rewriters.cross_aligned:CrossAligned",
    "content and style apart, aligned by discriminators: M0 to M7 (Pang and Gimpel 2019); learned from a corpus",
    extra="local",
)


def load(named: str | Path, **options: Any) -> Rewriter:
    """The rewriter of a style pack, by its name or its folder, or of a mix of them; or one that was saved in a folder.

    `options` are those of `Strap`, for packs. UnknownName with the nearest names when nothing is called so.

    >>> load("shakespeare").rewrite("Are you crazy?")  # doctest: +SKIP
    'Art thou mad?'
    """
    folder = Path(named)
    if is_saved(folder) or (folder.is_dir() and not (folder / _PACK_FILE).is_file()):
        name = read_system_file(folder).get("system")
        if not isinstance(name, str):
            raise InputError(f"{folder / SYSTEM_FILE} does not name its system")
        if options:
            raise UsageError(
                f"{folder} is a saved {name}, which has its settings: {', '.join(options)} cannot be given"
            )
        return systems[name].load(folder)
    strap: Any = systems["strap"]  # Any: its constructor is its own
    made: Rewriter = strap(str(named), **options)
    return made


def is_saved(folder: str | Path) -> bool:
    """Whether a folder holds a rewriter that was saved."""
    return (Path(folder) / SYSTEM_FILE).is_file()


def write_system_file(folder: str | Path, values: dict[str, Any]) -> Path:
    """Start a saved rewriter: its folder, and the file that names the system and its settings."""
    folder = Path(folder)
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SYSTEM_FILE).write_text(tomli_w.dumps(values), encoding="utf-8")
    return folder


def read_system_file(folder: str | Path) -> dict[str, Any]:
    """What the file of a saved rewriter says; InputError when the folder holds none."""
    return read_toml(Path(folder) / SYSTEM_FILE)
