"""How the lines of a file become paragraphs, and what of a book is no part of its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restyle.corpora._corpus import Line
from restyle.corpora.build import BuildSettings
from restyle.corpora.build._boilerplate import Frame
from restyle.corpora.build._headings import is_heading
from restyle.corpora.build._layout import Numbered, detect_layout, paragraphs
from restyle.corpora.build._pieces import opened
from restyle.corpora.build._sources import Source
from restyle.records import ReadingReport

LISTED = [f"The {kind} dog number {n} ran home." for n in range(20) for kind in ("old", "small and rather fat brown")]
VERSE = ["O rain upon the harbour lights,", "O smoke above the quay,", "The ships go out on other nights", ""] * 10
WRAPPED = [
    "The rain came down on the roof of the car and ran along",
    "the gutter towards the harbour, where nobody had walked",
    "since the strike. He lit a cigarette and waited for her",
    "to come.",
    "",
] * 10
PARAGRAPHS = [
    "He said nothing at all. " + "The rain came down on the roof of the old car, and on. " * 5,
    "She did not come.",
] * 20


def pieces(text, *, settings=None, **source):
    lines = [Line(line, "book.txt", number) for number, line in enumerate(text.split("\n"), start=1)]
    given = Source("book.txt", "noir", lambda report: iter(lines), **source)
    return list(opened(given, settings or BuildSettings(), ReadingReport()).pieces)


def kept(text, **source):
    return [piece.text for piece in pieces(text, **source) if not piece.dropped]


def dropped(text, **source):
    return {piece.text: piece.dropped for piece in pieces(text, **source) if piece.dropped}


@pytest.mark.parametrize(
    ("lines", "layout"),
    [(LISTED, "lines"), (VERSE, "lines"), (WRAPPED, "wrapped"), (PARAGRAPHS, "paragraphs"), ([], "lines")],
    ids=["list", "verse", "wrapped", "paragraphs", "nothing"],
)
def test_the_layout_is_told_from_the_lines(lines, layout):
    assert detect_layout(lines) == layout


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("He lit a cigarette and waited for her to come. She did not come that night.", "paragraphs"),
        ("He lit a cigarette and waited.", "lines"),
        ("lol that is so true\nomg no way i cannot even\nwho did this to you", "lines"),
    ],
)
def test_a_few_lines_are_enough(text, layout):
    assert detect_layout(text.split("\n")) == layout


def test_wrapped_lines_are_joined_and_a_hyphen_at_the_margin_stays_with_its_word():
    lines = [Numbered(1, "a well-"), Numbered(2, "known man"), Numbered(3, ""), Numbered(4, "came.")]
    assert [part.text for part in paragraphs(lines, "wrapped")] == ["a well-known man", "came."]


def test_a_file_without_blank_lines_is_not_held_in_memory():
    lines = (Numbered(number, "x" * 1000) for number in range(100_000))
    first = next(paragraphs(lines, "lines"))
    assert first.number == 0
    assert next(lines).number <= 1002


def test_the_flag_forces_the_layout():
    text = "He lit a cigarette and waited for her to come. She did not come that night."
    assert len(kept(text, layout="paragraphs")) == 2
    assert len(kept(text, layout="lines")) == 1


GUTENBERG = """The Project Gutenberg eBook of Rain, by A. Nobody

This eBook is for the use of anyone anywhere at no cost.

*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***

Produced by Some Body

RAIN

CONTENTS

CHAPTER I. The Harbour ..... 1
CHAPTER II. The Quay     12


CHAPTER I

The Harbour

The rain came down on the roof of the car, and nobody had
walked along the quay since the strike began.[1] He lit a
cigarette.

[Illustration: The car in the rain]

[Footnote 1: It began in May, and was over
by the end of June.]

12

He waited for her until the lamps went out along the quay, and then
he went home.

THE END

*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***

