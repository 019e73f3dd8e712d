"""STRAP (Krishna et al. 2020): a paraphraser takes the style out, an inverse paraphraser puts another one in.

    input ──f_para──► paraphrase, in no style ──f_inv of the style──► output            (Sec. 2.1)

Beyond the paper: with `candidates=n` both stages over-generate and the `select` judges choose; `strength` and mixes are
sums of adapters; what cannot be rewritten comes back as it was, and says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

from restyle.errors import InputError, MissingExtra
from restyle.lm.bases import base_hash
from restyle.lm.decoding import Engine
from restyle.progress import progress_bar
from restyle.rewriters._base import Request, Rewrite, Rewriter, read_system_file, write_system_file
from restyle.rewriters.strap import _guard, _keeping
from restyle.rewriters.strap._choosing import Chooser
from restyle.rewriters.strap._drafts import Draft, Stages
from restyle.rewriters.strap._foreign import foreign
from restyle.rewriters.strap._guard import Flag
from restyle.rewriters.strap._pack import Card, Pack, find_pack, packs
from restyle.rewriters.strap._parts import Parts, taken_apart
from restyle.rewriters.strap._recipe import Mix, mix_of
from restyle.rewriters.strap._writer import Writer
from restyle.text.clean import clean

# Sentences rewritten together: enough for whole batches of the common lengths.
_DEFAULT_BATCH = 256
# A sentence that just fits may grow into one that does not; longer than this, only loops are.
_LONGEST = 1.25
# Engines kept open, some 140 MB each: a few styles at once, each with its paraphraser.
_MOST_OPEN = 12


class Strap(Rewriter):
    """Rewriting as paraphrasing."""

    name = "strap"
    paraphrases: ClassVar[bool] = True

    def __init__(self, to: str | None = None, *, paraphraser: str | Path | None = None, engine: str = "auto") -> None:
        """`to` is the style when none is named later: a pack's name, its folder, or a mix of some.

        `paraphraser` is a pack too; by default that with which the style was learned.
        """
        self.to, self._paraphraser, self._engine = to, paraphraser, engine
        self.styles = self._written()
        self._engines: dict[str, Engine] = {}
        self._choosers: dict[str, Chooser] = {}
        if to is not None:
            self._packs(to, 1.0)

    def checked(self, to: str | None) -> str:
        """The style that is meant: any pack, any folder of one, any mix of them."""
        if to is None:
            to = self.to or super().checked(None)
        self._mix(to)
        return to

    def ready(self, request: Request) -> None:
        """Open the engines, and the judges where there is a choice to make."""
        stages = self._stages(request)
        if request.candidates > 1:
            _ = stages.chooser.fingerprints

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """`request.candidates` rewrites of every text, best first."""
        return [list(rewrite.outputs) for rewrite in self.rewrites(texts, request)]

    def rewrites(self, texts: Sequence[str], request: Request) -> list[Rewrite]:
        """Each text with its paraphrase, its rewrites and what is to be said of them; equal ones are rewritten once."""
        stages = self._stages(request)
        different = list(dict.fromkeys(texts))
        size = request.batch_size or _DEFAULT_BATCH
        found: dict[str, Rewrite] = {}
        with progress_bar("rewriting", len(different), shown=request.progress) as advance:
            for start in range(0, len(different), size):
                batch = different[start : start + size]
                found |= zip(batch, rewritten(batch, stages, request), strict=True)
                advance(len(batch))
        return [found[text] for text in texts]

    def called(self, to: str) -> str:
        """The name of a style that was given by the folder of its pack."""
        return self._mix(to).name

    def fingerprint(self, *targets: str) -> str:
        """The weights of both stages for each style, and the engine."""
        said = [self.name, self._engine]
        for to in targets or ([self.to] if self.to else []):
            mix, paraphraser = self._packs(to, 1.0)
            said += [mix.identity(paraphraser, 1.0), mix.prefix, paraphraser.card.sha256 if paraphraser else ""]
        return hashlib.blake2b("\0".join(said).encode(), digest_size=16).hexdigest()

    def save(self, folder: str | Path) -> None:
        """Write which packs it is made of; the weights are theirs."""
        settings = {"to": self.to, "paraphraser": self._paraphraser and str(self._paraphraser), "engine": self._engine}
        write_system_file(folder, {"system": self.name} | {key: each for key, each in settings.items() if each})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Open the packs that were named."""
        settings = read_system_file(folder)
        del settings["system"]
        return cls(settings.pop("to", None), **settings)

    def __getstate__(self) -> dict[str, Any]:
        """All but what is open: a worker opens its own engines."""
        return self.__dict__ | {"_engines": {}, "_choosers": {}}

    # What the systems of Table 3 do otherwise (see _ablations.py).

    def _written(self) -> tuple[str, ...]:
        """The styles that can be asked for by their names."""
        return tuple(packs())

    def _mix(self, to: str) -> Mix:
        """The packs that are meant by a style."""
        return mix_of(to)

    def _first_step(self, style: Card) -> Pack:
        """The paraphraser for a style."""
        return find_pack(self._paraphraser or style.paraphraser, "paraphraser")

    def _packs(self, to: str, strength: float) -> tuple[Mix, Pack | None]:
        """The packs of a style; InputError when they do not fit each other, or the base model that is here."""
        mix = self._mix(to)
        main = mix.main.card
        if not mix.main.model and base_hash_here(main.base) != main.base_sha256:
            raise InputError(
                f"{main.name} was learned on {main.base} ({main.base_sha256[:8] or 'of unknown weights'}), and what is "
                f"here under that name is another base ({base_hash_here(main.base)[:8]}): learn the style again on it"
            )
        if not self.paraphrases and not mix.needs_paraphraser(strength):
            return mix, None
        paraphraser = self._first_step(main)
        if paraphraser.card.base_sha256 != main.base_sha256:
            raise InputError(
                f"{main.name} was learned on {main.base}, and the paraphraser {paraphraser.card.name} on "
                f"{paraphraser.card.base}: name a paraphraser of the same base"
            )
        return mix, paraphraser

    def _stages(self, request: Request) -> Stages:
        mix, paraphraser = self._packs(request.to, request.strength)
        para = self._opened(Mix(((paraphraser, 1.0),)), None, 1.0) if paraphraser and self.paraphrases else None
        style = mix.main.card.name
        chooser = self._choosers.setdefault(style, Chooser(style))
        return Stages(para, self._opened(mix, paraphraser, request.strength), chooser)

    def _opened(self, mix: Mix, paraphraser: Pack | None, strength: float) -> Writer:
        identity, card = mix.identity(paraphraser, strength), mix.main.card
        if identity not in self._engines:
            while len(self._engines) >= _MOST_OPEN:
                del self._engines[next(iter(self._engines))]
            try:
                self._engines[identity] = mix.engine(paraphraser, strength, self._engine)
            except ModuleNotFoundError as error:
                raise MissingExtra(error.name or "torch", "local", f"the system {self.name}") from error
        engine = self._engines[identity]
        longest = _LONGEST if card.kind == "style" else 1.0
        return Writer(engine, engine.format(card.max_subwords), longest=longest, prefix=mix.prefix)


