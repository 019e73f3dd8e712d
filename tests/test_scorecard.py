"""The scorecard: every judge asked once, everything signed, baselines beside it, and nothing lost on the disk."""

import math
import multiprocessing
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from restyle.corpora import Corpus
from restyle.errors import InputError, UnknownName, UsageError
from restyle.evaluation import (
    JudgementCache,
    Leaderboard,
    NaiveRow,
    Outputs,
    ScoreSettings,
    load,
    naive_from_corpus,
    naive_outputs,
    outputs_of,
    save,
    score,
    score_systems,
)
from restyle.metrics.judges import _loaded
from restyle.metrics.translation import Bleu

INPUTS = ["are you mad ?", "where is he ?", "i know ."]
OUTPUTS = ["Art thou mad?", "Where is he?", "Thou knowest not."]
REFERENCES = ["Art thou mad?", "Where is he?", "I know it."]


class Thou:
    """A toy judge of style: 1 where the sentence says thou, for the style `old`."""

    name = "acc"
    needs = frozenset({"target"})
    slow = True
    styles = ("old", "new")

    def __init__(self, version="1"):
        self.version = version
        self.seen = []

    def score(self, batch):
        self.seen += [(text, batch.target) for text in batch.outputs]
        old = np.array(["thou" in text.lower() for text in batch.outputs])
        return (old == (batch.target == "old")).astype(float)

    def predict(self, outputs):
        return ["old" if "thou" in text.lower() else "new" for text in outputs]

    def signature(self):
        return {"metric": self.name, "model": "thou", "version": self.version}


class Shared:
    """A toy judge of meaning: the share of the input's words that the output has."""

    name = "sim_input"
    needs = frozenset({"inputs"})

    def score(self, batch):
        pairs = zip(batch.outputs, batch.inputs, strict=True)
        return np.array([len(words(out) & words(given)) / max(1, len(words(given))) for out, given in pairs])

    def signature(self):
        return {"metric": self.name, "side": "input"}


class Fluent:
    """A toy judge of fluency, which likes everything."""

    name = "fl"
    needs = frozenset()

    def score(self, batch):
        return np.ones(len(batch.outputs))

    def signature(self):
        return {"metric": self.name}


def words(text):
    return set(text.lower().replace("?", "").replace(".", "").split())


def scored(outputs=OUTPUTS, judges=None, **options):
    judges = [Thou(), Shared(), Fluent()] if judges is None else judges
    return score(outputs, inputs=INPUTS, references=REFERENCES, target="old", metrics=judges, **options)


class TestScoring:
    def test_a_card_has_a_column_for_each_judge_and_numbers_made_from_them(self):
        card = scored()
        assert card.columns["acc"].tolist() == [1, 0, 1]
        assert card["acc"] == pytest.approx(2 / 3)
        assert card["J"] == pytest.approx((card.columns["acc"] * card.columns["sim_input"]).mean())

    def test_printing_it_gives_a_table_and_the_signature(self):
        lines = str(scored()).splitlines()
        assert lines[0].split() == ["system", "sentences", "acc", "sim_input", "fl", "J(A,S)", "GM", "J"]
        assert [line.split()[0] for line in lines[1:4]] == ["COPY", "NAIVE", "REF"]
        assert lines[-1].startswith("n:3|refs:1|data:")

    def test_texts_are_cleaned_once_on_all_sides(self):
        card = scored(outputs=["Art thou mad ?", "Where is he ?", "Thou knowest not ."])
        assert card.outputs.outputs == OUTPUTS
        assert card.outputs.inputs[0] == "are you mad?"
        assert card["acc"] == scored()["acc"]

    def test_raw_texts_are_scored_as_they_stand_and_the_signature_says_so(self):
        card = scored(settings=ScoreSettings(clean=False))
        assert card.outputs.inputs[0] == "are you mad ?"
        assert card.signature.options["text"] == "raw"

    def test_each_sentence_is_judged_for_its_own_target(self):
        judge = Thou()
        card = score(["thou", "you"], target=["old", "new"], metrics=[judge])
        assert card["acc"] == 1
        assert sorted(judge.seen) == [("thou", "old"), ("you", "new")]

    def test_given_columns_stand_beside_computed_ones(self):
        card = scored(judges=[Shared()], columns={"acc": [1, 1, 0], "fl": [1, None, 1]})
        assert list(card.columns) == ["acc", "fl", "sim_input"]
        assert math.isnan(card.columns["fl"][1])

    def test_corpus_bleu_is_no_mean_of_sentences(self):
        card = scored(judges=[Bleu()])
        counts = card.statistics["bleu"].counts
        assert card["bleu"] == float(Bleu().corpus(counts.sum(axis=0)))
        assert card["bleu"] != pytest.approx(card.columns["bleu"].mean())
        low, high = card.interval("bleu", resamples=100)
        assert low <= card["bleu"] <= high

    def test_the_default_metrics_are_those_that_can_be_computed(self):
        _loaded.cache_clear()  # a judge that another test has loaded needs no model any more
        assert list(score(OUTPUTS, inputs=INPUTS).columns) == ["self-bleu", "copy-rate"]
        assert list(score(OUTPUTS, references=REFERENCES).columns) == ["bleu", "chrf"]

    def test_style_labels_of_a_judge_are_kept_for_the_confusion(self):
        assert scored().outputs.predicted == ["old", "new", "old"]

    def test_it_gives_its_rows_as_records_that_can_be_read_again(self):
        card = scored()
        (again,) = outputs_of({**row, "text": row["output"]} for row in card.rows())
        assert again.columns["acc"].tolist() == card.columns["acc"].tolist()
        np.testing.assert_array_equal(again.asked, card.outputs.asked)
        assert next(card.rows())["products"]["J"] == pytest.approx(1 / 3)


