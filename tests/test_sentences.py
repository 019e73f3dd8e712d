from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restyle.text.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    "text",
    [
        # `|` stands where a sentence ends.
        "He came. |She went! |Did they? |Yes.",
        "Mr. and Mrs. Hale met Dr. Ray. |They talked.",
        "It was by J. R. R. Hale. |He wrote it.",
        "Bring tea, e.g. green, i.e. fresh. |Go.",
        "He lives in the U.S. Army barracks. |He likes the U.S. |He stays.",
        "They came at 5 p.m. on Monday. |They left at 6 p.m. |It was late.",
        "See No. 5 and vol. IV of it. |No. |I said no. |No. |It is no.",
        "It was in Feb. 1901. |It was in May. |They met.",
        "It costs 3.14 or 1,000.50 now. |Pay at http://a.b.org/c. |Thanks.",
        "Tea, milk, etc. are here. |Tea, milk, etc. |The rest is there.",
        "Well... perhaps. |So it was... |Then he left.",
        "I know... I think so.",
        "What?! |Never!! |So it goes.",
        '"Come in." |"Why?" |He came.',
        '"Come in!" he said. |"Why?" asked Tom. |"Stop!" I cried. |"No!" Tom Hale said.',
        "(He left.) |Then she came. |[So it was.] |Good.",
        "“Come,” he said. |“Now!” |‘Why?’ |She came.",
        "He and I. |We both.",
        "1. Wash the rice. |2. Boil it.",
        "St. Ann's is on Main St. |It is old.",
        "It was 1986. |It rained.",
        "so it goes. |i don't know! |what now?",
        "He asked what it was? and went.",
        "今日は。|明日は！|はい",
        "It is noted.[12] |Then it goes on.",
        "Done. |😀 Good.",
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_would_end_them(text: str):
    assert sentences(text.replace("|", "")) == [sentence.strip() for sentence in text.split("|")]


def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not():
    assert sentences("A title\n\nIt was\r\ngood. So\nwas he.\n \nEnd") == [
        "A title",
        "It was good.",
        "So was he.",
        "End",
    ]


def test_nothing_but_white_space_has_no_sentences():
    assert sentences(" \n\n\t") == []


@given(st.text() | st.text(alphabet="aA.!?…\"' \n()[]1I。"))
@settings(max_examples=600, deadline=None)
def test_only_white_space_lies_between_sentences(text: str):
    done = 0
    for start, end in sentence_spans(text):
        assert start < end
        assert text[done:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        done = end
    assert text[done:].strip() == ""


@pytest.mark.data
def test_books_split_into_sentences_of_a_readers_length(mirror: Path):
    books = sorted(mirror.glob("books/dickens/*.gz"))[:3]
    lines = [line for book in books for line in gzip.decompress(book.read_bytes()).decode("utf-8").splitlines()]
    found = [sentence for line in lines for sentence in sentences(line)]
    words = sorted(len(sentence.split()) for sentence in found)
    assert 10 <= words[len(words) // 2] <= 20
    assert sum(sentence[0].islower() for sentence in found) < 0.005 * len(found)
    assert not any(sentence.endswith((" Mr.", " Mrs.", " Dr.", " e.g.")) for sentence in found)
