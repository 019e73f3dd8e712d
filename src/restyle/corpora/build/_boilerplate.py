"""What a book's file holds besides its text: Gutenberg's frame, contents, page numbers, notes, captions.

STRAP's corpora were rid of "boilerplate text (common in Project Gutenberg articles) and section headings" (App. A.6);
what the paper leaves open is decided here, line by line, and every line that goes is counted under its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from restyle.corpora.build._headings import MOST_HEADING_WORDS, is_heading

_START = re.compile(r"\*{3} ?START OF (?:TH(?:E|IS) )?PROJECT GUTENBERG|^\*END\*? ?THE SMALL PRINT", re.I)
_END = re.compile(
    r"\*{3} ?END OF (?:TH(?:E|IS) )?PROJECT GUTENBERG|^\W*END OF (?:THE )?PROJECT GUTENBERG\b|^\*+ ?START: FULL LICEN",
    re.I,
)
# Credits, also without a frame around them: files that were cut out of one by hand keep these.
_CREDITED = (
    "project gutenberg",
    "gutenberg.org",
    "pgdp.net",
    "distributed proofread",
    "standard ebooks",
    "all rights reserved",
    "digitized by google",
    "internet archive",
)
_CREDITS = re.compile(
    r"(?i:(?:this )?e-?(?:text|book) (?:was )?(?:prepared|produced|created|is for the use of)\b)"
    r"|Produced by [A-Z][\w.]* [A-Z][^.]*$|Transcribed (?:from|by) "
)
_CONTENTS = re.compile(r"^\W*(?:(?:table of )?contents|(?:list of )?illustrations)\W*$", re.I)
_LEADERS = re.compile(r"\S(?:(?: ?\.){3,}|\s{3,}|\t)\s*(?:\d{1,4}|[ivxlc]{1,7})$", re.I)
_DOTTED = re.compile(r"\S(?: ?\.){3,}\s*\d{1,4}$")
_PAGE = re.compile(r"^\W*(?:\d{1,4}|(?:page|pg\.?|p\.)\s*(?:\d{1,4}|[ivxlc]{1,7}))\W*$", re.I)
_NAMED_NOTE = re.compile(
    r"[\[(*_\s]*(?:(?:(?:transcriber|translator|editor|publisher)['’]?s?['’]? |e-?text )notes?|footnotes?"
    r"|illustrations?|sidenotes?)\b(?: \w{1,3})?\W*(?:[:.\])]|$)",
    re.I,
)
_MARKED_NOTE = re.compile(r"\[(?:\d{1,3}|[A-Za-z*†‡§])\]\s+\S")
_INSERTION = re.compile(r"\[[^\]]*\]\s*[^\s\])]")
_VARIANT = re.compile(r"--?\[[^\]]*\bMSS?\b[^\]]*\][.,;]?$")  # a reading of the manuscript, under a poem
# A bracket that is still open after so many lines was never closed; a stage direction's often is not.
_LONGEST_NOTE, _LONGEST_DIRECTION = 200, 3


class Frame:
    """Reads the lines of one book in order and says of each why it is no part of the text; "" when it is.

    >>> frame = Frame(["*** START OF THE PROJECT GUTENBERG EBOOK NOIR ***"])
    >>> frame.reason("This eBook is for the use of anyone anywhere.")
    'boilerplate'
    >>> frame.reason("*** START OF THE PROJECT GUTENBERG EBOOK NOIR ***")
    'boilerplate'
    >>> frame.reason("The rain came down.")
    ''
    """

    def __init__(self, beginning: Iterable[str] = (), *, wrapped: bool = True) -> None:
        """`beginning` is the first lines of the file: only they tell whether a header comes before the text.

        In a text that is not `wrapped`, a paragraph ends with its line.
        """
        self._wrapped = wrapped
        self._outside = any(_START.search(line) for line in beginning)
        self._in_contents = False
        self._entries = 0
        self._blank_lines = 0
        self._note = ""  # the kind of note that is open
        self._note_lines = 0
        self._brackets = 0

    def reason(self, line: str) -> str:
        """Why this line is dropped, or "" for a line of the text; blank lines are to be asked for too."""
        line = line.strip()
        if not line:
            self._blank_lines += 1
            return ""
        reason = self._of_frame(line) or self._of_contents(line)
        reason = reason or ("page number" if _PAGE.match(line) else self._of_note(line))
        self._blank_lines = 0
        return reason

    def _of_frame(self, line: str) -> str:
        if _START.search(line):
            self._outside = False
            return "boilerplate"
        if _END.search(line):
            self._outside = True
        return "boilerplate" if self._outside or _is_credit(line) else ""

    def _of_contents(self, line: str) -> str:
        if _CONTENTS.match(line):
            self._in_contents, self._entries = True, 0
        elif self._in_contents:
            # Two blank lines end the table, though not between its title and the first entry.
            ended = self._blank_lines >= 2 and self._entries > 0
            self._in_contents = not ended and _is_entry(line)
            self._entries += 1
        return "contents" if self._in_contents or (line[-1].isdigit() and _DOTTED.search(line)) else ""

    def _of_note(self, line: str) -> str:
        if (self._blank_lines and self._note != "bracket") or (self._note == "paragraph" and not self._wrapped):
            self._note = ""
        if not self._note:
            self._note, self._note_lines, self._brackets = _note_opened(line), 0, 0
        if not self._note:
            return "note" if "[" in line and _VARIANT.search(line) else ""
        self._note_lines += 1
        self._brackets += line.count("[") - line.count("]")
        if self._note != "paragraph" and (self._brackets <= 0 or self._note_is_too_long(line)):
            self._note = ""
        return "note"

    def _note_is_too_long(self, line: str) -> bool:
        if self._note == "direction":
            return line[-1] in ".!?" or self._note_lines >= _LONGEST_DIRECTION
        return self._note_lines >= _LONGEST_NOTE


def _is_credit(line: str) -> bool:
    lowered = line.lower()
    return any(words in lowered for words in _CREDITED) or bool(_CREDITS.match(line))


def _note_opened(line: str) -> str:
    """The kind of note that begins with this line: it ends with its bracket, its paragraph or its sentence."""
    if _NAMED_NOTE.match(line):
        return "bracket" if "[" in line else "paragraph"
    if _MARKED_NOTE.match(line):
        return "paragraph"
    # A bracket that closes before more text is an editor's insertion into a line of the text.
    return "direction" if line.startswith("[") and not _INSERTION.match(line) else ""


def _is_entry(line: str) -> bool:
    """Whether a line can stand in a table of contents: short, and no sentence."""
    return len(line.split()) <= MOST_HEADING_WORDS and (
        bool(_LEADERS.search(line)) or is_heading(line) or line[-1] not in ".!?,;:\"'”’"
    )