@lru_cache(maxsize=16)
def base_hash_here(base: str) -> str:
    """The hash of a base on this machine, computed once: a folder's is that of all its weights."""
    return base_hash(base)


def rewritten(texts: Sequence[str], stages: Stages, request: Request) -> Iterator[Rewrite]:
    """Each text taken apart, its sentences rewritten, and put together again."""
    apart = taken_apart(texts, stages.inverse.format.lengths, stages.inverse.longest_input)
    reasons = [_unfit(text, parts) for text, parts in zip(texts, apart, strict=True)]
    plain = [text for text, reason in zip(texts, reasons, strict=True) if reason is None]
    strange = dict(zip(plain, foreign(plain), strict=True))
    reasons = [Flag.FOREIGN if strange.get(text) else reason for text, reason in zip(texts, reasons, strict=True)]
    sentences = dict.fromkeys(
        part.text for each, reason in zip(apart, reasons, strict=True) if each and not reason for part in each.parts
    )
    kept = _keeping.found(list(sentences), _keeping.kinds_of(request.keep))
    drafts = {text: Draft(text, entities) for text, entities in zip(sentences, kept, strict=True)}
    stages.write(list(drafts.values()), request)
    selected_with = stages.chooser.fingerprints if request.candidates > 1 else ()
    for text, parts, reason in zip(texts, apart, reasons, strict=True):
        if reason is not None or parts is None:
            yield Rewrite(text, (text,) * request.candidates, flags=(reason or Flag.TOO_LONG,))
        else:
            of_text = [drafts[part.text] for part in parts.parts]
            yield _joined(text, parts, of_text, request.candidates, selected_with)


def _unfit(text: str, parts: Parts | None) -> Flag | None:
    """Why a text is not rewritten, whatever its language."""
    if parts is None:
        return Flag.TOO_LONG
    if not clean(text):
        return Flag.EMPTY
    return None if any(_guard.has_words(part.text) for part in parts.parts) else Flag.NO_WORDS


def _joined(text: str, parts: Parts, drafts: Sequence[Draft], number: int, selected_with: tuple[str, ...]) -> Rewrite:
    """The rewrites of a text from those of its parts: the best of each, then the second of each, and so on."""
    of_parts = [draft.outputs for draft in drafts]
    if not all(of_parts):
        return Rewrite(text, (text,) * number, flags=(Flag.NO_OUTPUT,))
    outputs = [parts.joined([some[min(place, len(some) - 1)] for some in of_parts]) for place in range(number)]
    paraphrase = " ".join(draft.paraphrase for draft in drafts)
    flags = dict.fromkeys(flag for draft in drafts for flag in draft.flags)
    in_parts = (Flag.IN_PARTS,) if len(drafts) > 1 else ()
    return Rewrite(text, tuple(outputs), paraphrase, (*in_parts, *flags), selected_with)


__all__ = ["Rewrite", "Strap"]