Section 5. General information about the works of the foundation.
"""


def test_a_gutenberg_book_is_cut_down_to_its_sentences():
    assert kept(GUTENBERG) == [
        "The rain came down on the roof of the car, and nobody had walked along the quay since the strike began.",
        "He lit a cigarette.",
        "He waited for her until the lamps went out along the quay, and then he went home.",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("This eBook is for the use of anyone anywhere at no cost.", "boilerplate"),
        ("Section 5. General information about the works of the foundation.", "boilerplate"),
        ("CHAPTER I. The Harbour ..... 1", "contents"),
        ("The Harbour", "heading"),
        ("[Illustration: The car in the rain]", "note"),
        ("by the end of June.]", "note"),
        ("12", "page number"),
        ("THE END", "heading"),
    ],
)
def test_each_other_line_of_it_is_dropped_for_its_reason(text, reason):
    assert dropped(GUTENBERG)[text] == reason


def test_boilerplate_can_be_kept():
    settings = BuildSettings(boilerplate=False, headings=False)
    assert not {piece.dropped for piece in pieces(GUTENBERG, settings=settings)} & {"boilerplate", "heading", "note"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[Pg 12]", "page number"),
        ("- 231 -", "page number"),
        ("Page xii", "page number"),
        ("[A knocking is heard.", "note"),
        ("And the sun of my fame is low.--[MS. erased.]", "note"),
        ("Transcriber's Note: spelling was kept.", "note"),
        ("Sidenote: His position.", "note"),
        ("[And] then he left.", ""),
        ("Illustration of the kind was new to him.", ""),
        ("Produced by the rain, the mud was deep.", ""),
        ("He read the book on gutenberg.org that night.", "boilerplate"),
    ],
)
def test_one_line_is_judged(line, reason):
    assert Frame().reason(line) == reason


def test_a_stage_direction_that_never_closes_swallows_no_verse():
    frame = Frame()
    lines = ["[He goes to the window.", "The rain is over now.", "And she is gone."]
    assert [frame.reason(line) for line in lines] == ["note", "", ""]


@pytest.mark.parametrize(
    "text",
    ["CHAPTER XII.", "Chapter 3: The Wolf", "Book the First--Recalled to Life", "IV", "IN CHANCERY", "Act II, Scene 3"]
    + ["FINIS", "End of Canto 5th.", "II. The Long Night"],
)
def test_headings_are_told(text):
    assert is_heading(text)


@pytest.mark.parametrize(
    "text",
    [
        "Chapter one was dull.",
        "Part of me died that night.",
        "M. Renard was chosen in the end.",
        "I was there.",
        "RAIN " * 20,
    ]
    + ["Book two seats for me", "The end of the night came slowly."],
)
def test_sentences_are_no_headings(text):
    assert not is_heading(text.strip())


def test_a_title_stands_alone():
    assert is_heading("In Which the Rain Comes Down", alone=True)
    assert not is_heading("In Which the Rain Comes Down", alone=False)


def test_shouting_in_a_list_of_sentences_is_no_heading():
    shouting = "I HATE THIS RAIN SO MUCH"
    assert kept("\n".join([*LISTED, shouting]))[-1] == shouting
    assert dropped("\n\n".join([*LISTED, shouting]))[shouting] == "heading"


def test_markdown_is_read_as_markdown():
    text = """---
title: Rain
---
# The Harbour

The rain *never* stopped. It fell on the
quay.

- He lit a cigarette there.
- She did not come.

```python
print("not a sentence at all")
```

| one | two |
|-----|-----|
"""
    assert kept(text, markdown=True) == [
        "The rain never stopped.",
        "It fell on the quay.",
        "He lit a cigarette there.",
        "She did not come.",
    ]
    reasons = dropped(text, markdown=True)
    assert reasons["# The Harbour"] == "heading"
    assert "markup" in reasons.values()


def test_the_line_number_is_that_of_the_paragraph():
    lines = {piece.text: piece.line for piece in pieces(GUTENBERG)}
    assert (
        lines["He lit a cigarette."]
        == GUTENBERG.split("\n").index("The rain came down on the roof of the car, and nobody had") + 1
    )


# Without the marks that tidying takes out of a sentence: of those, a kept sentence holds less than its line did.
TEXTS = st.text(st.sampled_from("aB .!?\n\n\r\t12é字😀,;-ab"), max_size=300)


@given(TEXTS, st.sampled_from(["auto", "lines", "paragraphs", "wrapped"]))
def test_nothing_of_a_text_is_lost(text, layout):
    found = "".join(piece.text for piece in pieces(text, layout=layout))
    assert sorted("".join(found.split())) == sorted("".join(text.split()))
