"""From the lines of a source to its sentences, nothing lost: what is no sentence comes out too, with the reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from restyle.corpora._corpus import Line
from restyle.corpora.build._boilerplate import Frame
from restyle.corpora.build._headings import is_heading
from restyle.corpora.build._layout import Numbered, detect_layout, paragraphs
from restyle.corpora.build._rules import is_hopeless, reason_to_drop, tidy
from restyle.corpora.build._settings import BuildSettings, Layout
from restyle.corpora.build._sources import Source
from restyle.records import ReadingReport
from restyle.text.clean import clean
from restyle.text.segment import Kind, segment
from restyle.text.sentences import sentences

# So much of a file is looked at to tell its layout, and whether a Gutenberg header stands at its beginning.
_LOOKED_AT_LINES, _LOOKED_AT_CHARACTERS = 3000, 4_000_000
_LIST_MARKER = re.compile(r"\s*\d+[.)]\s*")


@dataclass(slots=True)
class Piece:
    """A sentence, or a part of the input that is none: then `dropped` says why."""

    text: str
    line: int
    style: str
    dropped: str = ""
    source: str = ""  # where it is not the name of the source that is read


# Takes the pieces of a source and hands every one on, in order: as it is, changed, or dropped with a reason.
Stage = Callable[[Iterator[Piece]], Iterator[Piece]]


@dataclass
class Opened:
    """A source that is being read: the layout that was found, and its pieces."""

    layout: Layout
    pieces: Iterator[Piece]


def opened(source: Source, settings: BuildSettings, report: ReadingReport) -> Opened:
    """The pieces of a source, in order, each tidied and judged by the rules that look at one sentence alone."""
    read = iter(source.read(report))
    first = list(_beginning(read))
    lines, beginning, layout = chain(first, read), [line.text for line in first], source.layout
    if source.ready:
        layout, found = "lines", _ready(lines, source.style, settings)
    elif source.markdown and layout == "auto":
        found = _markdown(lines, source.style)
    else:
        layout = detect_layout(beginning) if layout == "auto" else layout
        if source.document:
            found = _document(lines, beginning, source, layout, settings)
        else:
            found = _rows(lines, source, layout, settings)
    return Opened(layout, _as_they_are(found) if source.split else _judged(found, settings))


def _beginning(lines: Iterator[Line]) -> Iterator[Line]:
    characters = 0
    for line in islice(lines, _LOOKED_AT_LINES):
        yield line
        characters += len(line.text)
        if characters > _LOOKED_AT_CHARACTERS:
            return


def _document(
    lines: Iterable[Line], beginning: list[str], source: Source, layout: Layout, settings: BuildSettings
) -> Iterator[Piece]:
    """The sentences of a document, and between them what its frame, headings and marks are."""
    structured = layout != "lines" or any(not text.strip() for text in beginning)
    frame = Frame(beginning, wrapped=layout == "wrapped")
    for part in paragraphs(_text_lines(lines, frame, settings), layout):
        reason = part.dropped
        if not reason and settings.headings and is_heading(part.text, structured=structured, alone=part.alone):
            reason = "heading"
        if reason:
            yield Piece(part.text, part.number, source.style, reason)
        else:
            yield from _sentences(part, source.style, layout)


def _text_lines(lines: Iterable[Line], frame: Frame, settings: BuildSettings) -> Iterator[Numbered]:
    """The lines of a document, those that are no part of its text with the reason."""
    for line in lines:
        reason = frame.reason(line.text) if settings.boilerplate else ""
        yield Numbered(line.number, line.text, dropped=reason)


def _markdown(lines: Iterable[Line], style: str) -> Iterator[Piece]:
    """The sentences of a Markdown document, which is held in memory: its blocks refer to each other."""
    number = 1
    for piece in segment("".join(line.text + "\n" for line in lines), markdown=True):
        if piece.rewrite:
            yield Piece(piece.plain, number, style)
        elif any(map(str.isalnum, piece.text)) and not _LIST_MARKER.fullmatch(piece.text):
            yield Piece(piece.text.strip(), number, style, "heading" if piece.kind is Kind.HEADING else "markup")
        number += piece.text.count("\n")


def _rows(lines: Iterable[Line], source: Source, layout: Layout, settings: BuildSettings) -> Iterator[Piece]:
    """The sentences of a table, whose cells may hold a sentence, a paragraph or a whole document."""
    for line in lines:
        style = str(line.fields.get("style") or source.style)
        within = line.text.split("\n")
        if len(within) > 1:
            parts = [Line(text, line.source, line.number) for text in within]
            kind = detect_layout(within)
            yield from _document(parts, within, replace(source, style=style), kind, settings)
        elif line.text.strip():
            yield from _sentences(Numbered(line.number, line.text), style, layout)


def _ready(lines: Iterable[Line], style: str, settings: BuildSettings) -> Iterator[Piece]:
    """Sentences that a loader cut, with the notes and headings that stand among them told apart."""
    for line in lines:
        # Each by itself: what lay between two sentences is not here to end a note or a table of contents.
        reason = Frame().reason(line.text) if settings.boilerplate else ""
        if not reason and settings.headings and is_heading(line.text, structured=False):
            reason = "heading"
        yield Piece(line.text, line.number, style, reason, line.source)


def _sentences(paragraph: Numbered, style: str, layout: Layout) -> Iterator[Piece]:
    if layout == "lines":
        yield Piece(paragraph.text, paragraph.number, style)
        return
    for text in sentences(paragraph.text):
        if text.strip():
            yield Piece(text, paragraph.number, style)


def _judged(pieces: Iterable[Piece], settings: BuildSettings) -> Iterator[Piece]:
    """Each piece as ordinary text, with the reason to drop it where its text alone gives one."""
    for piece in pieces:
        if not piece.dropped:
            if is_hopeless(piece.text, settings):
                piece.dropped = "too long"
            else:
                tidied = tidy(piece.text)
                piece.dropped = reason_to_drop(tidied, settings)
                piece.text = tidied or piece.text
        yield piece


def _as_they_are(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Each piece cleaned and kept: a published split stays whole."""
    for piece in pieces:
        piece.text, piece.dropped = clean(piece.text), ""
        yield piece
