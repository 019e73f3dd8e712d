"""Overlap of many pairs: equal to the plain definitions on anything, right on what can be counted by hand, and fast."""

from __future__ import annotations

import math
import pickle
import random
import re
import string
import sys
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from restyle.errors import MissingExtra, UnknownName, UsageError
from restyle.text import _overlap_kernels, overlap, overlap_pair

MEASURES = [
    "unigram_precision",
    "unigram_recall",
    "unigram_f1",
    "ngram_overlap",
    "jaccard",
    "kendall_tau",
    "shuffled",
    "edit_distance",
]
# What breaks a tokeniser: articles next to everything that is or is not part of a word, spaces and hyphens of all
# kinds, letters that change their length or alphabet when lower-cased, control characters, a lone surrogate.
PIECES = [
    *("a", "an", "the", "The", "AN", "b", "bc", "mat", "seven77", "eight888", "nineteen-nineteen", "naïve", "s"),
    *(" ", " ", " ", "  ", "\t", "\n", "\x0b", "\x1c", "\x1f", "\x85", "\u00a0", "\u2028", "\u3000", "\u200b"),
    *("-", "_", "'", ".", "!", "\u2010", "\u2019", "\u2014", "\xb2", "\u0301", "\x00", "\x01", "\x7f"),
    *("İ", "ẞ", "ﬁ", "\u212a", "Σ", "ς", "é", "🙂", "\ud800", "ا", "中"),
]
sentences = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14).map("".join)
columns = st.lists(st.tuples(sentences, sentences), max_size=6)


def squad_words(text):
    """The normalisation of the SQuAD evaluation script, step by step as it takes them."""
    text = text.lower()
    text = "".join(character for character in text if character not in set(string.punctuation))
    text = re.sub(r"\b(a|an|the)\b", " ", text)
    return " ".join(text.split()).split()


@settings(deadline=None, max_examples=300)
@given(sentences)
def test_words_are_those_of_the_squad_script(text):
    assert overlap_pair.words(text) == squad_words(text)


@settings(deadline=None, max_examples=100)
@given(columns)
@example(
    [
        ("a²", "a² the\u2010x"),
        ("the\x00dog", "dog"),
        ("İa the", "i\u0307a"),
        ("é \x00 \x02", "é \x01 \x7f"),
        ("", ""),
        ("the", "a b"),
    ]
)
def test_every_measure_of_many_pairs_is_that_of_each_pair(pairs):
    sources, rewrites = [source for source, _ in pairs], [rewrite for _, rewrite in pairs]
    for measure in MEASURES:
        expected = [getattr(overlap_pair, measure)(source, rewrite) for source, rewrite in pairs]
        assert np.array_equal(getattr(overlap, measure)(sources, rewrites), expected, equal_nan=True), measure
    for n in (1, 2):
        expected = [overlap_pair.ngram_overlap(source, rewrite, n) for source, rewrite in pairs]
        assert np.array_equal(overlap.ngram_overlap(sources, rewrites, n), expected)
    expected = [overlap_pair.edit_distance(source, rewrite, "character") for source, rewrite in pairs]
    assert np.array_equal(overlap.edit_distance(sources, rewrites, "character"), expected)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 300), st.integers(0, 300), st.sampled_from(["bc", "bcdefgh"]))
def test_long_sentences_of_few_words_are_measured_the_same(seed, length, other_length, vocabulary):
    generator = random.Random(seed)
    source = " ".join(generator.choices(vocabulary, k=length))
    rewrite = " ".join(generator.choices(vocabulary + "x", k=other_length))
    for measure in MEASURES:
        expected = getattr(overlap_pair, measure)(source, rewrite)
        assert np.array_equal(getattr(overlap, measure)([source], [rewrite]), [expected], equal_nan=True), measure


def test_unigram_scores_count_a_repeated_word_as_often_as_it_is_on_both_sides():
    source, rewrite = ["the big big cat sat"], ["A big, big, BIG dog"]
    assert overlap.unigram_precision(source, rewrite) == 2 / 4
    assert overlap.unigram_recall(source, rewrite) == 2 / 4
    assert overlap.unigram_f1(["b c"], ["b c d e"]) == pytest.approx(2 / 3)


def test_two_empty_sentences_overlap_entirely_and_one_with_nothing():
    assert overlap.unigram_f1(["", "", "mat"], ["the", "mat", ""]).tolist() == [1.0, 0.0, 0.0]
    assert overlap.jaccard(["", ""], ["", "mat"]).tolist() == [1.0, 0.0]


def test_ngram_overlap_is_the_share_of_the_rewrites_ngrams():
    source, rewrite = ["b c d e f"], ["x b c d y"]
    assert overlap.ngram_overlap(source, rewrite) == 1 / 3
    assert overlap.ngram_overlap(source, rewrite, n=2) == 2 / 4
    assert overlap.ngram_overlap(["b c"], ["b c"]) == 0.0


def test_jaccard_counts_distinct_words():
    assert overlap.jaccard(["b b b c"], ["c d d"]) == 1 / 3


def test_order_kept_is_tau_1_and_not_shuffled_and_reversed_order_is_tau_minus_1_and_all_shuffled():
    source, rewrites = ["one two three four"] * 3, ["one two three four", "four three two one", "two one three four"]
    assert overlap.kendall_tau(source, rewrites).tolist() == [1.0, -1.0, pytest.approx(2 / 3)]
    assert overlap.shuffled(source, rewrites).tolist() == [0.0, 1.0, 1 / 6]


