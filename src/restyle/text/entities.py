"""Names, places, numbers and addresses replaced by tags, and put back.

masked = mask(["Mary left London."])[0]
masked.text                                        "-PERSON-1- left -LOCATION-1-."
unmask("She left -LOCATION-1-.", masked.entities)  text "She left London.", missing Mary
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from restyle.assets import model_folder
from restyle.errors import InputError, MissingExtra, UnknownName, UsageError


class Entity(NamedTuple):
    """What a tag stands for."""

    tag: str
    text: str


class Masked(NamedTuple):
    """A sentence with tags in the place of its entities, and the entities in the order in which their tags appear."""

    text: str
    entities: tuple[Entity, ...]


class Unmasked(NamedTuple):
    """A sentence with its entities back in place; those whose tag was gone, and the tags that nothing stood behind."""

    text: str
    missing: tuple[Entity, ...]
    unfilled: tuple[str, ...]


class _Span(NamedTuple):
    start: int
    end: int
    kind: str


# What spaCy calls them. Buildings (FAC) and regions (LOC) are places as much as cities and countries (GPE) are.
_LABELS = {"PERSON": "person", "GPE": "location", "LOC": "location", "FAC": "location"}
# Each pattern can only start where a run of its characters starts, so that a megabyte of them is gone over once.
_ADDRESSES = {
    "url": re.compile(r"""(?<!\w)(?:https?://|www\.)[^\s<>"]*[^\s<>".,;:!?'()\[\]{}]""", re.IGNORECASE),
    "email": re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "handle": re.compile(r"(?<![\w@.])@\w+"),
}
_NUMBERS = {"number": re.compile(r"(?<![\w.,])[0-9]++(?:[.,:][0-9]++)*+(?!\w)")}
KINDS = ("person", "location", *_ADDRESSES, *_NUMBERS)
_KIND = "|".join(kind.upper() for kind in KINDS)
_PLAIN_TAG = re.compile(rf"-(?:{_KIND})-")
# A rewriter may change the case of a numbered tag. Of a plain one it must not: there are first-person-shooters.
_TAG = re.compile(rf"(?i:-(?:{_KIND})-[0-9]+-)|-(?:{_KIND})-", re.ASCII)
# Text that already looks like a tag, or would if a tag followed it.
_LOOKALIKE = re.compile(rf"(?i:-({_KIND})-[0-9]+-?)|-({_KIND})-?", re.ASCII)


def mask(
    texts: Sequence[str],
    kinds: Sequence[str] = ("person", "location"),
    *,
    numbered: bool = True,
    batch_size: int = 256,
) -> list[Masked]:
    """Replace the entities of each sentence by tags.

    `kinds` are of person, location (both found by spaCy), url, email, handle and number (found by patterns). Numbered
    tags, `-PERSON-1-`, are for putting the entities back after a rewriter has moved them; the same name gets the same
    number. With `numbered=False` the tags are plain, `-PERSON-`, as in the Literature data of Pang & Gimpel (5.1; they
    used Stanford CoreNLP, this is spaCy's en_core_web_md).

    Text that already looks like a tag is taken for an entity that stands for itself, so that a sentence which was
    tagged before stays as it is under plain tags and comes back whole from either.

    The names are found by a model that learned from well-written modern English. Of those that it finds in Hard Times
    and in Shakespeare it finds about half when the same text is in lower case, and a third in capitals: mask first, and
    change the case afterwards.
    """
    if isinstance(texts, str):
        raise UsageError("one sentence was given where a list of them is expected; put it in brackets")
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownName("kind of entity", kind, KINDS)
    without_names = {"person", "location"}.isdisjoint(kinds)
    names = iter([[]] * len(texts)) if without_names else _names(texts, kinds, batch_size)
    return [_replaced(text, _spans(text, kinds, found), numbered) for text, found in zip(texts, names, strict=True)]


