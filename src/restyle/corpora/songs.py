"""Songs: the lines of 380,000 lyrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from restyle.corpora._content import only
from restyle.corpora._corpus import SPLITS, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded
from restyle.errors import InputError
from restyle.records import read_records

# Not str.splitlines, which also cuts at form feeds and U+2028.
_LINE_END = re.compile(r"\r\n?|\n")


def lyrics(files: Files) -> Corpus:
    """MetroLyrics: every line of every song, without `[Chorus]` and the like."""

    def lines() -> Iterator[Line]:
        path = files.folder / "lyrics.csv"
        if not path.is_file():
            raise InputError(f"{files.folder} holds no lyrics.csv")
        for song, record in enumerate(read_records(path, text_column="lyrics"), start=1):
            for number, text in enumerate(_LINE_END.split(record["text"]), start=1):
                if text.strip() and not text.strip().startswith(("[", "(")):
                    yield Line(text, path.name, song, f"{song}.{number}")

    def read(split: str) -> Iterator[Line]:
        return only(split, lines())

    return guarded("lyrics", {"lyrics": read}, SPLITS, apart_from={"lyrics": ["cds/lyrics/test"]}, own=False)
