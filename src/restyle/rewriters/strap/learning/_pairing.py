"""Pairs to learn from: sentences with their paraphrases, without those that would teach nonsense.

The inverse paraphraser learns the sentence from its paraphrase. Where that is cut off, goes in circles or says
something else, it would learn to make things up; where it is the sentence itself, to copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from restyle.errors import InputError
from restyle.metrics import Batch
from restyle.metrics.similarity import SimWieting
from restyle.records import Record, RecordWriter, read_records
from restyle.rewriters.strap import _guard
from restyle.rewriters.strap.learning._settings import LearnSettings

# An adapter of some million weights learns nothing from less.
_LEAST_PAIRS = 50
DROPPED = "dropped.jsonl"


def write_pairs(paraphrases: Path, settings: LearnSettings, output: Path) -> None:
    """Write the pairs that are kept, and beside them those that are dropped, each with its `fault`.

    A held-out pair is dropped for the same reasons: what the pack is tried on are sentences of sense. InputError when
    too few are left.
    """
    kept, dropped = sorted_out(list(read_records(paraphrases)), settings)
    with RecordWriter(output.with_name(DROPPED)) as out:
        for record in dropped:
            out.write(record)
    train = sum(record["split"] == "train" for record in kept)
    if train < _LEAST_PAIRS:
        why = ", ".join(f"{fault} {count:,}" for fault, count in faults_of(dropped).items())
        raise InputError(
            f"{train:,} training pairs are left, and at least {_LEAST_PAIRS} are needed (dropped: {why or 'none'}; see "
            f"{output.with_name(DROPPED)}); give more sentences, or lower min_similarity ({settings.min_similarity})"
        )
    with RecordWriter(output) as out:
        for record in kept:
            out.write(record)


def sorted_out(records: Sequence[Record], settings: LearnSettings) -> tuple[list[Record], list[Record]]:
    """The records that are kept, with their `similarity`, and those that are not, with their `fault`.

    A teacher's pair needs no paraphrase of ours, but must be as sound; a sentence to try on has nothing to be held
    against.
    """
    faults = [record.get("fault") or _fault(record["text"], record["paraphrase"], settings) for record in records]
    sound = [record for record, fault in zip(records, faults, strict=True) if not fault]
    similar = iter(_similarities([(record["text"], record["paraphrase"]) for record in sound]))
    kept, dropped = [], []
    for record, fault in zip(records, faults, strict=True):
        if fault:
            dropped.append(record | {"fault": fault})
            continue
        judged = record | {"similarity": round(next(similar), 4)}
        if judged["similarity"] < settings.min_similarity:
            dropped.append(judged | {"fault": "says something else"})
        else:
            kept.append(judged)
    return kept, dropped


def faults_of(records: Iterable[Record]) -> dict[str, int]:
    """How many have each fault, the commonest first."""
    return dict(Counter(record["fault"] for record in records).most_common())


def _fault(text: str, paraphrase: str, settings: LearnSettings) -> str | None:
    """What is wrong with a paraphrase at first sight."""
    if _guard.broken(paraphrase, text):
        return "broken"
    if paraphrase.casefold() == text.casefold():
        return "copied"
    if not settings.min_length <= _guard.length_ratio(text, paraphrase) <= settings.max_length:
        return "too short or long"
    return "says the opposite" if _guard.turned(text, paraphrase) else None


def _similarities(pairs: Sequence[tuple[str, str]]) -> list[float]:
    if not pairs:
        return []
    batch = Batch([paraphrase for _, paraphrase in pairs], inputs=[text for text, _ in pairs])
    return [float(each) for each in SimWieting().score(batch)]