class TestBaselines:
    def test_copy_and_ref_are_scored_on_the_same_inputs(self):
        rows = {card.system: card for card in scored().baselines}
        assert rows["COPY"]["sim_input"] == 1
        assert rows["COPY"]["acc"] == 0
        assert rows["REF"]["acc"] == pytest.approx(1 / 3)

    def test_copys_j_is_below_its_acc(self):
        for card in scored().baselines:
            assert card["J"] <= card["acc"]

    def test_naive_games_gm_and_loses_on_j(self):
        # A real system: always partly in style, always partly the same meaning.
        inputs = [f"word{row} a b c d e f g" for row in range(200)]
        outputs = [f"word{row} thou" if row % 2 else f"word{row} a" for row in range(200)]
        naive = NaiveRow({"old": ["Thou speakest.", "Thou!"]}, copy_probability=0.5)
        card = score(outputs, inputs=inputs, target="old", metrics=[Thou(), Shared(), Fluent()], naive=naive)
        (gamed,) = (each for each in card.baselines if each.system == "NAIVE")
        assert gamed["GM"] > card["GM"]
        assert gamed["J"] < card["J"]
        assert any("GM ranks NAIVE above system, J ranks it below" in remark for remark in Leaderboard([card]).remarks)

    def test_naive_draws_from_the_target_style_of_each_sentence(self):
        naive = NaiveRow({"old": ["O"], "new": ["N"]}, copy_probability=0)
        assert naive_outputs(["a", "b", "c"], ["old", "new", "old"], naive) == ["O", "N", "O"]
        with pytest.raises(UnknownName, match="no style with sentences for NAIVE is called 'odl'; did you mean old"):
            naive_outputs(["a"], ["odl"], naive)

    def test_its_p_is_tuned_on_the_validation_set_of_a_corpus(self):
        lines = [f"you say {n}" for n in range(20)]
        corpus = Corpus.of("toy", {"old": {"train": ["Thou."]}, "new": {"train": lines, "valid": lines}})
        metrics = [Thou(), Shared(), Fluent()]
        tuned = naive_from_corpus(corpus, ["old"], ScoreSettings(), metrics)
        assert tuned.copy_probability == 0.5
        assert tuned.sentences == {"old": ["Thou."]}
        assert naive_from_corpus(corpus, ["old"], ScoreSettings(copy_probability=0.3)).copy_probability == 0.3

    def test_its_p_is_the_papers_where_nothing_can_be_tuned(self):
        lines = [f"you say {n}" for n in range(20)]
        bare = Corpus.of("toy", {"old": {"train": ["Thou."]}, "new": {"train": lines}})
        judged = Corpus.of("toy", {"old": {"train": ["Thou."]}, "new": {"train": lines, "valid": lines}})
        for corpus, metrics in ((bare, [Thou(), Shared(), Fluent()]), (judged, [Fluent()]), (judged, ["bleu"])):
            assert naive_from_corpus(corpus, ["old"], ScoreSettings(), metrics).copy_probability == 0.5

    def test_it_comes_by_itself_where_there_are_references(self):
        inputs, gold = [f"you say {n}" for n in range(40)], [f"thou sayest {n}" for n in range(40)]
        settings = ScoreSettings(copy_probability=0.25, seed=3)
        about = {"inputs": inputs, "references": gold, "metrics": [Shared()]}
        card = score(inputs, **about, target="old", settings=settings)
        naive = {each.system: each for each in card.baselines}["NAIVE"].outputs.outputs
        copied = sum(output == given for output, given in zip(naive, inputs, strict=True))
        assert 2 <= copied <= 20
        assert set(naive) <= {*inputs, *gold}
        assert card.signature.options["naive"].startswith("p=0.25,seed=3,sentences=")
        assert card.signature.options["naive"].endswith(",from=references")
        untold = score(inputs, **about)
        assert [each.system for each in untold.baselines] == ["COPY", "REF"]
        alone = score(inputs[:1], inputs=inputs[:1], references=gold[:1], target="old", metrics=[Shared()])
        assert "NAIVE" not in {each.system for each in alone.baselines}

    def test_the_signature_says_what_the_naive_row_was_made_of(self):
        naive = NaiveRow({"old": ["Thou."]}, copy_probability=0.4, seed=7)
        assert scored(naive=naive).signature.options["naive"].startswith("p=0.4,seed=7,sentences=")
        assert (
            scored(naive=NaiveRow({"old": ["Ye."]})).signature != scored(naive=NaiveRow({"old": ["Thee."]})).signature
        )
        assert "naive" not in score(OUTPUTS, metrics=[Fluent()]).signature.options

    def test_without_sentences_a_note_says_why_there_is_no_naive_row(self):
        card = score(["a", "b"], inputs=["x", "y"], metrics=[Fluent()])
        assert any("no NAIVE row" in note for note in card.notes)

    def test_systems_with_the_same_inputs_share_their_baselines(self):
        judge = Fluent()
        first, second = (Outputs([name], name, inputs=["x"]) for name in ("a", "b"))
        cards = score_systems([first, second], metrics=[judge])
        assert cards[0].baselines is cards[1].baselines
        assert [card.system for card in Leaderboard(cards).rows] == ["COPY", "a", "b"]

    def test_they_can_be_left_out(self):
        assert scored(settings=ScoreSettings(baselines=False)).baselines == ()


