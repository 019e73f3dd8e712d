"""Which corpora there are, and how each is opened: a new one is a loader, a line here and a table in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from restyle.corpora._catalogue import catalogue, catalogued
from restyle.corpora._corpus import Corpus
from restyle.corpora._files import Files
from restyle.corpora._rows import Rows
from restyle.errors import UnknownName, UsageError
from restyle.records import Record
from restyle.registry import Registry

corpora: Registry[Callable[[Files], Corpus]] = Registry("corpus")
tables: Registry[Callable[[Files], Rows]] = Registry("table")

for _name, _loader in {
    "bible": "scripture:bible",
    "bookcorpus": "books:bookcorpus",
    "books": "books:books",
    "cds": "cds:cds",
    "coha": "books:coha",
    "cola": "ratings:cola",
    "congress": "tweets:congress",
    "formality": "ratings:formality",
    "gyafc": "answers:gyafc",
    "lyrics": "songs:lyrics",
    "plays36": "plays:plays36",
    "politeness": "ratings:politeness",
    "shakespeare": "plays:shakespeare",
    "switchboard": "speech:switchboard",
    "switchboard-ldc": "speech:switchboard_ldc",
    "tweets": "tweets:tweets",
    "twitteraae-tweets": "tweets:dialect_tweets",
    "yelp": "reviews:yelp",
    "yelp-gender": "reviews:yelp_gender",
    "yelp-sentiment": "reviews:yelp_sentiment",
}.items():
    corpora.add(_name, f"restyle.corpora.{_loader}", "sentences in styles and splits")

for _name, _loader in {
    "bible": "scripture:verses",
    "flickr8k": "pairs:flickr8k",
    "li2018-ratings": "outputs:li2018_ratings",
    "pan": "pairs:pan",
    "paradetox": "pairs:paradetox",
    "paranmt": "pairs:paranmt",
    "quora": "pairs:quora",
    "strap-cds": "outputs:strap_cds",
    "strap-judged": "outputs:strap_judged",
    "strap-mturk": "outputs:strap_mturk",
    "strap-shakespeare": "outputs:strap_shakespeare",
    "stsb": "pairs:stsb",
    "systems": "outputs:systems",
    "twitter-url": "pairs:twitter_url",
    "twitteraae": "tweets:word_counts",
}.items():
    tables.add(_name, f"restyle.corpora.{_loader}", "rows of a table")


def load(name: str | Path, path: str | Path | None = None) -> Corpus:
    """Open a corpus: one of the catalogue, or one that `restyle corpora build` made, by its name or its folder.

    What is read is found in the mirror, in the cache, or fetched, when it is first asked for. `path` names a folder
    with a copy of your own: of a corpus that only its owner gives out, or of another edition.

    Raises UnknownName with the nearest names, UsageError for a table of pairs or outputs, which `rows` reads.

    >>> load("shakespeare").styles
    ('shakespeare', 'modern')
    """
    if str(name) not in catalogue():
        return _built(str(name))
    if str(name) not in corpora:
        raise UsageError(f"{name} holds no styles but rows: restyle.corpora.rows({str(name)!r}) reads them")
    return corpora[str(name)](_files(str(name), path))


def _built(name: str) -> Corpus:
    """A corpus of the user's own; the answer to an unknown name suggests from these and from the catalogue."""
    from restyle.corpora.build import built_names, load_built

    try:
        return load_built(name)
    except UnknownName:
        raise UnknownName("corpus", name, [*catalogue(), *built_names()]) from None


def rows(name: str, part: str | None = None, path: str | Path | None = None) -> Iterator[Record]:
    """Stream the rows of a table of pairs, outputs, ratings or counts; of all its parts, or of one.

    >>> for pair in rows("quora", "train"):  # doctest: +SKIP
    ...     print(pair["text"], pair["paraphrases"])
    """
    found = parts_of(name, path)
    if part is not None and part not in found:
        raise UnknownName(f"part of {name}", part, found)
    for each in found if part is None else [part]:
        yield from found[each]()


def parts_of(name: str, path: str | Path | None = None) -> Rows:
    """The parts of a table by name, each a function that reads its rows."""
    files = _files(name, path)
    if name not in tables:
        raise UsageError(f"{name} holds no rows but sentences in styles: restyle.corpora.load({name!r}) opens it")
    return tables[name](files)


def _files(name: str, path: str | Path | None) -> Files:
    return Files(catalogued(name), None if path is None else Path(path).expanduser())
