"""From votes to tables: labels, agreement, the measures of each protocol, correlation with metrics, known answers."""

import html.parser
import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from restyle.errors import InputError, UnknownName
from restyle.evaluation import Outputs, Scorecard
from restyle.study import Item, Judged, Vote, load_protocol
from restyle.study._agreement import agreements, cohen_kappa, fleiss_kappa, krippendorff_alpha
from restyle.study._correlate import correlations, kendall, pairwise_accuracy, spearman
from restyle.study._labels import label_of, most_voted, unanimous
from restyle.study._measures import measured, with_scores
from restyle.study._published import published
from restyle.study._raters import conduct
from restyle.study._report import report
from restyle.study._report_page import html_report

STRAP, LI = load_protocol("strap"), load_protocol("li")
PARAPHRASE = STRAP.question("paraphrase")


def strap(votes, systems=None, acc=None, given=None, protocol=STRAP):
    """A study whose item n got the votes of the n-th string."""
    items = [
        Item(
            f"{row}", ((systems or ["ours"] * len(votes))[row],), (f"output {row}",), f"input {row % 100}",
            scores=({"acc": acc[row]},) if acc else (), given={"paraphrase": "2"} if given and row in given else {},
        )
        for row in range(len(votes))
    ]  # fmt: skip
    said = [
        Vote(f"{row}", f"r{number}", {"paraphrase": value}, seconds=5.0)
        for row, values in enumerate(votes)
        for number, value in enumerate(values)
    ]
    return Judged(protocol, items, said)


class TestLabels:
    @pytest.mark.parametrize(
        ("votes", "label"),
        [("022", "2"), ("012", None), ("0122", "2"), ("0022", None), ("", None), ("1", "1"), ("020202", None)],
    )
    def test_the_answer_of_most_is_the_label_and_a_draw_is_none(self, votes, label):
        assert most_voted(votes) == label

    def test_a_scale_gets_its_mean(self):
        item = Item("1", ("a",), ("x",))
        votes = [Vote("1", f"r{n}", {"grammar": value, "style": "3", "content": "1"}) for n, value in enumerate("245")]
        judged = Judged(LI, [item], votes)
        assert label_of(judged, item, "grammar") == pytest.approx(11 / 3)
        assert not unanimous(judged, item, "grammar")
        assert unanimous(judged, item, "style")

    def test_what_was_given_is_the_label(self):
        judged = strap([""], given=[0])
        assert label_of(judged, judged.items[0], "paraphrase") == "2"
        assert unanimous(judged, judged.items[0], "paraphrase") is None


