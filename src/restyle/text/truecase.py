"""Capitals given back to text that has lost them, as they stand in text that has not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain

# A word with its apostrophes; parts of handles, hashtags and addresses are none.
_WORD = re.compile(r"(?<![\w@#/.'])[^\W\d_]+(?:'[^\W\d_]+)*(?![\w@]|\.\w)")
# After these a capital says nothing about the word: it begins a sentence, a quotation or a list.
_BEGINNING = re.compile(r"[.!?:;(\"—–]+|\s-+\s")
# Where a sentence begins: not after a quotation that goes on (`"What?" he said`), nor after `u.s.` and `vs.`
_START = re.compile(r"(?:^|[!?]\s|[^\W\d_]{2}(?<!\bvs)(?<!\betc)\.\s)[\"'(]*[^\W\d_]")
# A headline, where capitals say nothing either: more than so many of its words have one.
_MOST_CAPITALS = 0.4
# Fewer sightings than this may be a slip.
_LEAST_SEEN = 2


class Truecaser:
    """Each word as it is written most often in the middle of a sentence; sentences and `I` begin with a capital.

    >>> case = Truecaser(["We met in Paris , I think.", "Then Paris met us."] * 2)
    >>> case("did they meet in paris? i'm sure")
    "Did they meet in Paris? I'm sure"
    """

    def __init__(self, sentences: Iterable[str] = ()) -> None:
        """Learn from text with capitals; without any, only sentences and `I` get theirs."""
        seen = Counter(chain.from_iterable(map(_telling, sentences)))
        usual: dict[str, str] = {}
        total: Counter[str] = Counter()
        # Of two forms that are as frequent, the one in lower case.
        for form in sorted(seen, key=lambda form: (seen[form], form.islower(), form)):
            usual[form.casefold()] = form
            total[form.casefold()] += seen[form]
        self._usual = {key: form for key, form in usual.items() if total[key] >= _LEAST_SEEN}

    def __call__(self, text: str) -> str:
        """The text with the capitals that it should have; those that it has stay."""
        text = _WORD.sub(lambda match: self._cased(match.group()), text)
        return _START.sub(lambda match: match.group()[:-1] + match.group()[-1].upper(), text)

    def unknown(self, text: str) -> list[str]:
        """The words of which nothing is known: they may be names, and stay as they are."""
        return [word for word in _WORD.findall(text) if self._form(word) is None]

    def _cased(self, word: str) -> str:
        if not word.islower():
            return word
        if _is_first_person(word):
            return "I" + word[1:]
        return self._form(word) or word

    def _form(self, word: str) -> str | None:
        """The usual form of a word, or of what owns it: `paris's` is `Paris's` when Paris is known."""
        key = word.casefold()
        if key in self._usual:
            return self._usual[key]
        base, apostrophe, rest = key.partition("'")
        return self._usual[base] + apostrophe + rest if apostrophe and base in self._usual else None


def _telling(sentence: str) -> list[str]:
    """The words of a sentence whose capitals, or their absence, tell something."""
    within = [word for clause in _BEGINNING.split(sentence) for word in _WORD.findall(clause)[1:]]
    capitals = sum(not word.islower() for word in within if not _is_first_person(word))
    return within if capitals <= _MOST_CAPITALS * len(within) else []


def _is_first_person(word: str) -> bool:
    return word.partition("'")[0] in ("i", "I")
