"""Pairs: sentences beside others that mean the same, or that were rated for how near in meaning they are.

A row has `text` and either `paraphrases`, a list, or `other` with a `score`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from restyle.corpora._files import Files
from restyle.corpora._rows import Rows
from restyle.errors import InputError
from restyle.records import Record, opened_text


def quora(files: Files) -> Rows:
    """Questions that ask the same."""
    return _two_columns(files, "quora", "paraphrase/quora.{}.tsv.gz")


def twitter_url(files: Files) -> Rows:
    """Tweets that link to the same page."""
    return _two_columns(files, "twitter-url", "paraphrase/twitter_url.{}.tsv.gz")


def _two_columns(files: Files, name: str, path: str) -> Rows:
    def read(part: str) -> Iterator[Record]:
        for row in files.rows(path.format(part)):
            yield _paraphrased(f"{name}/{part}/{row['id']}", row, [row["text"], row["paraphrase"]])

    return {part: partial(read, part) for part in ("train", "test")}


def flickr8k(files: Files) -> Rows:
    """Captions of one picture, the first against the others."""

    def read() -> Iterator[Record]:
        for row in files.rows("paraphrase/flickr8k.tsv.gz", text="caption1"):
            captions = [row["text"], *(row[f"caption{number}"] for number in range(2, 6))]
            yield _paraphrased(f"flickr8k/captions/{row['id']}", row, captions)

    return {"captions": read}


def paradetox(files: Files) -> Rows:
    """Toxic sentences and their neutral rewrites."""

    def read() -> Iterator[Record]:
        for number, row in enumerate(files.quoted_rows("paraphrase/paradetox.tsv"), start=1):
            texts = [row["toxic"], *(row[f"neutral{number}"] for number in range(1, 4))]
            yield _paraphrased(f"paradetox/rows/{number}", row, texts)

    return {"rows": read}


def _paraphrased(identity: str, row: Record, texts: list[str]) -> Record:
    """The first text that is not empty, and all others as its paraphrases."""
    text, *paraphrases = [text for text in texts if text.strip()]
    return {
        "id": identity, "text": text, "paraphrases": paraphrases, "source": row["source"], "line": row["line"]
    }  # fmt: skip


def pan(files: Files) -> Rows:
    """Sentence pairs that are paraphrases (score 1) or not (score 0), and a hundred that people annotated."""

    def read(part: str) -> Iterator[Record]:
        columns = [files.texts(f"paraphrase/pan/pan-{part}{end}") for end in ("_s1.txt", "_s2.txt", ".labels")]
        for number, (text, other, label) in enumerate(zip(*columns, strict=True), start=1):
            yield {"id": f"pan/{part}/{number}", "text": text, "other": other, "score": float(label)}

    def annotations() -> Iterator[Record]:
        for row in files.rows("paraphrase/pan/pan-annotations.csv", text="sent1"):
            row.update(id=f"pan/annotations/{row['id']}", other=row.pop("sent2"), score=float(row.pop("label")))
            yield row

    parts: dict[str, Callable[[], Iterator[Record]]] = {part: partial(read, part) for part in ("train", "test")}
    return parts | {"annotations": annotations}


def stsb(files: Files) -> Rows:
    """The STS benchmark: a score from 0, nothing in common, to 5, the same meaning."""

    def read(part: str) -> Iterator[Record]:
        for row in files.rows(f"sts/stsb-{part}.csv"):
            yield {**row, "id": f"stsb/{part}/{row['id']}", "score": float(row["score"])}

    return {part: partial(read, part) for part in ("train", "dev", "test")}


def paranmt(files: Files) -> Rows:
    """ParaNMT-50M: a sentence, its back-translation, and their similarity as its authors scored it."""

    def read() -> Iterator[Record]:
        path = files.folder / "para-nmt-50m.txt"
        with opened_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                cells = line.split("\t")
                if len(cells) != 3:
                    raise InputError(f"{path}, line {number}: {len(cells)} columns; three were expected")
                text, paraphrase, score = cells
                yield {
                    "id": f"paranmt/pairs/{number}", "text": text, "paraphrases": [paraphrase], "score": float(score)
                }  # fmt: skip

    return {"pairs": read}
