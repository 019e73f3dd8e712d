"""A text as the sentences that are rewritten, and what stays around and between them.

    @ann "Well, it rained; so we stayed in." https://a.example 🙂
    ─────                                    ────────────────────   edges: they stay as they are
          Well, it rained;  so we stayed in.                        parts, where the whole is too long

A rewriter garbles addresses and pictures, and drops a quotation mark without its partner; where they stand at an edge
they need not go through it. What is too long is cut between sentences, then at clauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from restyle.text.clean import clean
from restyle.text.entities import mask, unmask
from restyle.text.sentences import sentence_spans

Lengths = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True)
class Part:
    """What is rewritten at once; whether it begins and ends amid a sentence; the white space behind it."""

    text: str
    begins_amid: bool = False
    ends_amid: bool = False
    gap: str = ""


@dataclass(frozen=True)
class Parts:
    """A text taken apart."""

    before: str
    parts: tuple[Part, ...]
    after: str

    def joined(self, rewritten: Sequence[str]) -> str:
        """The text with each part rewritten, on one line."""
        made = (_fitted(part, new) + part.gap for part, new in zip(self.parts, rewritten, strict=True))
        return " ".join(f"{self.before}{''.join(made)}{self.after}".split())


def taken_apart(texts: Sequence[str], lengths: Lengths, most: int) -> list[Parts | None]:
    """The parts of each text, none longer than `most` by `lengths`; None where a clause is too long."""
    framed = [_framed(text) for text in texts]
    inner = [clean(core) for _, core, _ in framed]
    cut: list[Parts | None] = []
    for (before, _, after), text, length in zip(framed, inner, lengths(inner), strict=True):
        parts = [Part(text)] if length <= most else _sentences(text, lengths, most)
        cut.append(None if parts is None else Parts(before, tuple(parts), after))
    return cut


# --- edges -----------------------------------------------------------------------------------------------------------

_QUOTES = '"“”„«»'
_ADDRESS = r"-(?:URL|EMAIL|HANDLE)-[0-9]+-"
# Arrows, signs, emoji, and what joins and colours them.
_PICTURES = "".join(
    chr(code)
    for first, last in (
        (0x2190, 0x21FF), (0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F000, 0x1FAFF), (0xE0020, 0xE007F),
        (0x200D, 0x200D), (0x20E3, 0x20E3), (0xFE0F, 0xFE0F),
    )
    for code in range(first, last + 1)
)  # fmt: skip
_BEFORE = re.compile(rf"(?:(?:{_ADDRESS}|[{_PICTURES}])[:,]?\s?)+")
_ADDRESS_LAST = re.compile(rf"{_ADDRESS}[.,;!?]*")
_HASHTAG = re.compile(r"#\w+")
_CLOSED = (".", "!", "?", "…", ":", ")", '"', "'", "”", "’")


def _framed(text: str) -> tuple[str, str, str]:
    """What stands before the text proper, the text proper, and what stands after it."""
    [masked] = mask([" ".join(text.split())], ("url", "email", "handle"))
    first = _BEFORE.match(masked.text)
    start = first.end() if first else 0
    end = _end_of_core(masked.text, start)
    opened, closed = _loose_quotes(masked.text[start:end])
    start, end = start + opened, end - closed
    before, core, after = (
        unmask(piece, masked.entities).text
        for piece in (masked.text[:start], masked.text[start:end], masked.text[end:])
    )
    return before, core, after


def _end_of_core(text: str, start: int) -> int:
    """Where the pictures, hashtags and addresses begin with which a text ends.

    An address goes with them if what stands before it is over: "Write to ann@a.example" is no sentence without it.
    """
    end = without_address = len(text)
    addressed = False
    while end > start:
        word = text[max(start, text.rfind(" ", 0, end) + 1) : end]
        addressed = addressed or bool(_ADDRESS_LAST.fullmatch(word))
        if not (_ADDRESS_LAST.fullmatch(word) or _HASHTAG.fullmatch(word) or not word.strip(_PICTURES)):
            end -= len(word) - len(word.rstrip(_PICTURES))
            break
        end = start + len(text[start : end - len(word)].rstrip())
        without_address = without_address if addressed else end
    return end if not addressed or end == start or text[:end].endswith(_CLOSED) else without_address


def _loose_quotes(text: str) -> tuple[int, int]:
    """How many marks to take from either end: quotation marks around all of it, or one whose partner is not here."""
    count = sum(text.count(mark) for mark in _QUOTES)
    opens, closes = text[:1] in tuple(_QUOTES), text[-1:] in tuple(_QUOTES)
    if count == 2 and len(text) > 2 and opens and closes:
        return 1, 1
    return (int(opens), int(closes and not opens)) if count == 1 else (0, 0)


# --- cuts ------------------------------------------------------------------------------------------------------------

_CONJUNCTION = (
    r"(?=(?:and|but|or|nor|yet|so|for|because|although|though|unless|until|while|whereas|when|where|which|who|if|as|since"
    r"|before|after)\b)"
)
# Where a sentence can be cut, and how far from its middle a better place may be, as a share of its length.
_CUTS = (
    (re.compile(r"(?<=[;:])\s+|(?<=—)\s*|(?<=\s-)\s+|(?<=\s--)\s+"), 0.0),
    (re.compile(rf"(?<=,)\s+{_CONJUNCTION}"), 0.05),
    (re.compile(r"(?<=,)\s+"), 0.1),
    (re.compile(rf"\s+{_CONJUNCTION}"), 0.2),
)


def _sentences(text: str, lengths: Lengths, most: int) -> list[Part] | None:
    """The sentences of a text, those that are too long in clauses."""
    spans = list(sentence_spans(text))
    parts: list[Part] = []
    for number, (start, end) in enumerate(spans):
        gap = text[end : spans[number + 1][0]] if number + 1 < len(spans) else ""
        clauses = _clauses(Part(text[start:end], gap=gap), lengths, most)
        if clauses is None:
            return None
        parts += clauses
    return parts


def _clauses(part: Part, lengths: Lengths, most: int) -> list[Part] | None:
    """A part cut in two, and its halves likewise, until all are short enough; None where there is no place to cut."""
    if lengths([part.text])[0] <= most:
        return [part]
    places = [
        (abs(cut.start() / len(part.text) - 0.5) + worse, cut.span())
        for pattern, worse in _CUTS
        for cut in pattern.finditer(part.text)
        if cut.start() > 0 and cut.end() < len(part.text)
    ]
    if not places:
        return None
    _, (start, end) = min(places)
    halves = (
        Part(part.text[:start], part.begins_amid, True, part.text[start:end]),
        Part(part.text[end:], True, part.ends_amid, part.gap),
    )
    cut = [_clauses(half, lengths, most) for half in halves]
    return None if None in cut else [each for half in cut if half for each in half]


def _fitted(part: Part, new: str) -> str:
    """A rewritten clause as it stands in its sentence: its mark is that of the cut, its capital only a name's."""
    if part.ends_amid:
        mark = re.search(r"[,;:—-]*$", part.text)
        new = new.rstrip(" .,;:!?—-") + (mark[0] if mark else "")
    if part.begins_amid and part.text[:1].islower() and new[:1].isupper():
        first = re.match(r"[\w']+", new)
        if first and first[0] not in part.text and first[0].partition("'")[0] != "I":
            new = new[:1].lower() + new[1:]
    return new
