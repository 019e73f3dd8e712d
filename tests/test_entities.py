"""Entities: what is tagged, and that everything comes back."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from restyle.errors import InputError, UnknownName, UsageError
from restyle.text import entities
from restyle.text.entities import Entity, Unmasked, mask, unmask

PATTERNS = ("url", "email", "handle", "number")
# Literal tags and their parts, whole, cut and in other cases, among things that become tags.
PIECES = [
    *("-PERSON-", "-PERSON", "PERSON-", "-person-", "-Person-1-", "-PERSON-1-", "-NUMBER-2", "-LOCATION-", "PERSON"),
    *("-", "1", "2", "1-", "-1-", "3.5", "1,000", "@bob", "a@b.org", "http://a.org/x", "www.a.org", "Ann", "URL"),
    *(" ", "é", "ſ", "\u212a", "\n", "\ud800", "."),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


@settings(max_examples=400, deadline=None)
@given(texts, st.booleans())
def test_unmasking_an_unchanged_text_gives_it_back(text, numbered):
    masked = mask([text], PATTERNS, numbered=numbered)[0]
    assert unmask(masked.text, masked.entities) == Unmasked(text, (), ())


@settings(max_examples=200, deadline=None)
@given(texts, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.booleans()), max_size=4), st.booleans())
@example("-PERSONAnn", [(7, 3, True)], False)
@example("-number-2Ann", [(9, 3, True)], True)
@example("Ann1-", [(0, 3, True)], False)
def test_names_found_anywhere_come_back_too(text, places, numbered):
    names = [
        entities._Span(start, start + length, "person" if person else "location")
        for start, length, person in places
        if length and start + length <= len(text)
    ]
    masked = entities._replaced(text, entities._spans(text, PATTERNS, names), numbered)
    assert unmask(masked.text, masked.entities) == Unmasked(text, (), ())


def test_addresses_and_numbers_are_found_without_a_model():
    text = "See http://a.org/b?c=1, (www.d.org) or mail x.y@z.co.uk; @bob has 1,000.5 of 7, not the 2nd."
    masked = mask([text], PATTERNS)[0]
    assert masked.text == (
        "See -URL-1-, (-URL-2-) or mail -EMAIL-1-; -HANDLE-1- has -NUMBER-1- of -NUMBER-2-, not the 2nd."
    )
    assert Entity("-URL-1-", "http://a.org/b?c=1") in masked.entities


def test_only_the_kinds_that_were_asked_for_are_tagged():
    assert mask(["@bob has 7"], ["number"])[0].text == "@bob has -NUMBER-1-"


def test_the_same_entity_has_the_same_number():
    masked = mask(["7 and 8 and 7"], ["number"])[0]
    assert masked.text == "-NUMBER-1- and -NUMBER-2- and -NUMBER-1-"
    assert masked.entities == (("-NUMBER-1-", "7"), ("-NUMBER-2-", "8"))


def test_a_text_tagged_before_keeps_its_plain_tags():
    text = "-PERSON- left -LOCATION- for -PERSON-"
    assert mask([text], PATTERNS, numbered=False)[0].text == text


def test_a_reordered_and_doubled_numbered_tag_is_filled_wherever_it_stands():
    found = (Entity("-PERSON-1-", "Ann"), Entity("-PERSON-2-", "Bob"))
    assert unmask("-PERSON-2-, -person-1- and -PERSON-2-!", found) == Unmasked("Bob, Ann and Bob!", (), ())


def test_a_dropped_tag_is_reported_and_nothing_is_put_in_its_place():
    found = (Entity("-PERSON-1-", "Ann"), Entity("-LOCATION-1-", "Rome"))
    assert unmask("She left -LOCATION-1-.", found) == Unmasked("She left Rome.", (found[0],), ())


def test_a_tag_that_nothing_stands_behind_is_reported_and_left():
    found = (Entity("-PERSON-1-", "Ann"),)
    assert unmask("-PERSON-1- met -PERSON-4-", found) == Unmasked("Ann met -PERSON-4-", (), ("-PERSON-4-",))


def test_plain_tags_are_filled_in_order_and_a_surplus_one_stays():
    found = (Entity("-PERSON-", "Ann"), Entity("-PERSON-", "Bob"), Entity("-LOCATION-", "Rome"))
    assert unmask("-PERSON- -PERSON- -PERSON-", found) == Unmasked("Ann Bob -PERSON-", (found[2],), ("-PERSON-",))
    assert unmask("-LOCATION- -PERSON-", found).missing == (found[1],)


def test_an_entity_that_looks_like_a_tag_is_not_filled_again():
    found = (Entity("-PERSON-1-", "-PERSON-2-"), Entity("-PERSON-2-", "-PERSON-1-"))
    assert unmask("-PERSON-1- -PERSON-2-", found).text == "-PERSON-2- -PERSON-1-"


def test_ordinary_words_with_hyphens_are_no_tags():
    text = "a first-person narrator, a person-to-person call, a two-person-tent"
    assert mask([text], PATTERNS)[0] == (text, ())


@pytest.mark.parametrize("piece", ["a", "1,", "www.", "a@", "@", "-PERSON", ".", "http://"])
def test_a_megabyte_of_almost_entities_takes_no_time(piece):
    begun = time.perf_counter()
    mask([piece * (1_000_000 // len(piece))], PATTERNS)
    assert time.perf_counter() - begun < 10  # a second at most; going back over it each time would take minutes


def test_wrong_use_is_told_in_a_line():
    with pytest.raises(UnknownName, match="did you mean person"):
        mask(["Ann"], ["persons"])
    with pytest.raises(UsageError, match="put it in brackets"):
        mask("Ann", PATTERNS)


@pytest.mark.models
def test_names_and_places_are_tagged_and_come_back(models):
    texts = ["Yesterday Mary Smith flew to London.", "", "Nothing here.", "In Paris, John Brown met Mary Smith in May."]
    masked = mask(texts)
    assert masked[0].text == "Yesterday -PERSON-1- flew to -LOCATION-1-."
    assert masked[3].text == "In -LOCATION-1-, -PERSON-1- met -PERSON-2- in May."
    assert mask(texts, numbered=False)[3].text == "In -LOCATION-, -PERSON- met -PERSON- in May."
    assert [unmask(*sentence).text for sentence in masked] == texts


@pytest.mark.models
def test_places_are_right_after_a_broken_character(models):
    assert mask(["🙂\ud800 Yesterday Mary Smith flew home."], ["person"])[0].text == (
        "🙂\ud800 Yesterday -PERSON-1- flew home."
    )


@pytest.mark.models
def test_a_text_too_long_to_look_for_names_is_refused_by_place(models):
    with pytest.raises(InputError, match="sentence 1 has 1,000,001 characters"):
        mask(["Ann", "b" * 1_000_001])
