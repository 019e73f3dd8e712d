"""The systems of Table 3: STRAP with one part taken away, or put in another's place.

    - Inf. PP   WithoutParaphrase   f_inv reads the input itself
    - Mult. PP  Conditioned         one f_inv for all styles, told which one is meant
    - Div. PP   NonDiverse          f_para learned from pairs that are alike
    - GPT2      OnBase("lstm")      LSTMs that were never pretrained, in both stages
    GPT2-md …   OnBase("gpt2")      another base model

Each is one code path with Strap: what differs is the packs that it takes, and it takes no others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from restyle.errors import UnknownName, UsageError
from restyle.rewriters._base import read_system_file, write_system_file
from restyle.rewriters.strap._pack import LSTM, Card, Pack, find_pack, packs
from restyle.rewriters.strap._recipe import Mix, mix_of
from restyle.rewriters.strap._rewriter import Strap

# What a paraphraser that was learned from pairs that are alike is called where none is named.
_ALIKE = "nondiverse"


class WithoutParaphrase(Strap):
    """f_inv of the input itself: what the paraphrase at inference is worth (-Inf. PP)."""

    name = "strap-no-inference-paraphrase"
    paraphrases = False


class Conditioned(Strap):
    """One f_inv for all styles, which its input tells the style that is meant (-Mult. PP)."""

    name = "strap-multi"

    def _written(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(style for pack in packs("multi").values() for style in pack.card.styles))

    def _mix(self, to: str) -> Mix:
        named = next((f"{name}:{to}" for name, pack in packs("multi").items() if to in pack.card.styles), to)
        if named == to and ":" not in to:
            raise UsageError(
                f"no pack of several styles writes {to}: learn one (restyle learn --kind multi --recipe RECIPE "
                f"--styles {to} --styles … --name NAME), or name a style of one by its folder, FOLDER:STYLE"
            )
        mix = mix_of(named)
        if not mix.prefix:
            raise UsageError(f"{to} is no style of a pack of several, which are called PACK:STYLE")
        return mix


class NonDiverse(Strap):
    """With a paraphraser that was learned from pairs that are alike, in training and here (-Div. PP)."""

    name = "strap-nondiverse"

    def _first_step(self, style: Card) -> Pack:
        named = self._paraphraser or _ALIKE
        try:
            found = find_pack(named, "paraphraser")
        except UnknownName as error:
            raise UsageError(
                f"{error}; learn one: restyle pairs build recipes/strap/paraphrase_pairs.toml --twin -o alike.jsonl, "
                f"then restyle learn --kind paraphraser --pairs alike.jsonl --name {_ALIKE}"
            ) from None
        if style.paraphraser != found.card.name:
            raise UsageError(
                f"{style.name} was learned with the paraphraser {style.paraphraser}, and {self.name} needs a style "
                f"that was learned with {found.card.name}: restyle learn … --paraphraser {named}"
            )
        return found


class OnBase(Strap):
    """With packs that were learned on one base model (GPT2-md, GPT2-sm, -GPT2)."""

    name = "strap-BASE"
    base = ""

    def __init__(self, to: str | None = None, *, base: str | None = None, **options: Any) -> None:
        """`base` is what a base model is called, a folder by its last part; `options` are those of Strap."""
        self.base = base or self.base
        if not self.base:
            raise UsageError(f"{self.name} stands for the systems strap-gpt2, strap-lstm …: name a base model")
        self.name = f"strap-{self.base}"
        super().__init__(to, **options)

    def save(self, folder: str | Path) -> None:
        """Write which packs it is made of, and on which base."""
        super().save(folder)
        write_system_file(folder, read_system_file(folder) | {"system": OnBase.name, "base": self.base})

    def _written(self) -> tuple[str, ...]:
        return tuple(name for name, pack in packs().items() if base_of(pack.card) == self.base)

    def _mix(self, to: str) -> Mix:
        mix = mix_of(to)
        if (found := base_of(mix.main.card)) != self.base:
            raise UsageError(
                f"{mix.main.card.name} was learned on {found}, and {self.name} takes packs of the base {self.base}: "
                f"restyle learn --kind paraphraser --base {self.base} …, then a style with --paraphraser of that name"
            )
        return mix


class Recurrent(OnBase):
    """With LSTMs with global attention, trained from nothing but the pairs (-GPT2)."""

    name = "strap-lstm"
    base = LSTM


def base_of(card: Card) -> str:
    """What the base of a pack is called in the name of a system."""
    return Path(card.base).name


def on_base(system: str, styles: tuple[str, ...]) -> str | None:
    """The base that `strap-BASE` means; None where none of the styles was learned on one of that name."""
    base = system.removeprefix("strap-")
    named = {base_of(mix_of(style).main.card) for style in styles} if base != system else ()
    return base if base in named else None
