"""A corpus: sentences in styles and splits, each of which knows the file and the line that it came from."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from restyle.errors import UnknownName
from restyle.records import Record
from restyle.text.clean import clean

TRAIN, VALID, TEST = "train", "valid", "test"
SPLITS = (TRAIN, VALID, TEST)


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence as it stands in its source, and where that is."""

    text: str
    source: str  # the file, as the catalogue names it, or as the user does
    number: int  # its line there, counted from 1
    key: str = ""  # what tells the line from others of its style and split; its number, where that is enough
    fields: Mapping[str, Any] = field(default_factory=dict)  # what else its source says: a score, a date, a speaker


# Reads its lines afresh at every call, so that a corpus of any size can be opened without being read.
Part = Callable[[], Iterable[Line]]
# The references of each sentence of a part, list n for sentence n.
References = Callable[[], Sequence[Sequence[str]]]


class Corpus:
    """Styles x splits of sentences, read when they are asked for.

    `parts` says how to read each (style, split). `references` holds, for the splits that have them, the references of
    each sentence: list n answers sentence n. They are there to score outputs with, and never to train on.

    >>> corpus = Corpus.of("noir", {"noir": {"train": ["The rain came down."], "test": ["He lit up."]}})
    >>> corpus.styles, corpus.splits
    (('noir',), ('train', 'test'))
    >>> corpus.sentences("noir", "test")
    ['He lit up.']
    """

    def __init__(
        self,
        name: str,
        parts: Mapping[tuple[str, str], Part],
        *,
        references: Mapping[tuple[str, str], References] | None = None,
    ) -> None:
        self.name = name
        self._parts = dict(parts)
        self._references = dict(references or {})

    @classmethod
    def of(cls, name: str, sentences: Mapping[str, Mapping[str, Sequence[str]]]) -> Corpus:
        """A corpus of sentences that are in memory, as `{style: {split: sentences}}`."""
        return cls(
            name,
            {
                (style, split): partial(_numbered, lines)
                for style, splits in sentences.items()
                for split, lines in splits.items()
            },
        )

    @property
    def styles(self) -> tuple[str, ...]:
        """The styles, in the order in which the corpus lists them."""
        return tuple(dict.fromkeys(style for style, _ in self._parts))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that at least one style has: train, valid, test, in this order."""
        held = {split for _, split in self._parts}
        return tuple(split for split in SPLITS if split in held)

    def has(self, style: str, split: str) -> bool:
        """Whether the style has the split."""
        return (style, split) in self._parts

    def sentences(self, style: str, split: str, *, raw: bool = False) -> list[str]:
        """The sentences of one style and split, cleaned; `raw` gives them as they stand in their source."""
        return [text for text, _ in self._read(style, split, raw)]

    def records(self, style: str, split: str, *, raw: bool = False) -> Iterator[Record]:
        """The same sentences as records: a stable id, text, style, split, source file and line, and what else is known.

        The id, `corpus/split/style/line`, names the same sentence on every machine and at every time.
        """
        for text, line in self._read(style, split, raw):
            yield {
                "id": f"{self.name}/{split}/{style}/{line.key or line.number}",
                "text": text,
                "style": style,
                "split": split,
                "source": line.source,
                "line": line.number,
                **line.fields,
            }

    def lines(self, style: str, split: str) -> Iterable[Line]:
        """The lines of one style and split as their loader gives them; UnknownName when there is no such part."""
        if style not in self.styles:
            raise UnknownName(f"style of the corpus {self.name}", style, self.styles)
        if not self.has(style, split):
            raise UnknownName(
                f"split of {self.name}/{style}", split, [held for named, held in self._parts if named == style]
            )
        return self._parts[style, split]()

    def has_references(self, style: str, split: str) -> bool:
        """Whether each sentence of the part has references."""
        return (style, split) in self._references

    def references(self, style: str, split: str, *, raw: bool = False) -> list[list[str]]:
        """The references of each sentence, list n for sentence n: to score with, never to train on."""
        if not self.has_references(style, split):
            raise UnknownName(
                f"part with references in {self.name}",
                f"{style}/{split}",
                [f"{style}/{split}" for style, split in self._references],
            )
        several = self._references[style, split]()
        return [[text if raw else cleaned(text) for text in one] for one in several]

    def _read(self, style: str, split: str, raw: bool) -> Iterator[tuple[str, Line]]:
        """Each line with its text, without those that hold none; a part with references keeps them all in step."""
        aligned = self.has_references(style, split)
        for line in self.lines(style, split):
            text = line.text if raw else cleaned(line.text)
            if aligned or text.strip():
                yield text, line


def shuffled_apart(lines: Iterable[Line], seed: str) -> list[Line]:
    """The lines in an order that `seed` alone decides.

    A corpus made of aligned pairs is trained on unpaired: each style is shuffled under its own seed, so that line n of
    one is not the partner of line n of the other.
    """
    shuffled = list(lines)
    random.Random(seed).shuffle(shuffled)
    return shuffled


def _numbered(sentences: Iterable[str]) -> list[Line]:
    return [Line(text, "memory", number) for number, text in enumerate(sentences, start=1)]


def cleaned(text: str) -> str:
    """The one place where a corpus's text is made ordinary text."""
    return clean(text)
