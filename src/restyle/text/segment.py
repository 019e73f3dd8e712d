"""A document as pieces: sentences to rewrite, and all else, to be left alone. Joined, the pieces are the document.

The road: `segment_blocks` finds the blocks, `segment_inline` what inside a paragraph must stay, `sentences` the ends
of sentences. What is left alone: code, headings, tables, block quotes, front matter, tags and comments, link
definitions, the markers of lists. What is rewritten: sentences of paragraphs and of list items, speech in quotation
marks too, for it is the author's. An address, a link, or code at the edge of a sentence is split off; in its middle it
would be lost in rewriting, so that such a sentence is left alone as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from restyle.errors import UsageError
from restyle.text.segment_blocks import LINE, Kind, blocks, looks_like_markdown
from restyle.text.segment_inline import Kept, kept_parts, without_emphasis
from restyle.text.sentences import sentence_spans

__all__ = ["Kind", "Piece", "join", "segment"]


_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document, byte for byte; `plain` is what a rewriter gets of it: one line without emphasis markers."""

    text: str
    kind: Kind
    rewrite: bool = False
    plain: str = ""


def segment(document: str, *, markdown: bool | None = None) -> list[Piece]:
    r"""The pieces of a plain text or Markdown document, which one is told from its signs unless `markdown` says it.

    A line break inside a paragraph is a space, except in verse, where every line is a piece of its own.

    >>> [piece.text for piece in segment("# Tea\n\n* It is hot. Drink it.\n") if piece.rewrite]
    ['It is hot.', 'Drink it.']
    """
    # A byte-order mark, which is no part of the first sentence and would hide a heading.
    pieces = [Piece(_MARK, Kind.SPACE)] if document.startswith(_MARK) else []
    document = document.removeprefix(_MARK)
    if markdown is None:
        markdown = looks_like_markdown(document)
    for kind, text in blocks(document, markdown):
        if kind is Kind.SENTENCE:
            for run in LINE.findall(text) if _is_verse(text) else (text,):
                pieces += _prose(run, markdown)
        else:
            pieces.append(Piece(text, kind))
    return pieces


def join(pieces: Iterable[Piece], rewritten: Sequence[str] | None = None) -> str:
    r"""The document of these pieces, with `rewritten` (one text for each piece that has `rewrite`) in their places.

    >>> pieces = segment("One.  Two.\n")
    >>> join(pieces, [piece.plain.upper() for piece in pieces if piece.rewrite])
    'ONE.  TWO.\n'
    """
    pieces = list(pieces)
    if rewritten is None:
        return "".join(piece.text for piece in pieces)
    wanted = sum(piece.rewrite for piece in pieces)
    if len(rewritten) != wanted:
        raise UsageError(f"{len(rewritten)} texts were given for {wanted} pieces to rewrite; give one for each")
    texts = iter(rewritten)
    return "".join(next(texts) if piece.rewrite else piece.text for piece in pieces)


# --- verse or wrapped prose ------------------------------------------------------------------------------------------

# Prose is not wrapped narrower, verse is rarely wider.
_NARROWEST_PROSE = 55
_MOST = 0.8


def _is_verse(paragraph: str) -> bool:
    """Whether the line breaks of a paragraph are meant.

    They are if most of them are marked as Markdown does (two spaces, a backslash), or if most lines begin without a
    small letter and no editor broke them: where one wraps, the next word would not have fitted.
    """
    lines = [line.rstrip("\r\n") for line in LINE.findall(paragraph)]
    breaks = len(lines) - 1
    if breaks < 1:
        return False
    if sum(line.endswith(("  ", "\\")) for line in lines[:-1]) >= _MOST * breaks:
        return True
    capitals = sum(not line.lstrip()[:1].islower() for line in lines[1:])
    if capitals < _MOST * breaks:
        return False
    width = max(map(len, lines))
    full = sum(
        len(line) + 1 + len(following.split(maxsplit=1)[0]) > width
        for line, following in zip(lines, lines[1:], strict=False)
    )
    return width < _NARROWEST_PROSE or full < _MOST * breaks


