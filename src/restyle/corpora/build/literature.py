"""Literature (Pang & Gimpel 2019, Sec. 5.1): Dickens against modern prose, names and places tagged, cut into subwords.

The paper's modern side is the Toronto BookCorpus, which is no longer given out: with a folder of your own it is used,
without one novels of 1950 to 1963 and plain prose of around 2000 stand in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from restyle.corpora._corpus import TEST, TRAIN, VALID, Corpus
from restyle.corpora.build._folder import load_built, new_folder, target_folder, write_card
from restyle.corpora.build._pieces import Piece
from restyle.corpora.build._pipeline import write_splits
from restyle.corpora.build._report import BuildReport
from restyle.corpora.build._settings import BuildSettings
from restyle.corpora.build._supplies import Paths, Supply, check_paths
from restyle.errors import OnRequest
from restyle.records import read_records
from restyle.settings import to_dict
from restyle.text.bpe import learn
from restyle.text.entities import mask

# All of them, since this corpus has splits of its own. The small ones come first: under a low limit, sentences of all
# books are read, and not the first chapter of one.
_ALL = (TEST, VALID, TRAIN)
DICKENS = Supply("dickens", "books", "dickens", splits=_ALL)
BOOKCORPUS = Supply("modern", "bookcorpus", "bookcorpus", splits=_ALL)
SUBSTITUTES = (
    Supply("modern", "books", "midcentury_fiction", stands_in_for="the Toronto BookCorpus", splits=_ALL),
    Supply("modern", "books", "modern_plain", stands_in_for="the Toronto BookCorpus", splits=_ALL),
)

# "We only use sentences with lengths between 6 and 25."
SETTINGS = BuildSettings(min_words=6, max_words=25)
HELD_OUT = 5_000  # sentences of each style in valid and in test, in the paper
# The paper names no size. At 10,000, most words of either side are one subword.
VOCABULARY = 10_000
# BookCorpus has 74 million sentences and the paper 165,000 of them; about half pass the length limits.
LIMIT = 400_000
SUBWORDS = "bpe.model"

Tagger = Callable[[Sequence[str]], Sequence[str]]
_BATCH = 2_000


def tagged(texts: Sequence[str]) -> list[str]:
    """Each sentence with -PERSON- and -LOCATION- in the place of names and places (spaCy, for Stanford CoreNLP)."""
    return [masked.text for masked in mask(texts, ("person", "location"), numbered=False)]


def build_literature(
    name: str = "literature",
    *,
    paths: Paths | None = None,
    limit: int | None = LIMIT,
    held_out: int = HELD_OUT,
    vocabulary: int = VOCABULARY,
    tagger: Tagger = tagged,
    settings: BuildSettings | None = None,
    out: str | Path | None = None,
    examples: int = 5,
    progress: bool | None = None,
) -> tuple[Corpus, BuildReport]:
    """Build Literature from its sources; the report says what serves the modern side.

    `paths` may give a folder with BookCorpus, as `bookcorpus`. `limit` is how many sentences of each source are read;
    all of them take minutes, nearly all for finding names. `held_out` sentences of each style go to valid and to test,
    though never more than a tenth. The subword vocabulary, learnt on both training splits, lies in the corpus's folder
    as `bpe.model`: `restyle.text.bpe.Subwords.load` reads it.

    Raises AssetError when the books cannot be had, UsageError when they are too few for the vocabulary.
    """
    paths, settings = paths or {}, settings or SETTINGS
    check_paths(paths, [BOOKCORPUS])
    supplies = [DICKENS, BOOKCORPUS] if BOOKCORPUS.corpus in paths else [DICKENS, *SUBSTITUTES]
    sources = [supply.source(paths, limit) for supply in supplies]
    report = BuildReport(name, most_examples=examples)
    target = target_folder(name, out)
    with new_folder(target) as folder:
        stage = partial(_with_tags, tagger)
        write_splits(sources, folder, report, settings, stage=stage, held_out=held_out, progress=progress)
        texts = (record["text"] for record in read_records(folder / f"{TRAIN}.jsonl"))
        learn(texts, vocabulary, folder / SUBWORDS)
        report.notes += [] if BOOKCORPUS.corpus in paths else [_how_to_get_bookcorpus()]
        chosen = {**to_dict(settings), "held_out": held_out, "vocabulary": vocabulary, "limit": limit or 0}
        write_card(folder, report, chosen, recipe="literature")
    report.folder = target
    return load_built(target), report


def _with_tags(tagger: Tagger, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Tag what is kept so far, many sentences at a time. Sentences that differ only in names become duplicates."""
    while batch := list(islice(pieces, _BATCH)):
        kept = [piece for piece in batch if not piece.dropped]
        for piece, text in zip(kept, tagger([piece.text for piece in kept]), strict=True):
            piece.text = text
        yield from batch


def _how_to_get_bookcorpus() -> str:
    try:
        BOOKCORPUS.source({}, None)
    except OnRequest as error:
        return f"modern: {BOOKCORPUS.name} is missing; {error}"
    return ""
