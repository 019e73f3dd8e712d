"""Published numbers, from published verdicts: what any change of the arithmetic must still give."""

import numpy as np
import pytest
import sacrebleu

from restyle.evaluation import Leaderboard, adjusted_gm, published_outputs, score, score_systems
from restyle.metrics import Batch
from restyle.metrics.translation import Bleu, Chrf, Meteor, SelfBleu, tokens

# STRAP Table 1, Shakespeare: ACC, SIM, FL, GM(A,S,F), J(A,S,F).
TABLE_1 = {
    "copy": (9.6, 67.1, 79.1, 37.1, 7.2),
    "reference": (90.4, 100.0, 79.1, 89.4, 70.5),
    "unmt": (70.5, 37.5, 49.6, 50.8, 14.6),
    "dlsm": (71.1, 43.5, 49.4, 53.5, 16.3),
}

# Pang and Gimpel 2019, Table 7 (its left halves are Tables 2 and 3): Acc, Sim, PP, GM.
YELP_ACC = [
    (0.818, 0.719, 37.3, 10.0), (0.819, 0.734, 26.3, 14.2), (0.813, 0.770, 36.4, 18.8), (0.807, 0.796, 28.4, 21.5),
    (0.798, 0.783, 39.7, 19.2), (0.804, 0.785, 27.1, 20.3), (0.805, 0.817, 43.3, 21.6), (0.818, 0.805, 29.0, 22.8),
]  # fmt: skip
YELP_SIM = [
    (0.591, 0.793, 56.1, 0.00), (0.704, 0.798, 31.0, 16.3), (0.795, 0.801, 37.4, 20.8), (0.792, 0.802, 28.7, 21.4),
    (0.794, 0.799, 39.4, 20.3), (0.781, 0.794, 28.0, 20.2), (0.834, 0.807, 47.7, 21.4), (0.830, 0.799, 27.8, 22.6),
]  # fmt: skip
LITERATURE_ACC = [
    (0.694, 0.728, 22.3, 8.81), (0.702, 0.747, 23.6, 11.7), (0.692, 0.781, 49.9, 12.8), (0.698, 0.754, 39.2, 12.0),
    (0.702, 0.757, 33.9, 12.8), (0.688, 0.753, 28.6, 11.8), (0.704, 0.794, 63.2, 12.8), (0.706, 0.768, 49.0, 12.8),
]  # fmt: skip
LITERATURE_SIM = [
    (0.678, 0.749, 30.8, 10.7), (0.778, 0.754, 55.0, 14.0), (0.698, 0.754, 39.2, 12.0), (0.719, 0.756, 29.7, 14.0),
    (0.727, 0.750, 28.6, 13.7), (0.775, 0.758, 55.1, 14.3), (0.749, 0.756, 45.6, 14.1),
]  # fmt: skip
# The same to two decimals, as the reading of Tables 2 and 3 gives them.
GOLDEN = {
    "yelp": (YELP_ACC, (10.03, 14.21, 18.81, 21.51, 19.15, 20.30, 21.58, 22.76)),
    "literature": (LITERATURE_ACC, (8.81, 11.73, 12.75, 12.00, 12.88, 11.78, 12.81, 12.84)),
}

HYPOTHESES = [
    "It is a guide to action which ensures that the military always obeys the commands of the party",
    "he read the book because he was interested in world history",
    "Walking, talked; nobody was there!",
    "",
    "one",
]
REFERENCES = [
    ["It is a guide to action that ensures that the military will forever heed Party commands", "It is the guide"],
    ["he was interested in world history because he read the book"],
    ["He walks and talks; nobody is there!", "Nobody.", "walking talking"],
    ["nothing"],
    ["one"],
]


def judged(part):
    (card,) = score_systems(published_outputs(f"strap-judged/{part}"), metrics=[])
    return card


