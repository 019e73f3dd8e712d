"""Duplicates and near duplicates, told from numbers alone."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from restyle.corpora._content import folded, split_of
from restyle.corpora.build._duplicates import PairSets, exact_repeats, jaccard
from restyle.corpora.build._fingerprint import content_hash, style_salt, word_pairs


def near_repeats(sentences, threshold=0.7, salts=None):
    sets = PairSets()
    salts = np.zeros(len(sentences), np.uint64) if salts is None else salts
    sets.add(*word_pairs([folded(text) for text in sentences], salts))
    return list(sets.near_repeats(np.arange(len(sentences)), threshold))


def test_a_hash_is_the_same_on_every_machine():
    assert content_hash("the rain came down") == 0xDE529767A93AA91B


def test_a_hash_puts_a_sentence_in_the_split_that_the_loaders_put_it_in():
    sentences = [f"The rain came down for the {number}th time." for number in range(300)]
    by_hash = [content_hash(folded(text)) / 2**64 for text in sentences]
    expected = ["test" if at < 0.05 else "valid" if at < 0.1 else "train" for at in by_hash]
    assert expected == [split_of(text) for text in sentences]
    assert set(expected) == {"train", "valid", "test"}


@pytest.mark.parametrize(
    "other",
    ["the rain came down", "  The   RAIN came down!! ", '"The rain -- came down."', "The rain came down…"],
)
def test_case_punctuation_and_spacing_are_no_content(other):
    assert folded(other) == folded("The rain came down.")


@given(st.lists(st.integers(0, 20), max_size=50))
def test_an_exact_repeat_points_at_the_first(keys):
    expected = [keys.index(key) if keys.index(key) < row else -1 for row, key in enumerate(keys)]
    assert list(exact_repeats(np.array(keys, np.uint64))) == expected


@given(
    st.lists(st.lists(st.sampled_from(["rain", "sea", "car", "lamp"]), max_size=8), min_size=2, max_size=8),
    st.data(),
)
def test_similarity_is_jaccard_over_word_pairs(sentences, data):
    hashes, offsets = word_pairs([" ".join(words) for words in sentences], np.zeros(len(sentences), np.uint64))
    first, second = (data.draw(st.integers(0, len(sentences) - 1)) for _ in range(2))
    sets = [set(zip(["^", *words], [*words, "^"], strict=True)) for words in (sentences[first], sentences[second])]
    expected = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    if first != second:
        assert jaccard(hashes, offsets, np.array([[first, second]]))[0] == pytest.approx(expected)


LONG = "He waited in the car until the lamps went out along the whole quay"


@pytest.mark.parametrize(
    ("other", "is_near"),
    [
        (LONG.replace("lamps", "lights"), True),
        (LONG + " again", True),
        ("And " + LONG, True),
        ("She never came down to the harbour, whatever he wrote to her.", False),
        (" ".join(reversed(LONG.split())), False),
    ],
)
def test_a_sentence_that_differs_in_a_word_is_a_near_duplicate(other, is_near):
    assert near_repeats([LONG, other])[1] == (0 if is_near else -1)


def test_short_sentences_that_differ_in_a_word_are_both_kept():
    assert near_repeats(["What is it, sir?", "What was it, sir?", "Who is it, sir?"]) == [-1, -1, -1]


def test_threshold_one_keeps_them_all():
    assert near_repeats([LONG, LONG + " again"], threshold=1) == [-1, -1]


def test_the_same_sentence_in_another_style_is_no_duplicate():
    salts = np.array([style_salt("noir"), style_salt("law")], np.uint64)
    assert near_repeats([LONG, LONG], salts=salts) == [-1, -1]


WORDS = [f"word{number}" for number in range(2000)]


@pytest.mark.parametrize("seed", range(10))
def test_of_many_near_duplicates_hardly_any_is_missed_and_none_invented(seed):
    random = Random(seed)
    originals = [" ".join(random.choices(WORDS, k=15)) for _ in range(60)]
    copies = [text.replace(text.split()[7], "rain", 1) for text in originals]
    found = near_repeats(originals + copies)
    assert found[:60] == [-1] * 60
    assert sum(partner == row for row, partner in enumerate(found[60:])) >= 57  # of 60; a similarity of 0.78


def test_text_made_from_a_template_takes_time_in_proportion():
    # Every sentence is like every other: compared with all, 20,000 would make 200 million pairs.
    sentences = [f"the temperature in the town of place{n} is {n % 40} degrees this morning" for n in range(20_000)]
    kept = sum(partner < 0 for partner in near_repeats(sentences, threshold=0.6))
    assert kept < 5_000
