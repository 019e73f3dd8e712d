"""Headings: of chapters, of poems, of the persons of a play."""

from __future__ import annotations

import re

_NUMBER = (
    r"(?:\d+|[ivxlcdm]+|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\w+teenth"
    r"|\w+tieth|(?:twenty|thirty|forty|fifty|sixty)-\w+)|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_DIVISION = "(?:chapter|book|part|volume|vol|canto|act|scene|letter|stave|section|stanza|ode|sonnet|fit|episode)"
_NUMBERED = re.compile(
    rf"^\W*(?i:{_DIVISION}\.? {_NUMBER})\b(?:\W*$|\s?[.:–—\]-]+\s?.*$|,\s*(?i:scene|part|canto)\b.*$|\s+[A-Z][^.!?]*$)"
)
# Not C., D. and M.: those are initials.
_LONE_NUMBER = re.compile(r"^\W*(?:[IVXL]|[IVXLCDM]{2,8})\b(?:\W*|\.\s+[A-Z][^.!?]*)$")
_LAST = re.compile(
    r"^\W*(?:the end|finis|end of (?:the )?(?:\w+ )?(?:book|part|volume|vol|canto|act)\b.*"
    r"|(?:author's )?(?:preface|introduction|introductory|prologue|epilogue|appendix|dedication|index|foreword|notes)"
    r"(?: to .*)?)\W*$",
    re.I,
)
MOST_HEADING_WORDS = 15
# Small in a title: In Which the Rain Comes Down.
_SMALL_WORDS = {
    "a",
    "an",
    "and",
    "at",
    "by",
    "for",
    "from",
    "in",
    "into",
    "of",
    "on",
    "or",
    "the",
    "to",
    "upon",
    "with",
}


def is_heading(text: str, *, structured: bool = True, alone: bool = False) -> bool:
    """Whether a line or a paragraph is a heading.

    `structured` text has paragraphs or stanzas: only there are capitals a heading, and not somebody shouting. A line
    that stands `alone` between blank lines may be a title in small letters.

    >>> is_heading("CHAPTER XII."), is_heading("IN CHANCERY"), is_heading("Chapter one was dull.")
    (True, True, False)
    """
    words = text.split()
    if len(words) > MOST_HEADING_WORDS:
        return False
    if _NUMBERED.match(text) or _LONE_NUMBER.match(text) or _LAST.match(text):
        return True
    if structured and text.upper() == text and text.lower() != text:
        return True
    return structured and alone and _is_title(text, words)


def _is_title(text: str, words: list[str]) -> bool:
    if text[-1] in ".!?,;:—-\"'”’)":
        return False
    large = [word for word in words if word.lower() not in _SMALL_WORDS]
    return bool(large) and all(word.lstrip("\"'“‘(")[:1].isupper() for word in large)
