"""From a corpus to numbered sentences: two styles, a vocabulary, and the paraphrases of Eq. 5 (Pang and Gimpel 5.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from restyle.corpora import Corpus
from restyle.corpora import rows as rows_of
from restyle.corpora import tables as catalogued_tables
from restyle.errors import InputError, UnknownName, UsageError
from restyle.nets.vocabulary import SubwordVocabulary, Vocabulary, Words
from restyle.records import Record, read_records
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings
from restyle.text.entities import mask
from restyle.text.tokenised_styles import tokenise

Rows = Sequence[Sequence[int]]
_TRAIN, _VALID = "train", "valid"
# What a stream of random numbers is for: no two of them are the same.
_SENTENCES, _DEV, _PAIRS = range(3)


@dataclass(frozen=True)
class Sides:
    """The sentences of both styles, as text and as numbers."""

    styles: tuple[str, str]
    vocabulary: Vocabulary
    texts: tuple[Sequence[str], Sequence[str]]
    dev_texts: tuple[Sequence[str], Sequence[str]]
    rows: tuple[Rows, Rows]
    dev_rows: tuple[Rows, Rows]

    def fingerprint(self) -> str:
        """A hash of the sentences that are learned from and measured on."""
        digest = hashlib.sha256()
        for texts in (self.styles, *self.texts, *self.dev_texts):
            digest.update("\x1f".join(texts).encode("utf-8", "replace") + b"\x1e")
        return digest.hexdigest()[:16]


def read_sides(corpus: Corpus, styles: Sequence[str], settings: CrossAlignedSettings) -> Sides:
    """The sentences of two styles of a corpus that are of the right length, and the words that they are made of.

    UsageError when there are not two styles, InputError when one has no such sentence or the vocabulary is one word.
    """
    pair = two_of(corpus, styles)
    one, other = (_sentences(corpus, style, _TRAIN, settings) for style in pair)
    dev_one, dev_other = (_sentences(corpus, style, _VALID, settings) for style in pair)
    vocabulary = _learned([*one, *other], settings)
    rows, dev_rows = (
        tuple([vocabulary.encode(text) for text in texts] for texts in both)
        for both in ((one, other), (dev_one, dev_other))
    )
    return Sides(pair, vocabulary, (one, other), (dev_one, dev_other), (rows[0], rows[1]), (dev_rows[0], dev_rows[1]))


def two_of(corpus: Corpus, styles: Sequence[str]) -> tuple[str, str]:
    """The two styles that are meant; UsageError says which there are when they are not two."""
    wanted = tuple(styles) or corpus.styles
    for style in wanted:
        if style not in corpus.styles:
            raise UnknownName(f"style of the corpus {corpus.name}", style, corpus.styles)
    if len(set(wanted)) != 2:
        which = "was named" if styles else "is in the corpus"
        counted = f"{wanted[0]!r} alone {which}" if len(set(wanted)) == 1 else f"{len(set(wanted))} styles: {wanted}"
        raise UsageError(
            f"transfer is between two styles, and {counted}; name two of {corpus.name} with --styles: "
            f"{', '.join(corpus.styles)}"
        )
    return wanted[0], wanted[1]


def prepared(texts: Sequence[str], settings: CrossAlignedSettings) -> list[str]:
    """The texts as the model reads them: names and places as plain tags, where the model knows them so."""
    return [masked.text for masked in mask(texts, numbered=False)] if settings.tags else list(texts)


def paraphrases(vocabulary: Vocabulary, settings: CrossAlignedSettings) -> list[tuple[list[int], list[int]]]:
    """The pairs of Eq. 5: neither side stands in the other (footnote 1), both have the right length; then drawn.

    InputError when there is none.
    """
    found: list[tuple[list[int], list[int]]] = []
    for text, other in _pairs(settings.pairs):
        # Footnote 1; a caseless comparison, as the vocabulary may be caseless.
        one, two = text.casefold().strip(), other.casefold().strip()
        if not one or not two or one in two or two in one:
            continue
        rows = vocabulary.encode(text), vocabulary.encode(other)
        if all(settings.min_words <= len(row) <= settings.max_words for row in rows):
            found.append(rows)
    if not found:
        raise InputError(
            f"none of the pairs of {', '.join(settings.pairs) or 'no source'} has two sides of "
            f"{settings.min_words} to {settings.max_words} words of which neither stands in the other"
        )
    order = np.random.default_rng([settings.seed, _PAIRS]).permutation(len(found))[: settings.most_pairs]
    return [found[place] for place in order]


def _sentences(corpus: Corpus, style: str, split: str, settings: CrossAlignedSettings) -> list[str]:
    """The sentences of the right length, in an order that the seed decides, as many as are wanted."""
    most = settings.sentences if split == _TRAIN else settings.dev_sentences
    all_of_style = corpus.sentences(style, split) if corpus.has(style, split) else []
    if not all_of_style:
        raise InputError(f"the style {style!r} of {corpus.name} has no sentences in its split {split}")
    # What is measured on does not hang on the seed: runs with other seeds are compared.
    stream = [settings.seed, _SENTENCES] if split == _TRAIN else [_DEV]
    order = np.random.default_rng(stream).permutation(len(all_of_style))
    kept: list[str] = []
    for start in range(0, len(order), 4096):
        texts = prepared([all_of_style[place] for place in order[start : start + 4096]], settings)
        kept += [text for text in texts if _fits(text, settings)]
        if most and len(kept) >= most:
            break
    if not kept:
        raise InputError(
            f"none of the {len(all_of_style):,} sentences of {style!r} in {corpus.name}, split {split}, has "
            f"{settings.min_words} to {settings.max_words} words; change min_words or max_words"
        )
    return kept[:most] if most else kept


def _fits(text: str, settings: CrossAlignedSettings) -> bool:
    return settings.min_words <= len(tokenise(text, settings.tokens).split()) <= settings.max_words


def _learned(texts: Sequence[str], settings: CrossAlignedSettings) -> Vocabulary:
    if settings.subwords:
        return SubwordVocabulary.learned(texts, settings.subwords, style=settings.tokens)
    return Words.learned(texts, settings.vocabulary, least=settings.min_count, style=settings.tokens)


def _pairs(sources: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Two sentences that mean the same, of tables of the catalogue or of files with a `text` and a `paraphrase`."""
    for source in sources:
        if source in catalogued_tables:
            for row in rows_of(source):
                yield from ((row["text"], paraphrase) for paraphrase in _said_otherwise(row, source))
        elif Path(source).is_file():
            for row in read_records(source):
                yield from ((row["text"], paraphrase) for paraphrase in _said_otherwise(row, source))
        else:
            raise UnknownName("table or file of paraphrases", source, catalogued_tables.names())


def _said_otherwise(row: Record, source: str) -> list[str]:
    """The paraphrases of a row; those of one picture or one toxic sentence are not asked for here."""
    several = row.get("paraphrases", row.get("paraphrase"))
    if isinstance(several, str):
        several = [several]
    if not isinstance(several, list):
        raise InputError(f"{source}, {row['id']}: a text and its paraphrase are needed; it holds {', '.join(row)}")
    return [str(each) for each in several]
