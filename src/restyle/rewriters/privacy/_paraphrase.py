"""The paraphraser alone: says the same in no style, and so with fewer of an author's own words.

It is the best meaning-bearing intermediate that works offline (docs/privacy.md), as a system and as a source of
candidates: with `candidates=n` those that begin with other words, or with a nucleus those that chance draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from restyle.lm.decoding import Decoding
from restyle.rewriters._base import Request, Rewrite, Rewriter, read_system_file, write_system_file
from restyle.rewriters.strap._drafts import Draft, Stages, others
from restyle.rewriters.strap._pack import DEFAULT_PARAPHRASER, find_pack
from restyle.rewriters.strap._rewriter import rewritten
from restyle.rewriters.strap._writer import Writer

# Sentences rewritten together: enough for whole batches of the common lengths.
_DEFAULT_BATCH = 256


class Paraphrase(Rewriter):
    """Paraphrases; whatever attribute or style is named."""

    name = "paraphrase"
    styles = ()

    def __init__(self, *, paraphraser: str | Path = DEFAULT_PARAPHRASER, engine: str = "auto") -> None:
        """`paraphraser` is a pack, by name or folder."""
        self._pack = find_pack(paraphraser, "paraphraser")
        self._engine = engine
        self._stages: _OneStage | None = None

    def ready(self, request: Request) -> None:
        """Open the engine."""
        self._opened()

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """`request.candidates` paraphrases of every text, likeliest first; the last again where there are fewer."""
        return [list(each.outputs) for each in self.rewrites(texts, request)]

    def rewrites(self, texts: Sequence[str], request: Request) -> list[Rewrite]:
        """Each text with its paraphrases and what is to be said of them; equal ones are rewritten once."""
        different, size = list(dict.fromkeys(texts)), request.batch_size or _DEFAULT_BATCH
        found: dict[str, Rewrite] = {}
        for start in range(0, len(different), size):
            batch = different[start : start + size]
            found |= zip(batch, rewritten(batch, self._opened(), request), strict=True)
        return [found[text] for text in texts]

    def fingerprint(self, *targets: str) -> str:
        """The weights of the paraphraser, how much of them, and the engine."""
        return f"{self.name}/{self._pack.card.sha256}:{self._pack.card.strength:g}/{self._engine}"

    def save(self, folder: str | Path) -> None:
        """Write which pack it is; the weights are its own."""
        settings = {"paraphraser": str(self._pack.folder), "engine": self._engine}
        write_system_file(folder, {"system": self.name, **settings})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Open the pack that was named."""
        settings = read_system_file(folder)
        del settings["system"]
        return cls(**settings)

    def __getstate__(self) -> dict[str, Any]:
        """All but what is open: a worker opens its own engine."""
        return self.__dict__ | {"_stages": None}

    def _opened(self) -> _OneStage:
        if self._stages is None:
            # With what learns packs comes torch, which other systems of this room do without.
            from restyle.rewriters.strap.learning._writing import writer_of

            self._stages = _OneStage(writer_of(self._pack, self._engine))
        return self._stages


class _Unchosen:
    """Nobody chooses here: the likeliest come first."""

    fingerprints: tuple[str, ...] = ()


class _OneStage(Stages):
    """f_para by itself, with as many candidates as are wanted."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(None, writer, _Unchosen())  # type: ignore[arg-type]  # never asked to choose

    def write(self, drafts: Sequence[Draft], request: Request) -> None:
        """Give each draft its paraphrases, those without faults first, the likeliest before others."""
        if not drafts:
            return
        starts = [(draft, draft.text) for draft in drafts]
        self._styled(starts, Decoding(nucleus=request.nucleus, seed=request.seed))
        if request.candidates > 1:
            self._styled(starts, others(request, request.candidates - 1, request.seed + 1))
        self._tried_again(drafts)
        for draft in drafts:
            draft.candidates.sort(key=lambda each: (each.hopeless, each.faults))
