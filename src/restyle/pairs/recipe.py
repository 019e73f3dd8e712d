"""Training pairs for a paraphraser: a recipe names the corpora and what a pair of each must be, this makes the set.

    build("recipes/strap/paraphrase_pairs.toml", "pairs.jsonl")

Same recipe, same corpora, same bytes. No sentence that is held out for testing is on either side of a pair.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from restyle.corpora import HeldOut, load, tables
from restyle.errors import InputError, SettingsError, UnknownName
from restyle.pairs.filtering import kept
from restyle.pairs.settings import FilterSettings, preset
from restyle.pairs.soundness import CHECKS, first_fault
from restyle.pairs.sources import Source, offered
from restyle.progress import progress_bar
from restyle.records import Record, RecordWriter
from restyle.settings import from_dict, read_toml, save_beside, setting
from restyle.text.truecase import Truecaser

_BATCH = 8192


@dataclass(frozen=True)
class Recipe:
    """A set of pairs: its sources, what a pair must be, and whose sentences must not be in it."""

    title: str = setting("", "what the set is for")
    seed: int = setting(1, "another seed draws other pairs", minimum=0)
    preset: str = setting("loose", "the thresholds that the sources start from")
    filter: dict[str, Any] = setting({}, "thresholds that differ from the preset")
    twin: dict[str, Any] = setting({}, "thresholds of the non-diverse twin, over all others")
    valid_share: float = setting(0.02, "share of the pairs that are not trained on", minimum=0, maximum=0.5)
    held_out: tuple[str, ...] = setting((), "test sentences, as corpus/style/split; * is every style")
    capitals_from: tuple[str, ...] = setting((), "sentences that show how words are capitalised, named likewise")
    checks: tuple[str, ...] = setting((), f"what a pair must not fail: {', '.join(CHECKS)}")
    source: tuple[Source, ...] = field(default=())

    def thresholds(self, source: Source, *, twin: bool = False) -> FilterSettings:
        """What a pair of a source must be; the thresholds of the twin stand over all others."""
        return preset(self.preset, {**self.filter, **source.filter, **(self.twin if twin else {})})


class Pair(NamedTuple):
    """A pair with its place in the draw: of all pairs, the ones with the lowest are taken."""

    place: int
    identity: str
    text: str
    paraphrase: str


def read_recipe(file: str | Path) -> Recipe:
    """The recipe in a TOML file; SettingsError for a key or a value that it cannot have, UnknownName for a name.

    All of it is looked at now: a slip in the last source should not cost the minutes that the others take.
    """
    recipe = from_dict(Recipe, read_toml(file), where=str(file))
    if not recipe.source:
        raise InputError(f"{file} names no source; each is a [[source]] table")
    for part in (*recipe.held_out, *recipe.capitals_from):
        if part.count("/") != 2:
            raise SettingsError(f"{file}: {part!r} names no sentences; it should be corpus/style/split")
    for check in (*recipe.checks, *(check for source in recipe.source for check in source.without_checks)):
        if check not in CHECKS:
            raise UnknownName("check", check, CHECKS)
    for source in recipe.source:
        tables.entry(source.table)
        recipe.thresholds(source), recipe.thresholds(source, twin=True)
    return recipe


def build(
    file: str | Path, output: str | Path, *, twin: bool = False, progress: bool | None = None
) -> list[dict[str, Any]]:
    """Make the set of pairs that a recipe describes; `twin` makes its non-diverse twin (STRAP Sec. 5, -Div. PP).

    Records have `text`, `paraphrase`, `source`, `register` and `split`. Returns a row for each source: the pairs that
    it offered, those that give away a held-out sentence, those that a check found unfit, those that the filter kept,
    and those that were taken. The twin takes as many from each source as the set itself, where it has as many.
    """
    recipe = read_recipe(file)
    counts: list[dict[str, Any]] = []
    chosen: list[tuple[Pair, Source]] = []
    # Opened first: a place that cannot be written is told before the work, and what is there stays until it is done.
    with RecordWriter(output) as out, progress_bar("sources", len(recipe.source), shown=progress) as advance:
        draw = _Draw(recipe, HeldOut(_sentences(recipe.held_out)), Truecaser(_sentences(recipe.capitals_from)))
        for source in recipe.source:
            drawn, count = draw.of(source, recipe.thresholds(source), source.most)
            if twin:
                drawn, count = draw.of(source, recipe.thresholds(source, twin=True), len(drawn))
            counts.append(count)
            chosen += [(pair, source) for pair in drawn]
            advance(1)
        for pair, source in sorted(chosen, key=lambda drawn: drawn[0]):
            out.write(_record(pair, source, recipe))
    save_beside(recipe, output)
    return counts


@dataclass(frozen=True)
class _Draw:
    """What the pairs of every source are held against."""

    recipe: Recipe
    tests: HeldOut
    caser: Truecaser

    def of(self, source: Source, settings: FilterSettings, most: int) -> tuple[list[Pair], dict[str, Any]]:
        """The pairs of a source that are taken (of those that pass, the first by their place), and the counts."""
        count = {"offered": 0, "leaking": 0, "unfit": 0, "kept": 0}
        drawn = heapq.nsmallest(most, self._passing(source, settings, count))
        return drawn, {"source": source.name, "register": source.register, **count, "taken": len(drawn)}

    def _passing(self, source: Source, settings: FilterSettings, count: dict[str, int]) -> Iterator[Pair]:
        seen: set[tuple[str, str]] = set()
        pairs = self._fit(source, count)
        while batch := list(islice(pairs, _BATCH)):
            survive = kept([pair.text for pair in batch], [pair.paraphrase for pair in batch], settings)
            for pair, survives in zip(batch, survive, strict=True):
                if survives and (pair.text, pair.paraphrase) not in seen:
                    seen.add((pair.text, pair.paraphrase))
                    count["kept"] += 1
                    yield pair

    def _fit(self, source: Source, count: dict[str, int]) -> Iterator[Pair]:
        """The pairs that give nothing away and fail no check."""
        checks = [check for check in self.recipe.checks if check not in source.without_checks]
        for identity, text, paraphrase in offered(source, self.caser):
            count["offered"] += 1
            if self._unknown(source, text, paraphrase) or first_fault(text, paraphrase, checks):
                count["unfit"] += 1
            elif self.tests.leak(text) or self.tests.leak(paraphrase):
                count["leaking"] += 1
            else:
                place = _place(f"{self.recipe.seed}/{source.name}/{identity}")
                yield Pair(place, identity, text, paraphrase)

    def _unknown(self, source: Source, text: str, paraphrase: str) -> bool:
        """Whether a word is unknown to the sentences that show capitals: where those are lost, any; else a new one.

        Such a word may be a name that would not get its capital; in a paraphrase it is mostly a slip of the pen.
        """
        if not self.recipe.capitals_from:
            return False
        unknown = self.caser.unknown(paraphrase)
        if source.lower_case:
            return bool(unknown or self.caser.unknown(text))
        return any(word.islower() and word not in text.lower() for word in unknown)


def _sentences(parts: Iterable[str]) -> Iterator[str]:
    """The sentences of parts; a part that is nowhere is an error, or a slip would let a test sentence through."""
    for part in parts:
        name, style, split = part.split("/")
        corpus = load(name)
        styles = [each for each in corpus.styles if corpus.has(each, split)] if style == "*" else [style]
        if not styles:
            raise UnknownName(f"split of {name}", split, corpus.splits)
        for each in styles:
            yield from corpus.sentences(each, split, raw=True)


def _record(pair: Pair, source: Source, recipe: Recipe) -> Record:
    # All that is made from one text is in one split, whichever source it comes through.
    valid = _place(f"split/{pair.paraphrase.casefold()}") < recipe.valid_share * 2**64
    return {
        "id": pair.identity,
        "text": pair.text,
        "paraphrase": pair.paraphrase,
        "source": source.name,
        "register": source.register,
        "split": "valid" if valid else "train",
    }


def _place(key: str) -> int:
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
