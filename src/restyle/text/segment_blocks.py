"""The blocks of a document, line by line: paragraphs of prose, and everything between them that is not prose."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a piece of a document is."""

    SENTENCE = "sentence"
    SPACE = "space"  # between sentences and blocks
    HEADING = "heading"
    CODE = "code"  # a block of it, or `inline`
    LINK = "link"  # an address, a link with its text, an image, a reference
    MARKUP = "markup"  # markers of lists and emphasis, rules, tags, comments
    QUOTE = "quote"  # a block quote: somebody else's words
    TABLE = "table"
    FRONT_MATTER = "front matter"


class Block(NamedTuple):
    """Some lines (or the marker that begins one); `Kind.SENTENCE` is a paragraph that is yet to be split."""

    kind: Kind
    text: str


LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")


def blocks(document: str, markdown: bool) -> list[Block]:
    """The blocks of a document, in order; joined they are the document. Time grows with its length alone."""
    return _Scanner(LINE.findall(document), markdown).scan()


def looks_like_markdown(document: str) -> bool:
    """Whether a document shows a sign of Markdown that plain text hardly has."""
    return _MARKDOWN_SIGN.search(document) is not None


_MARKDOWN_SIGN = re.compile(
    r"^\#{1,6}[ ]\S | ^(?:```|~~~) | \A---\r?\n | \]\( | ^[ ]{0,3}\[[^\]\r\n]++\]:[ ] | \*\*[^\s*] | (?<!`)`[^`\s]"
    r"[^`\r\n]*+` (?!`) | ^\|[^\r\n]*\|\s*?$ | ^={3,}\s*?$ | <!--",
    re.VERBOSE | re.MULTILINE,
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^\r\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_QUOTE = re.compile(r" {0,3}>")
_MARKER = re.compile(r"([ \t]*)(?:[-*+•‣◦]|(\d{1,9})[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]\r\n]+\]:[ \t]*\S")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\[\]\s]+\]:[ \t]*(?=\S)")
_INDENTED = re.compile(r" {4}|\t")
_HTML = re.compile(
    r" {0,3}(?:<!--|<[?!]|</?(?:address|article|aside|blockquote|body|center|details|dialog|dd|div|dl|dt|fieldset|"
    r"figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|li|link|main|menu|nav|ol|p|picture|pre|script|"
    r"section|style|summary|svg|table|tbody|td|textarea|tfoot|th|thead|tr|ul|video)(?:[\s/>]|$))",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"\s*(?:chapter|part|book|act|scene|section|appendix|canto|volume|stave)\s+[\w.-]+\W*$", re.IGNORECASE
)
_LONGEST_TITLE = 70


