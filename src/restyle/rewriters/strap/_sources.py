"""What a style is learned from: sentences that are written in it, and, where there are, transfers by a teacher."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from restyle.corpora import HeldOut, load, rows
from restyle.corpora.leaks import MIN_WORDS
from restyle.errors import InputError, SettingsError, UnknownName
from restyle.settings import from_dict, read_toml, setting
from restyle.text.clean import clean

Form = Literal["prose", "verse", "transcript", "tweet"]

# Rows of the published outputs from here on are kept for testing, whatever their style.
TESTED_FROM = 450


@dataclass(frozen=True)
class StyleSources:
    """Which sentences a style is learned from."""

    name: str = setting("", "what the style is called")
    summary: str = setting("", "what it is, in a few words")
    sources: tuple[str, ...] = setting((), "CORPUS/STYLE, several; a sentence of two counts once")
    most: int = setting(50_000, "training sentences at most, the first sources first", minimum=1)
    form: Form = setting("prose", "prose, verse, transcript (lower case, no marks) or tweet (no tags, names and links)")
    drop: str = setting("", "a regular expression: sentences in which it is found are left out")
    teacher: str = setting("", "the style in strap-cds whose published transfers are learned from too")
    inputs: tuple[str, ...] = setting((), "CORPUS/STYLE, several: their test sentences are rewritten to see its worth")
    seed: int = setting(0, "decides which sentences are taken where there are more", minimum=0)
    valid: int = setting(300, "sentences that decide when to stop", minimum=1)
    min_words: int = setting(3, "shortest sentence, in words", minimum=1)
    max_words: int = setting(50, "longest sentence, in words", minimum=1)

    def __post_init__(self) -> None:
        try:
            re.compile(self.drop)
        except re.error as error:
            raise SettingsError(f"{self.name}: drop is no regular expression: {error}") from None


@dataclass
class StyleData:
    """The sentences of a style, and a teacher's (paraphrase, transfer) pairs."""

    train: list[str] = field(default_factory=list)
    valid: list[str] = field(default_factory=list)
    teacher: list[tuple[str, str]] = field(default_factory=list)


def read_recipe(path: str | Path) -> dict[str, StyleSources]:
    """The styles of a recipe, by name: tables [[style]], under which every key outside of them counts for each."""
    tables = read_toml(path)
    styles = tables.pop("style", [])
    found = [from_dict(StyleSources, {**tables, **table}, where=str(path)) for table in styles]
    return {style.name: style for style in found}


def style_of(path: str | Path, name: str) -> StyleSources:
    """One style of a recipe; UnknownName with those that it has."""
    styles = read_recipe(path)
    if name not in styles:
        raise UnknownName(f"style in {path}", name, styles)
    return styles[name]


