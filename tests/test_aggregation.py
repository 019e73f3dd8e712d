"""J, GM, Pang and Gimpel's GM and products of the user's own: what becomes of the judges' columns."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from restyle.errors import UnknownName, UsageError
from restyle.evaluation import Leaderboard, Outputs, adjusted_gm, score, tuned_copy_probability
from restyle.evaluation._formula import parse
from restyle.evaluation._roles import roles_of

shares = st.floats(0, 1)
verdicts = st.sampled_from([0.0, 1.0])
sentences = st.lists(st.tuples(verdicts, shares, verdicts), min_size=1, max_size=30)


def card(acc, sim, fl, system="system", aggregate=(), **more):
    outputs = [f"{system} {row}" for row in range(len(acc))]
    inputs = [f"input {row}" for row in range(len(acc))]
    columns = {"acc": acc, "sim_ref": sim, "fl": fl, **more}
    return score(outputs, inputs=inputs, metrics=[], columns=columns, system=system, aggregate=aggregate)


def of(rows, **options):
    acc, sim, fl = zip(*rows, strict=True)
    return card(acc, sim, fl, **options)


class TestJ:
    def test_it_is_the_mean_of_the_products(self):
        made = card([1, 0, 1, 1], [0.5, 0.9, 0.8, 0.2], [1, 1, 0, 1])
        assert made["J"] == pytest.approx((0.5 + 0.2) / 4)
        assert made["J(A,S)"] == pytest.approx((0.5 + 0.8 + 0.2) / 4)

    def test_a_probability_counts_as_a_verdict_from_one_half_on(self):
        assert card([0.5, 0.49], [1, 1], [0.9, 0.9])["J"] == 0.5

    @given(sentences)
    def test_it_is_never_above_the_mean_of_a_factor(self, rows):
        made = of(rows)
        assert made["J"] <= min(made["acc"], made["sim_ref"], made["fl"]) + 1e-12
        assert made["J"] <= made["J(A,S)"] + 1e-12

    @given(sentences, st.randoms(use_true_random=False))
    def test_the_order_of_the_sentences_changes_no_bit_of_it(self, rows, random):
        made = of(rows)
        order = list(range(len(rows)))
        random.shuffle(order)
        shuffled = made.taken(np.array(order))
        for name in made.numbers:
            assert shuffled[name] == made[name]
            assert shuffled.interval(name, resamples=20) == made.interval(name, resamples=20)

    def test_the_similarity_is_with_the_reference_where_both_are_known(self):
        made = card([1], [0.2], [1], sim_input=[0.9])
        assert made["J"] == 0.2
        assert made.signature.formulas["J"] == "(acc>=0.5)*sim_ref*(fl>=0.5)"

    def test_without_fluency_there_is_j_of_two_and_no_j_of_three(self):
        made = score(["a"], metrics=[], columns={"acc": [1], "sim_input": [0.5]})
        assert made["J(A,S)"] == 0.5
        assert "J" not in made


class TestGM:
    def test_it_is_the_cube_root_of_the_product_of_the_means(self):
        made = card([1, 0], [0.5, 0.7], [1, 1])
        assert made["GM"] == pytest.approx((0.5 * 0.6 * 1) ** (1 / 3))

    def test_where_it_and_j_disagree_the_papers_warning_stands(self):
        # Each output of the first is good at one thing only; the second is good at all, more rarely.
        gamed = card([1, 0, 1, 0], [0.1, 1, 0.1, 1], [1, 1, 1, 1], "gamed")
        real = card([1, 0, 1, 0], [0.8, 0.1, 0.8, 0.1], [1, 1, 1, 1], "real")
        (remark,) = Leaderboard([gamed, real], resamples=10).remarks
        assert remark.startswith("GM ranks gamed above real, J ranks it below: corpus-level means can be gamed")

    def test_where_they_agree_there_is_no_warning(self):
        good, bad = card([1, 1], [1, 1], [1, 1], "good"), card([0, 1], [1, 1], [1, 1], "bad")
        assert Leaderboard([good, bad], resamples=10).remarks == []

    def test_p_is_tuned_to_the_highest_gm(self):
        # Copies have SIM, random sentences have ACC: the product p (1 - p) is highest in the middle.
        copied, drawn = card([0, 0], [1, 1], [1, 1]), card([1, 1], [0, 0], [1, 1])
        assert tuned_copy_probability(copied, drawn) == 0.5


class TestPangGimpel:
    def test_the_thresholds_are_parameters(self):
        assert adjusted_gm(0.9, 0.9, 10.0, (0, 0, 100, 0)) == pytest.approx((90 * 90 * 10) ** (1 / 3))

    @pytest.mark.parametrize("below", [(0.63, 0.9, 30), (0.9, 0.71, 30), (0.9, 0.9, 97), (0.9, 0.9, -37)])
    def test_at_a_threshold_nothing_is_left(self, below):
        assert adjusted_gm(*below) == 0

    def test_perplexities_that_are_too_low_are_punished_too(self):
        t = (63, 71, 97, 20)
        assert adjusted_gm(0.8, 0.8, 25.0, t) < adjusted_gm(0.8, 0.8, 50.0, t) > adjusted_gm(0.8, 0.8, 95.0, t)

    def test_a_card_with_all_three_has_it_and_signs_the_thresholds(self):
        made = score(["a"], metrics=[], columns={"acc": [1], "sim_input": [0.9], "ppl": [29.0]})
        assert made["GM_t"] == pytest.approx(float(adjusted_gm(1, 0.9, 29.0)))
        assert made.signature.formulas["GM_t"] == "pang-gimpel(63,71,97,-37)"


class TestFormulas:
    def test_a_product_of_the_users_own_is_a_number_of_its_own(self):
        made = card([1, 0], [0.5, 0.5], [1, 1], aggregate=["J2=0.5*acc*sim-wieting"], **{"sim-wieting": [0.4, 0.8]})
        assert made["J2"] == pytest.approx(0.5 * 0.4 / 2)
        assert made["GM(J2)"] == pytest.approx((0.5 * 0.5 * 0.6) ** (1 / 2))
        assert made.signature.formulas["J2"] == "0.5*acc*sim-wieting"

    @pytest.mark.parametrize(
        ("formula", "expected"),
        [
            ("x=acc", [0.0, 1.0, 0.6]),
            ("x = acc * 2", [0.0, 2.0, 1.2]),
            ("x=(1-acc)", [1.0, 0.0, 0.4]),
            ("x=(acc>=0.6)", [0.0, 1.0, 1.0]),
            ("x=(acc>0.6)*1e1", [0.0, 10.0, 0.0]),
            ("x=(acc==0)", [1.0, 0.0, 0.0]),
            ("(acc<=.5)*acc", [0.0, 0.0, 0.0]),
        ],
    )
    def test_what_can_be_written(self, formula, expected):
        columns = {"acc": np.array([0.0, 1.0, 0.6])}
        product = np.prod(np.broadcast_arrays(*[each.values(columns) for each in parse(formula).factors]), axis=0)
        np.testing.assert_allclose(product, expected)

    @pytest.mark.parametrize(
        ("formula", "message"),
        [
            ("J2=acc+fl", "'acc\\+fl' in the formula 'J2=acc\\+fl' is no factor; write column names, numbers"),
            ("J2=acc*", "'' in the formula"),
            ("J2=__import__('os')", "is no factor"),
            ("J2=acc**2", "'' in the formula"),
            ("2=acc", "'2' is no name for the formula"),
            ("J2=3", "reads no column"),
            ("", "is no factor"),
        ],
    )
    def test_what_cannot_is_refused_in_one_line(self, formula, message):
        with pytest.raises(UsageError, match=message) as error:
            card([1], [1], [1], aggregate=[formula])
        assert "\n" not in str(error.value)

    def test_an_unknown_column_is_answered_with_the_nearest(self):
        with pytest.raises(UnknownName, match="no column is called 'sim_red'; did you mean sim_ref?"):
            card([1], [1], [1], aggregate=["J2=acc*sim_red"])

    def test_a_name_that_is_taken_is_refused(self):
        with pytest.raises(UsageError, match="has a number J already"):
            card([1], [1], [1], aggregate=["J=acc*fl"])


class TestMissingValues:
    def test_a_mean_leaves_out_what_was_not_judged(self):
        assert card([1, None], [1, 1], [1, 1])["acc"] == 1

    def test_a_product_counts_it_as_nothing_and_the_card_says_so(self):
        made = card([1, None], [1, 1], [1, 1])
        assert made["J"] == 0.5
        assert made.notes == (
            "acc has no value for 1 of 2 outputs of system; they count 0 in products and are left out of its mean",
        )

    def test_a_column_without_any_value_has_no_mean(self):
        made = card([1, 1], [1, 1], [1, 1], odd=[None, math.nan])
        assert math.isnan(made["odd"])
        assert math.isnan(made.interval("odd", resamples=10).low)
        assert "odd" in str(made)


def test_several_systems_rank_alike_in_whatever_order_they_are_given():
    cards = [
        card([1, 1], [0.2, 0.2], [1, 1], "a"),
        card([1, 1], [0.9, 0.9], [1, 1], "b"),
        card([0, 1], [1, 1], [1, 1], "c"),
    ]
    texts = {Leaderboard(order, resamples=20).text() for order in (cards, cards[::-1], [cards[1], cards[0], cards[2]])}
    assert len(texts) == 1
    assert [line.split()[0] for line in texts.pop().splitlines()[:4]] == ["system", "b", "c", "a"]


def test_a_card_needs_a_number():
    with pytest.raises(UsageError, match="there is nothing to score with"):
        score(["a"], metrics=[])
    assert Outputs(["a"]).columns == {}


def test_of_several_columns_that_could_be_meant_the_first_known_one_is() -> None:
    roles = roles_of(["acc-linear", "acc-prob", "sim-glove", "sim-wieting", "sim-wieting-ref", "fl"])
    assert (roles.acc, roles.sim, roles.fl) == ("acc-prob", "sim-wieting-ref", "fl")
    assert roles_of(["acc-mine", "sim-mine", "fl-mine"]).sim == "sim-mine"
    assert roles_of(["sim-mine", "sim-yours"]).sim is None


def test_a_formula_that_comes_later_is_that_of_the_baselines_too() -> None:
    card = score(["a b", "c"], inputs=["a", "c"], references=["a", "c"], metrics=["copy-rate", "unigram-f1"])
    more = card.with_formulas("both=copy-rate*unigram-f1")
    copy = more.baselines[0]
    assert (copy.system, copy["both"]) == ("COPY", 1.0)


def test_no_formula_takes_the_name_of_pang_and_gimpels_number() -> None:
    card = score(["a"], metrics=[], columns={"acc": [1], "sim": [0.5]})
    with pytest.raises(UsageError, match="has a number GM_t already"):
        card.with_formulas("GM_t=acc*sim")


def test_latex_shows_signs_as_they_are() -> None:
    card = score(["a"], metrics=[], columns={"acc": [1], "sim": [0.5]}, aggregate=["(acc>=0.5)*sim"])
    assert "(acc$>$=0.5)*sim" in Leaderboard([card]).latex()
