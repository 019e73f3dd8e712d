"""The catalogue and its contents as rows of tables: what the command line and docs/data.md show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from restyle.corpora._catalogue import CatalogueEntry, catalogue, catalogued
from restyle.corpora._corpus import Corpus
from restyle.corpora._files import Files
from restyle.corpora._open import corpora, load, parts_of, tables
from restyle.corpora.build import built_names
from restyle.errors import AssetError, RestyleError
from restyle.progress import progress_bar

Row = dict[str, Any]

_MANY_FILES = 10


def listed() -> list[Row]:
    """A short row for each corpus, with where it is: those of the catalogue, then those that were built here."""
    known = [
        {
            "corpus": entry.name,
            "what it is": entry.title,
            "styles": len(entry.styles) or None,
            "lines": entry.lines or None,
            "MB": round(entry.bytes / 1e6, 1) or None,
            "where": Files(entry).whereabouts(),
        }
        for entry in catalogue().values()
    ]
    return known + [
        {"corpus": name, "what it is": "your own", "styles": styles, "lines": None, "MB": None, "where": where}
        for name in built_names()
        for styles, where in [_built(name)]
    ]


def _built(name: str) -> tuple[int | None, str]:
    """The number of styles of a corpus that was built here, and where it is; one bad card hides no other corpus."""
    try:
        return len(load(name).styles), "built here"
    except RestyleError:
        return None, "damaged"


def described() -> list[Row]:
    """A long row for each corpus, the same on every machine: the table of docs/data.md."""
    return [
        {
            "corpus": entry.name,
            "what it is": entry.title,
            "lines": f"{entry.lines:,}" if entry.files else "on request",
            "MB": f"{entry.bytes / 1e6:.1f}" if entry.files else "",
            "licence": entry.licence,
            "origin": entry.origin,
            "traps": "; ".join(entry.traps),
        }
        for entry in catalogue().values()
    ]


def all_known(name: str) -> list[Row]:
    """Everything that is known of one corpus, one row a fact."""
    entry = catalogued(name)
    facts = {
        "what it is": entry.title,
        "for": entry.use,
        "styles": ", ".join(entry.styles),
        "parts": ", ".join(parts_of(name)) if name in tables else "",
        "origin": entry.origin,
        "to get it": entry.ask or "",
        "expected layout": entry.layout or "",
        "licence": entry.licence,
        "redistribution": entry.redistribution,
        "citation": entry.citation,
    }
    rows = [{"what": what, "value": value} for what, value in facts.items() if value]
    rows += [{"what": "trap", "value": trap} for trap in entry.traps]
    return rows + [
        {"what": "file", "value": f"{file.path}: {file.lines:,} lines, {file.bytes:,} bytes"} for file in entry.files
    ]


def counted(names: Sequence[str] = (), *, sentences: bool = False, path: str | None = None) -> list[Row]:
    """The lines of data in the files of each corpus, or with `sentences` what its loader makes of them, counted now.

    Without names, of all corpora that are on this machine; where a corpus has many files, by folder. What is named is
    fetched if need be.
    """
    known = catalogue()
    chosen = names or [name for name, entry in known.items() if Files(entry).whereabouts() == "here"]
    if not chosen:
        raise AssetError("no corpus is on this machine: set RESTYLE_DATA to a mirror, or restyle corpora fetch NAME")
    counts: list[Row] = []
    with progress_bar("counting", len(chosen)) as advance:
        for name in chosen:
            if sentences or path or name not in known:
                counts += _sentences(name, path)
            else:
                counts += _lines(known[name], by_file=bool(names))
            advance(1)
    return counts


def _lines(entry: CatalogueEntry, *, by_file: bool) -> list[Row]:
    files = Files(entry)
    files.all_paths()
    folders = Counter(_folder(file.path) for file in entry.files)
    counts: Counter[str] = Counter()
    for file in entry.files:
        one_by_one = by_file or len(entry.files) <= _MANY_FILES or folders[_folder(file.path)] == 1
        counts[file.path if one_by_one else _folder(file.path)] += files.count_lines(file.path)
    return [
        {"corpus": entry.name, "part": part, "split": "", "of": "lines", "count": count}
        for part, count in counts.items()
    ]


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"


def _sentences(name: str, path: str | None) -> Iterator[Row]:
    """The sentences of each style and split of a corpus, and the rows of each part of a table."""
    if name in corpora or name not in catalogue():
        yield from _of_corpus(load(name, path))
    if name in tables:
        for part, read in parts_of(name, path).items():
            yield {"corpus": name, "part": part, "split": "", "of": "rows", "count": sum(1 for _ in read())}


def _of_corpus(corpus: Corpus) -> Iterator[Row]:
    for style in corpus.styles:
        for split in corpus.splits:
            if corpus.has(style, split):
                count = len(corpus.sentences(style, split))
                yield {"corpus": corpus.name, "part": style, "split": split, "of": "sentences", "count": count}
