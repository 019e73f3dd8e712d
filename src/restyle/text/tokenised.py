"""Back from tokenised text (`` do n't , '' Penn Treebank, NLTK, Moses) to ordinary text.

The way there is `tokenised_styles.tokenise`. One sentence at a time: nothing here looks past a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# A token clings to the one before it, to the one after it, to both or to none.
Cling = tuple[bool, bool]
_NONE, _BEFORE, _AFTER, _BOTH = (False, False), (True, False), (False, True), (True, True)

_SET_APART = re.compile(
    r"""
    [^ ]\ (?: (?:[!?]+|[,;:)%])['"]? | \.{1,2} | n't | '(?:[smd]|re|ve|ll|t)? | '' | " )(?![^ ])  # from the word before
    | (?<![^ ])(?: `` | ` | ["'(] | [$£€₹](?=\ [0-9_]) )\                              # from the word after
    | (?<![^ ])(?: gon\ na | wan\ na | got\ ta | gim\ me | lem\ me | 't\ (?:is|was) )(?![^ ])
    | -[LR][RSC]B- | @[-/.,:]@
    """,
    re.VERBOSE | re.IGNORECASE,
)


def looks_tokenised(text: str) -> bool:
    """Whether a tokeniser set marks or parts of words apart: ` ,`, ` n't`, `` `` ``, `-LRB-`, `@-@` ….

    Text without any such sign is what it is either way.

    >>> looks_tokenised("i 'm sure ."), looks_tokenised("I'm sure.")
    (True, False)
    """
    return _SET_APART.search(text) is not None


def detokenise(text: str) -> str:
    r"""Ordinary text from tokenised text: marks cling to their words, contractions are whole, quotes are straight.

    Capitals stay as they are, since none can be known. Dashes and slashes between spaces stay there too: nothing says
    that they were tight before.

    >>> detokenise("`` i do n't , '' she said ( twice ) , `` owe you $ 5 . ''")
    '"i don\'t," she said (twice), "owe you $5."'
    """
    tokens = _MOSES_JOINED.sub(r"\1", _unescaped(text)).split()
    tokens = [_BRACKETS.get(token.upper(), token) if token[0] == "-" else token for token in tokens]
    tokens = _without_doubled_quotes(tokens)
    clings = [_NONE] * len(tokens)
    for place, token in enumerate(tokens):
        if not token.isalnum() or token.lower() in _SECOND_HALVES:
            clings[place] = _cling_of(tokens, place)
    for place, cling in _double_quotes(tokens):
        clings[place] = cling
    for place, cling in _single_quotes(tokens):
        clings[place] = cling
    return "".join(_joined(tokens, clings))


def _joined(tokens: Sequence[str], clings: Sequence[Cling]) -> Iterator[str]:
    tight = True  # nothing stands before the first token
    before = ""
    for token, (to_before, to_after) in zip(tokens, clings, strict=True):
        # The stop after an abbreviation was doubled (`etc. .`).
        if not (token == "." and _ABBREVIATED.fullmatch(before)):
            if not (tight or to_before):
                yield " "
            yield _QUOTES.get(token, token)
            tight = to_after
        before = token


# --- what tokenisers write for marks ---------------------------------------------------------------------------------

# tokenizer.perl of Moses escapes what its decoder reads as syntax.
MOSES_ESCAPES = {
    "&": "&amp;",
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    "[": "&#91;",
    "]": "&#93;",
}
_ESCAPE = re.compile("|".join(MOSES_ESCAPES.values()))
_UNESCAPE = {escape: character for character, escape in MOSES_ESCAPES.items()}
_MOSES_JOINED = re.compile(r"(?: |^)@([-/.,:])@(?: |$)")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_QUOTES = {"``": '"', "''": '"', "`": "'"}
_ABBREVIATED = re.compile(r"[A-Za-z.]*[A-Za-z]\.")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda escape: _UNESCAPE[escape[0]], text) if "&" in text else text


def _without_doubled_quotes(tokens: list[str]) -> list[str]:
    """A quote inside a quoted CSV cell is doubled; tokenised, `""so""` reads `'' `` so '' ''`."""
    kept: list[str] = []
    opened = doubled = False
    for token in tokens:
        before = kept[-1] if kept else ""
        opened = opened or before == "``"
        if token == "``" and before == "''" and opened:
            kept[-1] = token
            doubled = True
        elif token == before == "''" and doubled:
            doubled = False
        else:
            kept.append(token)
    return kept


# --- marks and parts of words ----------------------------------------------------------------------------------------

_CLOSING = re.compile(r"(?:[.!?…]+|[,;:)\]}])['\"]?")
_OPENING = frozenset("([{¿¡")
_PRICED = frozenset("$£€₹#")
_NUMBER = re.compile(r"[.,]?\d[\d.,:/-]*|_num_")
_CONTRACTED = frozenset(["n't", "'s", "'m", "'d", "'re", "'ve", "'ll"])
_HALVES = {
    ("gon", "na"), ("wan", "na"), ("got", "ta"), ("gim", "me"), ("lem", "me"), ("can", "not"), ("d", "'ye"),
    ("more", "'n"),
}  # fmt: skip
_SECOND_HALVES = frozenset(second for _, second in _HALVES)
# Moses cuts before any apostrophe inside a word: o 'clock, ma 'am, y 'all, ne 'er.
_BEFORE_APOSTROPHE = frozenset(["o", "ma", "y", "d", "l", "e", "ne", "c", "j", "qu"])
_TIS = frozenset(["is", "was", "were", "will", "would", "isn't", "wasn't"])
_NEGATED = re.compile(r"(?:is|was|are|were|do|does|did|has|have|had|ca|wo|sha|could|would|should|might|must|need|ai)n")


def _cling_of(tokens: Sequence[str], place: int) -> Cling:
    """How a mark or a part of a word clings; quotation marks are seen to by `_double_quotes` and `_single_quotes`."""
    token = tokens[place].lower()
    before = tokens[place - 1].lower() if place else ""
    after = tokens[place + 1].lower() if place + 1 < len(tokens) else ""
    if _CLOSING.fullmatch(token):
        return _smiley(token, after, tokens, place) or (_BEFORE if before else _NONE)
    if token in _OPENING:
        return _AFTER
    if token in _PRICED:
        return _AFTER if _NUMBER.match(after) else _NONE
    if token == "%":
        return _BEFORE if _NUMBER.search(before) else _NONE
    if token == "'t":
        return _AFTER if after in _TIS and not _NEGATED.fullmatch(before) else _BEFORE
    if token in _CONTRACTED and before:
        return _BEFORE
    if (before, token) in _HALVES or (token[0] == "'" and len(token) > 1 and before in _BEFORE_APOSTROPHE):
        return _BEFORE
    return _NONE


def _smiley(token: str, after: str, tokens: Sequence[str], place: int) -> Cling | None:
    """`: )` is a face, unless a bracket waits to be closed."""
    if token in (":", ";") and after == ")" and "(" not in tokens[max(0, place - 40) : place]:
        return _AFTER
    return None


# --- quotation marks -------------------------------------------------------------------------------------------------

_SPEECH = {
    "said", "says", "say", "saying", "quoth", "cried", "cries", "crying", "asked", "asks", "asking", "replied",
    "replies", "answered", "thought", "thinks", "shouted", "shouts", "shouting", "told", "tells", "telling", "wrote",
    "writes", "writing", "called", "calls", "calling", "whispered", "added",
}  # fmt: skip


def _double_quotes(tokens: Sequence[str]) -> Iterator[tuple[int, Cling]]:
    """Each double quote that stands alone, as an opening or a closing one."""
    marks = [(place, kind) for place, token in enumerate(tokens) if (kind := _kind_of_quote(token))]
    is_open = False
    for number, (place, kind) in enumerate(marks):
        alone = len(tokens[place]) == 1 or tokens[place] in _QUOTES
        following = marks[number + 1][1] if number + 1 < len(marks) else None
        if kind == "unknown":
            kind = "close" if is_open else _guessed(tokens, place, following)
        is_open = kind == "open"
        if alone:
            yield place, _AFTER if is_open else _BEFORE if place else _NONE


def _kind_of_quote(token: str) -> str | None:
    if token == "``":
        return "open"
    if token in ('"', "''"):
        return "unknown"
    if '"' not in token or (token[0] == '"' and token[-1] == '"'):
        return None
    return "open" if token[0] == '"' else "close" if token.rstrip(",.;:!?)")[-1:] == '"' else None


def _guessed(tokens: Sequence[str], place: int, following: str | None) -> str:
    """What a quote is when none is open: a sentence cut out of a longer quotation keeps only one half of its marks."""
    if place in (0, len(tokens) - 1):
        return "open" if place == 0 else "close"
    before, after = tokens[place - 1][-1], tokens[place + 1]
    if before in ",.?!" and not _SPEECH.isdisjoint(token.lower() for token in tokens[place + 1 : place + 3]):
        return "close"
    if following:
        return "close" if following == "open" else "open"
    if before == "," and tokens[place - 2].lower() in _SPEECH:
        return "open"
    if before in ".?!" or after in (".", ",", "?", "!", ";", ":"):
        return "close"
    if tokens[place - 1].lower() in _BEFORE_QUOTES:
        return "close" if before == "," and after[0].islower() else "open"
    return "close" if place == 1 else "open"


# Words that end in an apostrophe for a letter left out; those in -in' and possessives in -s' need no list.
_ELIDED_ENDS = {"o", "i", "th", "t", "an", "wi", "ha", "ol", "a", "d", "sha", "gi", "lil"}
_ELIDED_STARTS = {
    "em", "tis", "twas", "twere", "twill", "til", "till", "cause", "bout", "gainst", "round", "neath", "n",
}  # fmt: skip
_BEFORE_QUOTES = _SPEECH | {",", ":", "(", '"', "``", "the", "a", "of", "by", "to", "with", "as", "is"}
_NO_POSSESSIVES = _SPEECH | {"is", "this", "as", "was", "has", "does", "its", "us", "means", "sings", "in", "begin"}
_AFTER_APOSTROPHE = frozenset(["s", "t", "m", "d", "re", "ve", "ll"])


def _single_quotes(tokens: Sequence[str]) -> Iterator[tuple[int, Cling]]:
    """Each single quote that stands alone, as a quotation mark or an apostrophe."""
    places = [place for place, token in enumerate(tokens) if token in ("'", "`")]
    is_open = False
    for number, place in enumerate(places):
        before = tokens[place - 1].lower() if place else ""
        after = tokens[place + 1].lower() if place + 1 < len(tokens) else ""
        inside = _inside_a_word(before, after)
        if inside:
            yield place, inside
        elif tokens[place] == "`" or _opens(before, after, is_open, last=number == len(places) - 1):
            is_open = True
            yield place, _AFTER
        else:
            is_open = is_open and _clipped(before)
            yield place, _BEFORE if before else _NONE


def _inside_a_word(before: str, after: str) -> Cling | None:
    if _NUMBER.fullmatch(before) and _NUMBER.match(after):  # 5 ' 2, in feet and inches
        return _BOTH
    if before.isalpha() and after in _AFTER_APOSTROPHE:
        return _BOTH
    return _AFTER if after in _ELIDED_STARTS else None


def _opens(before: str, after: str, is_open: bool, last: bool) -> bool:
    if not before or not after:
        return not before
    if is_open or _clipped(before):
        return False
    return not last or before in _BEFORE_QUOTES


def _clipped(before: str) -> bool:
    """Whether a word looks cut short by the apostrophe after it: th ', friggin ', students '."""
    if before in _NO_POSSESSIVES or "'" in before:
        return False
    return before in _ELIDED_ENDS or before.endswith(("s", "in", "z"))
