"""Systems without a model: all that they know of a style are sentences that are written in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from restyle.corpora import Corpus
from restyle.errors import InputError
from restyle.records import RecordWriter, read_records
from restyle.rewriters._base import Rewriter, read_system_file, write_system_file

_FILE = "sentences.jsonl"


class ByExample(Rewriter):
    """A rewriter that is given the sentences of each style that it should be able to write."""

    def __init__(self, sentences: Mapping[str, Sequence[str]]) -> None:
        """InputError when there is no style, or no sentence of a style."""
        if not sentences:
            raise InputError("no style was given; sentences of at least one are needed")
        for style, of_style in sentences.items():
            if not of_style:
                raise InputError(f"the style {style!r} has no sentences")
        self.sentences = {style: tuple(of_style) for style, of_style in sentences.items()}
        self.styles = tuple(self.sentences)

    @classmethod
    def from_corpus(cls, corpus: Corpus, styles: Sequence[str]) -> Self:
        """A rewriter that knows the training sentences of some styles of a corpus, and nothing more of it."""
        return cls({style: corpus.sentences(style, "train") for style in styles})

    def settings(self) -> dict[str, Any]:
        """What its constructor takes beside the sentences."""
        return {}

    def fingerprint(self, *targets: str) -> str:
        """A hash of the settings and of every sentence."""
        known = json.dumps([self.name, self.settings(), self.sentences])
        return hashlib.blake2b(known.encode(), digest_size=16).hexdigest()

    def save(self, folder: str | Path) -> None:
        """Write the settings and the sentences."""
        folder = write_system_file(folder, {"system": self.name, **self.settings()})
        with RecordWriter(folder / _FILE) as out:
            for style, of_style in self.sentences.items():
                for text in of_style:
                    out.write({"text": text, "style": style})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read the settings and the sentences."""
        settings = read_system_file(folder)
        del settings["system"]
        sentences: dict[str, list[str]] = {}
        for record in read_records(Path(folder) / _FILE):
            sentences.setdefault(str(record["style"]), []).append(record["text"])
        return cls(sentences, **settings)
