"""What makes a pair unfit to learn from, though its sides are alike: a fact that is lost, a sentence that is cut off.

A paraphraser repeats the faults of its training pairs. Similarity does not see them: `they came` and `they never came`
are nearly the same to it. Each check here is a plain rule, stricter than it need be: a good pair that it drops costs
little, a bad one that it keeps is learned.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise

Check = Callable[[str, str], bool]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMERAL = re.compile(r"\d+(?:[.,:]\d+)*")
_CARDINALS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16",
    "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30", "forty": "40",
    "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
}  # fmt: skip
_MAGNITUDES = frozenset({"hundred", "thousand", "million", "billion"})
_NEGATION = re.compile(
    r"no|not|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|hardly|scarcely|barely|\w+n't|aint|dont|cant|wont"
)
# The persons of grammar, the number of "we" told from that of "I".
_PERSONS = {
    "I": re.compile(r"i|me|my|mine|myself"),
    "we": re.compile(r"we|us|our|ours|ourselves"),
    "you": re.compile(r"you|your|yours|yourself|yourselves|ye|thou|thee|thy|thine|thyself|ya|u|ur"),
    "he": re.compile(r"he|him|his|himself"),
    "she": re.compile(r"she|her|hers|herself"),
}
_COARSE = re.compile(r"\w*(?:fuck|shit|bitch|nigg|cunt|whore|slut)\w*|ass|asshole|dick|cock|tits|pussy", re.IGNORECASE)
_ENDED = re.compile(r"[.!?…][\"')\]]*$")
_ASKED = re.compile(r"\?[\"')\]]*$")
_QUOTED = re.compile(r'"[^"]*"$')
# What no sentence ends with.
_CUT_OFF = re.compile(
    r"(?:[,;:(–—-]|\b(?:and|or|but|the|an?|of|to|in|with|for|from|that|which|who|is|are))[\"')\]]*$", re.I
)
# Handles, addresses and mark-up; marks with no space behind them are those of lines that were joined.
_RESIDUE = re.compile(
    r"[@#<>{}\[\]|*_~^\\]|https?:|www\.|(?:^|\s)[/&](?=\s)|\brt\b|\.\.\s?\.|(?<!\d)\d*\s:\s|[^\W\d_][,;:!?][^\W\d_]",
    re.IGNORECASE,
)
# A capital within a sentence; not after a mark, with which a verse, a list or a quotation may begin.
_NAME = re.compile(r"(?<=[^\W\d_] )[A-Z][^\W\d_]+")
# Names that stand for one another in the versions of the Bible.
_OF_GOD = frozenset({"lord", "god", "jehovah", "yahweh"})
# So many letters in common make a name the same: Judah and Judah's, Egypt and Egyptians.
_STEM = 4


def numbers_kept(text: str, paraphrase: str) -> bool:
    """Whether the same numbers stand on both sides, in figures or in words."""
    return _numbers(text) == _numbers(paraphrase)


def negation_kept(text: str, paraphrase: str) -> bool:
    """Whether both sides deny something, or neither does."""
    return _denies(text) == _denies(paraphrase)


def names_kept(text: str, paraphrase: str) -> bool:
    """Whether each name of one side can be found on the other."""
    return _holds(paraphrase, _NAME.findall(text)) and _holds(text, _NAME.findall(paraphrase))


def persons_kept(text: str, paraphrase: str) -> bool:
    """Whether the same persons are spoken of: I, we, you, he, she."""
    return _persons(text) == _persons(paraphrase)


def ended(text: str, paraphrase: str) -> bool:
    """Whether the paraphrase ends as a sentence does: a question as a question, and not in the middle."""
    if _CUT_OFF.search(paraphrase) or bool(_ASKED.search(text)) != bool(_ASKED.search(paraphrase)):
        return False
    return bool(_ENDED.search(paraphrase)) or not _ENDED.search(text)


def begun(text: str, paraphrase: str) -> bool:
    """Whether the paraphrase begins with a capital or a figure, quotation marks aside."""
    first = paraphrase.lstrip("\"'(")[:1]
    return first.isupper() or first.isdigit()


def closed(text: str, paraphrase: str) -> bool:
    """Whether each quotation and bracket of the paraphrase has its ends, and it is no quotation unless its text is."""
    if paraphrase.count('"') % 2 or paraphrase.count("(") != paraphrase.count(")"):
        return False
    return bool(_QUOTED.match(text)) or not _QUOTED.match(paraphrase)


def unrepeated(text: str, paraphrase: str) -> bool:
    """Whether the paraphrase says no three words twice, and no word twice in a row, unless its text does."""
    ours, theirs = _words(text), _words(paraphrase)
    if any(one == next_ for one, next_ in pairwise(theirs)) and not any(one == next_ for one, next_ in pairwise(ours)):
        return False
    return _most_frequent_trigram(theirs) <= max(1, _most_frequent_trigram(ours))


def clean_of_residue(text: str, paraphrase: str) -> bool:
    """Whether the paraphrase has no handle, hashtag, address or mark-up in it."""
    return not _RESIDUE.search(paraphrase)


def no_coarser(text: str, paraphrase: str) -> bool:
    """Whether the paraphrase has no coarse word where its text has none."""
    return not any(map(_COARSE.fullmatch, _words(paraphrase))) or any(map(_COARSE.fullmatch, _words(text)))


CHECKS: dict[str, Check] = {
    "numbers": numbers_kept,
    "negation": negation_kept,
    "names": names_kept,
    "persons": persons_kept,
    "ending": ended,
    "beginning": begun,
    "quotes": closed,
    "repeats": unrepeated,
    "residue": clean_of_residue,
    "coarse": no_coarser,
}


def first_fault(text: str, paraphrase: str, checks: Iterable[str] = tuple(CHECKS)) -> str | None:
    """The name of the first of these checks that a pair fails; None for a sound pair.

    >>> first_fault("They came at 9.", "At nine they never came.")
    'negation'
    """
    return next((name for name in checks if not CHECKS[name](text, paraphrase)), None)


@lru_cache(maxsize=64)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("’", "'").lower() for word in _WORD.findall(text))


def _numbers(text: str) -> set[str]:
    words = _words(text)
    found = {numeral.replace(",", "") for numeral in _NUMERAL.findall(text)}
    return found | {_CARDINALS[word] for word in words if word in _CARDINALS} | (_MAGNITUDES & set(words))


def _denies(text: str) -> bool:
    return any(map(_NEGATION.fullmatch, _words(text)))


def _persons(text: str) -> set[str]:
    # `I'm` and `you're` are I and you; in `let's` nobody is named.
    words = {word.partition("'")[0] for word in _words(text)}
    return {person for person, forms in _PERSONS.items() if any(map(forms.fullmatch, words))}


def _holds(text: str, names: Iterable[str]) -> bool:
    stems = set(map(_stem, _words(text)))
    return all(_stem(name.lower()) in stems for name in names)


def _stem(word: str) -> str:
    return "lord" if word in _OF_GOD else word[:_STEM]


def _most_frequent_trigram(words: tuple[str, ...]) -> int:
    counts = Counter(zip(words, words[1:], words[2:], strict=False))
    return max(counts.values(), default=0)
