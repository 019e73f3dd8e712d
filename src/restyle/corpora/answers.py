"""Answers: sentences of Yahoo Answers, formal and informal, each with four rewrites (GYAFC)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from restyle.corpora._corpus import SPLITS, TEST, TRAIN, VALID, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded
from restyle.errors import InputError
from restyle.records import opened_text

_OTHER = {"formal": "informal", "informal": "formal"}
_DOMAINS = ("Entertainment_Music", "Family_Relationships")
_FOLDERS = {TRAIN: "train", VALID: "tune", TEST: "test"}


def gyafc(files: Files) -> Corpus:
    """Both domains of GYAFC; valid and test have four references for each sentence."""

    def read(style: str, split: str) -> Iterator[Line]:
        for domain in _DOMAINS:
            yield from _lines(files.folder, f"{domain}/{_FOLDERS[split]}/{style}")

    def references(style: str, split: str) -> list[list[str]]:
        rewrites: list[list[str]] = []
        for domain in _DOMAINS:
            names = [f"{domain}/{_FOLDERS[split]}/{_OTHER[style]}.ref{number}" for number in range(4)]
            columns = [[line.text for line in _lines(files.folder, name)] for name in names]
            rewrites += (list(row) for row in zip(*columns, strict=True))
        return rewrites

    return guarded(
        "gyafc",
        {style: partial(read, style) for style in _OTHER},
        SPLITS,
        shuffled=True,  # the train sides are aligned too
        references={(style, split): partial(references, style, split) for style in _OTHER for split in (VALID, TEST)},
    )


def _lines(folder: Path, name: str) -> Iterator[Line]:
    for root in (folder, folder / "GYAFC_Corpus"):
        if (root / name).is_file():
            with opened_text(root / name) as texts:
                for number, text in enumerate(texts, start=1):
                    yield Line(text, name, number, f"{name.partition('/')[0]}:{number}")
            return
    raise InputError(f"{folder} holds no {name}")