def test_the_kth_occurrence_of_a_word_is_matched_with_the_kth():
    # b c b against b b c: the shared words are b1, c, b2 on one side and b1, b2, c on the other.
    assert overlap.shuffled(["b c b"], ["b b c"]) == 1 / 3


def test_fewer_than_two_shared_words_have_no_order():
    source, rewrite = ["mat cat", "mat"], ["mat dog", ""]
    assert np.isnan(overlap.kendall_tau(source, rewrite)).all()
    assert overlap.kendall_tau(source, rewrite, undefined=-1.0).tolist() == [-1.0, -1.0]
    assert overlap.shuffled(source, rewrite).tolist() == [1.0, 1.0]
    assert math.isnan(overlap_pair.kendall_tau("mat", "mat"))


@settings(deadline=None)
@given(st.permutations("bcdefgh"))
def test_kendall_tau_is_scipys_tau_b(order):
    expected = kendalltau(range(len(order)), ["bcdefgh".index(letter) for letter in order], variant="b").statistic
    assert overlap.kendall_tau(["b c d e f g h"], [" ".join(order)]) == pytest.approx(expected)


def test_edit_distance_counts_words_or_characters():
    assert overlap.edit_distance(["Are you crazy?"], ["Art thou mad?"]).tolist() == [3]
    assert overlap.edit_distance(["kitten", ""], ["sitting", "Ab."], "character").tolist() == [3, 3]


def test_rows_can_be_picked_from_encoded_words_without_encoding_again():
    texts, others = ["b c", "d", "é f the", ""], ["c b", "d e", "f é", "g"]
    ours, theirs = overlap.encode(texts), overlap.encode(others)
    assert ours.lengths.tolist() == [2, 1, 2, 0]
    for rows in (np.array([2, 0]), np.array([False, True, True, False]), slice(1, 3)):
        picked = np.arange(4)[rows].tolist()
        expected = overlap.kendall_tau([texts[row] for row in picked], [others[row] for row in picked])
        assert np.array_equal(overlap.kendall_tau(ours[rows], theirs[rows]), expected, equal_nan=True)


def test_encoded_words_survive_pickling():
    words = pickle.loads(pickle.dumps(overlap.encode(["b c", "d"])))
    assert overlap.unigram_f1(words, ["b c", "e"]).tolist() == [1.0, 0.0]


def test_any_sequence_of_strings_is_a_column_and_no_rows_give_no_numbers():
    assert overlap.unigram_f1(("b",), np.array(["b"])).tolist() == [1.0]
    for measure in MEASURES:
        assert getattr(overlap, measure)([], []).shape == (0,)


def test_different_words_have_different_numbers():
    generator = random.Random(7)
    words = {
        "".join(generator.choices(string.ascii_lowercase + "é", k=generator.randint(3, 20))) for _ in range(50_000)
    }
    assert len(np.unique(overlap.encode(sorted(words)).hashes)) == len(words)


def test_a_megabyte_in_one_sentence_takes_no_longer_than_a_megabyte_in_many():
    generator = random.Random(7)
    many = ["".join(generator.choices("bcdef ", k=5)) for _ in range(200_000)]
    turned = " ".join(reversed(many))
    overlap.kendall_tau(["compiled"], ["before"])
    overlap.ngram_overlap(["compiled"], ["before"])
    begun = time.perf_counter()
    assert overlap.unigram_f1([" ".join(many)], [turned]) == 1.0
    overlap.ngram_overlap([" ".join(many)], [turned])
    overlap.kendall_tau([" ".join(many)], [turned])
    assert time.perf_counter() - begun < 5  # 0.1 s; a loop over all pairs of its words would take minutes


def test_a_pair_that_would_take_minutes_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(overlap, "MAX_EDIT_CELLS", 8)
    with pytest.raises(UsageError, match="pair 1 is too long to count edits: 3 against 3 words"):
        overlap.edit_distance(["b", "b c d"], ["c", "b c d"])


def test_wrong_use_is_told_in_a_line():
    with pytest.raises(UsageError, match="2 sentences cannot be paired with 1"):
        overlap.unigram_f1(["b", "c"], ["b"])
    with pytest.raises(UsageError, match="one sentence was given"):
        overlap.unigram_f1("b", "c d")
    with pytest.raises(UnknownName, match="did you mean character"):
        overlap.edit_distance(["b"], ["c"], "charakter")
    with pytest.raises(UsageError, match="n is at least 1"):
        overlap.ngram_overlap(["b"], ["c"], n=0)
    with pytest.raises(UsageError, match="give the sentences themselves"):
        overlap.edit_distance(overlap.encode(["b"]), overlap.encode(["b"]), "character")


def test_without_numba_the_pip_line_is_given_and_single_pairs_still_work(monkeypatch):
    import restyle.text

    monkeypatch.setitem(sys.modules, "numba", None)
    for module in ("overlap", "_overlap_kernels"):
        monkeypatch.delitem(sys.modules, f"restyle.text.{module}")
        monkeypatch.delattr(restyle.text, module)
    with pytest.raises(MissingExtra, match=r"needs numba: pip install 'restyle\[text\]'"):
        import restyle.text.overlap  # noqa: F401
    assert overlap_pair.unigram_f1("b", "b") == 1.0


def test_kernels_work_where_nothing_can_be_written():
    scope = {}
    exec("def one_more(number):\n    return number + 1", scope)  # code without a file has no place for a cache
    assert _overlap_kernels.compiled(scope["one_more"])(1) == 2
