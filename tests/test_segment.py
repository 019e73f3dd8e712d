from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restyle.errors import UsageError
from restyle.text.segment import Kind, join, segment


def rewritten(document: str, markdown: bool | None = None) -> list[str]:
    return [piece.plain for piece in segment(document, markdown=markdown) if piece.rewrite]


def left_alone(document: str, kind: Kind, markdown: bool | None = True) -> list[str]:
    return [piece.text for piece in segment(document, markdown=markdown) if piece.kind is kind and not piece.rewrite]


# --- nothing is lost -------------------------------------------------------------------------------------------------

_markup = st.lists(
    st.sampled_from(
        [
            "# ",
            "```",
            "~~~\n",
            "`",
            "``",
            "\n",
            "\n\n",
            "\r\n",
            "\r",
            "\x0b",
            "\x0c",
            "\x85",
            "\u2028",
            "- ",
            "* ",
            "**",
            "_",
        ]
        + [
            "1. ",
            "> ",
            "| a |\n",
            "|---|\n",
            "---\n",
            "===\n",
            "    ",
            "\t",
            "<!--",
            "-->",
            "<b>",
            "<div>",
            "[",
            "](",
            ")",
        ]
        + [
            "![",
            "[^1]",
            "[a]: ",
            "http://a.b",
            "c@d.e",
            ". ",
            "! ",
            "... ",
            '"',
            "Mr. ",
            "No. 5 ",
            "Tea",
            " is",
            "\ud800",
            "…",
        ]
    ),
    max_size=30,
).map("".join)


@given(
    document=st.text()
    | st.text().map("\ufeff{}".format)
    | _markup
    | st.text(alphabet="\r\n\x0b\u2028 .#>-*`|aA\ud800"),
    markdown=st.sampled_from([True, False, None]),
)
@settings(max_examples=1500, deadline=None)
def test_the_pieces_joined_are_the_document(document: str, markdown: bool | None):
    pieces = segment(document, markdown=markdown)
    assert join(pieces) == document
    assert all(piece.text for piece in pieces)


@given(_markup)
@settings(max_examples=300, deadline=None)
def test_a_rewriter_gets_one_line_with_a_letter_in_it(document: str):
    for piece in segment(document):
        if piece.rewrite:
            assert piece.plain == " ".join(piece.plain.split())
            assert any(character.isalpha() for character in piece.plain)
        else:
            assert piece.plain == ""


def test_rewritten_sentences_take_the_places_of_the_old_ones():
    document = "# Tea\n\nIt is\nhot.  Drink `it`.\n\n- *Sip it.*\n"
    pieces = segment(document)
    assert join(pieces, ["One.", "Two."]) == "# Tea\n\nOne.  Drink `it`.\n\n- *Two.*\n"


def test_a_byte_order_mark_is_no_part_of_a_sentence_and_hides_no_heading():
    for document, first in (("\ufeffIt is hot.\n", "It is hot."), ("\ufeff# Tea\n\nDrink it.\n", "Drink it.")):
        pieces = segment(document)
        assert [piece.plain for piece in pieces if piece.rewrite] == [first]
        assert join(pieces) == document


def test_one_text_is_wanted_for_each_sentence():
    with pytest.raises(UsageError, match="1 texts were given for 2 pieces"):
        join(segment("One. Two."), ["One."])


# --- blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ("```python\nx = 1\n\ny. Z = 2\n```\n", Kind.CODE),
        ("~~~~\na. B\n~~~\nc. D\n~~~~\n", Kind.CODE),
        ("```\nnever closed. Really.\n", Kind.CODE),
        ("    indented. Code.\n    more\n", Kind.CODE),
        ("## A heading. With a stop.\n", Kind.HEADING),
        ("A heading\n===\n", Kind.HEADING),
        ("> Their words. All of them.\nlazily\n", Kind.QUOTE),
        ("| a | b |\n|---|:-:|\n| One. | Two. |\n", Kind.TABLE),
        ("---\ntitle: Tea. Milk.\n---\n", Kind.FRONT_MATTER),
        ("<div>\nHello. There.\n</div>\n", Kind.MARKUP),
        ("<!-- one. Two.\n\nThree. -->\n", Kind.MARKUP),
        ("* * *\n", Kind.MARKUP),
        ("[tea]: http://a.org/b 'Tea. Milk.'\n", Kind.LINK),
        ("\n \n\t\n", Kind.SPACE),
    ],
)
def test_a_block_that_is_not_prose_is_one_piece_left_alone(document: str, kind: Kind):
    assert left_alone(document, kind) == [document]
    assert rewritten(document, markdown=True) == []


