"""From ordinary text to tokenised text, for systems that were trained on it.

Four styles, each undone by `tokenised.detokenise`:

    ptb      Penn Treebank as NLTK writes it    He said , `` I do n't . ''
    yelp     ptb, lower case, numbers masked    he said , `` i do n't , _num_ times . ''
    spaced   marks alone are set apart (plays)  He said , "I don't."
    moses    tokenizer.perl -a of Moses         He said , &quot; I don &apos;t . &quot;

As those tokenisers do, they take one sentence: a full stop is set apart only at the end of the text. Unlike NLTK, none
cuts what has no space in it (a@b.c, and/or, friend(s), #tag), since that could not be put together again; Moses does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, get_args

from restyle.errors import UnknownName
from restyle.text.tokenised import MOSES_ESCAPES

Style = Literal["ptb", "yelp", "spaced", "moses"]


def tokenise(text: str, style: Style = "ptb") -> str:
    """Ordinary text with its tokens apart, a space between each two.

    >>> tokenise("I can't, it's $5.")
    "I ca n't , it 's $ 5 ."
    >>> tokenise("I can't, it's $5.", "moses")
    'I can &apos;t , it &apos;s $ 5 .'
    """
    if style not in _TOKENISERS:
        raise UnknownName("tokenisation style", style, get_args(Style))
    return " ".join(_TOKENISERS[style](text))


# --- Penn Treebank ---------------------------------------------------------------------------------------------------

_HALVED = {
    "cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "gimme": 3, "lemme": 3, "'tis": 2, "'twas": 2, "d'ye": 1,
    "more'n": 4,
}  # fmt: skip
_CONTRACTION = re.compile(r"(?:n't|'(?:s|m|d|re|ve|ll))$", re.IGNORECASE)
_DASHES = re.compile(r"(--+|—)")
_FACE = re.compile(r"[:;=8][-o']?[)(DPp/|\\\]\[]+|<3")
# What is longer is no word, and taking its marks off one by one would take for ever.
_LONGEST_WORD = 1000
# Four dots end a sentence after an ellipsis.
_DOTS = re.compile(r"(?<!\.)(?:\.{2,3}|\.{5,})$")
_NUMBER_START = re.compile(r"\d|_num_")
_NUMBER_END = re.compile(r".*(?:\d|_num_)$")


def _ptb(text: str) -> list[str]:
    words = _DASHES.sub(r" \1 ", text).split()
    tokens: list[str] = []
    for place, word in enumerate(words):
        if (word.isalpha() and word.lower() not in _HALVED) or len(word) > _LONGEST_WORD:
            tokens.append(word)
        else:
            tokens += _ptb_word(word, ends_text=place == len(words) - 1)
    return tokens


def _ptb_word(word: str, ends_text: bool) -> list[str]:
    """A word with the marks around it set apart, and a contraction in its parts."""
    opening, core, closing = _peeled(word, ends_text, quotes=("``", "''"))
    parts: list[str] = []
    if cut := _HALVED.get(core.lower()):
        core, parts = core[:cut], [core[cut:]]
    while (contraction := _CONTRACTION.search(core)) and contraction.start():
        core = core[: contraction.start()]
        parts.insert(0, contraction[0])
    return [*opening, *([core] if core else []), *parts, *closing]


def _peeled(word: str, ends_text: bool, quotes: tuple[str, str] | None) -> tuple[list[str], str, list[str]]:
    """The marks before a word, the word, the marks after it. Marks inside it (`friend(s)`, `9:30`, `a@b.c`) stay."""
    opening: list[str] = []
    closing: list[str] = []
    while len(word) > 1 and not _FACE.fullmatch(word) and _is_opening(word, quotes):
        opening.append(quotes[0] if quotes and word[0] == '"' else word[0])
        word = word[1:]
    while not _FACE.fullmatch(word) and (mark := _closing_mark(word, ends_text, quotes)):
        closing.insert(0, quotes[1] if quotes and mark == '"' else mark)
        word = word[: -len(mark)]
    return opening, word, closing


def _is_opening(word: str, quotes: tuple[str, str] | None) -> bool:
    if word[0] == '"':
        return quotes is not None
    return word[0] in "([{¿¡" or (word[0] in "$£€₹#" and _NUMBER_START.match(word, 1) is not None)


def _closing_mark(word: str, ends_text: bool, quotes: tuple[str, str] | None) -> str:
    """The last mark of a word that stands for itself, or nothing."""
    last = word[-1:]
    if last == '"':
        return last if quotes or word[-2:-1] in set(",;:!?)") else ""
    if last in (")", "]", "}"):
        return "" if {")": "(", "]": "[", "}": "{"}[last] in word else last
    if last == ".":
        dots = _DOTS.search(word)
        return dots[0] if dots else "." if ends_text else ""
    if last == "'":
        return last if len(word) > 1 else ""
    if last == "%":
        return last if _NUMBER_END.match(word[:-1]) else ""
    return last if last and last in ",;:!?" else ""


# --- as the Yelp reviews and the Shakespeare plays have it -----------------------------------------------------------

_WHOLE_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _yelp(text: str) -> list[str]:
    return ["_num_" if _WHOLE_NUMBER.fullmatch(token) else token for token in _ptb(text.lower())]


def _spaced(text: str) -> list[str]:
    words = text.split()
    tokens: list[str] = []
    for place, word in enumerate(words):
        if (word.isalpha() and word.lower() != "cannot") or len(word) > _LONGEST_WORD:
            tokens.append(word)
        else:
            opening, core, closing = _peeled(word, ends_text=place == len(words) - 1, quotes=None)
            tokens += [*opening, *_halves_of_spaced(core), *closing]
    return tokens


def _halves_of_spaced(word: str) -> list[str]:
    """Only `cannot` and an `it` that lost its vowel (`do 't`) were parted in the plays."""
    if word.lower() == "cannot":
        return [word[:3], word[3:]]
    if word.endswith("'t") and word[-3:-2] not in ("", "n"):
        return [word[:-2], word[-2:]]
    return [word] if word else []


# --- Moses -----------------------------------------------------------------------------------------------------------

_MOSES_MARK = re.compile(r"([^\w\s.'`,-])")
_MOSES_DOTS = re.compile(r"(\.{2,})")
_MOSES_COMMA = re.compile(r"(?<!\d),|,(?!\d)")
_MOSES_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
_MOSES_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_MOSES_QUOTE = re.compile(r"(?<![^\W\d_])'|'(?![^\W\d_])")
_MOSES_STOP = re.compile(r"(?<=[^.\s])\.(?=[\s\"')\]]*$)")
_MOSES_ESCAPED = re.compile("[" + re.escape("".join(MOSES_ESCAPES)) + "]")


def _moses(text: str) -> list[str]:
    text = _MOSES_STOP.sub(" .", text)
    text = _MOSES_DOTS.sub(r" \1 ", text)
    text = _MOSES_MARK.sub(r" \1 ", text)
    text = _MOSES_COMMA.sub(" , ", text)
    text = _MOSES_QUOTE.sub(" ' ", text)
    text = _MOSES_APOSTROPHE.sub(" '", text)
    text = _MOSES_HYPHEN.sub(" @-@ ", text)
    return [_MOSES_ESCAPED.sub(lambda mark: MOSES_ESCAPES[mark[0]], token) for token in text.split()]


_TOKENISERS: dict[str, Callable[[str], list[str]]] = {"ptb": _ptb, "yelp": _yelp, "spaced": _spaced, "moses": _moses}
