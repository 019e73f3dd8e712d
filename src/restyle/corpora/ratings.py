"""Sentences that people rated: how acceptable, how formal, how polite they are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import quantiles
from typing import Any

from restyle.corpora._content import split_of
from restyle.corpora._corpus import SPLITS, TEST, TRAIN, VALID, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded

# Ratings from -3 to 3 are means of five people: within half a point of 0 they say neither formal nor informal.
FORMALITY_MARGIN = 0.5


def cola(files: Files) -> Corpus:
    """The Corpus of Linguistic Acceptability; test is the out-of-domain development set, the real one has no labels."""
    names = {TRAIN: "in_domain_train", VALID: "in_domain_dev", TEST: "out_of_domain_dev"}

    def read(label: str, split: str) -> Iterator[Line]:
        for row in files.rows(f"cola/{names[split]}.tsv"):
            if row["label"] == label:
                fields = {"publication": row["publication"], "authors_mark": row["star"]}
                yield Line(row["text"], row["source"], row["line"], fields=fields)

    return guarded("cola", {"acceptable": partial(read, "1"), "unacceptable": partial(read, "0")}, SPLITS)


def formality(files: Files) -> Corpus:
    """Sentences rated formal (score of 0.5 or more) and informal (-0.5 or less); what lies between is neither.

    The files called train and test are of two kinds, a quarter and two thirds of them formal, and a judge that learned
    from one is wrong in the other six times in ten. So all are put together, and the content decides on the split.
    """

    def rows() -> Iterator[tuple[str, dict[str, Any]]]:
        for file in ("train", "tune", "test"):
            for row in files.rows(f"styles/formality_pt16/{file}.csv", text="sentence"):
                yield file, row

    def read(sign: int, split: str) -> Iterator[Line]:
        for file, row in rows():
            # One sentence has `None` for a score.
            score = None if row["label"] == "None" else float(row["label"])
            if score is not None and score * sign >= FORMALITY_MARGIN and split_of(row["text"]) == split:
                yield Line(row["text"], row["source"], row["line"], f"{file}:{row['line']}", {"score": score})

    return guarded("formality", {"formal": partial(read, 1), "informal": partial(read, -1)}, SPLITS)


def politeness(files: Files) -> Corpus:
    """Requests in the top (polite) and the bottom (impolite) quarter of their community, as in the paper's Sec. 2."""

    def requests() -> Iterator[tuple[float, float, float, Line]]:
        for community in ("wikipedia", "stack-exchange"):
            rows = list(files.rows(f"styles/politeness_{community}.csv", text="Request"))
            scores = [float(row["Normalized Score"]) for row in rows]
            low, _, high = quantiles(scores, n=4)
            for row, score in zip(rows, scores, strict=True):
                key = f"{community}:{row['line']}"
                fields = {"score": score, "community": row["Community"]}
                yield low, high, score, Line(row["text"], row["source"], row["line"], key, fields)

    def read(polite: bool, split: str) -> Iterator[Line]:
        for low, high, score, line in requests():
            if (score >= high if polite else score <= low) and split_of(line.text) == split:
                yield line

    return guarded("politeness", {"polite": partial(read, True), "impolite": partial(read, False)}, SPLITS)
