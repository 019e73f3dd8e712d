"""A few sentences of a corpus, drawn at random."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from restyle.corpora._catalogue import catalogue
from restyle.corpora._corpus import Corpus
from restyle.corpora._open import corpora, load, rows
from restyle.records import Record


def drawn(
    name: str,
    number: int,
    *,
    style: str | None = None,
    split: str | None = None,
    seed: int = 0,
    raw: bool = False,
    path: str | None = None,
) -> list[Record]:
    """`number` records of a corpus, or rows of a table, in the order in which they stand; the seed decides which.

    Without a `split` they are of the first that the style has, without a `style` of all styles.
    """
    if name in catalogue() and name not in corpora:
        return _reservoir(rows(name, style, path), number, seed)
    return _reservoir(_records(load(name, path), style, split, raw), number, seed)


def _records(corpus: Corpus, style: str | None, split: str | None, raw: bool) -> Iterator[Record]:
    for each in corpus.styles if style is None else [style]:
        held = [named for named in corpus.splits if corpus.has(each, named)]
        # A style or a split that is not there is told by `records`, a split that only this style lacks is passed over.
        if split is None or split in held or style is not None or split not in corpus.splits:
            yield from corpus.records(each, split or next(iter(held), ""), raw=raw)


def _reservoir(records: Iterable[Record], number: int, seed: int) -> list[Record]:
    """Vitter's algorithm R: every record has the same chance, and no more than `number` are held."""
    random_ = random.Random(seed)
    kept: dict[int, tuple[int, Record]] = {}
    for place, record in enumerate(records):
        slot = place if place < number else random_.randrange(place + 1)
        if slot < number:
            kept[slot] = (place, record)
    return [record for _, record in sorted(kept.values(), key=lambda each: each[0])]
