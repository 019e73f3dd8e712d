"""What every decoding engine does: prompts in, candidates out, each row as if it were alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from restyle.errors import UsageError
from restyle.lm.format import PairFormat

# Scores are rounded here, where engines and machines still agree.
DECIMALS = 5


@dataclass(frozen=True)
class Decoding:
    """How the next subword is chosen."""

    nucleus: float = 0.0  # 0 is greedy; p of nucleus sampling (Holtzman et al. 2020) otherwise
    temperature: float = 1.0
    beams: int = 1  # of beam search, which is greedy's wider form
    candidates: int = 1
    branches: bool = False  # candidates begin with the likeliest subwords, one each, and are greedy from there
    no_repeat: int = 0  # so many subwords in a row are written once at most: greedy that cannot go round in circles
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.nucleus <= 1:
            raise UsageError(f"nucleus is {self.nucleus}; it can be from 0 (greedy) to 1")
        if self.temperature <= 0:
            raise UsageError(f"temperature is {self.temperature}; it can be anything above 0")
        if self.candidates < 1 or self.beams < 1:
            raise UsageError("candidates and beams can be 1 or more")
        if self.beams > 1 and self.nucleus:
            raise UsageError("beam search does not sample: set nucleus to 0, or beams to 1")
        if self.branches and (self.samples or self.beams > 1):
            raise UsageError("branches are greedy: set nucleus to 0 and beams to 1")
        if self.no_repeat and (self.no_repeat < 2 or self.samples or self.candidates > 1 or self.beams > 1):
            raise UsageError("no_repeat is for greedy decoding of one candidate, and 2 subwords or more")

    @property
    def samples(self) -> bool:
        """Whether chance has a part in it."""
        return self.nucleus > 0

    @property
    def searches(self) -> bool:
        """Whether it is a beam search; several candidates without chance or branches can only be found by one."""
        return not (self.samples or self.branches) and (self.beams > 1 or self.candidates > 1)


@dataclass(frozen=True)
class Prompt:
    """What is continued: subwords, how many may follow them, and what the text's chance is drawn from."""

    ids: tuple[int, ...]
    room: int
    key: str = ""

    def __post_init__(self) -> None:
        if not self.ids or self.room < 1:
            raise UsageError("a prompt has at least one subword, and room for at least one more")

    def uniforms(self, decoding: Decoding, candidate: int) -> NDArray[np.float64]:
        """A number from 0 to 1 for each subword that may follow: the same in every batch and on every machine."""
        named = f"{decoding.seed}\0{candidate}\0{self.key}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(named, digest_size=16).digest()
        return np.random.default_rng(int.from_bytes(digest, "big")).random(self.room)

    def told_apart(self, decoding: Decoding) -> Prompt:
        """What decides its continuations: where chance has no part in them, that is not the text's name."""
        return self if decoding.samples else replace(self, key="")


@dataclass(frozen=True)
class Candidate:
    """A continuation without its end mark, and the mean log-probability of its subwords, the end's among them."""

    ids: tuple[int, ...]
    score: float
    ended: bool  # False where the room was too small

    def rank(self) -> tuple[float, tuple[int, ...]]:
        """By which candidates are sorted, likeliest first."""
        return -self.score, self.ids


class Engine(Protocol):
    """A language model that continues prompts."""

    @property
    def name(self) -> str:
        """What the engine is called, with its numbers: `torch float32`."""
        ...

    def format(self, max_subwords: int) -> PairFormat:
        """How its base writes a pair."""
        ...

    def generate(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[list[Candidate]]:
        """`decoding.candidates` continuations of each prompt, likeliest first; the order of the prompts is kept."""
        ...
