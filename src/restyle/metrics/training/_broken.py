"""Broken sentences: what machines write when they fail, made from sentences that people wrote.

CoLA's unacceptable sentences were thought out by linguists; a system's are of another kind: words lost, doubled, out of
order, a phrase that loops, an end that never comes, a form that does not agree. A judge of fluency that learned from
CoLA alone has seen none of them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

# Fewer, and what is left is often a sentence again.
_LEAST_WORDS = 4
_SWAPPED = {
    "is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has", "do": "does", "does": "do",
    "am": "is", "I": "me", "me": "I", "he": "him", "him": "he", "she": "her", "they": "them", "them": "they",
    "we": "us", "us": "we", "a": "an", "an": "a", "this": "these", "these": "this", "that": "those", "to": "of",
    "of": "to", "in": "at", "at": "for", "for": "with", "with": "from", "from": "by", "by": "on", "on": "in",
}  # fmt: skip
_SUFFIXES = ("ing", "ed", "s")
_END = re.compile(r"[.!?]+[\"']*$")

Words = list[str]
Way = Callable[[Words, random.Random], Words]


def broken(texts: Sequence[str], *, seed: int = 0) -> list[str]:
    """Each text broken in one to three places; what is too short to be told from a sentence is left out.

    >>> broken(["The lamp went out, and nobody moved."], seed=3)  # doctest: +SKIP
    ['The went lamp out, and nobody moved.']
    """
    return [made for number, text in enumerate(texts) if (made := _broken(text, random.Random(f"{seed}/{number}")))]


def _broken(text: str, draw: random.Random) -> str | None:
    words = text.split()
    if len(words) < _LEAST_WORDS:
        return None
    # A capital in the middle would tell more than the order does.
    if words[0] != "I" and not words[0].startswith("I'"):
        words[0] = words[0][:1].lower() + words[0][1:]
    for _ in range(draw.choice((1, 1, 2, 3))):
        words = draw.choice(_WAYS)(words, draw)
    made = " ".join(words)
    if text[:1].isupper():
        made = made[:1].upper() + made[1:]
    return made if made != text else None


def _drop(words: Words, draw: random.Random) -> Words:
    place = draw.randrange(len(words))
    return [*words[:place], *words[place + draw.choice((1, 1, 2)) :]] if len(words) > _LEAST_WORDS else words


def _double(words: Words, draw: random.Random) -> Words:
    length = draw.choice((1, 1, 2, 3))
    place = draw.randrange(max(1, len(words) - length))
    return [*words[: place + length], *words[place:]]


def _loop(words: Words, draw: random.Random) -> Words:
    """A phrase over and over, to the end or in the middle, as a decoder does that is lost."""
    length = draw.randint(1, 3)
    place = draw.randrange(max(1, len(words) - length))
    phrase = words[place : place + length]
    after = [] if draw.random() < 0.5 else words[place + length :]
    return [*words[:place], *(phrase * draw.randint(2, 5)), *after]


def _swap(words: Words, draw: random.Random) -> Words:
    place = draw.randrange(len(words) - 1) if len(words) > 1 else 0
    return [*words[:place], *reversed(words[place : place + 2]), *words[place + 2 :]]


def _shuffle(words: Words, draw: random.Random) -> Words:
    length = min(len(words), draw.randint(3, 7))
    place = draw.randrange(len(words) - length + 1)
    return [*words[:place], *draw.sample(words[place : place + length], length), *words[place + length :]]


def _truncate(words: Words, draw: random.Random) -> Words:
    """The end is missing; half the time a full stop stands there all the same."""
    kept = words[: max(2, round(len(words) * draw.uniform(0.4, 0.85)))]
    end = _END.search(words[-1])
    return [*kept[:-1], kept[-1].rstrip(",;:") + end.group()] if end and draw.random() < 0.5 else kept


def _move(words: Words, draw: random.Random) -> Words:
    word = words[source := draw.randrange(len(words))]
    rest = [*words[:source], *words[source + 1 :]]
    place = draw.randrange(len(rest) + 1)
    return [*rest[:place], word, *rest[place:]]


def _copy_word(words: Words, draw: random.Random) -> Words:
    """A word of the sentence in the place of another: what systems do that know which words, but not where."""
    place, other = draw.randrange(len(words)), draw.randrange(len(words))
    return [*words[:place], words[other].strip(",;:.!?"), *words[place + 1 :]]


def _inflect(words: Words, draw: random.Random) -> Words:
    """A word in the wrong form."""
    places = list(range(len(words)))
    draw.shuffle(places)
    for place in places:
        word = words[place]
        if word in _SWAPPED:
            return [*words[:place], _SWAPPED[word], *words[place + 1 :]]
        if word.islower() and word.isalpha() and len(word) > 3:
            return [*words[:place], _other_form(word, draw), *words[place + 1 :]]
    return words


def _other_form(word: str, draw: random.Random) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) > len(suffix) + 2:
            return word.removesuffix(suffix)
    return word + draw.choice(_SUFFIXES)


_WAYS: tuple[Way, ...] = (
    _drop, _drop, _double, _loop, _swap, _shuffle, _truncate, _move, _copy_word, _inflect, _inflect, _inflect,
)  # fmt: skip
