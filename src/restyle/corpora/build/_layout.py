"""How a file is laid out, told from its beginning; its lines as paragraphs of prose or as lines of verse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from restyle.corpora.build._settings import Layout

# Where a sentence ends and another begins within a line; in scripts without capitals, at their own full stops.
_INNER_END = re.compile(r"[.!?؟][\"'”’)\]]*\s+[\"'“‘(\[]*(?=[^\Wa-z\d_])|[。！？]")
# A paragraph longer than this is a file without blank lines; it is cut, so that memory stays bounded.
_LONGEST_PARAGRAPH = 1_000_000
_LONGEST_BLOCK = 500
# Nobody wraps prose at fewer characters than a column of a newspaper has, or at more than a wide screen has.
_NARROWEST, _WIDEST = 35, 120
# Too few lines to speak of shares: any full line with two sentences counts.
_FEW_LINES = 20


@dataclass(frozen=True, slots=True)
class Numbered:
    """A line, or a paragraph by the number of its first line.

    `alone` when a blank line stands on both sides; `dropped` says why it is no part of the text.
    """

    number: int
    text: str
    alone: bool = False
    dropped: str = ""


def detect_layout(lines: Sequence[str]) -> Layout:
    """How the lines at the beginning of a file hold its sentences: `lines`, `paragraphs` or `wrapped`.

    >>> detect_layout(["The rain came down on the roof of the", "car. He lit a cigarette and waited for", "her."])
    'wrapped'
    """
    texts = [line for line in lines if line.strip()]
    if not texts:
        return "lines"
    if _is_wrapped(lines):
        return "wrapped"
    ends = [len(_INNER_END.findall(text[:100_000])) for text in texts]
    if len(texts) < _FEW_LINES:
        full = [end for end, text in zip(ends, texts, strict=True) if len(text.split()) >= 10]
        return "paragraphs" if full and sum(full) >= len(full) / 2 else "lines"
    # A list of sentences has none that is as long as a paragraph and ends twice on the way; tweets end twice, but
    # are short; the sentences of a novel are long, but end once.
    long = sum(end >= 2 and len(text.split()) >= 50 for text, end in zip(texts, ends, strict=True))
    return "paragraphs" if long >= 0.04 * len(texts) else "lines"


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Prose cut at a margin: lines of about one length, whose next line mostly goes on in the same sentence."""
    broken = [
        (len(line.rstrip()), _goes_on(after))
        for line, after in zip(lines, lines[1:], strict=False)
        if line.strip() and after.strip()
    ]
    if len(broken) < 2:
        return False
    lengths = sorted(length for length, _ in broken)
    margin = lengths[int(len(lengths) * 0.95)]
    going_on = sum(goes for _, goes in broken) / len(broken)
    # Verse has lines of one length too, but begins each with a capital.
    return _NARROWEST <= margin <= _WIDEST and median(lengths) >= 0.75 * margin and going_on >= 0.4


def _goes_on(line: str) -> bool:
    first = line.strip()[:1]
    return first.isalpha() and not first.isupper()


def paragraphs(lines: Iterable[Numbered], layout: Layout) -> Iterator[Numbered]:
    """The paragraphs of a text, or in the layout `lines` its lines; blank lines go, and dropped ones stay as they are.

    A dropped line parts what is before it from what is after it, as a blank one does.
    """
    for block in _blocks(lines):
        if block[0].dropped:
            yield from block
        elif layout == "wrapped":
            yield from _joined(block)
        else:
            alone = len(block) == 1 or layout == "paragraphs"
            yield from (Numbered(line.number, line.text.strip(), alone) for line in block)


def _blocks(lines: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    """The lines between blank lines, each dropped line by itself."""
    block: list[Numbered] = []
    size = 0
    for line in lines:
        parts = bool(line.dropped) or not line.text.strip()
        if not parts:
            block.append(line)
            size += len(line.text)
        if block and (parts or len(block) >= _LONGEST_BLOCK or size > _LONGEST_PARAGRAPH):
            yield block
            block, size = [], 0
        if line.dropped:
            yield [line]
    if block:
        yield block


def _joined(block: list[Numbered]) -> Iterator[Numbered]:
    """The lines of a block as one paragraph."""
    text, number = "", block[0].number
    for line in block:
        if len(text) > _LONGEST_PARAGRAPH:
            yield Numbered(number, text, True)
            text, number = "", line.number
        # A hyphen or a dash at the margin belongs to the word before and after it.
        glue = "" if not text or text.endswith("-") else " "
        text += glue + line.text.strip()
    yield Numbered(number, text, True)
