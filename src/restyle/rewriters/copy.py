"""COPY, the lower bound: what a metric gives to a system that does nothing (STRAP 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from restyle.rewriters._base import Request, Rewriter, write_system_file


class Copy(Rewriter):
    """Gives every text back as it is."""

    name = "copy"
    styles = ()

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """Every text, as often as candidates are wanted."""
        return [[text] * request.candidates for text in texts]

    def save(self, folder: str | Path) -> None:
        """Write the system's name; there is nothing else to keep."""
        write_system_file(folder, {"system": self.name})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A copier is a copier."""
        return cls()