@pytest.mark.data
class TestTable1:
    @pytest.mark.parametrize("system", TABLE_1)
    def test_every_cell_comes_out_to_the_printed_decimal(self, mirror, system):
        card = judged(system)
        cells = [round(100 * card[name], 1) for name in ("acc", "sim_ref", "fl", "GM", "J")]
        printed = list(TABLE_1[system])
        if system == "dlsm":
            # The paper multiplied its rounded cells here: 71.1, 43.5 and 49.4 give 53.5, the verdicts themselves 53.44.
            assert round((71.1 * 43.5 * 49.4) ** (1 / 3), 1) == printed[3]
            printed[3] = 53.4
        assert cells == printed

    def test_copys_j_is_below_its_acc(self, mirror):
        card = judged("copy")
        assert card["J"] <= card["acc"]

    def test_naive_beats_a_real_system_on_gm_and_loses_on_j(self, mirror):
        # NAIVE copies one half; the other half are real sentences of the style, judged as the references are, but for
        # their similarity: 2.7 is what the mean of 34.9 leaves for it, beside the 67.1 of the copies.
        copies, references, unmt = (judged(part) for part in ("copy", "reference", "unmt"))
        copied = np.random.default_rng(0).random(len(copies)) < 0.5
        columns = {
            "acc": np.where(copied, copies.columns["acc"], references.columns["acc"]),
            "sim_ref": np.where(copied, copies.columns["sim_ref"], 0.027),
            "fl": np.where(copied, copies.columns["fl"], references.columns["fl"]),
        }
        naive = score(copies.outputs.outputs, columns=columns, metrics=[], system="naive")
        assert 100 * naive["GM"] == pytest.approx(51.6, abs=1)
        assert 100 * naive["J"] == pytest.approx(4.1, abs=1)
        assert naive["GM"] > unmt["GM"]
        assert naive["J"] < unmt["J"]
        (remark,) = Leaderboard([naive, unmt], resamples=10).remarks[-1:]
        assert "GM ranks naive above unmt, J ranks it below" in remark


class TestPangGimpel:
    @pytest.mark.parametrize("row", YELP_ACC + YELP_SIM + LITERATURE_ACC + LITERATURE_SIM)
    def test_the_gm_of_tables_2_3_and_7(self, row):
        acc, sim, ppl, printed = row
        assert float(adjusted_gm(acc, sim, ppl)) == pytest.approx(printed, abs=0.1)

    @pytest.mark.parametrize("table", GOLDEN)
    def test_to_two_decimals(self, table):
        cells, golden = GOLDEN[table]
        assert [round(float(adjusted_gm(*cell[:3])), 2) for cell in cells] == pytest.approx(list(golden), abs=0.011)


class TestTranslation:
    def test_bleu_is_sacrebleus(self):
        batch = Batch(HYPOTHESES, references=REFERENCES)
        bleu = Bleu()
        streams = [[several[i] if i < len(several) else None for several in REFERENCES] for i in range(3)]
        expected = sacrebleu.corpus_bleu(HYPOTHESES, streams).score
        assert float(bleu.corpus(bleu.statistics(batch).sum(axis=0))) == expected
        single = [sacrebleu.sentence_bleu(*pair).score for pair in zip(HYPOTHESES, REFERENCES, strict=True)]
        assert bleu.score(batch).tolist() == single

    def test_chrf_is_sacrebleus(self):
        batch = Batch(HYPOTHESES, references=REFERENCES)
        chrf = Chrf()
        streams = [[several[i] if i < len(several) else None for several in REFERENCES] for i in range(3)]
        assert (
            float(chrf.corpus(chrf.statistics(batch).sum(axis=0))) == sacrebleu.corpus_chrf(HYPOTHESES, streams).score
        )
        single = [sacrebleu.sentence_chrf(*pair).score for pair in zip(HYPOTHESES, REFERENCES, strict=True)]
        assert chrf.score(batch).tolist() == single

    def test_self_bleu_is_bleu_with_the_input(self):
        inputs = [several[0] for several in REFERENCES]
        ours = SelfBleu()
        counts = ours.statistics(Batch(HYPOTHESES, inputs=inputs))
        assert float(ours.corpus(counts.sum(axis=0))) == sacrebleu.corpus_bleu(HYPOTHESES, [inputs]).score

    def test_meteor_is_nltks_on_the_same_tokens(self):
        from nltk.stem.porter import PorterStemmer
        from nltk.translate.meteor_score import meteor_score

        class Empty:
            def synsets(self, word):
                return []

        expected = [
            meteor_score([tokens(each) for each in several], tokens(text), stemmer=PorterStemmer(), wordnet=Empty())
            for text, several in zip(HYPOTHESES, REFERENCES, strict=True)
        ]
        assert Meteor().score(Batch(HYPOTHESES, references=REFERENCES)).tolist() == expected

    def test_meteor_counted_by_hand(self):
        # "the walked dog" against "a dog walking the": three words match, one of them by its stem, in three runs.
        # P = 3/3, R = 3/4, F = P R / (0.9 P + 0.1 R) = 0.75 / 0.975; penalty = 0.5 (3/3)^3.
        (score,) = Meteor().score(Batch(["the walked dog"], references=[["a dog walking the"]]))
        assert score == pytest.approx(0.75 / 0.975 * 0.5)

    def test_meteor_says_that_it_knows_no_synonyms(self):
        assert Meteor().signature()["synonyms"] == "none"
