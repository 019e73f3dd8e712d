"""The stages of the filter against a slow, obvious one: pure Python, pair by pair, in the paper's order."""

import re
import string
from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restyle.errors import InputError, SettingsError, UnknownName, UsageError
from restyle.metrics import Batch, metrics
from restyle.pairs import PRESETS, FilterSettings, explain_pair, kept, preset
from restyle.pairs.stages import Filter, Pairs
from restyle.pairs.tokens import token_counts

NO_LIMITS = preset("pang-gimpel", {"drop_substrings": False})
# Table 8, with what it does not list beside what it is akin to.
PAPER_ORDER = (
    "similarity", "empty", "trigram", "unigram", "kendall", "length-difference", "average-length", "substring",
    "language",
)  # fmt: skip


def squad_words(text):
    text = "".join(character for character in text.lower() if character not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def shared_of_second(first, second):
    """How many of the second list are found in the first, each only once."""
    first, count = list(first), 0
    for item in second:
        if item in first:
            first.remove(item)
            count += 1
    return count


def share_shuffled(first, second):
    """The k-th occurrence of a word is the k-th on the other side; which pairs of these turned round?"""
    numbered = [[], []]
    for side, words in zip(numbered, (first, second), strict=True):
        seen = Counter()
        for word in words:
            seen[word] += 1
            side.append((word, seen[word]))
    order = [numbered[0].index(word) for word in numbered[1] if word in numbered[0]]
    pairs = [(order[i], order[j]) for i in range(len(order)) for j in range(i + 1, len(order))]
    return sum(i > j for i, j in pairs) / len(pairs) if pairs else 1.0


def is_english(texts, engine):
    """A stand-in for the language model: French is what holds a `le`."""
    assert engine == "lid176"
    return ["le" not in text.split() for text in texts]


def similarity(text, paraphrase):
    """The metric that stands in for the similarity model."""
    return metrics["jaccard"]().score(Batch(outputs=[paraphrase], inputs=[text]))[0]


def first_failed(text, paraphrase, score, wanted):
    """The stage that drops a pair in the paper's order, None when it survives."""
    ours, theirs = squad_words(text), squad_words(paraphrase)
    our_trigrams, their_trigrams = ([tuple(w[i : i + 3]) for i in range(len(w) - 2)] for w in (ours, theirs))
    lengths = len(text.split()), len(paraphrase.split())
    if wanted.similarity != "off" and not score >= wanted.min_similarity:
        return "similarity"
    if not ours or not theirs:
        return "empty"
    if (
        their_trigrams
        and shared_of_second(our_trigrams, their_trigrams) / len(their_trigrams) > wanted.max_trigram_overlap
    ):
        return "trigram"
    if shared_of_second(ours, theirs) / len(theirs) > wanted.max_unigram_overlap:
        return "unigram"
    if share_shuffled(ours, theirs) < wanted.min_shuffled:
        return "kendall"
    if abs(lengths[0] - lengths[1]) > wanted.max_length_difference:
        return "length-difference"
    if not wanted.min_average_length <= sum(lengths) / 2 <= wanted.max_average_length:
        return "average-length"
    if wanted.drop_substrings and (text.strip() in paraphrase.strip() or paraphrase.strip() in text.strip()):
        return "substring"
    if wanted.language != "off" and not any(is_english([text, paraphrase], wanted.language)):
        return "language"
    return None


words = st.sampled_from(["cat", "dog", "the", "A", "an", "le", "Don't", "x-y", ".", "...", "é", "İ", "ﬁn", "long" * 9])
spaces = st.sampled_from([" ", "  ", "\t", "\n", "\u00a0", "\u2003", "\x1c", "\x85", "\r"])
sentences = st.one_of(
    st.lists(words, max_size=14).map(" ".join),
    st.lists(st.one_of(words, spaces), max_size=14).map("".join),
    st.text(max_size=12),
)


@st.composite
def sentence_pairs(draw):
    """Unrelated sentences, and those that turn, cut, repeat or copy the other side."""
    text = draw(sentences)
    other = draw(
        st.one_of(
            sentences,
            st.permutations(text.split()).map(" ".join),
            st.integers(0, len(text)).map(lambda at: text[at:]),
            st.just(text),
            st.just(f"{text} {text}"),
            st.just(""),
        )
    )
    return draw(st.permutations([text, other]))


@st.composite
def thresholds(draw):
    """Settings of all kinds, those at which a stage is off included."""
    share = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.7, 1.0])
    return FilterSettings(
        similarity=draw(st.sampled_from(["column", "off"])),
        min_similarity=draw(share),
        max_trigram_overlap=draw(share),
        max_unigram_overlap=draw(share),
        min_shuffled=draw(share),
        max_length_difference=draw(st.sampled_from([0.0, 1.0, 5.0, float("inf")])),
        min_average_length=draw(st.sampled_from([0.0, 1.5, 3.0])),
        max_average_length=draw(st.sampled_from([2.0, 6.0, float("inf")])),
        drop_substrings=draw(st.booleans()),
        language=draw(st.sampled_from(["lid176", "off"])),
    )


