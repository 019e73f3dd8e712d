"""Opening an engine by its name.

`auto` is two engines. What is certain, greedy and beams, CTranslate2 writes; what is drawn by chance PyTorch draws, in
bfloat16 where the processor multiplies it: each row then has its own numbers, which CTranslate2 cannot give it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from restyle.errors import MissingExtra, UnknownName, UsageError
from restyle.lm.decoding._base import Candidate, Decoding, Engine, Prompt
from restyle.lm.format import PairFormat

if TYPE_CHECKING:
    from restyle.lm.adapters import Adapter

Weights = Callable[[], "Adapter | None"]


def open_engine(base: str, adapter: Weights = lambda: None, *, identity: str = "", engine: str = "auto") -> Engine:
    """An engine that writes as a base with its adapter does.

    `adapter` is called when the weights are needed: an engine that is in the cache is known by `identity`, which tells
    the adapter from all others. `engine` is `auto`, `ctranslate2`, or `torch`, the reference in float32.
    """
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    return ENGINES[engine](base, adapter, identity)


class AutoEngine:
    """The fastest engine for each way of decoding."""

    def __init__(self, base: str, adapter: Weights, identity: str) -> None:
        self._base, self._adapter, self._identity = base, adapter, identity

    @property
    def name(self) -> str:
        """The engine that writes what is certain, and the one that draws."""
        return f"{self._certain.name}, torch by chance"

    def format(self, max_subwords: int) -> PairFormat:
        """How its base writes a pair."""
        return self._certain.format(max_subwords)

    def generate(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[list[Candidate]]:
        """Continuations of each prompt, likeliest first; the order of the prompts is kept."""
        return (self._chance if decoding.samples else self._certain).generate(prompts, decoding)

    @cached_property
    def _certain(self) -> Engine:
        try:
            return _ctranslate2(self._base, self._adapter, self._identity)
        except (MissingExtra, UsageError):  # not installed, or it does not know the base's architecture
            return self._chance

    @cached_property
    def _chance(self) -> Engine:
        return _torch(self._base, self._adapter, fast=True)


def _ctranslate2(base: str, adapter: Weights, identity: str) -> Engine:
    from restyle.lm.decoding._conversion import engine_folder
    from restyle.lm.decoding._ctranslate2 import CTranslate2Engine

    return CTranslate2Engine(engine_folder(base, adapter, identity))


def _torch(base: str, adapter: Weights, *, fast: bool = False) -> Engine:
    from restyle.lm.bases import load_base
    from restyle.lm.decoding._torch import TorchEngine
    from restyle.lm.subwords import TransformersSubwords
    from restyle.nets.device import best_device, made_fast

    loaded, change = load_base(base), adapter()
    if change is not None:
        change.merge_into(loaded.model)
    loaded.model.requires_grad_(False)
    model = made_fast(loaded.model) if fast else loaded.model.to(best_device())
    return TorchEngine(model, TransformersSubwords(loaded.tokenizer))


ENGINES: dict[str, Callable[[str, Weights, str], Engine]] = {
    "auto": AutoEngine,
    "ctranslate2": _ctranslate2,
    "torch": lambda base, adapter, identity: _torch(base, adapter),
}
