"""What a judge is trained on: sentences of corpora by label, two sets that share none, and nothing of any test.

A source is written `corpus`, `corpus/style` or `corpus/style=label`. A sentence belongs to the set `select` or `report`
by the hash of its content, so that the same words are never in both, whichever corpus and line they come from.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from restyle.corpora import Corpus, HeldOut, load, rows
from restyle.corpora.leaks import MIN_WORDS
from restyle.errors import InputError, UnknownName, UsageError
from restyle.metrics.judges import Set
from restyle.metrics.training._broken import broken
from restyle.text.clean import clean

# Where a corpus has no valid split, this share of its training sentences is kept back for one.
_VALID_SHARE = 0.08
# More would cost minutes after every epoch and decide nothing.
_MOST_VALID = 1500
# Of a table of counts: the word that stands for all others, and how often a word must have been counted.
_OTHERS, _FEWEST_COUNTED = "OOV", 500


@dataclass(frozen=True)
class Source:
    """One style of a corpus, and the label that its sentences get."""

    corpus: Corpus
    style: str
    label: str


@dataclass
class Labelled:
    """Sentences by label."""

    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, label: str, texts: Iterable[str]) -> None:
        """Put sentences under a label."""
        self.texts.setdefault(label, []).extend(texts)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order in which they came."""
        return tuple(self.texts)

    def counts(self) -> dict[str, int]:
        """How many sentences each label has."""
        return {label: len(texts) for label, texts in self.texts.items()}

    def columns(self, labels: Sequence[str]) -> tuple[list[str], list[int]]:
        """All sentences, and the number that each one's label has among `labels`."""
        texts = [text for label in labels for text in self.texts.get(label, ())]
        return texts, [number for number, label in enumerate(labels) for _ in self.texts.get(label, ())]


@dataclass(frozen=True)
class JudgeData:
    """What a judge learns from, is chosen by, and is reported on."""

    train: Labelled
    valid: Labelled
    test: Labelled


def sources_of(named: Sequence[str], *, least: int = 2) -> list[Source]:
    """The sources that the command line names; UnknownName or UsageError where one cannot be meant.

    There are at least `least` labels among them.
    """
    found: list[Source] = []
    for name in named:
        place, _, label = name.partition("=")
        corpus_name, _, style = place.partition("/")
        corpus = load(corpus_name)
        if style and style not in corpus.styles:
            raise UnknownName(f"style of the corpus {corpus_name}", style, corpus.styles)
        if label and not style:
            raise UsageError(
                f"{name!r} gives a label to all of {corpus_name}; name the style: {corpus_name}/STYLE=LABEL"
            )
        found += [Source(corpus, each, label or each) for each in ([style] if style else corpus.styles)]
    if len({source.label for source in found}) < least:
        raise UsageError("a judge tells at least two labels apart; name a corpus of several styles, or several corpora")
    return found


def gathered(sources: Sequence[Source], part: Set, *, share: float, limit: int | None, seed: int) -> JudgeData:
    """The data of one of the two sets.

    `share` of the training sentences are in `select`, the others in `report`. Of each source at most `limit` training
    sentences are taken, drawn by `seed`. The first source of a label gives its valid sentences: of its own valid split,
    or kept back from what it trains on.
    """
    train, valid, test = Labelled(), Labelled(), Labelled()
    for source in sources:
        if source.corpus.has(source.style, "test") and source.label not in test.texts:
            test.add(source.label, source.corpus.sentences(source.style, "test"))
    judged_by = _firsts(sources)
    for source in judged_by.values():
        if source.corpus.has(source.style, "valid") and _learned_from(source) == "train":
            valid.add(source.label, source.corpus.sentences(source.style, "valid")[:_MOST_VALID])
    apart = HeldOut(text for part_ in (valid, test) for texts in part_.texts.values() for text in texts)
    seen: set[str] = set()
    for source in sources:
        split = _learned_from(source)
        if split is None:
            continue
        texts = list(_fresh(source.corpus.sentences(source.style, split), apart, seen))
        if source is judged_by[source.label] and source.label not in valid.texts:
            most = None if limit is None else round(_VALID_SHARE * limit)
            valid.add(source.label, [text for text in texts if _fraction(text, "valid") < _VALID_SHARE][:most])
            texts = [text for text in texts if _fraction(text, "valid") >= _VALID_SHARE]
        train.add(source.label, _drawn(_of_set(texts, part, share), source, limit, seed))
    if lacking := [label for label in {source.label for source in sources} if not train.texts.get(label)]:
        raise InputError(f"no training sentences for {', '.join(sorted(lacking))} in the set {part}")
    return JudgeData(train, valid, test)