def names_of_failed(verdicts):
    """The stage that drops each pair, None for survivors."""
    names = [*(stage.name for stage in verdicts.stages), None]
    return [names[place] for place in verdicts.first_failed]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(sentence_pairs(), st.sampled_from([0.0, 0.3, 0.5, 0.7, 1.0])), min_size=1, max_size=8),
    thresholds(),
)
def test_each_pair_is_dropped_by_the_stage_that_the_slow_filter_names(rows, wanted):
    texts, paraphrases = [pair[0] for pair, _ in rows], [pair[1] for pair, _ in rows]
    scores = [score for _, score in rows]
    with mock.patch("restyle.pairs.stages.is_english", is_english):
        verdicts = Filter(wanted, wanted.similarity).judge(Pairs(texts, paraphrases, np.array(scores)))
    assert names_of_failed(verdicts) == [
        first_failed(*row, wanted) for row in zip(texts, paraphrases, scores, strict=True)
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(sentence_pairs(), min_size=1, max_size=8), thresholds())
def test_a_similarity_model_asked_last_leaves_the_survivors_of_the_papers_order(pairs, wanted):
    texts, paraphrases = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    wanted = replace(wanted, similarity="jaccard")
    expected = [first_failed(*pair, similarity(*pair), wanted) for pair in pairs]
    with mock.patch("restyle.pairs.stages.is_english", is_english):
        last = Filter(wanted, "jaccard").judge(Pairs(texts, paraphrases))
        full = Filter(replace(wanted, full_table=True), "jaccard").judge(Pairs(texts, paraphrases))
    assert [name is None for name in names_of_failed(last)] == [name is None for name in expected]
    assert names_of_failed(full) == expected


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(sentences, st.text()), max_size=6))
def test_tokens_are_what_white_space_parts(texts):
    assert token_counts(texts).tolist() == [len(text.split()) for text in texts]


def survives(text, paraphrase, score=None, **flags):
    scores = None if score is None else [score]
    return bool(kept([text], [paraphrase], replace(NO_LIMITS, **flags), scores=scores)[0])


class TestBounds:
    """A pair that lies on a threshold is on the side on which the paper's words put it."""

    def test_a_similarity_lower_than_the_least_goes(self):
        assert survives("x", "y", 0.5, similarity="column", min_similarity=0.5)
        assert not survives("x", "y", 0.4999, similarity="column", min_similarity=0.5)

    def test_more_than_half_of_the_words_goes(self):
        assert survives("one two", "one three", max_unigram_overlap=0.5)
        assert not survives("one two", "one two three", max_unigram_overlap=0.5)

    def test_only_the_words_of_the_paraphrase_are_counted(self):
        assert survives("one two", "one two three four five", max_unigram_overlap=0.5)
        assert not survives("one two three four five", "one two", max_unigram_overlap=0.5)

    def test_more_than_seven_tenths_of_the_trigrams_goes(self):
        text = "a1 b2 c3 d4 e5 f6 g7 h8 i9 j10 k11 l12"  # ten trigrams
        assert survives(text, text[: text.index(" j10")] + " x y z", max_trigram_overlap=0.7)  # seven of them
        assert not survives(text, text[: text.index(" k11")] + " x y", max_trigram_overlap=0.7)  # eight

    def test_half_shuffled_is_enough(self):
        assert survives("1 2 3 4", "3 2 1 4", min_shuffled=0.5)  # three of the six pairs
        assert not survives("1 2 3 4", "2 3 1 4", min_shuffled=0.5)  # two

    def test_fewer_than_two_shared_words_count_as_shuffled(self):
        assert survives("one two", "one three", min_shuffled=1.0)
        assert survives("one two", "three four", min_shuffled=1.0)

    def test_a_difference_of_five_tokens_stays(self):
        assert survives("1", "1 2 3 4 5 6", max_length_difference=5.0)
        assert not survives("1", "1 2 3 4 5 6 7", max_length_difference=5.0)

    def test_both_ends_of_the_average_length_stay(self):
        for tokens, expected in ((6, False), (7, True), (25, True), (26, False)):
            text = " ".join("x" * tokens)
            assert survives(text, text, min_average_length=7.0, max_average_length=25.0) == expected

    def test_a_full_stop_that_stands_apart_is_a_token(self):
        assert survives("one two .", "one two .", min_average_length=3.0)
        assert not survives("one two.", "one two.", min_average_length=3.0)

    def test_white_space_around_a_sentence_is_no_part_of_a_substring(self):
        assert not survives(" one two ", "one two three", drop_substrings=True)
        assert survives("One two", "one two three", drop_substrings=True)