class TestAgreement:
    # Fleiss 1971 as Wikipedia works it out: 14 raters, 10 subjects, 5 categories.
    FLEISS = np.array(
        [
            [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
        ],
        float,
    )  # fmt: skip
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", example C: four observers, twelve units.
    KRIPPENDORFF = ("12332141 2   ", "12332241 25 3", " 3332342 251 ", "12332441 251 ")

    def test_fleiss_kappa_of_the_published_example(self):
        assert fleiss_kappa(self.FLEISS) == pytest.approx(0.210, abs=0.0005)

    def test_fleiss_kappa_takes_items_with_more_raters(self):
        assert fleiss_kappa(np.array([[3, 0], [0, 3], [6, 0], [0, 2.0]])) == 1
        # P = (1 + 1/3) / 2; P_e = (5/6)^2 + (1/6)^2
        assert fleiss_kappa(np.array([[3, 0], [2, 1.0]])) == pytest.approx((2 / 3 - 26 / 36) / (1 - 26 / 36))

    @pytest.mark.parametrize(("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815)])
    def test_krippendorffs_alpha_of_the_published_example(self, scale, published):
        units = [[value for value in unit if value != " "] for unit in zip(*self.KRIPPENDORFF, strict=True)]
        counts = np.array([[unit.count(value) for value in "12345"] for unit in units if len(unit) > 1], float)
        question = replace(LI.question("grammar"), scale=scale)
        assert krippendorff_alpha(counts, question) == pytest.approx(published, abs=0.0005)

    def test_cohens_kappa_of_the_published_example(self):
        # Two readers of 50 proposals: 20 both yes, 15 both no, 5 and 10 apart.
        first, second = "1" * 25 + "0" * 25, "1" * 20 + "0" * 5 + "1" * 10 + "0" * 15
        assert cohen_kappa(list(first), list(second), PARAPHRASE) == pytest.approx(0.4)

    def test_on_a_scale_a_near_miss_counts_less_than_a_far_one(self):
        question = LI.question("grammar")
        near = cohen_kappa(list("12345123"), list("12345124"), question)
        far = cohen_kappa(list("12345123"), list("12345125"), question)
        assert 0.8 < far < near < 1

    def test_every_statistic_comes_with_an_interval_and_by_system(self):
        votes = ["000", "111", "222", "001", "112", "220"] * 8
        made = agreements(strap(votes, systems=["a", "b"] * 24), resamples=50)
        assert {(each.statistic, each.system) for each in made} == {
            (name, system) for name in ("Fleiss' kappa", "Krippendorff's alpha") for system in ("all", "a", "b")
        } | {("Cohen's kappa", "all")}
        for each in made:
            assert each.interval.low <= each.value <= each.interval.high
        assert made[0].interval.low < made[0].value < made[0].interval.high
        assert len([each for each in made if each.raters != "all"]) == 3

    def test_perfect_agreement_on_one_answer_tells_nothing(self):
        (fleiss, *_) = agreements(strap(["22"] * 5), resamples=5)
        assert np.isnan(fleiss.value)

    def test_the_seed_decides_the_interval(self):
        judged = strap(["000", "111", "222", "001", "112", "220"] * 4)
        assert agreements(judged, resamples=20, seed=1) == agreements(judged, resamples=20, seed=1)


class TestMeasures:
    def test_table_2_of_strap(self):
        # Four items: a success, a wrong style, an ungrammatical one, no paraphrase.
        judged = strap(["222", "222", "112", "000"], acc=[1.0, 0.0, 1.0, 1.0])
        columns = measured(judged, judged.items)
        means = {name: column.mean() for name, column in columns.items()}
        assert means == {
            "ACC": 0.75, "SIM": 0.75, "grammatical paraphrase": 0.5, "J(A,S)": 0.5, "J(A,S,F)": 0.25
        }  # fmt: skip

    def test_an_item_without_label_counts_as_no_paraphrase_and_one_without_votes_not_at_all(self):
        judged = strap(["012", "", "222"])
        np.testing.assert_array_equal(measured(judged, judged.items)["SIM"], [0, np.nan, 1])

    def test_without_a_classifier_what_needs_it_is_left_out(self):
        made = report(strap(["222", "000"]), resamples=5)
        (systems,) = [each for each in made.sections if each.name == "systems"]
        assert systems.header == ["system", "items", "SIM"]
        assert "not known: ACC, J(A,S), J(A,S,F)" in systems.notes[1]

    def test_success_of_li_is_4_or_5_on_all_three(self):
        items = [Item(f"{row}", ("a",), ("x",), f"{row}") for row in range(3)]
        rated = ["455", "355", "544"]
        votes = [
            Vote(f"{row}", "r", dict(zip(("grammar", "style", "content"), values, strict=True)))
            for row, values in enumerate(rated)
        ]
        columns = measured(Judged(LI, items, votes), items)
        assert columns["success"].tolist() == [1, 0, 1]
        assert columns["grammar"].tolist() == [4, 3, 5]

    def test_a_guess_is_compared_with_the_attribute(self):
        protocol = load_protocol("xu").with_styles(["female", "male"])
        items = [Item("1", ("a",), ("x",), "i", style="male"), Item("2", ("a",), ("x",), "i", style="female")]
        votes = [Vote(each, "r", {"grammar": "5", "coherence": "4", "attribute": "male"}) for each in "12"]
        assert measured(Judged(protocol, items, votes), items)["attribute found"].tolist() == [1, 0]

    def test_scores_are_found_in_a_scorecard_by_system_input_and_output(self):
        judged = strap(["222", "000"])
        card = Scorecard(
            Outputs(["output 1", "output 0"], "ours", inputs=["input 1", "input 0"]), {"acc": np.array([0.25, 0.75])}
        )
        assert [item.score("acc") for item in with_scores(judged, [card]).items] == [0.75, 0.25]
        with pytest.raises(InputError, match="no scorecard holds an output of ours; they are of: theirs"):
            with_scores(judged, [replace(card, outputs=replace(card.outputs, system="theirs"))])


def preferences(first=8, second=1, ties=1, margin=0.5):
    protocol = load_protocol("pang-gimpel-pairwise")
    said = ["first"] * first + ["second"] * second + ["tie"] * ties
    items = [
        Item(f"{row}", ("M0", "M7"), ("x", "y"), f"{row}", scores=({"sim": 0.5 + margin}, {"sim": 0.5}))
        for row in range(len(said))
    ]
    votes = [
        Vote(f"{row}", "r", dict.fromkeys(("transfer", "meaning", "fluency"), each)) for row, each in enumerate(said)
    ]
    return Judged(protocol, items, votes)


class TestReport:
    def test_wins_ties_and_losses_with_the_sign_test(self):
        (pairs,) = [each for each in report(preferences(), resamples=5).sections if each.name == "pairs"]
        assert pairs.cells[1][:7] == ["M0", "M7", "meaning", "10", "[80.0]", "10.0", "10.0"]
        row = pairs.data[1]
        assert (row["A>B"], row["B>A"], row["tie"]) == (80, 10, 10)
        assert row["p"] == pytest.approx(2 * (1 + 9) / 2**9)
        assert row["deltas"] == {"sim": pytest.approx(0.5)}

    def test_systems_are_tested_on_the_inputs_that_they_share(self):
        votes = ["222"] * 30 + ["000"] * 30
        judged = strap(votes, systems=["good"] * 30 + ["bad"] * 30)
        same = [replace(item, input=f"input {int(item.id) % 30}") for item in judged.items]
        made = report(Judged(STRAP, same, judged.votes), resamples=200)
        (differences,) = [each for each in made.sections if each.name == "differences"]
        (row,) = differences.data
        assert row["difference"] == -1
        assert row["p_holm"] < 0.05

    def test_a_careless_rater_is_remarked(self):
        control = Item("c", ("control",), ("x",), expected={"paraphrase": "0"})
        votes = ["02"] * 10 + ["22"] * 10
        judged = strap(votes)
        quick = [replace(vote, seconds=0.5) if vote.rater == "r1" else vote for vote in judged.votes]
        said = [Vote("c", "r0", {"paraphrase": "0"}, 5.0), Vote("c", "r1", {"paraphrase": "2"}, 0.5)]
        slow = [Vote(f"{row}", "r2", {"paraphrase": "2"}, 6.0) for row in range(20)]
        careful, careless, _ = conduct(Judged(STRAP, [*judged.items, control], [*quick, *said, *said[1:], *slow]))
        assert careful.remarks == ()
        assert careful.controls == 1
        assert careless.remarks == ("wrong on controls", "very quick", "almost always the same answer")
        assert careless.votes == 20

    def test_a_slow_rater_is_remarked(self):
        judged = strap(["012"] * 10)
        slow = [replace(vote, seconds=20.0) if vote.rater == "r2" else vote for vote in judged.votes]
        remarks = {each.rater: each.remarks for each in conduct(replace(judged, votes=slow))}
        assert "very slow" in remarks["r2"]
        assert "very slow" not in remarks["r0"]

    def test_every_format_shows_the_same_numbers(self):
        made = report(strap(["222", "221", "000"], acc=[1.0, 1.0, 0.0]), resamples=20)
        cell = made.sections[1].cells[0][3]
        assert cell.startswith("66.7 ±")
        assert cell in made.text()
        assert cell.replace("±", r"$\pm$") in made.latex()
        assert cell in made.markdown()
        assert cell in html_report(made)
        assert json.loads(made.json())["systems"]["rows"][0]["SIM"]["value"] == pytest.approx(2 / 3)

    def test_no_name_of_a_system_becomes_markup(self):
        page = html_report(report(strap(["222", "000"], systems=["<script>alert(1)</script>"] * 2), resamples=5))
        elements = []
        parser = html.parser.HTMLParser()
        parser.handle_starttag = lambda tag, attributes: elements.append(tag)
        parser.feed(page)
        assert "script" not in elements
        assert "svg" in elements
        assert "default-src 'none'" in page

    def test_without_votes_there_is_no_report(self):
        with pytest.raises(InputError, match="nobody has judged"):
            report(strap(["", ""]))

    def test_raters_can_be_left_out(self):
        judged = strap(["022", "022"])
        assert report(judged.without(["r1", "r2"]), resamples=5).sections[0].data[0]["labels"]["0"] == 2
        with pytest.raises(InputError, match="no rater is called 'r9'"):
            judged.without(["r9"])


class TestCorrelation:
    def test_ranks_are_correlated_as_scipy_does(self):
        from scipy.stats import spearmanr

        one, other = np.array([1.0, 2, 2, 4, 5]), np.array([2.0, 1, 3, 3, 9])
        assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic)
        assert kendall(one, one) == 1
        assert np.isnan(spearman(one, np.ones(5)))

    def test_pairwise_accuracy_gives_a_half_for_no_difference_and_leaves_out_ties_of_people(self):
        assert pairwise_accuracy(np.array([1.0, 2, 2]), np.array([5.0, 5, 6])) == pytest.approx((0.5 + 1) / 2)

    def test_a_metric_is_compared_with_people_by_sentence_and_by_system(self):
        votes = ["222", "111", "000"] * 20
        systems = ["good", "middling", "bad"] * 20
        judged = strap(votes, systems=systems)
        items = [
            replace(item, input=f"input {row // 3}", scores=({"sim": [0.9, 0.8, 0.1][row % 3], "noise": row % 2 / 1},))
            for row, item in enumerate(judged.items)
        ]
        found = {
            (each.metric, each.level, each.statistic): each
            for each in correlations(Judged(STRAP, items, judged.votes), resamples=30)
            if each.human == "SIM"
        }
        assert found["sim", "sentence", "pairwise accuracy"].estimate.value == 1
        assert found["sim", "sentence", "Spearman"].estimate.value > 0.8
        assert found["sim", "system", "Spearman"].count == 3
        assert abs(found["noise", "sentence", "Spearman"].estimate.value) < 0.3

    def test_verdicts_of_people_and_of_a_judge_are_matched(self):
        protocol = load_protocol("pang-gimpel-style").with_styles(["new", "old"])
        items = [
            Item(f"{row}", ("ours",), (f"o{row}",), target="new", scores=({"acc": float(row < 3)},)) for row in range(4)
        ]
        votes = [Vote(f"{row}", "r", {"style": "new" if row < 2 else "old"}) for row in range(4)]
        found = correlations(Judged(protocol, items, votes), ["acc"], resamples=5)
        (match,) = [each for each in found if each.statistic == "match"]
        assert (match.estimate.value, match.count) == (0.75, 4)

    def test_a_measure_with_a_verdict_in_it_is_not_held_against_that_verdict(self):
        found = correlations(strap(["222", "000", "111"], acc=[1.0, 0.0, 1.0]), ["acc"], resamples=5)
        assert {each.human for each in found} == {"SIM"}

    def test_preferences_are_matched_without_the_ties(self):
        (match, *_) = correlations(preferences(), resamples=10)
        assert match.statistic == "match"
        assert match.estimate.value == pytest.approx(8 / 9)
        assert match.count == 9

    def test_what_is_missing_is_told(self):
        with pytest.raises(InputError, match="bring no automatic scores"):
            correlations(strap(["222"]))
        with pytest.raises(InputError, match="no item has the score 'blue'"):
            correlations(strap(["222"], acc=[1.0]), ["blue"])


# STRAP Table 2, Shakespeare: ACC, SIM, J(A,S), J(A,S,F).
TABLE_2 = {
    "UNMT": (69.3, 20.7, 10.0, 7.3),
    "DLSM": (65.3, 37.3, 21.3, 9.3),
    "STRAP p=0.0": (70.7, 79.3, 56.0, 47.3),
    "STRAP p=0.9": (74.7, 54.0, 38.0, 24.7),
}
# Li et al. 2018, Table 2, Yelp: grammar, style, content, and percent of successes.
LI_TABLE_2 = {
    "CrossAligned": (2.8, 3.5, 2.9, 14),
    "StyleEmbedding": (3.5, 2.1, 3.7, 9),
    "MultiDecoder": (2.8, 3.0, 3.1, 8),
    "RetrieveOnly": (4.2, 4.2, 2.7, 25),
    "TemplateBased": (3.0, 3.9, 3.9, 21),
    "DeleteOnly": (3.0, 3.9, 3.7, 24),
    "DeleteAndRetrieve": (3.3, 4.0, 3.7, 29),
    "person": (4.6, 4.5, 4.5, 75),
}


@pytest.mark.data
class TestPublished:
    def test_every_cell_of_table_2_comes_out_to_the_printed_decimal(self, mirror):
        judged = published("strap-mturk")
        for system, printed in TABLE_2.items():
            items = [item for item in judged.items if item.systems == (system,)]
            columns = measured(judged, items)
            assert len(items) == 150
            cells = tuple(round(100 * columns[name].mean(), 1) for name in ("ACC", "SIM", "J(A,S)", "J(A,S,F)"))
            assert cells == printed, system

    def test_fleiss_kappa_of_every_experiment_lies_where_the_paper_says(self, mirror):
        made = agreements(published("strap-mturk"), resamples=1)
        kappas = {each.system: each.value for each in made if each.statistic == "Fleiss' kappa"}
        for system in TABLE_2:
            assert 0.13 <= kappas[system] <= 0.45, system

    def test_the_ratings_of_li_et_al_give_their_table(self, mirror):
        judged = published("li2018-yelp")
        ranked = {}
        for system, (*scales, successes) in LI_TABLE_2.items():
            items = [item for item in judged.items if item.systems == (system,)]
            assert 399 <= len(items) <= 400
            columns = measured(judged, items)
            means = [np.nanmean(columns[name]) for name in ("grammar", "style", "content")]
            # Half a unit of the printed decimal, and what one or two ambiguous texts move.
            assert means == pytest.approx(scales, abs=0.08), system
            ranked[system] = 100 * np.nanmean(columns["success"])
            assert ranked[system] == pytest.approx(successes, abs=0.8), system
        assert sorted(ranked, key=ranked.get) == sorted(LI_TABLE_2, key=lambda system: LI_TABLE_2[system][-1])

    def test_an_unknown_study_is_told(self):
        with pytest.raises(UnknownName, match="strap-mturk"):
            published("strap")
