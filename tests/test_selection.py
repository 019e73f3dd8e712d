"""Choosing a checkpoint, learning the thresholds of GM, and whether people agree."""

import json

import numpy as np
import pytest

from restyle.cli import main
from restyle.errors import InputError, SettingsError, UsageError
from restyle.evaluation import Rule, adjusted_gm
from restyle.evaluation._numbers import checked_thresholds
from restyle.evaluation._preferences import COLUMNS, Preferences, learn_thresholds
from restyle.evaluation.trajectories import save_trajectories


def points(*measures):
    return [
        {"step": 10 * n, "epoch": n / 2, "acc": acc, "sim": sim, "meteor": sim / 3, "pp": 30.0, "gm": gm, "losses": {}}
        for n, (acc, sim, gm) in enumerate(measures, start=1)
    ]


# As Table 1 has it: Acc falls while Sim rises.
TRAJECTORY = points((0.9, 0.65, 0.0), (0.85, 0.72, 9.0), (0.81, 0.75, 15.0), (0.74, 0.79, 12.0), (0.66, 0.81, 5.0))


class TestRule:
    def test_gm_takes_the_highest_and_says_so(self):
        choice = Rule.parse("gm").chosen(TRAJECTORY)
        assert choice.point["epoch"] == 1.5
        assert choice.why == "its GM, 15.00, is the highest of 5"

    @pytest.mark.parametrize(
        ("rule", "epoch"),
        [("acc=0.8", 1.5), ("acc=0.75", 2.0), ("sim=0.8", 2.0), ("sim=0.805", 2.5), ("sim=0.72", 1.0)],
    )
    def test_a_fixed_level_takes_the_nearest(self, rule, epoch):
        choice = Rule.parse(rule).chosen(TRAJECTORY)
        assert (choice.point["epoch"], choice.near) == (epoch, True)

    def test_a_level_that_is_never_reached_is_said(self):
        choice = Rule.parse("sim=0.9").chosen(TRAJECTORY)
        assert not choice.near
        assert "but the model never reaches it (0.650 to 0.810)" in choice.why

    def test_a_level_is_reached_as_nearly_as_in_table_7(self):
        assert Rule.parse("acc=0.8").chosen(points((0.819, 0.734, 14.2))).near
        assert not Rule.parse("acc=0.8").chosen(points((0.834, 0.807, 21.4))).near

    def test_where_gm_is_nothing_it_says_what_it_took_instead(self):
        choice = Rule.parse("gm").chosen(points((0.6, 0.7, 0.0), (0.5, 0.8, 0.0)))
        assert choice.point["epoch"] == 0.5
        assert choice.why.startswith("GM is 0 at all 2 points")

    def test_a_point_whose_gm_is_no_number_is_never_chosen(self):
        assert Rule.parse("gm").chosen(points((0.8, 0.8, float("nan")), (0.7, 0.75, 3.0))).point["epoch"] == 1.0
        with pytest.raises(InputError, match="nothing was measured yet"):
            Rule.parse("gm").chosen([])

    @pytest.mark.parametrize("text", ["bleu", "acc", "acc=", "acc=80", "sim=nan", "gm=3", "acc=0.8=0.9"])
    def test_what_is_no_rule_is_refused(self, text):
        with pytest.raises(UsageError, match="write gm, acc=0.8 or sim=0.8"):
            Rule.parse(text)

    def test_training_ends_when_the_rule_is_past_its_best(self):
        assert Rule.parse("gm").ended(TRAJECTORY, 2)
        assert not Rule.parse("gm").ended(TRAJECTORY[:4], 2)
        assert Rule.parse("acc=0.8").ended(TRAJECTORY, 2)
        assert not Rule.parse("acc=0.7").ended(TRAJECTORY, 2)
        assert Rule.parse("sim=0.75").ended(TRAJECTORY, 2)
        assert not Rule.parse("sim=0.8").ended(TRAJECTORY, 2)
        assert not Rule.parse("gm").ended(points(*[(0.5, 0.6, 0.0)] * 9), 2), "GM that never rose may still rise"


def synthetic(thresholds, count, seed):
    """Pairs of which a person who thinks in these thresholds prefers one, by a margin that the loss asks for."""
    generator = np.random.default_rng(seed)
    rows = []
    while len(rows) < count:
        acc, sim = generator.uniform(0.4, 1, 2), generator.uniform(0.5, 1, 2)
        pp = generator.uniform(5, 150, 2)
        gm = adjusted_gm(acc, sim, pp, thresholds)
        first = int(gm[0] < gm[1])
        if abs(gm[0] - gm[1]) >= 1:
            order = (first, 1 - first)
            rows.append([value for place in order for value in (acc[place], sim[place], pp[place])])
    return Preferences.of(dict(zip(COLUMNS, row, strict=True)) for row in rows)