class TestLanguage:
    def test_a_pair_goes_only_when_both_sides_are_not_english(self, monkeypatch):
        monkeypatch.setattr("restyle.pairs.stages.is_english", is_english)
        sides = ["le chat", "the cat"]
        found = {(a, b): survives(a, b, language="lid176") for a in sides for b in sides}
        assert [pair for pair, stays in found.items() if not stays] == [("le chat", "le chat")]

    def test_only_what_the_other_stages_leave_is_looked_at(self, monkeypatch):
        seen = []
        monkeypatch.setattr(
            "restyle.pairs.stages.is_english", lambda texts, engine: [seen.append(t) or True for t in texts]
        )
        kept(["one", "two"], ["one", "three"], replace(NO_LIMITS, language="lid176", max_unigram_overlap=0.5))
        assert seen == ["two"]

    @pytest.mark.models
    @pytest.mark.parametrize("engine", ["lid176", "langdetect"])
    def test_the_models_tell_german_pairs_apart(self, models, engine):
        german = "Ich habe den ganzen Tag auf dich gewartet", "Den ganzen Tag lang wartete ich nur auf dich"
        english = "I have been waiting for you all day long", "All day long I did nothing but wait for you"
        assert [survives(*pair, language=engine) for pair in (german, english)] == [False, True]


class TestEmptySides:
    @pytest.mark.parametrize("side", ["", " ", "...", "the", "\u00a0"])
    def test_a_pair_with_a_side_without_words_never_survives(self, side):
        assert not survives(side, "one two three")
        assert not survives("one two three", side)

    def test_no_pairs_at_all_are_no_error(self):
        assert kept([], [], NO_LIMITS).tolist() == []


class TestDuplicates:
    TEXTS = ("The cat sat.", "the cat sat", "The cat sat.", "a dog")
    OTHERS = ("A cat was sitting", "A CAT was sitting!", "A cat was sitting", "the cat")

    def kept(self, duplicates):
        return kept(self.TEXTS, self.OTHERS, replace(NO_LIMITS, duplicates=duplicates)).tolist()

    def test_they_stay_unless_asked_for(self):
        assert self.kept("keep") == [True] * 4

    def test_an_exact_one_is_the_same_strings(self):
        assert self.kept("exact") == [True, True, False, True]

    def test_a_near_one_differs_in_case_punctuation_and_articles(self):
        assert self.kept("near") == [True, False, False, True]

    @pytest.mark.parametrize("duplicates", ["exact", "near"])
    def test_the_sides_turned_round_are_another_pair(self, duplicates):
        assert kept(["one", "two"], ["two", "one"], replace(NO_LIMITS, duplicates=duplicates)).all()

    @pytest.mark.parametrize("duplicates", ["exact", "near"])
    def test_a_word_that_moves_to_the_other_side_makes_another_pair(self, duplicates):
        assert kept(["one two", "one"], ["three", "two three"], replace(NO_LIMITS, duplicates=duplicates)).all()


