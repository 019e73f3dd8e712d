"""Which words a network knows: whole words of tokenised text, or subwords, numbered from 4 on.

Before them stand the four that no text holds: padding, unknown, begin and end. Both kinds turn a text into numbers and
numbers into a text, and are saved beside the network that counts on them.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from restyle.errors import InputError
from restyle.records import writing_to
from restyle.text.bpe import BEGIN, END, PAD, UNKNOWN, Subwords, learn
from restyle.text.clean import clean
from restyle.text.tokenised import detokenise
from restyle.text.tokenised_styles import Style, tokenise

__all__ = ["BEGIN", "END", "PAD", "UNKNOWN", "MARK", "SubwordVocabulary", "Vocabulary", "Words", "load_vocabulary"]

# What stands in a text for a word that is not known.
MARK = "<unk>"
_SPECIAL = 4
_WORDS_FILE, _SUBWORDS_FILE = "words.json", "subwords.model"


class Vocabulary(Protocol):
    """Numbers for texts, and texts for numbers."""

    def __len__(self) -> int:
        """How many numbers there are, the four special ones among them."""
        ...

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's words; what is not known is UNKNOWN."""
        ...

    def unknown(self, text: str) -> list[str]:
        """The words of a text that are not known, in their order."""
        ...

    def decode(self, ids: Iterable[int], unknown: Sequence[str] = ()) -> str:
        """An ordinary text; each UNKNOWN takes the next of the words given, and MARK when there is none left."""
        ...

    def save(self, folder: Path) -> None:
        """Write it into a folder."""
        ...


class Words:
    """Whole words, as a tokeniser sets them apart.

    >>> words = Words(["a", "b"])
    >>> words.encode("a c"), words.decode([4, 1], ["c"])
    ([4, 1], 'a c')
    """

    def __init__(self, words: Sequence[str], style: Style = "yelp") -> None:
        self._words, self._style = tuple(words), style
        self._numbers = {word: number for number, word in enumerate(self._words, start=_SPECIAL)}

    @classmethod
    def learned(cls, texts: Iterable[str], most: int, *, least: int = 1, style: Style = "yelp") -> Words:
        """The most frequent words of these texts, at most `most`, each seen `least` times or more.

        InputError when there are fewer than two: a network that knows one word says nothing.
        """
        counts = Counter(word for text in texts for word in _tokens(text, style))
        by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        words = [word for word, count in by_count if count >= least][:most]
        if len(words) < 2:
            raise InputError(
                f"the vocabulary has {len(words)} word{'' if len(words) == 1 else 's'} that "
                f"{'is' if len(words) == 1 else 'are'} seen {least} times or more, where {most:,} may be known; "
                "at least two are needed"
            )
        return cls(words, style)

    def __len__(self) -> int:
        return len(self._words) + _SPECIAL

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's words."""
        return [self._numbers.get(word, UNKNOWN) for word in _tokens(text, self._style)]

    def unknown(self, text: str) -> list[str]:
        """The words of a text that are not known, in their order."""
        return [word for word in _tokens(text, self._style) if word not in self._numbers]

    def decode(self, ids: Iterable[int], unknown: Sequence[str] = ()) -> str:
        """An ordinary text; each UNKNOWN takes the next of the words given, and MARK when there is none left."""
        return detokenise(" ".join(self._spelled(ids, iter(unknown))))

    def save(self, folder: Path) -> None:
        """Write the words, and how text is cut into them."""
        values = {"style": self._style, "words": self._words}
        with writing_to(folder):
            (folder / _WORDS_FILE).write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")

    def _spelled(self, ids: Iterable[int], unknown: Iterator[str]) -> Iterator[str]:
        for number in ids:
            if number >= _SPECIAL:
                yield self._words[number - _SPECIAL]
            elif number == UNKNOWN:
                yield next(unknown, MARK)


class SubwordVocabulary:
    """Subwords of SentencePiece over tokenised text, which spell every word: nothing is ever unknown."""

    def __init__(self, model: bytes, style: Style = "yelp") -> None:
        self._model, self._subwords, self._style = model, Subwords(model), style

    @classmethod
    def learned(cls, texts: Iterable[str], size: int, *, style: Style = "yelp") -> SubwordVocabulary:
        """So many byte pairs of these texts; plain tags of names and places are never cut."""
        tags = (" ".join(_tokens(tag, style)) for tag in ("-PERSON-", "-LOCATION-"))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / _SUBWORDS_FILE
            learn((" ".join(_tokens(text, style)) for text in texts), size, file, symbols=tuple(tags))
            return cls(file.read_bytes(), style)

    def __len__(self) -> int:
        return len(self._subwords)

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's subwords."""
        return self._subwords.encode(" ".join(_tokens(text, self._style)))

    def unknown(self, text: str) -> list[str]:
        """None."""
        return []

    def decode(self, ids: Iterable[int], unknown: Sequence[str] = ()) -> str:
        """The text that the subwords spell."""
        spelled = self._subwords.decode([number for number in ids if number >= _SPECIAL])
        return detokenise(" ".join(spelled.split()))

    def save(self, folder: Path) -> None:
        """Write SentencePiece's model, and how text is cut into words before it."""
        with writing_to(folder):
            (folder / _SUBWORDS_FILE).write_bytes(self._model)
            (folder / _WORDS_FILE).write_text(json.dumps({"style": self._style}), encoding="utf-8")


def load_vocabulary(folder: str | Path) -> Vocabulary:
    """The vocabulary that was saved in a folder; InputError when there is none."""
    folder = Path(folder)
    try:
        values: dict[str, Any] = json.loads((folder / _WORDS_FILE).read_text(encoding="utf-8"))
        if (folder / _SUBWORDS_FILE).is_file():
            return SubwordVocabulary((folder / _SUBWORDS_FILE).read_bytes(), values["style"])
        return Words(values["words"], values["style"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{folder / _WORDS_FILE} holds no vocabulary: {error}") from None


def _tokens(text: str, style: Style) -> list[str]:
    return tokenise(clean(text), style).split()
