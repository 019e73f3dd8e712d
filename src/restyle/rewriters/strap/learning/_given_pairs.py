"""The pairs that a paraphraser is learned from, as a file gives them: each with its split."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from restyle.errors import InputError
from restyle.records import Record, read_records, write_records
from restyle.rewriters.strap.learning._settings import LearnSettings

# Fewer than this are learned by heart.
_LEAST, _ENOUGH = 100, 5000
# Of pairs that name no split, so many are held out.
_HELD_SHARE = 0.04


def write_given(given: Path, settings: LearnSettings, output: Path) -> None:
    """The pairs of a file, those held out divided: one half decides when to stop, the other says what it is worth."""
    pairs = list(_read(given))
    train = [pair for pair in pairs if pair["split"] == "train"][: settings.most]
    held = sorted((pair for pair in pairs if pair["split"] != "train"), key=lambda pair: _place(pair["text"]))
    if len(train) < _LEAST or len(held) < 2:
        counts = Counter(pair["split"] for pair in pairs)
        said = ", ".join(f"{split} {count:,}" for split, count in counts.items()) or "none"
        raise InputError(
            f"{given} has too few pairs ({said}); a paraphraser needs at least {_LEAST:,} to train on, and 2 held out"
        )
    if len(train) < _ENOUGH:
        warnings.warn(
            f"{len(train):,} pairs are few; a paraphraser that serves every style has {_ENOUGH:,} or more", stacklevel=2
        )
    tested = min(settings.test, len(held) // 2)
    test, valid = ([{**pair, "split": split} for pair in part] for split, part in
                   (("test", held[:tested]), ("valid", held[tested:])))  # fmt: skip
    write_records(output, [*test, *valid, *train])


def _read(given: Path) -> Iterator[Record]:
    for record in read_records(given):
        paraphrase = record.get("paraphrase")
        if not isinstance(paraphrase, str) or not paraphrase.strip() or not record["text"].strip():
            raise InputError(f"{given}, record {record['id']}: a text and its paraphrase are needed")
        split = record.get("split") or ("valid" if _place(record["text"]) < _HELD_SHARE else "train")
        yield {"id": record["id"], "text": record["text"], "paraphrase": paraphrase, "split": split}


def _place(text: str) -> float:
    digest = hashlib.blake2b(text.casefold().encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
