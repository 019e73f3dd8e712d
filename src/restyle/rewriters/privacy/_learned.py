"""A system that was trained to hide an attribute: a pack of `restyle privacy learn`, written with as STRAP writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from restyle.rewriters._base import Request, Rewrite
from restyle.rewriters.strap import Strap


class Learned(Strap):
    """Paraphrases, and writes from the paraphrase with what it learned; whatever attribute is named."""

    name = "privacy-pack"

    def __init__(self, pack: str | Path, *, paraphraser: str | Path | None = None, engine: str = "auto") -> None:
        """`pack` is one by name or folder; UnknownName with those that there are."""
        super().__init__(str(pack), paraphraser=paraphraser, engine=engine)
        # Of this class there are many systems, which tables tell apart.
        self.__dict__["name"] = self.called(str(pack))

    def rewrites(self, texts: Sequence[str], request: Request) -> list[Rewrite]:
        """Each text with its rewrites."""
        return super().rewrites(texts, replace(request, to=self.checked(None)))

    def ready(self, request: Request) -> None:
        """Open the engines."""
        super().ready(replace(request, to=self.checked(None)))

    def fingerprint(self, *targets: str) -> str:
        """The weights of both stages."""
        return super().fingerprint(self.checked(None))
