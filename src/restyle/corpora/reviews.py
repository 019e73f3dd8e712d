"""Reviews: Yelp sentences by sentiment, and by the gender of who wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from restyle.corpora._corpus import TEST, TRAIN, VALID, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded

_SENTIMENTS = {"negative": "0", "positive": "1"}


def yelp(files: Files) -> Corpus:
    """Shen et al. 2017's sentences by sentiment, with the test and the references of Li et al. 2018."""
    names = {TRAIN: "yelp/train.{}.txt.gz", VALID: "yelp/dev.{}.txt", TEST: "yelp/test.{}.txt"}

    def read(label: str, split: str) -> Iterator[Line]:
        return files.lines(names[split].format(label))

    def references(label: str) -> list[list[str]]:
        return [[row["reference"]] for row in files.rows(f"yelp/reference.{label}.tsv")]

    return guarded(
        "yelp",
        {style: partial(read, label) for style, label in _SENTIMENTS.items()},
        tuple(names),
        references={(style, TEST): partial(references, label) for style, label in _SENTIMENTS.items()},
    )


def yelp_gender(files: Files) -> Corpus:
    """Review sentences by women and by men; no train split."""
    return _labelled(files, "yelp-gender", "gender", {"female": "female", "male": "male"})


def yelp_sentiment(files: Files) -> Corpus:
    """The same review sentences by sentiment; no train split."""
    return _labelled(files, "yelp-sentiment", "sentiment", _SENTIMENTS)


def _labelled(files: Files, name: str, attribute: str, labels: Mapping[str, str]) -> Corpus:
    """A corpus of tables that hold each sentence with its label."""
    names = {VALID: "dev", TEST: "test"}

    def read(label: str, split: str) -> Iterator[Line]:
        for row in files.rows(f"privacy/yelp_{attribute}.{names[split]}.tsv"):
            if row[attribute] == label:
                yield Line(row["text"], row["source"], row["line"])

    return guarded(name, {style: partial(read, label) for style, label in labels.items()}, tuple(names))
