"""Whole documents, rewritten sentence by sentence: layout, code, quotes and links stay byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

from restyle.records import Record
from restyle.text.segment import Piece, join, segment


class Document:
    """A plain text or Markdown document in pieces."""

    def __init__(self, text: str, *, markdown: bool | None = None) -> None:
        """`markdown` says which it is; by default it is told from its signs."""
        self._pieces: list[Piece] = segment(text, markdown=markdown)
        # An author whose apostrophes are curved gets curved ones: rewriters write straight ones.
        self._curved = "’" in text and "'" not in text

    @property
    def records(self) -> list[Record]:
        """A record for each sentence that can be rewritten."""
        plain = [piece.plain for piece in self._pieces if piece.rewrite]
        return [{"id": str(number), "text": text} for number, text in enumerate(plain, 1)]

    def rewritten(self, outputs: Sequence[str]) -> str:
        """The document with rewrites of all its records in their places.

        A sentence that came back as it was keeps its emphasis and its line breaks, which a rewriter does not see.
        """
        given = [piece for piece in self._pieces if piece.rewrite]
        return join(
            self._pieces,
            [
                piece.text if output == piece.plain else self._as_typed(output)
                for piece, output in zip(given, outputs, strict=True)
            ],
        )

    def _as_typed(self, text: str) -> str:
        return text.replace("'", "’") if self._curved else text