class TestSignature:
    def test_it_names_judges_side_data_and_aggregation(self):
        line = scored().signature.long()
        assert "acc:model=thou,version=1" in line
        assert "sim_input:side=input" in line
        assert "J:(acc>=0.5)*sim_input*(fl>=0.5)" in line
        assert line.rpartition("|")[2].startswith("restyle:")

    def test_the_short_form_hashes_what_the_long_one_spells_out(self):
        one, other = (scored(judges=[Thou(version)]).signature.short() for version in "12")
        assert one != other
        assert "acc#" in one
        assert "thou" not in one

    def test_the_same_inputs_and_signature_give_the_same_bytes(self, tmp_path):
        for name in ("a", "b"):
            save(scored(), tmp_path / name)
        files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
        assert len(files) >= 6
        for file in files:
            assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
        assert Leaderboard([scored()]).json() == Leaderboard([scored()]).json()

    def test_other_inputs_give_another_mark_and_another_order_the_same(self):
        one = score(["a", "b"], inputs=["x", "y"], metrics=[Fluent()])
        turned = score(["b", "a"], inputs=["y", "x"], metrics=[Fluent()])
        other = score(["a", "b"], inputs=["x", "z"], metrics=[Fluent()])
        assert one.signature == turned.signature != other.signature

    def test_a_judge_that_picked_the_outputs_is_marked_and_warned_of(self):
        outputs = Outputs(OUTPUTS, targets=["old"] * 3, selected_with=("acc",))
        (card,) = score_systems([outputs], metrics=[Thou()])
        assert card.signature.options["selected-with"] == "acc"
        assert any("were selected with acc, which also scores them" in note for note in card.notes)
        (other,) = score_systems([replace(outputs, selected_with=("acc#00000000",))], metrics=[Thou()])
        assert "selected-with" not in other.signature.options

    def test_systems_measured_differently_are_not_ranked_in_silence(self):
        cards = [scored(judges=[Thou(version)], system=version) for version in "12"]
        assert any("the signatures differ" in remark for remark in Leaderboard(cards).remarks)
        assert len(Leaderboard(cards).signatures) == 2