def test_the_marker_of_a_list_item_is_left_alone_and_its_sentences_are_rewritten():
    document = "- [x] One here.\n  Goes on\n  there.\n1. Two.\n   * Three.\n"
    assert left_alone(document, Kind.MARKUP) == ["- [x] ", "1. ", "   * "]
    assert rewritten(document, markdown=True) == ["One here.", "Goes on there.", "Two.", "Three."]


def test_indented_lines_of_a_list_are_no_code():
    assert rewritten("- One.\n\n    Still one.\n", markdown=True) == ["One.", "Still one."]


def test_a_year_at_the_start_of_a_line_begins_no_list():
    assert left_alone("It was the year\n1986. It rained.", Kind.MARKUP) == []


def test_plain_text_knows_titles_lists_and_quoted_mail_but_no_code():
    document = "CHAPTER II\n\nIt rained.\n\n1. Buy tea.\n\n> Your words.\n\n    Indented prose.\n"
    assert left_alone(document, Kind.HEADING, markdown=None) == ["CHAPTER II\n"]
    assert rewritten(document) == ["It rained.", "Buy tea.", "Indented prose."]


@pytest.mark.parametrize(
    "document", ["# Tea\n", "a [link](x)", "so **very** good", "```\n", "use `it` so", "Tea\n====\n"]
)
def test_markdown_is_told_by_its_signs(document: str):
    assert segment(document) == segment(document, markdown=True)


# --- inside a paragraph ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "kept"),
    [
        ("Read all of this first: https://a.org/b_(c).", "https://a.org/b_(c)"),
        ("Send it to the office, please: me@a.org.", "me@a.org"),
        ("Please do read all of [the long book](http://a.org).", "[the long book](http://a.org)"),
        ("This is how the garden looks: ![a. B](a.png)", "![a. B](a.png)"),
        ("The one you want is called `a. B`.", "`a. B`"),
        ("You will know it by its tag <br/>", "<br/>"),
    ],
)
def test_what_must_not_change_is_split_off_the_edge_of_a_sentence(document: str, kept: str):
    texts = [piece.text for piece in segment(document, markdown=True) if not piece.rewrite]
    assert kept in texts
    assert len(rewritten(document, markdown=True)) == 1


@pytest.mark.parametrize("inside", ["`code`", "https://a.org", "[link](a.md)", "a@b.org", "<b>", "![x](y)", "``a`b``"])
def test_a_sentence_with_something_to_keep_in_its_middle_is_left_alone(inside: str):
    document = f"Before it. You know that {inside} is here to stay. After it."
    assert rewritten(document, markdown=True) == ["Before it.", "After it."]


def test_emphasis_around_a_sentence_is_split_off_and_within_one_hidden_from_the_rewriter():
    document = "**Do sit.** It is *very* hot in __here__, as snake_case is 2 * 3."
    assert left_alone(document, Kind.MARKUP) == ["**", "**"]
    assert rewritten(document, markdown=True) == ["Do sit.", "It is very hot in here, as snake_case is 2 * 3."]


def test_a_footnote_number_stays_with_the_sentence_that_it_ends():
    document = "It is so.[^1] Or not."
    assert rewritten(document, markdown=True) == ["It is so.", "Or not."]
    assert left_alone(document, Kind.LINK) == ["[^1]"]


# --- line breaks -----------------------------------------------------------------------------------------------------


def test_a_sentence_runs_over_the_line_breaks_of_wrapped_prose():
    document = "The weather here is fine and we have been to the beach on every day since\nWe came. Do come.\n"
    assert rewritten(document) == [
        "The weather here is fine and we have been to the beach on every day since We came.",
        "Do come.",
    ]


def test_the_lines_of_verse_are_pieces_of_their_own():
    verse = (
        "The kettle sings upon the fire,\nThe cat is on the mat,\n"
        "And nothing more could I desire\nThan such a life as that.\n"
    )
    assert rewritten(verse) == verse.splitlines()


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["(", "`", "*", "a.", "\n", "[", "a", "_", "<!--", '"'])
def test_a_megabyte_of_one_mark_is_segmented_in_two_seconds(unit: str):
    document = unit * (1_000_000 // len(unit))
    began = time.process_time()
    assert join(segment(document, markdown=True)) == document
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "unit",
    [
        "```\n",
        "a. ",
        "[a](",
        "](",
        '](a "',
        "<a ",
        "@",
        "a@",
        "a@b.c ",
        "` `` ",
        "http://a).",
        "- a\n",
        "A\n",
        "a|\n",
        "? ",
        "[^a]",
        "www.",
    ],
)
def test_no_repeated_mark_takes_more_than_linear_time(unit: str):
    document = unit * (200_000 // len(unit))
    began = time.process_time()
    segment(document, markdown=True)
    # Four microseconds a character are the most that any of these takes; a quadratic rule would take minutes.
    assert time.process_time() - began < 4