def with_broken(
    data: JudgeData, sources: Sequence[Source], part: Set, *, share: float, limit: int | None, seed: int
) -> JudgeData:
    """The data of a judge of fluency, with sentences as people wrote them, and the same ones broken.

    They are split as `gathered` splits; at most `limit` of each source are taken.
    """
    acceptable, unacceptable = data.train.labels
    apart = HeldOut(text for part_ in (data.valid, data.test) for texts in part_.texts.values() for text in texts)
    seen: set[str] = set()
    train = Labelled({label: list(texts) for label, texts in data.train.texts.items()})
    for source in sources:
        texts = _of_set(_fresh(source.corpus.sentences(source.style, "train"), apart, seen), part, share)
        texts = _drawn(texts, source, limit, seed)
        train.add(acceptable, texts)
        train.add(unacceptable, broken(texts, seed=seed))
    return replace(data, train=train)


def _of_set(texts: Iterable[str], part: Set, share: float) -> list[str]:
    return [text for text in texts if (_fraction(text, "set") < share) == (part == "select")]


def _drawn(texts: list[str], source: Source, limit: int | None, seed: int) -> list[str]:
    random.Random(f"{seed}/{source.corpus.name}/{source.style}").shuffle(texts)
    return texts[:limit]


def _learned_from(source: Source) -> str | None:
    """The split that is trained on: of a corpus without a train split the valid one, part of which is kept back."""
    return next((split for split in ("train", "valid") if source.corpus.has(source.style, split)), None)


def counts_of(named: Mapping[str, str], labels: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """How often each word is written by whom, from tables of counts: `twitteraae/white` by label.

    UnknownName for a label that none of the corpora has, or a column that the table has not.
    """
    for label in named:
        if label not in labels:
            raise UnknownName("label", label, labels)
    (table,) = {name.partition("/")[0] for name in named.values()}
    columns = [named[label].partition("/")[2] for label in labels]
    found: dict[str, tuple[float, ...]] = {}
    for row in rows(table):
        if not found and (unknown := [column for column in columns if column not in row]):
            raise UnknownName(f"column of {table}", unknown[0], [key for key in row if key not in ("id", "text")])
        # What is seldom written tells little, and a hundred thousand such words would be most of the file.
        if row["text"] != _OTHERS and row["count"] >= _FEWEST_COUNTED:
            found[row["text"]] = tuple(row["count"] * row[column] for column in columns)
    return found


def _firsts(sources: Sequence[Source]) -> dict[str, Source]:
    """For each label, the first source that has sentences to choose a judge by."""
    firsts: dict[str, Source] = {}
    for source in sources:
        if any(source.corpus.has(source.style, split) for split in ("train", "valid")):
            firsts.setdefault(source.label, source)
    return firsts


def _fresh(texts: Iterable[str], apart: HeldOut, seen: set[str]) -> Iterator[str]:
    """The sentences that no test holds and that no source before had."""
    for text in texts:
        key = clean(text)
        if not key or key in seen or (len(key.split()) >= MIN_WORDS and apart.leak(key)):
            continue
        seen.add(key)
        yield key


def _fraction(text: str, salt: str) -> float:
    """A number from 0 to 1 that only the words decide."""
    words = " ".join(text.lower().split())
    digest = hashlib.blake2b(f"{salt}\0{words}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
