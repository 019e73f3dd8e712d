"""What a sentence must be like to be kept, one rule at a time."""

import pytest

from restyle.corpora.build import BuildSettings
from restyle.corpora.build._rules import is_hopeless, reason_to_drop, tidy, word_count
from restyle.errors import SettingsError

SETTINGS = BuildSettings()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Well -- I don't know, Mr. Gray.", 6),
        ("a well-known man of forty-two", 5),
        ("吾輩は猫である", 7),
        ("هذا كتاب جديد", 3),
        ("😀 🎉 !!!", 0),
        ("", 0),
    ],
)
def test_words_are_counted_as_people_count_them(text, words):
    assert word_count(text) == words


@pytest.mark.parametrize(
    ("raw", "tidied"),
    [
        ("It was the end,[12] he thought.", "It was the end, he thought."),
        ("It was the end.[Pg 231]", "It was the end."),
        ("It was the end.[*]", "It was the end."),
        ("He _never_ came back.", "He never came back."),
        ("snake_case_name is left alone", "snake_case_name is left alone"),
        ("And wilt thou go, my only one?      15", "And wilt thou go, my only one?"),
        ('"I saw her once.', "I saw her once."),
        ('Then he left," she said.', "Then he left, she said."),
        ('"I saw her," he said.', '"I saw her," he said.'),
        ("'I saw her once.", "I saw her once."),
        ("I saw her once.'", "I saw her once."),
        ("'Tis a long way home.", "'Tis a long way home."),
        ("'I saw her,' he said.", "'I saw her,' he said."),
        ("It is n't far , he said .", "It isn't far, he said."),
        ("It &amp; she\u00a0came.", "It & she came."),
        ("The boys' coats hung there.", "The boys' coats hung there."),
    ],
)
def test_a_sentence_is_tidied(raw, tidied):
    assert tidy(raw) == tidied


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("He lit up again.", ""),
        ("Three words stay.", ""),
        ("Two words.", "too short"),
        ("--No.", "too short"),
        ("*** 12 - 14 ***", "little text"),
        ("14 1 2 3 4 5 a b c", "little text"),
        ("😀😀😀", "little text"),
        ("word " * 38, ""),
        ("word " * 39, "too long"),
        ("شربت القهوة في المقهى القديم", ""),
    ],
)
def test_each_sentence_has_one_fate(text, reason):
    assert reason_to_drop(text.strip(), SETTINGS) == reason


def test_ten_megabytes_without_a_stop_are_not_even_cleaned():
    assert is_hopeless("x" * 10_000_000, SETTINGS)
    assert not is_hopeless("word " * 38, SETTINGS)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"min_words": 10, "max_words": 5}, "no sentence is kept"),
        ({"valid_share": 0.5, "test_share": 0.5}, "nothing is left to train on"),
    ],
)
def test_settings_that_exclude_each_other_are_refused(settings, complaint):
    with pytest.raises(SettingsError, match=complaint):
        BuildSettings(**settings)
