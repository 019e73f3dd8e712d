"""The sentences that a style is learned from: which ones, and in which split each is.

    {"id": "…", "text": "The rain came down.", "split": "train"}

Splits: `train`; `valid`, which decides when to stop; `test`, which nothing learns from; `try`, sentences of other
styles that are to be rewritten. A record that has a `paraphrase` already is a teacher's.
"""

from __future__ import annotations

import hashlib
import random
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from restyle.corpora import HeldOut
from restyle.corpora.build import BuildSettings, build
from restyle.corpora.leaks import MIN_WORDS
from restyle.errors import InputError
from restyle.records import Record, write_records
from restyle.rewriters.strap._sources import StyleSources, gathered, held_out, tried
from restyle.rewriters.strap.learning._settings import MOST_OWN, LearnSettings
from restyle.settings import from_dict

# With fewer there is a style of words, but hardly one of sentences; with fewer than ENOUGH a good one is luck.
LEAST, ENOUGH = 200, 1000
# Held out of a user's own sentences for each of the two splits: a tenth, within these.
_FEWEST_HELD, _MOST_HELD = 20, 300


def write_own(files: Sequence[str | Path], name: str, settings: LearnSettings, output: Path) -> None:
    """The sentences of a user's texts, cleaned and without doubles; InputError when they are too few."""
    reading = from_dict(
        BuildSettings, {"layout": "auto", **settings.corpus, "valid_share": 0.0, "test_share": 0.0}, where="corpus"
    )
    corpus, report = build(files, name, settings=reading, out=output.with_name("corpus"), examples=3)
    texts = [text for style in corpus.styles for text in corpus.sentences(style, "train")]
    if len(texts) < LEAST:
        dropped = ", ".join(f"{reason} {count:,}" for reason, count in report.dropped.items())
        raise InputError(
            f"{len(texts):,} sentences are left of {_listed(files)}; a style needs at least {LEAST}, and "
            f"{ENOUGH:,} for a good one" + (f" (dropped: {dropped})" if dropped else "")
        )
    if len(texts) < ENOUGH:
        warnings.warn(
            f"{len(texts):,} sentences are few: expect its words more than its turns of phrase; "
            f"{ENOUGH:,} or more make a better style",
            stacklevel=2,
        )
    texts.sort(key=lambda text: hashlib.blake2b(f"{settings.seed}/{text}".encode()).digest())
    held = min(_MOST_HELD, max(_FEWEST_HELD, len(texts) // 10))
    test, valid, train = texts[:held], texts[held : 2 * held], texts[2 * held :]
    train = apart(train, [*test, *valid], settings.most or MOST_OWN)
    write_records(output, _records({"test": test, "valid": valid, "train": train}))


def write_of_recipe(sources: StyleSources, settings: LearnSettings, output: Path) -> None:
    """The sentences of a style of a recipe, with a teacher's transfers and what it is tried on."""
    data = gathered(sources)
    test = held_out(sources, settings.test)
    if not test:
        # Sources without a test split: what is held out of training serves.
        kept = min(settings.test, len(data.train) // 10)
        test, data.train = data.train[:kept], data.train[kept:]
    train = apart(data.train, test, settings.most)
    records = list(_records({"test": test, "valid": data.valid, "train": train, "try": tried(sources, settings.test)}))
    for number, (paraphrase, text) in enumerate(data.teacher):
        records.append({"id": f"teacher/{number}", "text": text, "paraphrase": paraphrase, "split": "train"})
    # Mixed, so that a share of them is a share of both.
    rest = [record for record in records if record["split"] == "train"]
    random.Random(settings.seed).shuffle(rest)
    write_records(output, [*(record for record in records if record["split"] != "train"), *rest])


def apart(train: Iterable[str], held: Sequence[str], most: int | None) -> list[str]:
    """The first so many, or all, of the training sentences that give no held-out one away."""
    known = HeldOut(held)
    return list(islice((text for text in train if len(text.split()) < MIN_WORDS or not known.leak(text)), most))


def _records(splits: dict[str, Sequence[str]]) -> Iterator[Record]:
    for split, texts in splits.items():
        for number, text in enumerate(texts):
            yield {"id": f"{split}/{number}", "text": text, "split": split}


def _listed(files: Sequence[str | Path]) -> str:
    names = [str(file) for file in files]
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