class TestColumns:
    def test_columns_can_be_added_later_with_where_they_come_from(self):
        card = scored().with_columns({"human": [1, 0, None]}, {"human": {"raters": "3"}})
        assert card["human"] == 0.5
        assert "human:raters=3" in card.signature.long()

    def test_two_cards_of_the_same_outputs_are_merged(self):
        merged = scored(judges=[Thou()]).merged(scored(judges=[Shared(), Fluent(), Bleu()]))
        assert {"J", "bleu"} <= set(merged.numbers)
        assert merged["bleu"] == scored(judges=[Bleu()])["bleu"]

    def test_cards_of_other_outputs_are_not(self):
        with pytest.raises(InputError, match="are not the same outputs"):
            scored(judges=[Thou()]).merged(scored(outputs=["a", "b", "c"], judges=[Fluent()]))

    def test_a_column_must_fit(self):
        with pytest.raises(InputError, match="column human has 2 values for 3 outputs"):
            scored().with_columns({"human": [1, 0]})
        with pytest.raises(UsageError, match="has a column acc already"):
            scored().with_columns({"acc": [1, 0, 1]})

    def test_each_style_has_its_own_numbers(self):
        card = score(["thou", "you", "thou"], target=["old", "new", "new"], metrics=[Thou()])
        assert {style: part["acc"] for style, part in card.by_target().items()} == {"new": 0.5, "old": 1}


class TestCache:
    def test_equal_sentences_are_judged_once(self):
        judge = Thou()
        card = score(["thou", "you", "thou", "thou"], target="old", metrics=[judge])
        assert sorted(judge.seen) == [("thou", "old"), ("you", "old")]
        assert card.columns["acc"].tolist() == [1, 0, 1, 1]

    def test_a_judge_is_not_asked_again_in_another_run(self):
        score(["thou", "you"], target="old", metrics=[Thou()])
        judge = Thou()
        assert score(["you", "he", "thou"], target="old", metrics=[judge]).columns["acc"].tolist() == [0, 0, 1]
        assert judge.seen == [("he", "old")]

    def test_another_target_or_another_version_is_another_question(self):
        score(["thou"], target="old", metrics=[Thou()])
        other_target, other_version = Thou(), Thou("2")
        assert score(["thou"], target="new", metrics=[other_target])["acc"] == 0
        score(["thou"], target="old", metrics=[other_version])
        assert len(other_target.seen) == len(other_version.seen) == 1

    def test_it_can_be_left_out(self):
        settings = ScoreSettings(cache=False)
        score(["thou"], target="old", metrics=[Thou()], settings=settings)
        judge = Thou()
        score(["thou"], target="old", metrics=[judge], settings=settings)
        assert len(judge.seen) == 1

    def test_a_damaged_file_is_begun_anew_with_one_warning(self, tmp_path):
        path = tmp_path / "judgements.sqlite"
        path.write_bytes(b"this is no database, but a long enough text to be none" * 50)
        cache = JudgementCache(path)
        with pytest.warns(UserWarning, match="is damaged .*; a new one was begun") as told:
            assert cache.read([b"key"]) == {}
        assert len(told) == 1
        cache.write({b"key": b"value"})
        assert JudgementCache(path).read([b"key"]) == {b"key": b"value"}

    def test_a_database_of_something_else_does_not_stop_the_work(self, tmp_path):
        path = tmp_path / "judgements.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE judgements (other TEXT)")
        connection.close()
        cache = JudgementCache(path)
        with pytest.warns(UserWarning, match="is not used: no such column"):
            assert cache.read([b"key"]) == {}
        cache.write({b"key": b"value"})

    def test_a_place_that_cannot_be_written_does_not_stop_the_work(self, tmp_path):
        (tmp_path / "file").write_text("")
        cache = JudgementCache(tmp_path / "file" / "judgements.sqlite")
        with pytest.warns(UserWarning, match="is not used"):
            cache.write({b"key": b"value"})
        assert cache.read([b"key"]) == {}

    def test_several_processes_write_to_it_at_once(self, tmp_path):
        path = tmp_path / "judgements.sqlite"
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=remember, args=(str(path), place)) for place in range(4)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0] * 4
        keys = [f"{place} {n}".encode() for place in range(4) for n in range(300)]
        assert len(JudgementCache(path).read(keys)) == 1200


