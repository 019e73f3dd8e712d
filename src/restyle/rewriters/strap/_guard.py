"""What is not rewritten, and what no rewrite may have: the rules that a reader would apply at first sight."""

from __future__ import annotations

import re
from enum import StrEnum

from restyle.text.clean import clean
from restyle.text.sentences import sentence_spans


class Flag(StrEnum):
    """Why a text came back as it was, or what is to be looked at in its rewrite."""

    EMPTY = "empty"
    NO_WORDS = "no words"
    FOREIGN = "not English"
    TOO_LONG = "too long"
    NO_OUTPUT = "no output"
    # From here on there is a rewrite.
    IN_PARTS = "in parts"
    NEGATION = "negation changed"
    LOST = "lost"


# With these flags a text came back as it was.
AS_IT_WAS = (Flag.EMPTY, Flag.NO_WORDS, Flag.FOREIGN, Flag.TOO_LONG, Flag.NO_OUTPUT)

_LETTERS = re.compile(r"[^\W\d_]{2}|\b[IaAO]\b")
# The same three words again at once and again, one word four times, one letter ten times.
_LOOP = re.compile(r"\b(\w+(?:\W+\w+){2,7})(?:\W+\1\b){2,}|\b(\w+)(?:\W+\2\b){3,}|([^\W\d])\3{9,}", re.IGNORECASE)
_MARKUP = re.compile(r"<[|/]?\w+\|?>|\[/?[A-Z]+\]|\ufffd")
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|nay|nought|naught|hardly|scarcely)\b|n't\b",
    re.IGNORECASE,
)
# A rewrite with so few words for each of its text has lost its end ("What do you?" for "What do you want from me?").
# Of the published STRAP's outputs on CDS one in ten is so short, and few of those say what their input does.
_SHRUNK = 0.58
# One with fewer sentences and so few words has lost a sentence, and has not joined two: of what was said in several
# short ones, a style that was learned from single sentences keeps the first.
_DROPPED = 0.8
# One with so many has made something up ("How are you, my lord?" for "How now?"): on 300 valid sentences of Shakespeare
# the similarity to the input is 0.65 on average, and 0.45 beyond this.
_GROWN = 1.8
# The same words again at once: "how now, how now". Within a clause one word may stand twice ("had had"), two may not.
_AGAIN = re.compile(r"\b(\w+(?:\W+\w+){1,4})\W+\1\b|\b(\w+)[^\w\s]+\s+\2\b", re.IGNORECASE)

# What is called out before anything is said.
_CALL = re.compile(
    r"\W*(?:(?:a[hy]e?|al(?:as|ack)|fie|ha|hark|hey|hie|hoh?|lo|nay|oh?|yea|yes)\b|(?:come|now|so|then|well|what|why),)",
    re.IGNORECASE,
)


def unfit(text: str, subwords: int, most: int) -> Flag | None:
    """Why a sentence is not rewritten; None when it is."""
    if not clean(text):
        return Flag.EMPTY
    if not has_words(text):
        return Flag.NO_WORDS
    return Flag.TOO_LONG if subwords > most else None


def has_words(text: str) -> bool:
    """Whether there is anything in a text that could be said in another way."""
    return bool(_LETTERS.search(text))


def broken(text: str, before: str = "") -> bool:
    """Whether a rewrite says nothing, goes round in circles, or holds mark-up, where the text before it does not."""
    return not has_words(text) or any(
        pattern.search(text) and not pattern.search(before) for pattern in (_LOOP, _MARKUP)
    )


def turned(before: str, after: str) -> bool:
    """Whether one side denies something and the other nothing."""
    return bool(_NEGATION.search(before)) != bool(_NEGATION.search(after))


def shrunk(before: str, after: str) -> bool:
    """Whether a rewrite is so much shorter that something must be missing."""
    return length_ratio(before, after) < _SHRUNK


def dropped(before: str, after: str) -> bool:
    """Whether one of several sentences is missing."""
    return length_ratio(before, after) < _DROPPED and _sentences(after) < _sentences(before)


def grown(before: str, after: str) -> bool:
    """Whether a rewrite is so much longer that something must be made up."""
    return length_ratio(before, after) > _GROWN


def stammers(before: str, after: str) -> bool:
    """Whether a rewrite says a thing twice at once, where the text before it does not."""
    return bool(_AGAIN.search(after)) and not _AGAIN.search(before)


def calls(before: str, after: str) -> bool:
    """Whether a rewrite calls out before it begins, where the text does not.

    It is the cheapest way into an old style ("Ay, no." for "No."), and judges like it more than readers do.
    """
    return bool(_CALL.match(after)) and not _CALL.match(before)


def faults(before: str, after: str) -> int:
    """How much a reader would find wrong with a rewrite, beside what was to be kept."""
    return sum(look(before, after) for look in (turned, shrunk, dropped, grown, stammers))


def _sentences(text: str) -> int:
    return sum(1 for _ in sentence_spans(text))


def length_ratio(before: str, after: str) -> float:
    """Words of the one for each word of the other, one added to either side."""
    return (len(after.split()) + 1) / (len(before.split()) + 1)
