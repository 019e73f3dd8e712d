"""Books: public-domain ones by style, COHA's decades, and the sentences of BookCorpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from restyle.corpora._content import by_content, only
from restyle.corpora._corpus import SPLITS, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded
from restyle.errors import InputError
from restyle.records import opened_text
from restyle.text.sentences import sentences

# In verse a line stands for itself, as in the samples of CDS; prose is cut into sentences.
_VERSE = frozenset({"romantic_poetry"})
# CDS took its sentences from the same books, or from books of the same time.
_CDS_STYLES = {
    "joyce": "joyce",
    "romantic_poetry": "poetry",
    "fiction_1810_1830": "coha_1810",
    "fiction_1890_1910": "coha_1890",
}
_COHA_DECADES = {
    "coha_1810": ("1810s", "1820s"),
    "coha_1890": ("1890s", "1900s"),
    "coha_1990": ("1990s", "2000s"),
}
# COHA begins a text with its number and leaves out ten words in every two hundred: `@ @ @ @ @ @ @ @ @ @`.
_COHA_NUMBER = re.compile(r"^(?:@@|##)\d+\s*")
_COHA_GAP = "@ @"


def books(files: Files) -> Corpus:
    """Sentences of prose and lines of verse, split by content.

    Not by book: five of the ten styles are one to five books, and what a style should be told by is not one author's.
    """
    read = by_content(partial(_of_style, files))
    styles = files.entry.styles
    return guarded(
        "books",
        {style: partial(read, style) for style in styles},
        SPLITS,
        apart_from={style: [f"cds/{_CDS_STYLES[style]}/test"] for style in styles if style in _CDS_STYLES},
    )


def coha(files: Files) -> Corpus:
    """The three periods of the Corpus of Historical American English that CDS uses."""

    def paragraphs(style: str) -> Iterator[Line]:
        for decade in _COHA_DECADES[style]:
            texts = sorted((files.folder / decade).rglob("*.txt"))
            if not texts:
                raise InputError(f"{files.folder} holds no {decade}/*.txt")
            for path in texts:
                yield from _paragraphs(path, f"{decade}/{path.name}")

    def read(style: str, split: str) -> Iterator[Line]:
        return only(split, (line for line in _sentences(paragraphs(style)) if _COHA_GAP not in line.text))

    apart_from = {style: [f"cds/{style}/test"] for style in _COHA_DECADES}
    readers = {style: partial(read, style) for style in _COHA_DECADES}
    return guarded("coha", readers, SPLITS, apart_from=apart_from, own=False)


def bookcorpus(files: Files) -> Corpus:
    """The sentences of BookCorpus, in two files of one sentence a line."""

    def lines() -> Iterator[Line]:
        for name in ("books_large_p1.txt", "books_large_p2.txt"):
            yield from _paragraphs(files.folder / name, name)

    def read(split: str) -> Iterator[Line]:
        return only(split, lines())

    return guarded("bookcorpus", {"bookcorpus": read}, SPLITS, own=False)


def _of_style(files: Files, style: str) -> Iterator[Line]:
    for book in files.entry.files:
        if book.style == style:
            lines = files.lines(book.path)
            key = Path(book.path).name.partition(".")[0]
            if style in _VERSE:
                yield from (Line(line.text, line.source, line.number, f"{key}:{line.number}") for line in lines)
            else:
                yield from _sentences(lines)


def _sentences(paragraphs: Iterable[Line]) -> Iterator[Line]:
    for paragraph in paragraphs:
        book = Path(paragraph.source).name.partition(".")[0]
        for place, sentence in enumerate(sentences(paragraph.text), start=1):
            yield Line(sentence, paragraph.source, paragraph.number, f"{book}:{paragraph.number}.{place}")


def _paragraphs(path: Path, name: str) -> Iterator[Line]:
    with opened_text(path) as texts:
        for number, text in enumerate(texts, start=1):
            if text := _COHA_NUMBER.sub("", text.replace("<p>", " ").replace("<P>", " ")).strip():
                yield Line(text, name, number)
