"""Tweets: English ones, those of the US Congress by party, and what they tell of a dialect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from restyle.corpora._content import by_content, only
from restyle.corpora._corpus import SPLITS, TEST, TRAIN, VALID, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora._rows import Rows
from restyle.corpora.leaks import guarded
from restyle.errors import InputError, RecordError
from restyle.records import Record, opened_text

_PARTIES = {"democrat": "D", "republican": "R"}
_GENDERS = {"female": "F", "male": "M"}
_FACTS = ("date", "party", "gender", "chamber")
# The last 19 of 74 months are held out, about a tenth of the tweets in each split: a model is asked about a time it has
# not seen. No tweet of a later split is older than one of an earlier.
CONGRESS_VALID_FROM, CONGRESS_TEST_FROM = "2022-01-01", "2022-09-01"
# Blodgett et al. 2016, Sec. 3: a message belongs to a dialect from a share of 0.8 on.
DIALECT_SHARE = 0.8
_TOPICS = ("aa", "hispanic", "asian", "white")
_TEXT_COLUMN, _FIRST_SHARE = 5, -4


def tweets(files: Files) -> Corpus:
    """English tweets in one style."""
    reader = partial(by_content(lambda style: files.lines("styles/tweets.txt")), "tweets")
    return guarded("tweets", {"tweets": reader}, SPLITS, apart_from={"tweets": ["cds/tweets/test"]})


def congress(files: Files) -> Corpus:
    """Tweets of members of the US Congress by party, and again by gender where it is known, split by date.

    `party`, `gender` and `chamber` are told where they are known and the style does not say them.
    """

    def read(column: str, sign: str, split: str) -> Iterator[Line]:
        for party in _PARTIES.values():
            for row in files.rows(f"privacy/congress_{party}.tsv.gz") if column != "party" or sign == party else ():
                if row[column] == sign and _split_by_date(row["date"]) == split:
                    fields = {key: row[key] for key in _FACTS if key != column and row[key]}
                    # The line alone would name two tweets where a style has lines of both files.
                    key = "" if column == "party" else f"{party}/{row['line']}"
                    yield Line(row["text"], row["source"], row["line"], key, fields)

    parties = {style: partial(read, "party", sign) for style, sign in _PARTIES.items()}
    genders = {style: partial(read, "gender", sign) for style, sign in _GENDERS.items()}
    return guarded("congress", parties | genders, SPLITS)


def _split_by_date(date: str) -> str:
    if date >= CONGRESS_TEST_FROM:
        return TEST
    return VALID if date >= CONGRESS_VALID_FROM else TRAIN


def word_counts(files: Files) -> Rows:
    """How often each word stands in tweets, and how much of that each of four dialect topics accounts for."""

    def words() -> Iterator[Record]:
        vocabulary = files.all_lines("privacy/twitteraae_vocab.txt")
        counts = files.all_lines("privacy/twitteraae_count_table.txt")
        for line, of_topics in zip(vocabulary, counts, strict=True):
            count, _, word = line.text.partition("\t")
            try:
                topics = dict(zip(_TOPICS, map(float, of_topics.text.split()), strict=True))
                row = {"id": f"twitteraae/words/{line.number}", "text": word, "count": int(count), **topics}
            except ValueError as error:
                problem = f"a count and a word, and {len(_TOPICS)} numbers in the other table, were expected: {error}"
                raise RecordError(line.source, line.number, problem) from None
            yield row

    return {"words": words}


def dialect_tweets(files: Files) -> Corpus:
    """TwitterAAE in full: tweets that are African American (aae) or White-aligned (sae) English."""

    def aligned(share: int, split: str) -> Iterator[Line]:
        return only(split, tweets_of(share))

    def tweets_of(share: int) -> Iterator[Line]:
        for name in ("twitteraae_all", "twitteraae_limited"):
            if (path := files.folder / name).is_file():
                break
        else:
            raise InputError(f"{files.folder} holds neither twitteraae_all nor twitteraae_limited")
        with opened_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                cells = line.split("\t")
                if len(cells) < 10:
                    raise RecordError(str(path), number, f"{len(cells)} columns; ten were expected")
                if _share(cells[_FIRST_SHARE + share], path, number) >= DIALECT_SHARE:
                    yield Line(cells[_TEXT_COLUMN], name, number)

    readers = {"aae": partial(aligned, 0), "sae": partial(aligned, 3)}
    return guarded("twitteraae-tweets", readers, SPLITS, apart_from={"aae": ["cds/aae/test"]}, own=False)


def _share(cell: str, path: Path, number: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise RecordError(
            str(path), number, f"the share of a dialect is {cell[:40]!r}; a number was expected"
        ) from None
