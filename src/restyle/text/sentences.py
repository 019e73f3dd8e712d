"""Where one sentence of English ends and the next begins.

A rule for every kind of full stop, no model: titles, initials, abbreviations, numbers, ellipses, quoted speech.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; a blank line always ends one, a single line break never does.

    >>> sentences('"Well?" asked Mr. J. R. Hale. He paid $3.14, e.g. for tea. "Stop!" I cried.')
    ['"Well?" asked Mr. J. R. Hale.', 'He paid $3.14, e.g. for tea.', '"Stop!" I cried.']
    """
    return [
        " ".join(paragraph[start:end].split())
        for paragraph in _BLANK_LINE.split(text)
        for start, end in sentence_spans(paragraph)
    ]


def sentence_spans(paragraph: str) -> Iterator[Span]:
    """Start and end of each sentence of one paragraph; only white space lies between them."""
    start = _GAP.match(paragraph).end()  # type: ignore[union-attr]  # it matches anything, the empty string too
    # Where nobody uses capitals, a small letter may begin a sentence.
    lower = paragraph == paragraph.lower()
    for stop in _STOP.finditer(paragraph):
        gap = _GAP.match(paragraph, stop.end())
        if gap is None or gap.end() == len(paragraph):
            break
        if stop["wide"] or (gap[0] and _ends(paragraph, start, stop, gap.end(), lower)):
            yield start, stop.end()
            start = gap.end()
    end = len(paragraph.rstrip())
    if start < end:
        yield start, end


_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)\s*")
_GAP = re.compile(r"\s*+")
# A run of stops with the quotes, brackets, emphasis and footnote numbers that close after it. Chinese and Japanese
# stops (`wide`) want no space. The possessive `++` keeps a million dots from being tried a million times over.
_STOP = re.compile(r"""(?:(?P<marks>[.!?…؟।]++)|(?P<wide>[。！？]++))(?P<closers>(?:["'”’»)\]}*_~]|\[\d{1,3}\])*+)""")
_NEXT = re.compile(r"""["'“”‘«(\[{*_~¿¡—–-]*+[ ]?(?P<word>[^\W_][\w'’]*+)?""")


def _ends(text: str, start: int, stop: re.Match[str], after: int, lower: bool) -> bool:
    """Whether a sentence that began at `start` ends at these marks, when the next word begins at `after`."""
    following = _NEXT.match(text, after)
    word = (following and following["word"]) or ""
    if not word:
        return text[after] not in ".!?…,;:)"
    if word[0].islower() and not lower:
        return False
    marks, closers = stop["marks"], stop["closers"]
    if marks != ".":
        if closers and closers[-1] in "\"'”’" and _SPEECH_TAG.match(text, after):
            return False
        # After an ellipsis, "I" says nothing: it has its capital anywhere. A fourth dot is a full stop.
        return bool(marks.strip(".…")) or len(marks) > 3 or word.split("'")[0].split("’")[0] != "I"
    if closers:
        return True
    earlier, before = _words_before(text, start, stop.start())
    if before == "I":  # "so do I." ends, "Hidy, G., I. Tombach" does not
        return earlier.islower()
    return _full_stop(before, word, begins=stop.start() - len(before) == start)


# `"Stop!" Tom Hale cried`: the quoted exclamation is not the end. A capital pronoun does begin a sentence there.
_SPEECH_TAG = re.compile(
    r"(?:I|(?!(?:He|She|They|It|We|You|The|A|Then|And|But)\b)[A-Z][\w'’-]*+\.?(?: [A-Z][\w'’-]*+\.?){0,2})\s"
    r"(?:said|says|asked|asks|cried|cries|replied|replies|answered|answers|exclaimed|shouted|whispered|murmured|"
    r"muttered|began|called|screamed|repeated|returned|continued|added|remarked|observed|demanded|inquired)\b"
)
_LONGEST_WORDS = 40


def _words_before(text: str, start: int, end: int) -> tuple[str, str]:
    """The two words that a full stop follows, the last without what opens before it; tails only, if they are long."""
    words = text[max(start, end - _LONGEST_WORDS) : end].split()
    if not words or text[end - 1].isspace():
        return "", ""
    return "".join(words[-2:-1]), words[-1].lstrip("\"'“‘«([{*_~—–-")


def _full_stop(before: str, word: str, begins: bool) -> bool:
    """Whether a single full stop between these two words ends the sentence."""
    known = before.lower()
    starter = word.lower() in _STARTERS
    if begins and ((before.isdigit() and len(before) < 4) or _ROMAN.fullmatch(before)):  # `1. Wash the rice.`
        return False
    if known in _TITLES or known in _NEVER_LAST:
        return False
    if known in _BEFORE_NUMBERS:
        return not (word[0].isdigit() or (word != "I" and _ROMAN.fullmatch(word)))
    if len(before) == 1 and before.isalpha():
        return starter
    if known in _MAY_BE_LAST or _ACRONYM.fullmatch(before):
        return starter
    return True


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


_ROMAN = re.compile(r"[IVXLC]+|[ivxlc]+")
_ACRONYM = re.compile(r"(?:[A-Za-z]{1,2}\.)+[A-Za-z]{1,2}")
# A name follows.
_TITLES = _words(
    "mr mrs ms dr prof rev fr gen brig col maj capt cpt cmdr lt sgt cpl pvt adm sen rep gov pres hon messrs mme mlle "
    "supt insp det amb atty mgr rt"
)
_NEVER_LAST = _words("e.g i.e eg ie cf viz vs al ca approx")
# Followed by a number they are not the end; otherwise they are words ("No.", "in May.").
_BEFORE_NUMBERS = _words(
    "no nos vol vols ch chap fig figs sec secs sect art eq pp pg par pt op jan feb mar apr jun jul aug sep sept oct "
    "nov dec may psalm matt exod lev deut rom cor"
)
# The end only if a word follows that begins sentences more often than names.
_MAY_BE_LAST = _words(
    "st mt ft jr sr inc ltd co corp bros dept univ assn est esq ave blvd rd hwy tel ext hr hrs lb lbs oz tbsp tsp misc "
    "eds trans illus ariz calif conn fla mich minn penn tenn tex va"
)
_STARTERS = _words(
    "the a an this that these those it he she they we you i there here then what who whom whose why how where when "
    "while if in on at by for from with without but and or nor so yet as after before since although though because "
    "until unless once my his her its our their your mine one some many most all both each every no not never now "
    "however moreover therefore thus still also instead meanwhile perhaps maybe to do does did is are was were have "
    "has had can could will would shall should may might must let please it's he's she's i'm i've i'll that's there's "
    "don't didn't under over during despite such another other nothing nobody everyone everything"
)
