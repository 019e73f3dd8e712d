"""What a rewriter is, how a saved one comes back, and the list of those that exist."""

from __future__ import annotations

import abc
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, overload

import tomli_w

from restyle.errors import InputError, UnknownName, UsageError
from restyle.records import writing_to
from restyle.registry import Registry
from restyle.settings import read_toml

SYSTEM_FILE = "system.toml"


@dataclass(frozen=True)
class Request:
    """How texts are to be rewritten. A system takes from it what it knows: one that does not sample has no nucleus."""

    to: str
    from_: str | None = None
    candidates: int = 1
    nucleus: float = 0.0  # 0 is greedy; p of nucleus sampling (Holtzman et al. 2020) otherwise
    seed: int = 0
    batch_size: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise UsageError(f"candidates is {self.candidates}; it can be 1 or more")
        if not 0 <= self.nucleus <= 1:
            raise UsageError(f"nucleus is {self.nucleus}; it can be from 0 (greedy) to 1")

    def random_for(self, text: str) -> random.Random:
        """The generator for one text: the same whatever else is in the batch and in which order."""
        key = f"{self.seed}\0{self.to}\0{text}".encode("utf-8", "surrogatepass")
        return random.Random(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big"))


class Rewriter(abc.ABC):
    """A system that says the same thing in another style."""

    name: ClassVar[str]
    styles: tuple[str, ...]  # what it can write; empty when it writes any

    @abc.abstractmethod
    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """`request.candidates` rewrites of every text, best first, in the order of the texts."""

    def fingerprint(self) -> str:
        """What tells it from another rewriter of its kind: a job is not resumed with another one."""
        return self.name

    @abc.abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write all that `load` needs into a folder."""

    @classmethod
    @abc.abstractmethod
    def load(cls, folder: str | Path) -> Self:
        """The rewriter that was saved in a folder."""

    @overload
    def rewrite(self, texts: str, to: str, **options: Any) -> Any: ...
    @overload
    def rewrite(self, texts: Sequence[str], to: str, **options: Any) -> list[Any]: ...
    def rewrite(self, texts: str | Sequence[str], to: str, **options: Any) -> Any:
        """Rewrite one text, or many in their order; `options` are the fields of Request.

        A string comes back for a string and a list for a list; with `candidates=n` (n > 1), a list of n for each text.
        UnknownName when the system cannot write the style.
        """
        request = Request(to=to, **options)
        if self.styles and to not in self.styles:
            raise UnknownName("style", to, self.styles)
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


def load(folder: str | Path) -> Rewriter:
    """The rewriter saved in a folder, whichever system it is."""
    name = read_system_file(folder).get("system")
    if not isinstance(name, str):
        raise InputError(f"{Path(folder) / SYSTEM_FILE} does not name its system")
    return systems[name].load(folder)


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