class TestPresets:
    def test_the_appendix_and_the_section_differ_as_the_paper_does(self):
        a1, section = preset("strap-a1"), preset("strap-2.4")
        assert (a1.min_similarity, a1.max_trigram_overlap) == (0.5, 0.7)
        assert (section.min_similarity, section.max_trigram_overlap) == (0.7, 0.5)
        assert replace(section, min_similarity=0.5, max_trigram_overlap=0.7) == a1

    def test_the_stages_stand_in_the_order_of_table_8(self):
        wanted = replace(FilterSettings(), drop_substrings=True)
        assert tuple(stage.name for stage in Filter(wanted, "column").stages) == PAPER_ORDER

    def test_pang_and_gimpel_drop_substrings_and_nothing_else(self):
        assert [stage.name for stage in Filter(preset("pang-gimpel"), "off").stages] == ["empty", "substring"]

    def test_a_flag_outweighs_a_file_and_a_file_the_preset(self, tmp_path):
        file = tmp_path / "filter.toml"
        file.write_text("min_shuffled = 0.25\nmax_length_difference = inf\n")
        chosen = preset("strap-2.4", {"min_shuffled": 0.1, "seed": None}, file=file)
        assert (chosen.min_shuffled, chosen.max_length_difference, chosen.min_similarity) == (0.1, float("inf"), 0.7)

    def test_an_unknown_preset_is_answered_with_the_nearest(self):
        with pytest.raises(UnknownName, match=r"no filter preset is called 'strap-a2'; did you mean strap-a1"):
            preset("strap-a2")

    @pytest.mark.parametrize("name", PRESETS)
    def test_every_preset_is_valid(self, name):
        assert isinstance(preset(name), FilterSettings)

    def test_a_threshold_beyond_its_bounds_is_refused(self):
        with pytest.raises(SettingsError, match=r"max_unigram_overlap is 50\.0; it can be from 0 to 1"):
            preset("loose", {"max_unigram_overlap": 50})


class TestSimilarity:
    def test_without_a_column_and_a_model_it_says_what_to_do(self, monkeypatch):
        monkeypatch.setattr("restyle.pairs.similarity.DEFAULT_METRIC", "sim-nowhere")
        with pytest.raises(InputError, match="no score column.* --score-column .* give --similarity off"):
            kept(["one"], ["two"])

    def test_a_column_that_is_asked_for_and_not_there_is_an_error(self):
        with pytest.raises(InputError, match="no score column"):
            kept(["one"], ["two"], replace(NO_LIMITS, similarity="column"))

    def test_without_a_column_the_model_is_asked_and_with_one_it_is_not(self, monkeypatch):
        monkeypatch.setattr("restyle.pairs.similarity.DEFAULT_METRIC", "jaccard")
        auto = replace(NO_LIMITS, similarity="auto", min_similarity=0.5)
        assert kept(["one two", "one two"], ["two one", "three"], auto).tolist() == [True, False]
        assert kept(["one two", "one two"], ["two one", "three"], auto, scores=[0.4, 0.6]).tolist() == [False, True]

    def test_an_unknown_metric_is_answered_with_the_nearest(self):
        with pytest.raises(UnknownName, match="did you mean jaccard"):
            kept(["one"], ["two"], replace(NO_LIMITS, similarity="jacard"))

    def test_the_model_sees_only_what_the_other_stages_leave(self, monkeypatch):
        seen = []
        monkeypatch.setattr(
            "restyle.pairs.stages.similarity_by",
            lambda name: lambda ours, theirs: np.array([seen.append(t) or 1.0 for t in ours]),
        )
        kept(["one", "two"], ["one", "three"], replace(NO_LIMITS, similarity="jaccard", max_unigram_overlap=0.5))
        assert seen == ["two"]

    def test_columns_of_different_lengths_are_refused(self):
        with pytest.raises(UsageError, match="2 texts cannot be paired with 1 paraphrases"):
            kept(["one", "two"], ["one"], NO_LIMITS)


class TestExplaining:
    def test_each_stage_says_its_value_what_it_allows_and_whether_it_keeps_the_pair(self):
        rows = explain_pair(
            "are you mad", "are you crazy", replace(NO_LIMITS, max_unigram_overlap=0.5, min_shuffled=0.5)
        )
        assert [(row["stage"], round(row["value"], 2), row["allowed"], row["keeps"]) for row in rows] == [
            ("empty", 3.0, "at least 1", True),
            ("unigram", 0.67, "at most 0.5", False),
            ("kendall", 0.0, "at least 0.5", False),
        ]
