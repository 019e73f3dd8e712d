"""Training pairs for a paraphraser: a recipe names the corpora and what a pair of each must be, this makes the set.

    build("recipes/strap/paraphrase_pairs.toml", "pairs.jsonl")

Same recipe, same corpora, same bytes. No sentence that is held out for testing is on either side of a pair.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice, pairwise, product
from pathlib import Path
from typing import Any, Literal, NamedTuple

from restyle.corpora import HeldOut, load, rows
from restyle.errors import InputError
from restyle.pairs.filtering import kept
from restyle.pairs.settings import FilterSettings, preset
from restyle.progress import progress_bar
from restyle.records import Record, RecordWriter
from restyle.settings import from_dict, read_toml, save_beside, setting
from restyle.text.clean import clean

_BATCH = 8192

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
    lower_case: bool = setting(False, "the source has lost its capitals: begin sentences, and I, with one again")
    ending: str = setting("", "the mark that the source has lost at the end of each sentence")


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
    source: tuple[Source, ...] = field(default=())


class Pair(NamedTuple):
    """A pair with its place in the draw: of all pairs, the ones with the lowest are taken."""

    place: int
    identity: str
    text: str
    paraphrase: str


def read_recipe(file: str | Path) -> Recipe:
    """The recipe in a TOML file; SettingsError for a key or a value that it cannot have."""
    recipe = from_dict(Recipe, read_toml(file), where=str(file))
    if not recipe.source:
        raise InputError(f"{file} names no source; each is a [[source]] table")
    return recipe


def build(
    file: str | Path, output: str | Path, *, twin: bool = False, progress: bool | None = None
) -> list[dict[str, Any]]:
    """Make the set of pairs that a recipe describes; `twin` makes its non-diverse twin (STRAP Sec. 5, -Div. PP).

    Records have `text`, `paraphrase`, `source`, `register` and `split`. Returns a row for each source: the pairs that
    it offered, those that give away a held-out sentence, those that the filter kept, and those that were taken.
    """
    recipe = read_recipe(file)
    tests = HeldOut(_sentences(recipe.held_out))
    counts: list[dict[str, Any]] = []
    chosen: list[tuple[Pair, Source]] = []
    with progress_bar("sources", len(recipe.source), shown=progress) as advance:
        for source in recipe.source:
            count: dict[str, Any] = {"source": source.name, "register": source.register}
            counts.append(count | {"offered": 0, "leaking": 0, "kept": 0, "taken": 0})
            chosen += [(pair, source) for pair in _drawn(source, recipe, tests, counts[-1], twin=twin)]
            advance(1)
    with RecordWriter(output) as out:
        for pair, source in sorted(chosen, key=lambda drawn: drawn[0]):
            out.write(_record(pair, source, recipe))
    save_beside(recipe, output)
    return counts


def _drawn(source: Source, recipe: Recipe, tests: HeldOut, count: dict[str, Any], *, twin: bool) -> Iterable[Pair]:
    """The pairs of a source that are taken: of those that pass, the first by their place in the draw."""
    settings = _settings(source, recipe, twin=twin)

    def passing() -> Iterator[Pair]:
        seen: set[tuple[str, str]] = set()
        offered = _pairs(source, recipe.seed)
        while batch := list(islice(offered, _BATCH)):
            count["offered"] += len(batch)
            clear = [pair for pair in batch if not (tests.leak(pair.text) or tests.leak(pair.paraphrase))]
            count["leaking"] += len(batch) - len(clear)
            survive = kept([pair.text for pair in clear], [pair.paraphrase for pair in clear], settings)
            for pair, survives in zip(clear, survive, strict=True):
                if survives and (pair.text, pair.paraphrase) not in seen:
                    seen.add((pair.text, pair.paraphrase))
                    count["kept"] += 1
                    yield pair

    drawn = heapq.nsmallest(source.most, passing())
    count["taken"] = len(drawn)
    return drawn


def _settings(source: Source, recipe: Recipe, *, twin: bool) -> FilterSettings:
    return preset(recipe.preset, {**recipe.filter, **source.filter, **(recipe.twin if twin else {})})


def _pairs(source: Source, seed: int) -> Iterator[Pair]:
    """Every pair that the source offers, cleaned, with its place in the draw."""
    for row in rows(source.table, source.part):
        if row.get("style") in source.without_styles:
            continue
        if source.below_index is not None and int(row["index"]) >= source.below_index:
            continue
        for number, (text, paraphrase) in enumerate(_READERS[source.pairs](row, source)):
            identity = f"{row['id']}/{number}"
            text, paraphrase = _restored(text, source), _restored(paraphrase, source)
            if text and paraphrase:
                yield Pair(_place(f"{seed}/{source.name}/{identity}"), identity, text, paraphrase)


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
        if text in versions and paraphrase in versions:
            yield versions[text], versions[paraphrase]


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


def _restored(text: str, source: Source) -> str:
    """A sentence as a person would write it, with the capitals and the last mark that its source has lost."""
    text = clean(text)
    if source.lower_case:
        words = [word.capitalize() if word.split("'")[0] == "i" else word for word in text.split(" ")]
        text = " ".join(words)
        text = text[:1].upper() + text[1:]
    if source.ending and text and text[-1].isalnum():
        text += source.ending
    return text


def _sentences(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        name, style, split = part.split("/")
        corpus = load(name)
        for each in corpus.styles if style == "*" else [style]:
            if corpus.has(each, split):
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
