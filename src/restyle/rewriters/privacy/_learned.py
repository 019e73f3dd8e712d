"""A system that was trained to hide an attribute: a pack of `restyle privacy learn`, written with as STRAP writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from restyle.rewriters._base import Request, Rewrite
from restyle.rewriters.strap import Strap


class Learned(Strap):
    """Paraphrases, and writes from the paraphrase with what it learned; whatever attribute is named."""

    name: ClassVar[str] = "privacy-pack"

    def __init__(self, pack: str | Path, *, paraphraser: str | Path | None = None, engine: str = "auto") -> None:
        """`pack` is one by name or folder; UnknownName with those that there are."""
        super().__init__(str(pack), paraphraser=paraphraser, engine=engine)
        self._pack_asked = str(pack)
        self.name = self.called(str(pack))  # type: ignore[misc]  # one system of this kind is told from another

    def rewrites(self, texts: Any, request: Request) -> list[Rewrite]:
        """Each text with its rewrites."""
        return super().rewrites(texts, replace(request, to=self._pack_asked))

    def ready(self, request: Request) -> None:
        """Open the engines."""
        super().ready(replace(request, to=self._pack_asked))

    def fingerprint(self, *targets: str) -> str:
        """The weights of both stages."""
        return super().fingerprint(self._pack_asked)
