"""CDS, the Corpus of Diverse Styles (Krishna et al. 2020, Sec. 6, App. A.6, Table 14), from what can be had of it.

Five of its eleven sources are open, and Joyce in part. COHA, TwitterAAE and the lyrics are only given out by their
owners: with a folder of your own they are built too, without one COHA's periods are stood in for by public-domain
books, and of the others there are only the 500 sentences that the authors published to be trained on. The test split is
always the second half of the published samples, and no other sentence that gives one of those away is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from restyle.corpora._content import folded
from restyle.corpora._corpus import SPLITS, TEST, TRAIN, Corpus, Line
from restyle.corpora._open import load
from restyle.corpora.build._folder import load_built, new_folder, target_folder, write_card
from restyle.corpora.build._pieces import Piece
from restyle.corpora.build._pipeline import write_splits
from restyle.corpora.build._report import BuildReport
from restyle.corpora.build._settings import BuildSettings
from restyle.corpora.build._sources import Source
from restyle.corpora.build._supplies import Paths, Supply, check_paths, sources_at_hand
from restyle.corpora.leaks import HeldOut
from restyle.records import ReadingReport
from restyle.settings import to_dict

# Sentences in the paper's train split (Table 14), for the report.
PAPER_TRAIN = {
    "shakespeare": 24_852,
    "tweets": 5_164_874,
    "bible": 31_404,
    "poetry": 26_880,
    "switchboard": 145_823,
    "aae": 717_634,
    "joyce": 37_082,
    "lyrics": 4_588_522,
    "coha_1810": 205_286,
    "coha_1890": 1_210_687,
    "coha_1990": 1_865_687,
}
OPEN = (
    # Its valid split is a whole play, Twelfth Night, which no training may see.
    Supply("shakespeare", "shakespeare", "shakespeare", splits=(TRAIN,)),
    Supply("tweets", "tweets", "tweets"),
    Supply("bible", "bible", "KJVPCE"),  # "the English Bible from Project Gutenberg" is the King James Version
    Supply("poetry", "books", "romantic_poetry"),
    Supply("switchboard", "switchboard", "switchboard"),
    Supply("joyce", "books", "joyce", stands_in_for="Ulysses and Finnegans Wake: Ulysses, Dubliners, A Portrait"),
)
ON_REQUEST = (
    Supply("aae", "twitteraae-tweets", "aae"),
    Supply("lyrics", "lyrics", "lyrics"),
    Supply("coha_1810", "coha", "coha_1810"),
    Supply("coha_1890", "coha", "coha_1890"),
    Supply("coha_1990", "coha", "coha_1990"),
)
SUBSTITUTES = (
    Supply("coha_1810", "books", "fiction_1810_1830", stands_in_for="COHA 1810-1830"),
    Supply("coha_1890", "books", "fiction_1890_1910", stands_in_for="COHA 1890-1910"),
    # No book of the 1990s is in the public domain yet: novels of 1950 to 1963, and the government's prose of the time.
    Supply("coha_1990", "books", "midcentury_fiction", stands_in_for="COHA 1990-2010"),
    Supply("coha_1990", "books", "modern_plain", stands_in_for="COHA 1990-2010"),
)

# The loaders of the catalogue hold out what lies below 0.05 of the content hash, so a tenth leaves about 5% for valid
# (Table 14). Test is what the authors published. Dialect and Joyce are what a language model takes for foreign.
SETTINGS = BuildSettings(valid_share=0.1, test_share=0.0, language="any")


def build_cds(
    name: str = "cds-built",
    *,
    paths: Paths | None = None,
    substitutes: bool = True,
    limit: int | None = None,
    settings: BuildSettings | None = None,
    out: str | Path | None = None,
    examples: int = 5,
    progress: bool | None = None,
) -> tuple[Corpus, BuildReport]:
    """Build CDS from its sources; the report names what serves each style, and how to get what is missing.

    `paths` gives folders of your own for what is on request, by the catalogue's name: coha, lyrics, twitteraae-tweets.
    `substitutes=False` leaves COHA's periods with the published samples only. `limit` is how many sentences of each
    source are read.

    Raises AssetError when the published samples themselves cannot be had.
    """
    paths, settings = paths or {}, settings or SETTINGS
    check_paths(paths, ON_REQUEST)
    samples = load("cds")
    report = BuildReport(name, most_examples=examples)
    found, missing = sources_at_hand([*OPEN, *ON_REQUEST], paths, limit)
    served = {source.style for source in found}
    if substitutes:
        stand_ins = [supply for supply in SUBSTITUTES if supply.style not in served]
        more, still_missing = sources_at_hand(stand_ins, paths, limit)
        found, missing = found + more, missing + still_missing
    held_out = [line.text for style in samples.styles for line in samples.lines(style, TEST)]
    target = target_folder(name, out)
    with new_folder(target) as folder:
        sources = [*_published(samples, TEST), *_published(samples, TRAIN), *found]
        stage = partial(_apart_from, HeldOut(held_out), frozenset(map(folded, held_out)))
        write_splits(sources, folder, report, settings, stage=stage, progress=progress)
        report.notes += [*_sizes(report), *missing]
        write_card(folder, report, to_dict(settings), recipe="cds")
    report.folder = target
    return load_built(target), report


def _published(samples: Corpus, split: str) -> Iterator[Source]:
    """The halves of the published samples: the second goes to test as it is, the first is material like any other."""
    for style in (style for style in samples.styles if samples.has(style, split)):
        forced = TEST if split == TEST else None
        read = partial(_read, samples, style, split)
        yield Source(f"cds/{style}/{split}", style, read, ready=True, split=forced, note="published sample")


def _read(samples: Corpus, style: str, split: str, report: ReadingReport) -> Iterable[Line]:
    del report  # a loader passes over nothing
    return samples.lines(style, split)


def _apart_from(held_out: HeldOut, contents: frozenset[str], pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Drop what gives a test sentence of any style away; of the short ones, which leak nothing, what is the same."""
    for piece in pieces:
        if not piece.dropped and (folded(piece.text) in contents or held_out.leak(piece.text)):
            piece.dropped = "set aside"
        yield piece


def _sizes(report: BuildReport) -> list[str]:
    """How large each style is beside the paper's."""
    return [
        f"{style}: {report.counts.get(style, dict.fromkeys(SPLITS, 0))[TRAIN]:,} sentences to train on; "
        f"{size:,} in the paper"
        for style, size in PAPER_TRAIN.items()
    ]