def unmask(text: str, entities: Sequence[Entity]) -> Unmasked:
    """Put the entities of a masked sentence, rewritten or not, back in the place of their tags.

    A numbered tag is filled wherever it stands, as often as it stands there. Plain tags of one kind are filled in
    order; one more than there were entities stays a tag. Nothing is put where there was no tag for it.
    """
    numbered = all(_is_numbered(entity.tag) for entity in entities)
    waiting: dict[str, deque[int]] = {}
    for place, entity in enumerate(entities):
        waiting.setdefault(entity.tag, deque()).append(place)
    used: set[int] = set()
    unfilled: list[str] = []

    def fill(match: re.Match[str]) -> str:
        queue = waiting.get(match[0].upper())
        if not queue:
            unfilled.append(match[0])
            return match[0]
        place = queue[0] if numbered else queue.popleft()
        used.add(place)
        return entities[place].text

    whole = (_TAG if numbered else _PLAIN_TAG).sub(fill, text)
    missing = tuple(entity for place, entity in enumerate(entities) if place not in used)
    return Unmasked(whole, missing, tuple(unfilled))


def _is_numbered(tag: str) -> bool:
    return tag[-2].isdecimal()


def _replaced(text: str, spans: Iterable[_Span], numbered: bool) -> Masked:
    """The sentence with a tag in the place of each span."""
    pieces: list[str] = []
    entities: list[Entity] = []
    tags: dict[tuple[str, str], str] = {}
    counts: Counter[str] = Counter()
    done = 0
    for span in spans:
        surface = text[span.start : span.end]
        tag = tags.get((span.kind, surface))
        if tag is None:
            counts[span.kind] += 1
            tag = f"-{span.kind.upper()}-{counts[span.kind]}-" if numbered else f"-{span.kind.upper()}-"
            entities.append(Entity(tag, surface))
            if numbered:
                tags[span.kind, surface] = tag
        pieces += text[done : span.start], tag
        done = span.end
    return Masked("".join(pieces) + text[done:], tuple(entities))


def _spans(text: str, kinds: Sequence[str], names: Iterable[_Span]) -> list[_Span]:
    """What is to be replaced, in the order of the text: of two that overlap, the one that comes first here."""
    taken = bytearray(len(text))
    spans = []
    for span in (*_lookalikes(text), *_matches(text, kinds, _ADDRESSES), *names, *_matches(text, kinds, _NUMBERS)):
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"1" * (span.end - span.start)
            spans.append(span)
    return sorted(spans)


def _lookalikes(text: str) -> Iterator[_Span]:
    for match in _LOOKALIKE.finditer(text):
        yield _Span(match.start(), match.end(), (match[1] or match[2]).lower())


def _matches(text: str, kinds: Sequence[str], patterns: dict[str, re.Pattern[str]]) -> Iterator[_Span]:
    for kind, pattern in patterns.items():
        if kind in kinds:
            for match in pattern.finditer(text):
                yield _Span(match.start(), match.end(), kind)


def _names(texts: Sequence[str], kinds: Sequence[str], batch_size: int) -> Iterator[list[_Span]]:
    """The people and places of each sentence, as spaCy finds them."""
    recogniser = _recogniser(model_folder("spacy-md").resolve())
    for place, text in enumerate(texts):
        if len(text) > recogniser.max_length:
            raise InputError(
                f"sentence {place} has {len(text):,} characters; names are looked for in at most "
                f"{recogniser.max_length:,}: split it into sentences first"
            )
    # A lone surrogate stands for one character before and after, so that the places stay right.
    valid = (text.encode("utf-8", "replace").decode("utf-8") for text in texts)
    for document in recogniser.pipe(valid, batch_size=batch_size):
        yield [
            _Span(entity.start_char, entity.end_char, _LABELS[entity.label_])
            for entity in document.ents
            if _LABELS.get(entity.label_) in kinds
        ]


@lru_cache(maxsize=1)
def _recogniser(folder: Path) -> Any:  # Any: a spacy.Language, whose module is only imported here
    try:
        import spacy
    except ModuleNotFoundError as error:
        raise MissingExtra("spacy", "text", "finding names and places") from error
    with warnings.catch_warnings():
        # W095: the model was trained with another minor version of spaCy; that it works is what the tests are for.
        warnings.filterwarnings("ignore", message=r"\[W095\]", category=UserWarning)
        everything_else = ["tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer"]
        return spacy.load(folder, exclude=everything_else)
