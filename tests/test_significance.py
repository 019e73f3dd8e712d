"""Intervals and paired tests: right on average, the same every time, in whatever order things come."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from restyle.errors import InputError, UnknownName, UsageError
from restyle.evaluation import compare, holm, paired_tests, score
from restyle.evaluation._resampling import bootstrap_totals, sign_totals


def card(column, system="system", name="acc", inputs=None):
    inputs = inputs if inputs is not None else [f"input {row}" for row in range(len(column))]
    outputs = [f"{system} {text}" for text in inputs]
    return score(outputs, inputs=inputs, metrics=[], columns={name: column}, system=system)


def noise(seed, sentences=200, mean=0.5):
    return (np.random.default_rng(seed).random(sentences) < mean).astype(float)


class TestIntervals:
    def test_the_interval_of_a_mean_is_that_of_the_textbook(self):
        column = np.random.default_rng(1).normal(10, 2, 2000)
        low, high = card(column).interval("acc", resamples=2000)
        half = 1.96 * column.std() / np.sqrt(len(column))
        assert low == pytest.approx(column.mean() - half, abs=0.1 * half)
        assert high == pytest.approx(column.mean() + half, abs=0.1 * half)

    def test_it_holds_the_truth_as_often_as_it_says(self):
        held = 0
        for seed in range(300):
            low, high = card(noise(seed, 150, 0.7)).interval("acc", resamples=300)
            held += low <= 0.7 <= high
        assert 0.90 <= held / 300 <= 0.98

    def test_a_wider_level_is_a_wider_interval(self):
        made = card(noise(3))
        narrow, wide = made.interval("acc", level=0.8), made.interval("acc", level=0.99)
        assert wide.low < narrow.low < made["acc"] < narrow.high < wide.high

    def test_the_same_seed_gives_the_same_interval_and_another_one_another(self):
        made = card(noise(4))
        assert made.interval("acc", seed=1) == card(noise(4)).interval("acc", seed=1)
        assert made.interval("acc", seed=1) != made.interval("acc", seed=2)

    def test_another_column_in_the_card_changes_no_interval(self):
        lone = card(noise(5))
        assert lone.with_columns({"fl": noise(6)}).interval("acc") == lone.interval("acc")

    def test_one_sentence_has_an_interval_without_width(self):
        assert card([0.5]).interval("acc") == (0.5, 0.5)

    @pytest.mark.parametrize(
        ("options", "message"), [({"level": 1}, "the level is 1"), ({"resamples": 0}, "0 resamples")]
    )
    def test_what_cannot_be_drawn_is_refused(self, options, message):
        with pytest.raises(UsageError, match=message):
            card([1, 0]).interval("acc", **options)

    def test_an_unknown_number_is_answered_with_the_nearest(self):
        with pytest.raises(UnknownName, match="did you mean acc?"):
            card([1, 0]).interval("ac")


class TestResampling:
    def test_every_draw_has_as_many_sentences_as_there_are(self):
        totals = bootstrap_totals({"ones": np.ones(77), "odd": np.arange(77.0)}, 50, seed=0)
        np.testing.assert_array_equal(totals["ones"], 77)
        assert totals["odd"].std() > 0

    def test_the_draws_are_those_of_bootstrap_theory(self):
        column = np.random.default_rng(0).normal(size=400)
        totals = bootstrap_totals({"x": column}, 4000, seed=0)["x"]
        # A total of n draws has n times the variance of the column.
        assert totals.mean() == pytest.approx(column.sum(), abs=3 * np.sqrt(400 * column.var() / 4000))
        assert totals.var() == pytest.approx(400 * column.var(), rel=0.1)

    def test_the_coin_of_a_sign_is_fair(self):
        totals = sign_totals({"x": np.arange(1.0, 101)}, 4000, seed=0)["x"]
        assert abs(totals.mean()) < 3 * totals.std() / np.sqrt(4000)
        assert totals.var() == pytest.approx((np.arange(1.0, 101) ** 2).sum(), rel=0.1)

    def test_the_stream_is_pinned(self):
        # These digits may never change: published intervals stand on them.
        totals = bootstrap_totals({"x": np.arange(10.0)}, 4, seed=0)["x"]
        assert totals.tolist() == PINNED

    def test_chunks_are_invisible(self, monkeypatch):
        column = np.random.default_rng(0).random(50)
        whole = bootstrap_totals({"x": column}, 40, seed=3)["x"]
        monkeypatch.setattr("restyle.evaluation._resampling._WEIGHTS_AT_ONCE", 150)
        np.testing.assert_array_equal(bootstrap_totals({"x": column}, 40, seed=3)["x"], whole)

    def test_the_number_of_threads_changes_no_bit(self):
        program = (
            "import numpy as np; from restyle.evaluation._resampling import bootstrap_totals as b;"
            "c = {str(i): np.random.default_rng(i).normal(size=5003) * 10**i for i in range(7)};"
            "import hashlib; print(hashlib.sha256(b''.join(t.tobytes() for t in b(c, 64, 1).values())).hexdigest())"
        )
        seen = set()
        for threads in ("1", "2", "4"):
            env = os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
            seen.add(subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True).stdout)
        assert len(seen) == 1


PINNED = [33.0, 67.0, 46.0, 32.0]


class TestPairedTests:
    @pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
    def test_identical_systems_are_never_significantly_different(self, test):
        (made,) = paired_tests([card(noise(1), "a"), card(noise(1), "b")], test=test, resamples=100)
        assert (made.difference, made.p, made.significant()) == (0, 1, False)

    @pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
    def test_false_alarms_are_as_rare_as_the_level_says(self, test):
        alarms = 0
        for seed in range(400):
            first, second = card(noise(2 * seed, 120), "a"), card(noise(2 * seed + 1, 120), "b")
            (made,) = paired_tests([first, second], test=test, resamples=199, seed=seed)
            alarms += made.p <= 0.05
        # Of 400 at 5%, 20 are expected; below 8 or above 36 has a chance of about one in a thousand.
        assert 8 <= alarms <= 36

    @pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
    def test_a_clear_difference_is_found(self, test):
        (made,) = paired_tests([card(noise(1, mean=0.8), "a"), card(noise(2, mean=0.4), "b")], test=test)
        assert made.p < 0.01
        assert made.low > 0
        assert made.significant()

    def test_randomisation_agrees_with_the_exact_permutation_test(self):
        first, second = np.random.default_rng(0).normal(0.4, 1, 12), np.random.default_rng(1).normal(0, 1, 12)
        apart = first - second
        exact = np.mean(
            [abs(apart @ signs) >= abs(apart.sum()) - 1e-9 for signs in itertools.product((1, -1), repeat=12)]
        )
        (made,) = paired_tests([card(first, "a"), card(second, "b")], test="randomisation", resamples=20000)
        assert made.p == pytest.approx(exact, abs=0.015)

    def test_the_bootstrap_agrees_with_the_t_test_on_many_sentences(self):
        first = np.random.default_rng(0).normal(0.05, 1, 1500)
        second = np.random.default_rng(1).normal(0, 1, 1500)
        (made,) = paired_tests([card(first, "a"), card(second, "b")], resamples=5000)
        assert made.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.03)

    @pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
    def test_neither_the_order_of_systems_nor_of_sentences_changes_a_p(self, test):
        first, second = card(noise(1), "a"), card(noise(2), "b")
        (made,) = paired_tests([first, second], test=test, resamples=200)
        (swapped,) = paired_tests([second, first], test=test, resamples=200)
        order = np.random.default_rng(0).permutation(200)
        (shuffled,) = paired_tests([first.taken(order), second], test=test, resamples=200)
        assert (swapped.p, swapped.difference) == (made.p, -made.difference)
        assert shuffled == made

    def test_a_sentence_that_one_judge_left_out_does_not_break_the_pairing(self):
        first, second = card([1, None, 1, 0] * 20, "a"), card([0, 1, 0, 0] * 20, "b")
        for test in ("bootstrap", "randomisation"):
            (made,) = paired_tests([first, second], test=test, resamples=100)
            assert 0 < made.p <= 1

    def test_systems_with_other_inputs_are_refused(self):
        with pytest.raises(
            InputError, match=r"a \(2 sentences\) and b \(2\) do not answer the same inputs \(1 in common\)"
        ):
            paired_tests([card([1, 0], "a", inputs=["x", "y"]), card([1, 0], "b", inputs=["x", "z"])])

    def test_wrong_requests_are_answered_by_name(self):
        cards = [card([1, 0], "dlsm"), card([0, 1], "unmt")]
        with pytest.raises(UnknownName, match="no system is called 'dslm'; did you mean dlsm"):
            paired_tests(cards, baseline="dslm")
        with pytest.raises(UnknownName, match="no number of every system is called 'J'"):
            paired_tests(cards, numbers=["J"])
        with pytest.raises(UnknownName, match="no test is called 'bootstap'; did you mean bootstrap"):
            paired_tests(cards, test="bootstap")
        with pytest.raises(UsageError, match="one system alone cannot be compared"):
            paired_tests(cards[:1])

    def test_two_systems_of_one_name_are_refused(self):
        with pytest.raises(UsageError, match="two systems are called 'a'"):
            compare([card([1], "a"), card([0], "a")])

    def test_against_a_baseline_only_its_pairs_are_tested(self):
        cards = [card(noise(seed), name) for seed, name in enumerate("abc")]
        assert {(each.first, each.second) for each in paired_tests(cards, baseline="b", resamples=20)} == {
            ("a", "b"),
            ("c", "b"),
        }
        assert len(paired_tests(cards, resamples=20)) == 3


class TestHolm:
    def test_it_is_the_textbooks(self):
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_one_test_alone_is_not_corrected(self):
        assert holm([0.04]) == [0.04]

    def test_it_never_lowers_a_p_and_never_exceeds_one(self):
        raw = np.random.default_rng(0).random(50).tolist()
        assert all(p <= corrected <= 1 for p, corrected in zip(raw, holm(raw), strict=True))

    def test_a_test_that_could_not_be_made_makes_the_others_no_harder_to_pass(self):
        nan = float("nan")
        assert holm([nan, 0.01, nan, 0.04]) == pytest.approx([nan, 0.02, nan, 0.04], nan_ok=True)
        assert np.isnan(holm([nan])).all() and holm([]) == []

    def test_false_alarms_stay_rare_among_many_systems(self):
        alarms = 0
        for seed in range(60):
            cards = [card(noise(100 * seed + place, 80), str(place)) for place in range(5)]
            alarms += any(each.significant() for each in paired_tests(cards, resamples=400, seed=seed))
        # Uncorrected, ten pairs would raise an alarm in about one of four cases.
        assert alarms <= 8


def test_a_comparison_shows_table_and_tests():
    text = compare([card(noise(1, mean=0.8), "good"), card(noise(2, mean=0.3), "bad")], resamples=200).text()
    assert "good" in text.splitlines()[1]
    assert "paired bootstrap, 200 resamples, seed 0, two-sided" in text
    assert any(line.startswith("acc") and line.endswith("*") for line in text.splitlines())


def test_without_resamples_there_are_no_intervals_and_no_tests():
    cards = [card(noise(1), "good"), card(noise(2), "bad")]
    made = compare(cards, resamples=0)
    assert made.tests == []
    assert "±" not in made.text() and "bs:" not in made.text()
    for shown in (made.text(), made.markdown(), made.latex(), made.to_dict()["method"]):
        assert shown.count("no intervals and no tests") == 1
        assert "Holm" not in shown
    with pytest.raises(UnknownName, match="did you mean good"):
        compare(cards, baseline="god", resamples=0)


def test_a_number_that_does_not_exist_is_a_dash_and_not_tested():
    missing = card([np.nan] * 200, "none")
    made = compare([missing, card(noise(1, mean=0.9), "good"), card(noise(2, mean=0.6), "bad")], resamples=200)
    shown = {(each[1], each[2]): each[3:] for each in made.cells()}
    assert shown["good", "none"] == ["-", "-", "-", "-", ""]
    known = next(each for each in made.tests if {each.first, each.second} == {"good", "bad"})
    assert known.p_holm == known.p < 0.05
    assert "nan" not in made.text()
    assert made.to_dict()["tests"][0].keys() == {*vars(known), "significant"}
