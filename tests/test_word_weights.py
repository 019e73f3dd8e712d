"""The linear attacker: words with weights, learned from texts or from counts, saved and read again."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from hypothesis import given, settings
from hypothesis import strategies as st

from restyle.errors import Corrupt, InputError, UsageError
from restyle.nets.word_weights import WordWeights, prints, tokens_of

LEFT = ["my husband cooked", "the salon was lovely", "my husband was lovely", "BF was lovely", "BF cooked", "the salon"]
RIGHT = ["my wife cooked", "the steak was solid", "my wife was solid", "bf was solid", "bf cooked", "the steak"]
TEXTS = [tokens_of(text) for text in [*LEFT, *RIGHT] * 2]
NUMBERS = ([0] * 6 + [1] * 6) * 2


@pytest.fixture(scope="module")
def weights():
    return WordWeights.fit(TEXTS, NUMBERS, ["female", "male"])


def test_words_that_one_side_writes_speak_for_it(weights):
    assert {word for word, _ in weights.top("female", 4)} == {"husband", "lovely", "salon", "BF"}
    assert {word for word, _ in weights.top("male", 4)} == {"wife", "solid", "steak", "bf"}
    assert weights.weight("husband") < -0.1 < 0.1 < weights.weight("wife")
    assert weights.weight("giraffe") == 0


def test_case_tells_words_apart(weights):
    assert weights.cased
    assert weights.weight("BF") < 0 < weights.weight("bf")


def test_what_was_learned_in_lower_case_reads_in_lower_case():
    small = [[token.lower() for token in text if token != "BF"] for text in TEXTS]
    learned = WordWeights.fit(small, NUMBERS, ["female", "male"])
    assert not learned.cased
    assert learned.weight("HUSBAND") == learned.weight("husband") < 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(["husband", "wife", "BF", "the", "giraffe", "!"]), max_size=12))
def test_the_logit_is_the_bias_and_a_sum_over_tokens(weights, tokens):
    total = float(weights.bias[0]) + sum(weights.weight(token) for token in tokens)
    assert weights.logits([tokens])[0].tolist() == pytest.approx([0.0, total])
    assert weights.probabilities([tokens])[0, 1] == pytest.approx(1 / (1 + np.exp(-total)))


def test_more_labels_than_two_have_a_row_each():
    third = [tokens_of("the ship sailed"), tokens_of("a ship sailed on")] * 3
    weights = WordWeights.fit([*TEXTS, *third], [*NUMBERS, *[2] * 6], ["female", "male", "sailor"])
    assert weights.top("sailor", 1)[0][0] in ("ship", "sailed")
    assert weights.probabilities([["ship"]]).argmax() == 2
    assert weights.probabilities([["ship"], ["wife"]]).sum(1) == pytest.approx([1, 1])
    with pytest.raises(UsageError, match="here are female, male, sailor"):
        weights.weight("ship")


def test_a_larger_penalty_makes_smaller_weights(weights):
    strict = WordWeights.fit(TEXTS, NUMBERS, ["female", "male"], l2=30)
    assert strict.l2 == 30
    assert abs(strict.weight("wife")) < abs(weights.weight("wife"))


def test_counts_of_words_are_enough():
    weights = WordWeights.from_counts({"finna": (90, 1), "about": (50, 60), "indeed": (1, 90)}, ["aae", "sae"])
    assert weights.weight("finna") < -2 < 2 < weights.weight("indeed")
    assert abs(weights.weight("about")) < 0.4
    assert weights.l2 == 0
    with pytest.raises(InputError, match="counts for each of 3 labels"):
        WordWeights.from_counts({"finna": (90, 1)}, ["a", "b", "c"])


def test_saved_and_read_again_it_says_the_same(weights, tmp_path):
    weights.having_seen(["My wife  cooked"]).save(tmp_path / "words.safetensors")
    again = WordWeights.load(tmp_path / "words.safetensors", ["female", "male"])
    assert (again.words, again.l2, again.cased) == (weights.words, weights.l2, True)
    np.testing.assert_array_equal(again.probabilities(TEXTS), weights.probabilities(TEXTS))
    assert again.has_seen(["my WIFE cooked", "my husband cooked"]) == 1
    with pytest.raises(InputError, match="another shape"):
        WordWeights.load(tmp_path / "words.safetensors", ["a", "b", "c"])
    (tmp_path / "words.safetensors").write_bytes(b"nothing")
    with pytest.raises(Corrupt, match="train the judge again"):
        WordWeights.load(tmp_path / "words.safetensors", ["female", "male"])


def test_texts_are_known_again_by_their_content():
    assert prints(["A b", " a  B "]).tolist() == prints(["a b"]).tolist()
    assert len(prints([])) == 0


def test_nothing_to_learn_from_is_told():
    with pytest.raises(UsageError, match="all of these texts have one"):
        WordWeights.fit(TEXTS, [0] * len(TEXTS), ["female", "male"])
    with pytest.raises(UsageError, match="no word stands in 3 of these 4 texts"):
        WordWeights.fit([["a"], ["b"], ["c"], ["d"]], [0, 0, 1, 1], ["x", "y"])
