"""`restyle similarity` as a user types it."""

import json

import pytest
from test_wieting import toy_groups
from typer.testing import CliRunner

from restyle.cli.similarity import app
from restyle.errors import InputError, JobError, UsageError

PAIRS = [("Are you crazy?", "Art thou mad?"), ("It rained.", "It rained.")]


def run(*arguments, input=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input, catch_exceptions=False)


def raised(error, *arguments, input=None):
    with pytest.raises(error) as caught:
        CliRunner().invoke(app, [str(argument) for argument in arguments], input=input, catch_exceptions=False)
    return str(caught.value)


class TestScore:
    def test_two_sentences_have_one_number(self):
        assert run("score", "It rained.", "It rained .").stdout == "1.0000\n"

    def test_a_file_of_pairs_gets_a_score_in_each_record(self, tmp_path):
        (tmp_path / "pairs.tsv").write_text("".join(f"{left}\t{right}\n" for left, right in PAIRS))
        out = tmp_path / "scored.jsonl"
        run("score", "-i", tmp_path / "pairs.tsv", "--columns", "text,other", "-o", out)
        scored = [json.loads(line) for line in out.read_text().splitlines()]
        assert [(record["text"], record["other"]) for record in scored] == PAIRS
        assert scored[1]["sim-wieting"] == 1
        assert scored[0]["sim-wieting"] == float(f"{scored[0]['sim-wieting']:.6f}") < 1

    def test_pairs_are_read_from_a_pipe(self):
        out = run("score", input=json.dumps({"text": "Rain.", "other": "Rain!", "source": "me"}) + "\n").stdout
        assert json.loads(out).keys() == {"id", "text", "other", "source", "sim-wieting"}

    def test_a_record_without_a_second_sentence_is_set_aside_and_named(self, tmp_path):
        (tmp_path / "pairs.jsonl").write_text(
            '{"id": "a7", "text": "Rain.", "paraphrase": "Rain!"}\n{"id": "a8", "text": "Rain.", "other": "Rain!"}\n'
        )
        done = run("score", "-i", tmp_path / "pairs.jsonl", "-o", tmp_path / "out.jsonl")
        assert done.exit_code == 1
        assert json.loads((tmp_path / "out.jsonl").read_text())["id"] == "a8"
        assert "'a7' has no text under 'other' (--other-column), only text, paraphrase" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["one"], "1 sentences were given; it takes two"),
            (["one", "two", "-i", "pairs.tsv"], "both as an argument and with --input"),
        ],
    )
    def test_wrong_use_is_told(self, arguments, message):
        assert message in raised(UsageError, "score", *arguments)


class TestTrain:
    SMALL = ("--vocabulary", "300", "--dim", "8", "--epochs", "2")

    def test_a_record_that_holds_no_pair_is_named(self, tmp_path):
        (tmp_path / "pairs.jsonl").write_text('{"id": "a7", "text": "Rain.", "paraphrase": "Rain!"}\n')
        message = raised(InputError, "train", tmp_path / "pairs.jsonl", "--out", tmp_path / "sim")
        assert "'a7' has no text under 'other' (--other-column), only text, paraphrase" in message

    def test_pairs_of_ones_own_make_a_model_that_scores(self, tmp_path):
        pairs = tmp_path / "pairs.jsonl"
        pairs.write_text("".join(json.dumps({"text": group[0], "other": group[1:]}) + "\n" for group in toy_groups()))
        made = run("train", pairs, "--out", tmp_path / "sim", *self.SMALL, "--format", "json")
        assert [row["epoch"] for row in json.loads(made.stdout)] == [1, 2]
        assert run("score", "king", "king", "--model", tmp_path / "sim").stdout == "1.0000\n"
        # The same command has nothing left to do, and says the same.
        assert run("train", pairs, "--out", tmp_path / "sim", *self.SMALL, "--format", "json").stdout == made.stdout

    def test_a_file_that_is_not_there_is_told_before_a_folder_is_made(self, tmp_path):
        assert "no.tsv" in raised(InputError, "train", tmp_path / "no.tsv", "--out", tmp_path / "sim")
        assert not (tmp_path / "sim").exists()


def test_a_file_of_records_that_hold_no_pair_is_not_read_to_its_end_unless_it_is_said(tmp_path):
    (tmp_path / "lines.txt").write_text("alone\n" * 120, encoding="utf-8")
    problem = raised(JobError, "score", "--input", tmp_path / "lines.txt")
    assert "100 records in a row failed" in problem
    assert "--give-up-after" in problem
    done = run("score", "--input", tmp_path / "lines.txt", "--give-up-after", 1000)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "120 failed" in done.stderr