def remember(path, place):
    cache = JudgementCache(path)
    for n in range(0, 300, 30):
        cache.write({f"{place} {row}".encode(): b"x" for row in range(n, n + 30)} | {b"shared": b"y"})


class TestSaving:
    def test_a_saved_card_gives_every_number_and_interval_again(self, tmp_path):
        card = scored(judges=[Thou(), Shared(), Fluent(), Bleu()], aggregate=["J2=acc*sim_input"])
        save(card, tmp_path / "card")
        again = load(tmp_path / "card")
        assert str(again) == str(card)
        assert again.interval("bleu") == card.interval("bleu")
        assert [each.system for each in again.baselines] == ["COPY", "NAIVE", "REF"]
        assert again.outputs.predicted == card.outputs.predicted

    def test_values_that_are_missing_stay_missing(self, tmp_path):
        save(score(["a", "b"], metrics=[], columns={"acc": [None, 1]}), tmp_path / "card")
        assert np.isnan(load(tmp_path / "card").columns["acc"]).tolist() == [True, False]

    def test_an_empty_output_in_which_a_judge_sees_no_style_is_read_again(self, tmp_path):
        class Seeing(Thou):
            def predict(self, outputs):
                return [label if text else "" for text, label in zip(outputs, super().predict(outputs), strict=True)]

        card = score(["thou", ""], inputs=["you", "he"], target="old", metrics=[Seeing()])
        save(card, tmp_path / "card")
        assert load(tmp_path / "card").outputs.predicted == ["old", ""]
        (again,) = outputs_of({**row, "text": row["output"]} for row in card.rows())
        assert again.predicted == ["old", ""]

    def test_who_selected_the_outputs_and_what_else_a_record_says_is_carried_along(self, tmp_path):
        records = [{"id": "a", "text": "thou", "selected_with": ["acc"], "doc": 7, "paraphrase": "you"}]
        (given,) = outputs_of(records)
        (card,) = score_systems([given], ScoreSettings(baselines=False, resamples=0), metrics=[Fluent()])
        save(card, tmp_path / "card")
        for row in (next(card.rows()), next(load(tmp_path / "card").rows())):
            assert (row["selected_with"], row["doc"], row["paraphrase"]) == (["acc"], 7, "you")

    def test_what_is_no_card_is_refused_in_one_line(self, tmp_path):
        with pytest.raises(InputError, match="scorecard.toml does not exist"):
            load(tmp_path)
        (tmp_path / "scorecard.toml").write_text('system = "x"\n')
        (tmp_path / "sentences.jsonl").write_text('{"output": "a"}\n')
        with pytest.raises(InputError, match="does not say 'signature'; save the scorecard again"):
            load(tmp_path)