class _Scanner:
    """Reads the lines from top to bottom; each rule takes the lines that are its own, and says whether it took any."""

    def __init__(self, lines: list[str], markdown: bool) -> None:
        self._lines = lines
        self._at = 0
        self._found: list[Block] = []
        self._paragraph: list[str] = []
        self._in_list = False
        self._rules: tuple[Callable[[str], bool], ...] = (self._rule, self._list_item, self._quote)
        if markdown:
            self._rules = (
                self._fence, self._heading, self._underline, self._rule, self._indented_code, self._list_item,
                self._quote, self._table, self._html, self._definition,
            )  # fmt: skip
        self._markdown = markdown

    def scan(self) -> list[Block]:
        if self._markdown:
            self._front_matter()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            # No rule takes a line that begins with a letter, but a table's, so that most lines need not be asked about.
            if not (line[0].isalpha() and "|" not in line) and self._taken(line):
                continue
            if not (self._paragraph or line[0] in " \t"):
                self._in_list = False
            self._paragraph.append(line)
            self._at += 1
        self._end_paragraph()
        return self._found

    def _taken(self, line: str) -> bool:
        return self._blank(line) or any(rule(line) for rule in self._rules)

    def _take(self, kind: Kind, until: int) -> bool:
        """A block of the lines from here to before `until`."""
        self._end_paragraph()
        self._found.append(Block(kind, "".join(self._lines[self._at : until])))
        self._at = until
        return True

    def _take_until(self, kind: Kind, is_last: Callable[[str], bool]) -> bool:
        """A block that goes on to the first later line that ends it, or to the end of the document."""
        until = self._at + 1
        while until < len(self._lines) and not is_last(self._lines[until]):
            until += 1
        return self._take(kind, min(until + 1, len(self._lines)))

    def _take_while_filled(self, kind: Kind) -> bool:
        until = self._at
        while until < len(self._lines) and not self._lines[until].isspace():
            until += 1
        return self._take(kind, until)

    def _end_paragraph(self) -> None:
        if not self._paragraph:
            return
        alone = len(self._paragraph) == 1 and (not self._found or self._found[-1].kind is Kind.SPACE)
        kind = Kind.HEADING if not self._markdown and alone and _is_title(self._paragraph[0]) else Kind.SENTENCE
        self._found.append(Block(kind, "".join(self._paragraph)))
        self._paragraph = []

    def _blank(self, line: str) -> bool:
        if not line.isspace():
            return False
        until = self._at + 1
        while until < len(self._lines) and self._lines[until].isspace():
            until += 1
        return self._take(Kind.SPACE, until)

    # --- the rules, in the order in which Markdown tries them ---------------------------------------------------------

    def _front_matter(self) -> None:
        fence = self._lines[0].rstrip() if self._lines else ""
        if fence not in ("---", "+++") or len(self._lines) < 3 or not re.search("[:=]", self._lines[1]):
            return
        for number, line in enumerate(self._lines[1:], start=1):
            if line.rstrip() in (fence, "..."):
                self._take(Kind.FRONT_MATTER, number + 1)
                return

    def _fence(self, line: str) -> bool:
        opening = _FENCE.match(line)
        if not opening or (opening[1][0] == "`" and "`" in opening[2]):
            return False

        def closes(later: str) -> bool:
            bare = later.strip()
            return len(bare) >= len(opening[1]) and bare.strip(opening[1][0]) == "" and not _INDENTED.match(later)

        return self._take_until(Kind.CODE, closes)

    def _heading(self, line: str) -> bool:
        return bool(_HEADING.match(line)) and self._take(Kind.HEADING, self._at + 1)

    def _underline(self, line: str) -> bool:
        """`===` or `---` under a paragraph makes a heading of it, but `---` under a list item is a rule."""
        if not self._paragraph or not _UNDERLINE.match(line):
            return False
        if self._in_list or len(self._paragraph) > 3:
            return False
        title = "".join(self._paragraph)
        self._paragraph = []
        self._found.append(Block(Kind.HEADING, title + line))
        self._at += 1
        return True

    def _rule(self, line: str) -> bool:
        if line.lstrip(" ")[:1] not in ("-", "*", "_"):
            return False
        bare = "".join(line.split())
        return len(bare) >= 3 and not bare.strip(bare[0]) and self._take(Kind.MARKUP, self._at + 1)

    def _indented_code(self, line: str) -> bool:
        if self._paragraph or self._in_list or not _INDENTED.match(line):
            return False
        until = self._at
        while until < len(self._lines) and _INDENTED.match(self._lines[until]) and not self._lines[until].isspace():
            until += 1
        return self._take(Kind.CODE, until)

    def _list_item(self, line: str) -> bool:
        marker = _MARKER.match(line)
        if not marker or (len(marker[1].expandtabs(4)) > 3 and not self._in_list):
            return False
        # In the middle of a paragraph, `1986. ` is the end of a sentence about that year.
        if marker[2] and marker[2] != "1" and self._paragraph and not self._in_list:
            return False
        self._begin_after(marker)
        self._in_list = True
        return True

    def _quote(self, line: str) -> bool:
        return bool(_QUOTE.match(line)) and self._take_while_filled(Kind.QUOTE)

    def _table(self, line: str) -> bool:
        if "|" not in line or self._at + 1 >= len(self._lines):
            return False
        under = self._lines[self._at + 1].strip()
        if "-" not in under or "|" not in under or under.strip("|-: \t"):
            return False
        return self._take_while_filled(Kind.TABLE)

    def _html(self, line: str) -> bool:
        if not _HTML.match(line):
            return False
        if line.lstrip().startswith("<!--"):
            if "-->" in line:
                return self._take(Kind.MARKUP, self._at + 1)
            return self._take_until(Kind.MARKUP, lambda later: "-->" in later)
        return self._take_while_filled(Kind.MARKUP)

    def _definition(self, line: str) -> bool:
        if _DEFINITION.match(line):
            return self._take(Kind.LINK, self._at + 1)
        if footnote := _FOOTNOTE.match(line):
            self._begin_after(footnote)
            return True
        return False

    def _begin_after(self, marker: re.Match[str]) -> None:
        """A marker, and a paragraph that begins behind it."""
        self._end_paragraph()
        self._found.append(Block(Kind.MARKUP, marker[0]))
        self._paragraph = [self._lines[self._at][marker.end() :]]
        self._at += 1


def _is_title(line: str) -> bool:
    """Whether a line that stands alone in plain text is a title, such as `CHAPTER II` or `THE SEA`."""
    if len(line) > _LONGEST_TITLE:
        return False
    return bool(_TITLE.match(line)) or (line.isupper() and line.rstrip()[-1:] not in "!?\"'”’")
