"""Capitals come back as other text has them."""

import pytest

from restyle.text.truecase import Truecaser

SEEN = [
    "We met Anna in Paris, and Anna liked it.",
    "The train to Paris left with Anna.",
    "She may go, if she may, before the rain.",
    "They say that May is mild and may stay mild.",
    "We saw the rain in the night and liked the night.",
] * 2


@pytest.fixture(scope="module")
def case():
    return Truecaser(SEEN)


def test_names_sentences_and_i_get_their_capitals(case):
    assert case("was anna in paris? i'm sure that i saw her.") == "Was Anna in Paris? I'm sure that I saw her."


def test_what_belongs_to_a_name_has_its_capital_too(case):
    assert case("we liked anna's train") == "We liked Anna's train"


def test_of_two_ways_to_write_a_word_the_more_frequent_one_is_taken(case):
    assert case("it may rain") == "It may rain"


def test_capitals_that_are_there_stay(case):
    assert case("The NATO train to PARIS") == "The NATO train to PARIS"


def test_handles_hashtags_and_addresses_are_left_alone(case):
    assert case("see @anna #paris paris.example") == "See @anna #paris paris.example"


def test_headlines_teach_nothing():
    assert Truecaser(["The Old Train To The Night Has Left"] * 5)("the old train") == "The old train"


def test_a_word_that_was_seen_once_or_only_as_the_first_is_unknown():
    case = Truecaser(["Kettles boil.", "Kettles hum.", "Kettles boil and ladders fall."])
    assert case.unknown("kettles boil and ladders fall") == ["kettles", "and", "ladders", "fall"]


def test_without_any_text_to_learn_from_only_sentences_and_i_get_a_capital():
    case = Truecaser()
    assert case('"i said no. then anna went." and "yes"?') == '"I said no. Then anna went." and "yes"?'
    assert case("the u.s. and france vs. spain... no! never") == "The u.s. and france vs. spain... no! Never"


def test_twice_is_as_once(case):
    text = "was anna in paris? (i think so. yes!)"
    assert case(case(text)) == case(text)