class TestBadInput:
    def test_lists_that_do_not_pair_are_refused(self):
        with pytest.raises(InputError, match="3 outputs, but 2 inputs; they must pair line by line"):
            score(OUTPUTS, inputs=["a", "b"], metrics=[Fluent()])
        with pytest.raises(InputError, match="3 outputs, but 1 numbers in the column acc"):
            score(OUTPUTS, metrics=[], columns={"acc": [1]})

    def test_no_outputs_at_all_are_refused_and_empty_ones_are_counted(self):
        with pytest.raises(InputError, match="system has no outputs; at least one sentence is needed"):
            score([], metrics=[Fluent()])
        card = score(["", "x", "  "], references=["a", "x", "b"], metrics=[Bleu()])
        assert "2 of 3 outputs of system are empty" in card.notes
        assert card.columns["bleu"][0] == 0

    def test_a_metric_says_what_it_lacks(self):
        with pytest.raises(UsageError, match="the metric bleu needs references, which were not given"):
            score(OUTPUTS, metrics=[Bleu()])
        with pytest.raises(UsageError, match="the metric acc needs target, which were not given"):
            score(OUTPUTS, metrics=[Thou()])
        with pytest.raises(InputError, match="sentence 2 has no reference, which the metric bleu needs"):
            score(OUTPUTS, references=[["a"], [], ["b"]], metrics=[Bleu()])

    @pytest.mark.parametrize("references", [[None, "b"], ["", "b"], [["  ", None], ["b"]]])
    def test_a_reference_that_is_not_there_is_no_text(self, references):
        with pytest.raises(InputError, match="sentence 1 has no reference, which the metric bleu needs"):
            score(["a", "b"], references=references, metrics=[Bleu()])
        (given,) = outputs_of([{"id": "1", "text": "a", "references": ["x", None, ""]}])
        assert given.references == [["x"]]

    def test_a_reference_or_a_target_that_is_no_text_is_refused_by_its_line(self):
        with pytest.raises(InputError, match="references, line 2: a reference is a text, and not '5'"):
            score(["a", "b"], references=["x", 5], metrics=[Bleu()])
        with pytest.raises(InputError, match="system: output 1: a reference is a text, and not '{'text': 'x'}'"):
            outputs_of([{"id": "1", "text": "a", "references": [{"text": "x"}]}])
        with pytest.raises(InputError, match="target, line 2: a sentence was expected, not NoneType"):
            score(["a", "b"], target=["old", None], metrics=[Thou()])

    def test_a_metric_that_is_asked_for_twice_is_refused(self):
        with pytest.raises(UsageError, match="fl is asked for twice"):
            score(OUTPUTS, metrics=[Fluent(), Fluent()])

    def test_a_number_without_end_is_refused(self):
        with pytest.raises(InputError, match="in the column acc is not a number"):
            outputs_of([{"id": "1", "text": "a", "scores": {"acc": 10**400}}])

    def test_a_style_that_the_judge_does_not_know_is_answered_with_the_nearest(self):
        with pytest.raises(UnknownName, match="no style of the judge acc is called 'odl'; did you mean old"):
            score(OUTPUTS, target="odl", metrics=[Thou()])

    def test_an_unknown_metric_is_answered_with_the_nearest(self):
        with pytest.raises(UnknownName, match="did you mean copy-rate"):
            score(OUTPUTS, inputs=INPUTS, metrics=["copy-rat"])

    @pytest.mark.parametrize(
        ("column", "message"),
        [
            ([1, math.inf, 0], "column acc, line 2: the value is infinite"),
            ([1, "yes", 0], "column acc, line 2: 'yes' is not a number"),
        ],
    )
    def test_a_column_holds_numbers(self, column, message):
        with pytest.raises(InputError, match=message):
            score(OUTPUTS, metrics=[], columns={"acc": column})

    def test_a_column_has_a_name_that_a_formula_can_use(self):
        with pytest.raises(InputError, match="a column cannot be called 'a c'"):
            score(OUTPUTS, metrics=[], columns={"a c": [1, 1, 1]})

    def test_a_column_both_given_and_computed_is_refused(self):
        with pytest.raises(UsageError, match="the column acc was given and would be computed"):
            scored(columns={"acc": [1, 1, 1]})

    def test_a_judge_that_gives_too_few_numbers_is_refused(self):
        class Short(Fluent):
            def score(self, batch):
                return np.ones(2)

        with pytest.raises(UsageError, match="gave numbers of shape \\(2,\\) for 3 sentences"):
            score(OUTPUTS, metrics=[Short()])

    def test_one_string_is_not_a_list_of_sentences(self):
        with pytest.raises(UsageError, match="one string was given for outputs"):
            score("Art thou mad?", metrics=[Fluent()])
        with pytest.raises(InputError, match="outputs, line 2: a sentence was expected, not NoneType"):
            score(["a", None], metrics=[Fluent()])

    def test_a_line_of_5000_words_is_scored_like_any_other(self):
        long = "thou " * 5000
        card = score([long, "b"], inputs=["a " * 5000, "b"], references=[long, "b"], metrics=["bleu", "chrf", "meteor"])
        assert card["bleu"] == pytest.approx(100)
        assert len(str(card)) < 3000

    def test_control_characters_are_cleaned_away_and_refused_in_names(self):
        assert score(["a\x00b\x07 c\r"], metrics=[Fluent()]).outputs.outputs == ["ab c"]
        with pytest.raises(UsageError, match="has characters that cannot be printed"):
            score(["a"], system="x\x1b[31m", metrics=[Fluent()])
