"""Packs at work on many sentences: paraphrasing what is learned from, and rewriting what is held out.

Both are work for jobs: killed, they go on where they were.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from restyle.lm.decoding import Decoding
from restyle.records import Record
from restyle.rewriters._base import Request
from restyle.rewriters.strap import _guard
from restyle.rewriters.strap._pack import Pack, find_pack
from restyle.rewriters.strap._recipe import Mix
from restyle.rewriters.strap._rewriter import Strap
from restyle.rewriters.strap._writer import Writer

# Written to learn the speed. More would be batched better, and cost what they measure.
_PROBED = 32
CUT_OFF = "cut off"


class Paraphrase:
    """Gives each record the `paraphrase` of its text, unless it has one; `fault` says why it is of no use."""

    def __init__(self, paraphraser: str, engine: str) -> None:
        self._writer = writer_of(find_pack(paraphraser, "paraphraser"), engine)

    def __call__(self, records: list[Record]) -> list[Record]:
        """The records, in their order."""
        texts = [record["text"] for record in records if "paraphrase" not in record]
        lengths = self._writer.format.lengths(texts)
        longest = self._writer.format.max_subwords
        faults = [_guard.unfit(text, length, longest) for text, length in zip(texts, lengths, strict=True)]
        fit = [text for text, fault in zip(texts, faults, strict=True) if not fault]
        written = iter(self._writer.write(fit, Decoding()))
        answers: list[Record] = []
        for fault in faults:
            if fault:
                answers.append({"paraphrase": "", "fault": fault})
                continue
            best = next(written)[0]
            answers.append({"paraphrase": best.text} | ({} if best.ended else {"fault": CUT_OFF}))
        answered = iter(answers)
        return [record if "paraphrase" in record else record | next(answered) for record in records]


class Rewrite:
    """Rewrites each record's text by a pack and its paraphraser, as a user would: an output record."""

    def __init__(self, pack: str, paraphraser: str, engine: str) -> None:
        self._to = pack
        self._strap = Strap(pack, paraphraser=paraphraser, engine=engine)

    def __call__(self, records: list[Record]) -> list[Record]:
        """The output records, in their order."""
        found = self._strap.rewrites([record["text"] for record in records], Request(to=self._to))
        return [
            {"id": record["id"], "input": record["text"], "paraphrase": each.paraphrase, "output": each.outputs[0]}
            for record, each in zip(records, found, strict=True)
        ]


class ParaphraseOutputs:
    """Paraphrases each record's text by a paraphraser that was learned: an output record."""

    def __init__(self, pack: str, engine: str) -> None:
        self._paraphrase = Paraphrase(pack, engine)

    def __call__(self, records: list[Record]) -> list[Record]:
        """The output records, in their order."""
        found = self._paraphrase([{"id": record["id"], "text": record["text"]} for record in records])
        return [{"id": each["id"], "input": each["text"], "output": each["paraphrase"]} for each in found]


def writer_of(pack: Pack, engine: str) -> Writer:
    """One stage of STRAP as a pack writes it, with the engine that rewriting finds in the cache too."""
    opened = Mix(((pack, 1.0),)).engine(None, 1.0, engine)
    return Writer(opened, opened.format(pack.card.max_subwords))


def seconds_a_sentence(paraphraser: str | Path, engine: str, texts: Sequence[str]) -> float:
    """How long a sentence takes to paraphrase here, the engine being ready."""
    work = Paraphrase(str(paraphraser), engine)
    probe: list[Record] = [{"id": str(number), "text": text} for number, text in enumerate(texts[:_PROBED])]
    work(probe[:2])  # what is loaded at first use
    started = time.monotonic()
    work(probe)
    return (time.monotonic() - started) / max(1, len(probe))