class TestThresholds:
    @pytest.mark.parametrize("known", [(63.0, 71.0, 97.0, -37.0), (50.0, 60.0, 120.0, 10.0)])
    def test_known_ones_are_found_again_from_what_they_prefer(self, known):
        pytest.importorskip("scipy")
        preferences = synthetic(known, 300, seed=1)
        assert preferences.loss(known) == 0.0
        learned = learn_thresholds(preferences)
        assert learned.agreement >= 0.99
        assert synthetic(known, 500, seed=2).agreement(learned.thresholds).mean() >= 0.96
        assert learned.thresholds[:2] == pytest.approx(known[:2], abs=6)
        assert learned.thresholds[2] == pytest.approx(known[2], abs=15)

    def test_a_wider_margin_learns_from_people_who_do_not_all_think_alike(self):
        pytest.importorskip("scipy")
        made = synthetic((63.0, 71.0, 97.0, -37.0), 300, seed=4)
        swapped = np.arange(300) % 4 == 0
        noisy = Preferences(
            np.where(swapped[:, None], made.worse, made.better), np.where(swapped[:, None], made.better, made.worse)
        )
        learned = learn_thresholds(noisy, margin=20.0)
        assert synthetic((63.0, 71.0, 97.0, -37.0), 500, seed=5).agreement(learned.thresholds).mean() >= 0.85

    def test_the_loss_is_the_printed_one(self):
        one = Preferences.of([dict(zip(COLUMNS, (0.818, 0.805, 29.0, 0.818, 0.719, 37.3), strict=True))])
        better, worse = adjusted_gm(0.818, 0.805, 29.0), adjusted_gm(0.818, 0.719, 37.3)
        assert (float(better), float(worse)) == (pytest.approx(22.76, abs=0.01), pytest.approx(10.03, abs=0.01))
        assert one.loss((63, 71, 97, -37)) == 0
        swapped = Preferences(one.worse, one.better)
        assert swapped.loss((63, 71, 97, -37)) == pytest.approx(float(better - worse) + 1)

    def test_a_tie_is_half_an_agreement(self):
        both = Preferences(np.array([[0.1, 0.1, 500.0]]), np.array([[0.2, 0.1, 400.0]]))
        assert both.agreement((63, 71, 97, -37)).tolist() == [0.5]

    @pytest.mark.parametrize("given", [(1.0, 2.0, float("nan"), 3.0), (1.0, 2.0, 3.0), (1.0, 2.0, float("inf"), 0.0)])
    def test_thresholds_that_are_no_numbers_are_refused(self, given):
        with pytest.raises(SettingsError, match="four numbers were expected"):
            checked_thresholds(given)

    def test_thresholds_between_which_nothing_lies_are_refused(self):
        with pytest.raises(SettingsError, match="t3 is 10 and t4 20: no perplexity lies between them"):
            checked_thresholds((63, 71, 10, 20))

    def test_preferences_without_variation_are_refused(self):
        same = dict(zip(COLUMNS, (0.8, 0.8, 30.0) * 2, strict=True))
        with pytest.raises(InputError, match="the preferences do not vary: in all 3 pairs"):
            Preferences.of([same] * 3)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"better_pp": "nan"}, "row 1 holds a value that is no number"),
            ({"better_pp": "much"}, "row 1 holds something else than numbers"),
            ({"better_acc": 80}, "row 1: Acc and Sim are shares"),
        ],
    )
    def test_rows_that_are_none_are_named(self, change, said):
        with pytest.raises(InputError, match=said):
            Preferences.of([dict(zip(COLUMNS, (0.8, 0.8, 30.0, 0.7, 0.7, 30.0), strict=True)) | change])

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('{"better_acc": 0.', "line 2: not JSON"),
            ("[1, 2]", "line 2: a JSON object was expected, not list"),
            ('"x"', "line 2: a JSON object was expected, not str"),
        ],
    )
    def test_a_line_that_is_no_object_is_named(self, line, said, tmp_path):
        row = dict(zip(COLUMNS, (0.8, 0.8, 30.0, 0.7, 0.7, 30.0), strict=True))
        (tmp_path / "prefs.jsonl").write_text(f"{json.dumps(row)}\n{line}\n")
        with pytest.raises(InputError, match=said):
            Preferences.read(tmp_path / "prefs.jsonl")

    def test_no_rows_and_lacking_columns(self):
        with pytest.raises(InputError, match="there are no preferences"):
            Preferences.of([])
        with pytest.raises(InputError, match="row 1 has no 'better_sim'"):
            Preferences.of([{"better_acc": 1}])

    def test_the_command_says_what_was_learned_and_what_it_is_worth(self, tmp_path, capfd):
        pytest.importorskip("scipy")
        made = synthetic((63.0, 71.0, 97.0, -37.0), 120, seed=3)
        lines = ["\t".join(COLUMNS)]
        lines += [
            "\t".join(f"{v:.6f}" for v in (*one, *other)) for one, other in zip(made.better, made.worse, strict=True)
        ]
        (tmp_path / "prefs.tsv").write_text("\n".join(lines) + "\n")
        with pytest.raises(SystemExit) as stop:
            main(["thresholds", "learn", str(tmp_path / "prefs.tsv"), "--format", "json"])
        assert stop.value.code == 0
        rows = json.loads(capfd.readouterr().out)
        assert [(row["thresholds"], row["pairs"], row["n"]) for row in rows] == [
            ("learned", "learned from", 60), ("learned", "held back", 60),
            ("paper", "learned from", 60), ("paper", "held back", 60),
        ]  # fmt: skip
        assert rows[1]["agrees"] >= 0.9
        assert rows[3]["agrees"] == 1.0


def test_the_trajectories_are_drawn_and_the_same_numbers_give_the_same_bytes(tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        save_trajectories({"M0": TRAJECTORY, "M7": TRAJECTORY[:3]}, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "error rate" in (tmp_path / "a.svg").read_text() or (tmp_path / "a.svg").stat().st_size > 5000
    with pytest.raises(UsageError, match=r"a plot is written as .png or .svg"):
        save_trajectories({"M0": TRAJECTORY}, tmp_path / "a.pdf")
