"""No test sentence is trained on: the check itself, and every corpus of the mirror."""

import re
import time
from functools import cache

import pytest

from restyle.corpora import HeldOut, catalogue, check_leaks, corpora, load

LONG = "the lamp in the hall went out before anybody could find the stairs"


@pytest.mark.parametrize(
    ("train", "kind"),
    [
        (LONG, "exact"),
        (f"`` {LONG.title()} , ''", "exact"),
        (f"And then {LONG}, they say.", "near"),
        ("in the hall went out before anybody could", "near"),
        ("the lamp in the hall is out of order and nobody cares", None),
        ("a shorter one", None),
    ],
)
def test_a_leak_is_found_however_it_is_written(train, kind):
    assert [leak.kind for leak in check_leaks([train], [LONG])] == ([kind] if kind else [])


def test_a_leak_says_where_it_is_and_what_it_gives_away():
    (leak,) = check_leaks(["something else", "we sing in the rain today"], ["Sing in the rain today!"])
    assert (leak.index, leak.held_out) == (1, "Sing in the rain today!")


def test_tokenised_and_plain_text_are_compared_by_what_they_say():
    assert check_leaks(["i do n't think it 's over yet ."], ["I don’t think it’s over yet"])


def test_sentences_of_fewer_than_five_words_leak_nothing():
    assert check_leaks(["What is it now?"], ["what is it now"]) == []
    assert check_leaks(["What is it now then?"], ["what is it now then"]) != []


def test_a_part_of_a_short_sentence_is_no_leak():
    assert check_leaks(["sing in the rain"], ["sing in the rain today"]) == []


def test_nothing_leaks_into_nothing():
    assert check_leaks([], [LONG]) == check_leaks([LONG], []) == []


def test_a_million_words_are_checked_in_seconds():
    held_out = HeldOut(f"sentence number {n} of those that nobody may ever see" for n in range(2000))
    start = time.perf_counter()
    assert not list(
        held_out.leaks(f"line {n} is about something that is quite different from it" for n in range(90_000))
    )
    assert time.perf_counter() - start < 10


# --- the corpora of the mirror


opened = cache(load)


@cache
def sentences(name, style, split):
    # Not cleaned: it takes most of the time, and changes nothing in what leaks.
    return [line.text for line in opened(name).lines(style, split)]


# One style of each corpus or two, and what CDS holds out of the same kind: the styles of a corpus are read alike.
TRAINED = [
    ("bible", "KJVPCE", "bible"),
    ("books", "joyce", "joyce"),
    ("books", "modern_plain", None),
    ("cds", "bible", "bible"),
    ("cds", "poetry", "poetry"),
    ("cola", "unacceptable", None),
    ("congress", "democrat", None),
    ("congress", "female", None),
    ("formality", "informal", None),
    ("plays36", "shakespeare", "shakespeare"),
    ("politeness", "polite", None),
    ("shakespeare", "modern", None),
    ("shakespeare", "shakespeare", None),
    ("switchboard", "switchboard", "switchboard"),
    ("tweets", "tweets", "tweets"),
    ("yelp", "negative", None),
    ("yelp", "positive", None),
]
UNTRAINED = {"yelp-gender", "yelp-sentiment"}


def test_every_corpus_with_a_training_split_is_among_those_that_are_checked():
    here = {entry.name for entry in corpora if not catalogue()[entry.name].on_request}
    assert {name for name, _, _ in TRAINED} == here - UNTRAINED
    assert not any("train" in load(name).splits for name in UNTRAINED)


@pytest.mark.data
@pytest.mark.parametrize(("name", "style", "sample"), TRAINED)
def test_no_training_split_gives_a_test_away(mirror, name, style, sample):
    splits = [split for split in ("valid", "test") if opened(name).has(style, split)]
    tests = [text for split in splits for text in sentences(name, style, split)]
    if sample:
        tests += sentences("cds", sample, "test")
    train = sentences(name, style, "train")
    assert train
    assert check_leaks(train, tests) == []


def squeezed(text):
    """Letters only: a check that shares nothing with the one in the package."""
    return re.sub(r"[^a-z]", "", text.lower())


@pytest.mark.data
@pytest.mark.parametrize("name", ["shakespeare", "plays36"])
@pytest.mark.parametrize("play", ["valid", "test"])
def test_neither_romeo_and_juliet_nor_twelfth_night_is_trained_on(mirror, name, play):
    train = "\n".join(map(squeezed, sentences(name, "shakespeare", "train")))
    tests = [text for text in map(squeezed, sentences("shakespeare", "shakespeare", play)) if len(text) > 45]
    assert len(tests) > 250
    assert [text for text in tests if text in train] == []


@pytest.mark.data
def test_the_cds_sample_of_shakespeare_is_romeo_and_juliet_and_is_not_trained_on(mirror):
    assert not load("cds").has("shakespeare", "train")
    play = HeldOut(sentences("shakespeare", "shakespeare", "test"))
    assert sum(1 for _ in play.leaks(sentences("cds", "shakespeare", "test"))) > 250


@pytest.mark.data
@pytest.mark.parametrize("style", ["negative", "positive"])
def test_the_test_of_li_et_al_is_not_trained_on(mirror, style):
    train = set(map(squeezed, sentences("yelp", style, "train")))
    tests = [text for text in sentences("yelp", style, "test") if len(text.split()) > 7]
    assert len(tests) > 300
    assert not [text for text in tests if squeezed(text) in train]


@pytest.mark.data
def test_the_two_sides_of_the_plays_are_shuffled_apart(mirror):
    corpus = load("shakespeare")
    sides = [[record["line"] for record in corpus.records(style, "train")] for style in corpus.styles]
    assert sum(a == b for a, b in zip(*sides, strict=False)) < 20
    assert sum(abs(a - b) == 1 for a, b in zip(sides[0], sides[0][1:], strict=False)) < 20