# --- sentences -------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W\d_]")
# What a link leaves of its sentence must be this long to be said in another way.
_FEWEST_WORDS_BESIDE_A_LINK = 4
_MARKERS = re.compile(r"\*{1,3}|_{1,3}|~~")
_GAP = re.compile(r"\s*+")
_MARKS_ONLY = re.compile(r"[\W_]*")


def _prose(paragraph: str, markdown: bool) -> Iterator[Piece]:
    """The sentences of a paragraph and the white space between them."""
    kept = kept_parts(paragraph, markdown)
    done = 0
    next_part = 0
    for start, end in sentence_spans(_masked(paragraph, kept)):
        if start > done:
            yield Piece(paragraph[done:start], Kind.SPACE)
        first = next_part
        while next_part < len(kept) and kept[next_part].start < end:
            next_part += 1
        if first == next_part:
            yield from _sentence(paragraph[start:end], markdown)
        else:
            yield from _sentence_with_parts(paragraph, (start, end), kept[first:next_part], markdown)
        done = end
    if done < len(paragraph):
        yield Piece(paragraph[done:], Kind.SPACE)


def _masked(paragraph: str, kept: Sequence[Kept]) -> str:
    """The paragraph with each part that is kept as one long word, so that no sentence ends in it.

    A footnote's number closes the sentence before it, as a bracket does.
    """
    pieces: list[str] = []
    done = 0
    for start, end, _ in kept:
        pieces += [paragraph[done:start], ("]" if paragraph.startswith("[^", start) else "X") * (end - start)]
        done = end
    return "".join([*pieces, paragraph[done:]])


def _sentence(text: str, markdown: bool, fewest_words: int = 1) -> Iterator[Piece]:
    """A sentence with nothing in it to keep; emphasis all around it is split off."""
    marker = _MARKERS.match(text) if markdown else None
    if (
        marker
        and len(text) > 2 * marker.end()
        and text.endswith(marker[0])
        and text.count(marker[0][0]) == 2 * marker.end()
    ):
        inner = text[marker.end() : -marker.end()]
        yield Piece(marker[0], Kind.MARKUP)
        yield from _sentence(inner, markdown, fewest_words)
        yield Piece(marker[0], Kind.MARKUP)
        return
    plain = " ".join((without_emphasis(text) if markdown else text).split())
    rewrite = _WORD.search(plain) is not None and (fewest_words == 1 or len(plain.split()) >= fewest_words)
    yield Piece(text, Kind.SENTENCE, rewrite, plain if rewrite else "")


def _sentence_with_parts(text: str, span: tuple[int, int], kept: Sequence[Kept], markdown: bool) -> Iterator[Piece]:
    """A sentence with code or links in it: those at its edges are split off, one in its middle keeps it as it is."""
    start, end = span
    first, last = 0, len(kept)
    while first < last and kept[first].start == start:
        yield Piece(text[start : kept[first].end], kept[first].kind)
        start = _GAP.match(text, kept[first].end, end).end()  # type: ignore[union-attr]  # it matches nothing, too
        if start > kept[first].end:
            yield Piece(text[kept[first].end : start], Kind.SPACE)
        first += 1
    tail: list[Piece] = []
    while first < last and _MARKS_ONLY.fullmatch(text, kept[last - 1].end, end):
        last -= 1
        if kept[last].end < end:
            tail.append(Piece(text[kept[last].end : end], Kind.MARKUP))
        tail.append(Piece(text[kept[last].start : kept[last].end], kept[last].kind))
        end = kept[last].start
    if first < last:
        yield Piece(text[start:end], Kind.SENTENCE)
    else:
        bare = start + len(text[start:end].rstrip())
        if start < bare:
            whole = text[bare - 1] in ".!?…"
            yield from _sentence(text[start:bare], markdown, 1 if whole else _FEWEST_WORDS_BESIDE_A_LINK)
        if bare < end:
            tail.append(Piece(text[bare:end], Kind.SPACE))
    yield from reversed(tail)
