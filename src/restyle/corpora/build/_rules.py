"""The rules that keep a sentence or drop it, each on its own line of the report."""

from __future__ import annotations

import re

from restyle.corpora.build._settings import BuildSettings
from restyle.text.clean import clean

# Every reason for which a piece of the input is not in the corpus, in the order in which they are tried.
REASONS = {
    "unreadable": "a line or a record that could not be read, passed over with --on-error skip",
    "boilerplate": "Project Gutenberg's header, footer and licence; credits",
    "contents": "a table of contents or a list of illustrations",
    "page number": "a page's number",
    "note": "a transcriber's or editor's note, a footnote, a caption, a stage direction",
    "markup": "a block of code, a table or a rule in Markdown",
    "heading": "a heading or a speaker's name",
    "little text": "mostly signs and digits",
    "too short": "fewer words than min_words",
    "too long": "more words than max_words",
    "wrong language": "surely in another language",
    "set aside": "holds, or is held by, a sentence that no training may see",
    "duplicate": "the same words as an earlier sentence of its style",
    "near duplicate": "nearly the same words as an earlier sentence of its style",
}

# Longer than any sentence that could be kept: not worth cleaning first.
_LONGEST_WORD = 60

# [12], [A], [*], [Pg 12], {12}: marks of notes and pages within a line.
_MARKS = re.compile(r"\s?[\[{](?:(?:Pg|Page|p\.)\s*)?(?:\d{1,4}|[*†‡§]|\^\w+|(?<=\w.)[A-Z])[\]}]")
_LINE_NUMBER = re.compile(r"(?<=\S)\s{3,}\d{1,4}\s*$")  # of verse, set at the margin
_ITALICS = re.compile(r"(?<![^\W_])_(?=\S)([^_]*\S)_(?![^\W_])")
# Chinese and Japanese characters are words of their own, since no spaces stand between words.
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?:[^\W{_CJK}]|['’\-.](?=\w))*")
_CONTRACTIONS = ("'tis", "'twas", "'twill", "'twere", "'twould", "'em", "'t", "'gainst", "'mid", "'neath", "'till")


def word_count(text: str) -> int:
    """How many words a sentence has.

    >>> word_count("Well -- I don't know, Mr. Gray."), word_count("吾輩は猫である")
    (6, 7)
    """
    return len(_WORDS.findall(text))


def tidy(text: str) -> str:
    """A sentence as ordinary text: no marks of notes, pages and italics, cleaned, no half of a pair of quotes.

    >>> tidy('_Never_[12] again," he said.')
    'Never again, he said.'
    """
    if "[" in text or "{" in text:
        text = _MARKS.sub("", text)
    if "_" in text:
        text = _ITALICS.sub(r"\1", text)
    return _without_half_quotes(clean(_LINE_NUMBER.sub("", text)))


def _without_half_quotes(text: str) -> str:
    """A sentence cut out of a longer speech, without the quote that opens or closes the speech."""
    if text.count('"') == 1:
        text = text.replace('"', "") if text[:1] == '"' or text[-1:] == '"' or '," ' in text else text
    if text[:1] == "'" and text[1:2].isalpha() and not re.search(r"[^\s']'(?!\w)", text):
        text = text if text.lower().startswith(_CONTRACTIONS) else text[1:]
    elif text[-1:] == "'" and text[-2:-1] in tuple(".,;:!?-") and not re.search(r"(?<![\w.,;:!?])'\w", text):
        text = text[:-1]
    return text.strip()


def reason_to_drop(text: str, settings: BuildSettings) -> str:
    """Why a tidied sentence is not kept for its own sake, or ""; other sentences play no part in it."""
    characters = len(text) - text.count(" ")
    letters = sum(map(str.isalpha, text))
    words = word_count(text)
    if letters and words < settings.min_words:
        return "too short"
    if not letters or letters < settings.min_letters * characters:
        return "little text"
    return "too long" if words > settings.max_words else ""


def is_hopeless(text: str, settings: BuildSettings) -> bool:
    """Whether a piece is too long in any case, so that cleaning it (10 MB without a full stop) would be wasted."""
    return len(text) > settings.max_words * _LONGEST_WORD
