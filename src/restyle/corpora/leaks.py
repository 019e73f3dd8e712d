"""Leaks: sentences that a model must not have seen, whole or in good part in what it is trained on.

Compared is the content: words in their order, without case, punctuation, spacing and a tokeniser's marks. A training
sentence leaks when it has the content of a held-out one (exact), or shares eight words in a row with it or holds all of
a shorter one (near). Sentences of fewer than five words leak nothing: "Good morning to you" belongs to the language,
not to a play.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from restyle.corpora._content import folded
from restyle.corpora._corpus import TRAIN, Corpus, Line, Part, References, shuffled_apart

# Eight words in a row are hardly ever the same by chance; GPT-3's authors took 8 to 13 (Brown et al. 2020, App. C).
SHARED_WORDS = 8
# In the Shakespeare corpus, 170 sentences of training and test are the same below five words, and 2 from five on.
MIN_WORDS = 5

# The lines of one style's split.
Reader = Callable[[str], Iterable[Line]]
# Words in a row.
Run = tuple[str, ...]


@dataclass(frozen=True)
class Leak:
    """A training sentence, where it stands among the others, and the held-out sentence that it gives away."""

    index: int
    text: str
    held_out: str
    kind: Literal["exact", "near"]


class HeldOut:
    """Sentences that must not be trained on, ready to be looked for.

    >>> tests = HeldOut(["The lamp went out, and nobody in the house dared to move."])
    >>> tests.leak("Then THE LAMP WENT OUT and nobody in the house spoke.")
    ('The lamp went out, and nobody in the house dared to move.', 'near')
    """

    def __init__(self, sentences: Iterable[str]) -> None:
        self._sentence: dict[str, str] = {}  # by its content without spaces: nowhere and no where
        self._holders: dict[int, dict[Run, str]] = {}  # by length: a run of words, and the first sentence that holds it
        for sentence in sentences:
            words = folded(sentence).split()
            if len(words) >= MIN_WORDS:
                self._sentence.setdefault("".join(words), sentence)
                length = min(len(words), SHARED_WORDS)
                holders = self._holders.setdefault(length, {})
                for run in _runs(words, length):
                    holders.setdefault(run, sentence)

    def __len__(self) -> int:
        return len(self._sentence)

    def leak(self, text: str) -> tuple[str, Literal["exact", "near"]] | None:
        """The held-out sentence that a text gives away, and how; None when it gives away none."""
        words = folded(text).split()
        if exact := self._sentence.get("".join(words)):
            return exact, "exact"
        tails = [words[start:] for start in range(SHARED_WORDS)]
        for length, holders in self._holders.items():
            # Nearly every text passes here, without a loop in Python.
            if length <= len(words) and not holders.keys().isdisjoint(zip(*tails[:length], strict=False)):
                return next(holders[run] for run in _runs(words, length) if run in holders), "near"
        return None

    def leaks(self, sentences: Iterable[str]) -> Iterator[Leak]:
        """All leaks, in the order of the sentences."""
        for index, text in enumerate(sentences):
            if found := self.leak(text):
                yield Leak(index, text, *found)

    def left_out(self, lines: Iterable[Line]) -> Iterator[Line]:
        """The lines that give nothing away."""
        return (line for line in lines if self.leak(line.text) is None)


def check_leaks(train: Iterable[str], held_out: Iterable[str]) -> list[Leak]:
    """The training sentences that give away a held-out one.

    >>> [leak.kind for leak in check_leaks(["I'll be there by nine, Sir."], ["i 'll be there by nine , sir"])]
    ['exact']
    """
    return list(HeldOut(held_out).leaks(train))


def guarded(
    name: str,
    readers: Mapping[str, Reader],
    splits: Sequence[str],
    *,
    without: Collection[tuple[str, str]] = (),
    apart_from: Mapping[str, Sequence[str]] | None = None,
    own: bool = True,
    shuffled: bool = False,
    references: Mapping[tuple[str, str], References] | None = None,
) -> Corpus:
    """A corpus whose training splits leak nothing: what every loader of a published corpus makes.

    `readers` gives, for each style, a function from a split to its lines. A style's training split is left without what
    its own other splits give away, and without what other corpora hold out: `apart_from` names those of a style as
    `corpus/style/split`. `without` names (style, split)s that the corpus lacks. `own=False` leaves a corpus of millions
    uncompared with itself, as the index would not fit into memory: its content has decided on its splits. `shuffled`
    takes the two sides of an aligned corpus apart.
    """

    def train(style: str) -> Iterable[Line]:
        tested = [split for split in splits if split != TRAIN and own]
        tests = [line.text for split in tested for line in readers[style](split)]
        tests += held_out((apart_from or {}).get(style, ()))
        lines = HeldOut(tests).left_out(readers[style](TRAIN))
        return shuffled_apart(lines, f"{name}/{style}") if shuffled else lines

    parts: dict[tuple[str, str], Part] = {
        (style, split): partial(train, style) if split == TRAIN else partial(reader, split)
        for style, reader in readers.items()
        for split in splits
        if (style, split) not in without
    }
    return Corpus(name, parts, references=references)


def held_out(parts: Sequence[str]) -> Iterator[str]:
    """The sentences of each `corpus/style/split`. They must be at hand: without them, nobody knows what would leak."""
    from restyle.corpora._open import load

    for part in parts:
        corpus, style, split = part.split("/")
        yield from load(corpus).sentences(style, split, raw=True)


def _runs(words: list[str], length: int) -> Iterable[Run]:
    return zip(*(words[start:] for start in range(length)), strict=False)
