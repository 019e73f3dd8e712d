"""Where the pairs of a recipe come from: one source is a table of the catalogue, and how its rows make pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, Literal

from restyle.corpora import rows
from restyle.errors import SettingsError
from restyle.records import Record
from restyle.settings import setting
from restyle.text.clean import clean
from restyle.text.truecase import Truecaser

PairsOf = Literal["paraphrases", "captions", "rated", "versions", "paraphrase", "outputs"]


@dataclass(frozen=True)
class Source:
    """One source of pairs: a table of the catalogue, which pairs its rows hold, and which of them are wanted."""

    name: str = setting("", "what the source is called in the set")
    register: str = setting("", "what kind of language it is")
    table: str = setting("", "the table of the catalogue")
    part: str | None = setting(None, "the part of the table; all when not given")
    pairs: PairsOf = setting("paraphrases", "how a row makes pairs")
    most: int = setting(10_000, "pairs taken at most", minimum=1)
    filter: dict[str, Any] = setting({}, "thresholds that differ from those of the recipe")
    min_score: float = setting(0.0, "rated: least score of a pair that means the same")
    texts: tuple[str, ...] = setting((), "versions: those that are to be rewritten; outputs: the styles taken")
    paraphrases: tuple[str, ...] = setting((), "versions: those that they are rewritten to")
    without_styles: tuple[str, ...] = setting((), "styles whose rows are left out")
    below_index: int | None = setting(None, "rows with this index and above are held out")
    lower_case: bool = setting(False, "the source has lost its capitals: put them back, on both sides")
    capitalise: bool = setting(False, "begin the sentences of the paraphrase, and I, with a capital")
    ending: str = setting("", "the mark that the source has lost at the end of each sentence")
    both_ways: bool = setting(False, "either side is as good a paraphrase of the other: take the pair both ways")
    without_checks: tuple[str, ...] = setting((), "checks of the recipe that this source is spared")


def offered(source: Source, caser: Truecaser) -> Iterator[tuple[str, str, str]]:
    """Every pair of a source, cleaned and with its capitals, under a name that no other pair has."""
    for row in rows(source.table, source.part):
        if row.get("style") in source.without_styles:
            continue
        if source.below_index is not None and int(row["index"]) >= source.below_index:
            continue
        for number, (text, paraphrase) in enumerate(_pairs_of(row, source)):
            text, paraphrase = _restored(text, source, caser), _restored(paraphrase, source, caser)
            if not (text and paraphrase):
                continue
            yield f"{row['id']}/{number}", text, _PLAIN(paraphrase) if source.capitalise else paraphrase
            if source.both_ways:
                yield f"{row['id']}/{number}/back", paraphrase, text


def _pairs_of(row: Record, source: Source) -> list[tuple[str, str]]:
    try:
        return list(_READERS[source.pairs](row, source))
    except KeyError as error:
        raise SettingsError(
            f"the source {source.name!r} has pairs = {source.pairs!r}, but the rows of {source.table} hold no {error}, "
            f"only {', '.join(row)}"
        ) from None


def _paraphrases(row: Record, source: Source) -> Iterator[tuple[str, str]]:
    yield from ((row["text"], paraphrase) for paraphrase in row["paraphrases"])


def _captions(row: Record, source: Source) -> Iterator[tuple[str, str]]:
    """Each caption with the next: all pairs of them would show one picture twenty times."""
    yield from pairwise([row["text"], *row["paraphrases"]])


def _rated(row: Record, source: Source) -> Iterator[tuple[str, str]]:
    if row["score"] >= source.min_score:
        yield row["text"], row["other"]


def _versions(row: Record, source: Source) -> Iterator[tuple[str, str]]:
    """Each version to be rewritten with each that it is rewritten to, where the verse has both."""
    versions = row["versions"]
    for text, paraphrase in product(source.texts, source.paraphrases):
        if text != paraphrase and text in versions and paraphrase in versions:
            yield _unbracketed(versions[text]), _unbracketed(versions[paraphrase])


def _unbracketed(verse: str) -> str:
    """A verse without the brackets that mark what its translators added: all of it is to be read."""
    return verse.replace("[", "").replace("]", "")


def _paraphrase(row: Record, source: Source) -> Iterator[tuple[str, str]]:
    yield row["text"], row["paraphrase"]


def _outputs(row: Record, source: Source) -> Iterator[tuple[str, str]]:
    """What STRAP wrote in each style, with the paraphrase that it wrote it from: the way back to plain English."""
    yield from ((text, row["paraphrase"]) for style, text in row["outputs"].items() if style in source.texts)


_READERS: dict[PairsOf, Callable[[Record, Source], Iterator[tuple[str, str]]]] = {
    "paraphrases": _paraphrases,
    "captions": _captions,
    "rated": _rated,
    "versions": _versions,
    "paraphrase": _paraphrase,
    "outputs": _outputs,
}


# A verse is paired with several others.
_cleaned = lru_cache(maxsize=64)(clean)
# Knows no names: gives sentences and `I` their capital and leaves the rest alone.
_PLAIN = Truecaser()


def _restored(text: str, source: Source, caser: Truecaser) -> str:
    """A sentence as a person would write it, with the capitals and the last mark that its source has lost."""
    text = _cleaned(text)
    if source.lower_case:
        text = caser(text)
    if source.ending and text and text[-1].isalnum():
        text += source.ending
    return text