def gathered(sources: StyleSources) -> StyleData:
    """The data of a style; InputError when its sources have no sentence for it."""
    data = StyleData()
    seen: set[str] = set()
    opened = [_split(source) for source in sources.sources]
    for corpus, style in opened:
        if corpus.has(style, "valid") and len(data.valid) < sources.valid:
            found = list(_fitting(corpus.sentences(style, "valid"), sources, seen))
            random.Random(f"{sources.seed}/{corpus.name}/{style}").shuffle(found)
            data.valid += found[: sources.valid - len(data.valid)]
    apart = HeldOut(data.valid)
    for corpus, style in opened:
        found = [
            text
            for text in _fitting(corpus.sentences(style, "train"), sources, seen)
            if len(text.split()) < MIN_WORDS or not apart.leak(text)
        ]
        random.Random(f"{sources.seed}/{corpus.name}/{style}").shuffle(found)
        data.train += found[: sources.most - len(data.train)]
    if not data.train:
        raise InputError(f"{sources.name}: no sentence is left of {', '.join(sources.sources)}")
    if not data.valid:
        kept = min(sources.valid, max(1, len(data.train) // 10))
        data.valid, data.train = data.train[:kept], data.train[kept:]
    random.Random(sources.seed).shuffle(data.train)
    if sources.teacher:
        data.teacher = list(_taught(sources.teacher))
    return data


def held_out(sources: StyleSources, most: int) -> list[str]:
    """Sentences of the style that nothing learns from: of the test splits of its sources, at most so many."""
    return _tests(sources.sources, sources, most)


def tried(sources: StyleSources, most: int) -> list[str]:
    """Test sentences of other styles, which are rewritten to see what this one is worth."""
    return _tests(sources.inputs, replace(sources, form="prose", drop=""), most)


def _tests(named: Sequence[str], sources: StyleSources, most: int) -> list[str]:
    seen: set[str] = set()
    found: list[str] = []
    for corpus, style in map(_split, named):
        if corpus.has(style, "test"):
            found += _fitting(corpus.sentences(style, "test"), sources, seen)
    random.Random(sources.seed).shuffle(found)
    return found[:most]


def as_transcript(text: str) -> str:
    """Speech as CDS has it: lower case, and no marks.

    >>> as_transcript("Well, I don't know, uh-huh.")
    "well i don't know uh-huh"
    """
    return " ".join(re.sub(r"[^\w\s'-]|(?<!\w)['-]+|['-]+(?!\w)", " ", text.lower()).split())


def as_tweet(text: str) -> str:
    """What somebody said in a tweet, without whom to, where, and under which tags.

    >>> as_tweet("@user Best day ever... #blessed @ The Venetian")
    'Best day ever'
    """
    text = re.sub(r"\s@ .*$|@\w*|https?\S*|#\w+|\ufe0f", " ", text)
    return " ".join(re.sub(r"\s*\.\.\.\s*$", "", text).split())


def without_loose_quotes(text: str) -> str:
    """A sentence without the quotation marks whose partners stand in another one.

    >>> without_loose_quotes('"I have none to give," said he, "and never had.')
    'I have none to give, said he, and never had.'
    """
    if text.count('"') % 2:
        text = text.replace('"', "")
    opens, closes = len(re.findall(r"(?<!\w)'(?=\w)", text)), len(re.findall(r"(?<=[.,!?;:-])'(?!\w)", text))
    if opens != closes:
        text = re.sub(r"(?<=[.,!?;:-])'(?!\w)|^'(?!\w*\b[a-z]*(is|was|were|ll|em|t|d)\b)", "", text)
    return " ".join(text.split())


def _formed(text: str, form: Form) -> str:
    """The sentence as it is learned, or nothing where it cannot be."""
    if form == "transcript":
        return as_transcript(text)
    if form == "tweet":
        return as_tweet(text)
    text = without_loose_quotes(text)
    # A line of verse may end anywhere; prose that ends in a comma is half a sentence.
    return "" if form == "prose" and text.endswith((",", ";", ":", "-")) else text


def _split(source: str) -> tuple[Any, str]:
    corpus_name, _, style = source.partition("/")
    corpus = load(corpus_name)
    if style not in corpus.styles:
        raise UnknownName(f"style of the corpus {corpus_name}", style, corpus.styles)
    return corpus, style


def _fitting(texts: Iterable[str], sources: StyleSources, seen: set[str]) -> Iterator[str]:
    """The sentences that can be learned from, each once."""
    unwanted = re.compile(sources.drop) if sources.drop else None
    for text in texts:
        text = clean(text)
        if unwanted and unwanted.search(text):
            continue
        text = _formed(text, sources.form)
        if not sources.min_words <= len(text.split()) <= sources.max_words or not re.search(r"[a-z]{2}", text):
            continue
        if (key := text.lower()) not in seen:
            seen.add(key)
            yield text


def _taught(style: str) -> Iterator[tuple[str, str]]:
    """What the published system made of its own paraphrases: a teacher, and not the truth."""
    for row in rows("strap-cds", "outputs"):
        if row["style"] != "shakespeare" and row["index"] < TESTED_FROM and style in row["outputs"]:
            before, after = clean(row["paraphrase"]), clean(row["outputs"][style])
            if before and after and _whole(before, after):
                yield before, after


def _whole(before: str, after: str) -> bool:
    """Whether a transfer is neither cut off nor grown: its words are about as many."""
    words: Sequence[int] = (len(before.split()), len(after.split()))
    return 0.6 <= (words[1] + 1) / (words[0] + 1) <= 1.7
