"""`restyle score` and `restyle compare` as a user types them, and every kind of file that they read."""

import json

import numpy as np
import pytest

from restyle.cli import main
from restyle.cli._names import folder_names, told_apart
from restyle.errors import InputError
from restyle.evaluation import load, read_outputs


def run(capfd, *arguments):
    """Exit code, stdout and stderr of a call."""
    with pytest.raises(SystemExit) as stop:
        main(list(map(str, arguments)))
    out, err = capfd.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in.txt").write_text("are you mad?\nwhere is he?\ni know\n")
    (tmp_path / "out.txt").write_text("Art thou mad?\nWhere is he?\nI know not.\n")
    (tmp_path / "gold.txt").write_text("Art thou mad?\nWhere is he gone?\nI know.\n")
    (tmp_path / "gold2.txt").write_text("Are you mad?\nWhere is he?\nI know it.\n")
    records = [
        {
            "input": "a b",
            "output": "a c",
            "target": "old",
            "system": name,
            "scores": {"accuracy": acc, "sim_ref": 0.5, "fluency": 1},
        }
        for name, verdicts in (("good", [1, 1, 1, 0]), ("bad", [0, 0, 1, 0]))
        for acc in verdicts
    ]
    for number, record in enumerate(records):
        record["input"] += f" {number % 4}"
    (tmp_path / "judged.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path


class TestScore:
    def test_lines_of_text_with_inputs_and_references(self, capfd, files):
        given = ["--inputs", files / "in.txt", "--references", files / "gold.txt", "--references", files / "gold2.txt"]
        code, out, err = run(capfd, "score", files / "out.txt", *given, "--metrics", "bleu,self-bleu,meteor")
        assert (code, err) == (0, "")
        assert out.splitlines()[0].split() == ["system", "sentences", "bleu", "self-bleu", "meteor"]
        assert [line.split()[0] for line in out.splitlines()[1:4]] == ["COPY", "REF", "out"]
        assert "refs:2" in out

    def test_records_bring_their_verdicts(self, capfd, files):
        code, out, _ = run(
            capfd, "score", files / "judged.jsonl", "--metrics", "none", "--format", "json", "--resamples", 0
        )
        systems = {row["system"]: row["numbers"] for row in json.loads(out)["systems"]}
        assert code == 0
        assert systems["good"]["J"] == {"value": 0.375}
        assert systems["bad"]["acc"]["value"] == 0.25

    @pytest.mark.parametrize(
        ("format", "start"),
        [("markdown", "| system | sentences |"), ("latex", "\\begin{tabular}{lrrrrrrr}"), ("text", "system ")],
    )
    def test_every_format_of_a_table(self, capfd, files, format, start):
        code, out, _ = run(
            capfd, "score", files / "judged.jsonl", "--metrics", "none", "--format", format, "--resamples", 20
        )
        assert code == 0
        assert out.startswith(start)
        assert "J" in out

    def test_jsonl_is_a_record_for_every_sentence(self, capfd, files):
        _, out, _ = run(capfd, "score", files / "judged.jsonl", "--metrics", "none", "--format", "jsonl")
        rows = [json.loads(line) for line in out.splitlines()]
        assert len(rows) == 8
        assert rows[0]["scores"] == {"acc": 1, "sim_ref": 0.5, "fl": 1}
        assert rows[0]["products"]["J"] == 0.5

    def test_a_product_and_a_column_of_the_users_own(self, capfd, files):
        (files / "t.tsv").write_text("output\tverdict\na\t1\nb\t0\n")
        own = ["--column", "acc=verdict", "--aggregate", "half=0.5*acc", "--format", "json"]
        code, out, _ = run(capfd, "score", files / "t.tsv", "--metrics", "none", *own)
        assert code == 0
        assert json.loads(out)["systems"][0]["numbers"]["half"]["value"] == 0.25

    def test_the_same_command_gives_the_same_bytes(self, capfd, files):
        command = ["score", files / "judged.jsonl", "--metrics", "none", "--format", "json"]
        assert run(capfd, *command) == run(capfd, *command)

    def test_outputs_that_a_judge_picked_are_warned_of_in_every_format(self, capfd, files):
        record = json.loads((files / "judged.jsonl").read_text().splitlines()[0]) | {"selected_with": ["acc"]}
        (files / "picked.jsonl").write_text(json.dumps(record) + "\n")
        common = ["score", files / "picked.jsonl", "--metrics", "none", "--resamples", 0]
        for format in ("text", "markdown", "latex", "json", "jsonl"):
            code, out, err = run(capfd, *common, "--format", format, "--html", files / "report.html")
            assert code == 0
            assert "were selected with acc, which also scores them" in (err if format == "jsonl" else out)
        _, out, err = run(capfd, *common, "--short")
        assert "selected-with:acc" in out
        assert "were selected with acc" in err
        assert "were selected with acc" in (files / "report.html").read_text()

    def test_a_report_without_the_encoder_says_that_it_leaves_the_pictures_of_styles_out(self, capfd, files):
        pytest.importorskip("torch")
        rows = [{"output": f"x {row}", "target": "old" if row % 2 else "new", "scores": {"acc": 1}} for row in range(6)]
        (files / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        given = ["score", files / "two.jsonl", "--metrics", "none", "--resamples", 0, "--html", files / "report.html"]
        code, _, err = run(capfd, *given)
        page = (files / "report.html").read_text()
        assert code == 0
        assert err.splitlines()[0].startswith("restyle: warning: the pictures of styles are left out: pip could not")
        assert "the pictures of styles are left out: pip could not" in page
        assert '<section id="clouds">' not in page
        np.savez(files / "own.npz", vectors=np.random.default_rng(0).normal(0, 1, (6, 3)), styles=["a", "b"] * 3)
        code, _, err = run(capfd, *given, "--embeddings", files / "own.npz")
        assert (code, err.count("\n")) == (0, 1)
        assert '<section id="clouds">' in (files / "report.html").read_text()

    @pytest.mark.models
    def test_a_report_pictures_known_styles_by_itself(self, capfd, files, models, one_torch_thread):
        rows = [
            {"input": f"{text} {row}", "style": style, "output": "x", "scores": {"acc": 1}}
            for style, text in (("bible", "Thus saith the Lord unto thee"), ("tweets", "lol so tired rn"))
            for row in range(5)
        ]
        (files / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        given = ["score", files / "two.jsonl", "--metrics", "none", "--resamples", 0, "--html", files / "report.html"]
        code, _, err = run(capfd, *given)
        page = (files / "report.html").read_text()
        assert (code, err) == (0, f"restyle: wrote {files / 'report.html'}\n")
        assert page.count("Vectors by minilm-l6 of inputs, at most 100 of each style (seed 0).") == 2
        assert page.count('class="dot"') == 10

    def test_the_short_signature_alone(self, capfd, files):
        code, out, _ = run(capfd, "score", files / "judged.jsonl", "--metrics", "none", "--short")
        assert code == 0
        assert out.count("\n") == 1
        assert "acc:given" in out
        assert "|J#" in out

    def test_naive_draws_from_a_corpus_that_was_built(self, capfd, files, monkeypatch):
        from restyle.corpora import Corpus

        corpus = Corpus.of("toy", {"old": {"train": ["Thou!"]}, "new": {"train": ["You."], "valid": ["You are."]}})
        monkeypatch.setattr("restyle.cli.score.load_corpus", lambda name: corpus)
        common = ["score", files / "out.txt", "--inputs", files / "in.txt", "--metrics", "copy-rate", "--corpus", "toy"]
        code, out, _ = run(capfd, *common, "--to", "old", "--copy-probability", "0", "--resamples", 10)
        assert code == 0
        assert "NAIVE" in out
        code, out, _ = run(capfd, *common, "--to", "old", "--resamples", 0)
        assert (code, "naive:p=0.5" in out) == (0, True)  # copy-rate makes no J by which p could be tuned
        code, _, err = run(capfd, *common)
        assert "NAIVE needs the target style: name it with --to" in err

    def test_a_damaged_cache_is_one_line_on_stderr(self, capfd, files, tmp_path, monkeypatch):
        monkeypatch.setenv("RESTYLE_HOME", str(tmp_path))
        (tmp_path / "judgements.sqlite").write_bytes(b"no database" * 500)
        monkeypatch.setattr("restyle.metrics.translation.Bleu.slow", True, raising=False)
        code, out, err = run(
            capfd, "score", files / "out.txt", "--references", files / "gold.txt", "--metrics", "bleu", "--resamples", 0
        )
        assert code == 0
        assert err.count("\n") == 1
        assert err.startswith("restyle: warning: the cache of judgements")


class TestCompare:
    def test_systems_of_one_file_are_tested_against_each_other(self, capfd, files):
        code, out, _ = run(
            capfd, "compare", files / "judged.jsonl", "--metrics", "none", "--numbers", "J acc", "--resamples", 100
        )
        assert code == 0
        assert sum(line.startswith(("J ", "acc ")) for line in out.splitlines()) == 2
        assert "paired bootstrap, 100 resamples" in out

    def test_saved_cards_are_compared_without_judging_again(self, capfd, files):
        run(capfd, "score", files / "judged.jsonl", "--metrics", "none", "--save", files / "cards", "--resamples", 0)
        code, out, _ = run(
            capfd, "compare", files / "cards" / "good", files / "cards" / "bad", "--test", "randomisation",
            "--format", "json", "--resamples", 100, "--baseline", "bad",
        )  # fmt: skip
        assert code == 0
        tests = {each["number"]: each for each in json.loads(out)["tests"]}
        assert tests["J"]["difference"] == 0.25
        assert tests["fl"]["p"] == 1

    def test_without_resamples_nothing_is_invented(self, capfd, files):
        given = ["compare", files / "judged.jsonl", "--metrics", "none", "--resamples", 0]
        code, out, _ = run(capfd, *given, "--html", files / "report.html")
        assert code == 0
        assert "±" not in out and "p (Holm)" not in out
        assert out.splitlines()[-1] == "no intervals and no tests, as no resamples were asked for"
        page = (files / "report.html").read_text()
        assert "No intervals and no tests" in page
        assert "confidence intervals" not in page

    def test_files_and_cards_of_one_name_are_told_apart_by_their_folders(self, capfd, files):
        for folder, text in (("r1", "Art thou mad?\n"), ("r2", "Are you mad?\n")):
            (files / folder).mkdir()
            (files / folder / "out.txt").write_text(text)
        (files / "one.txt").write_text("Art thou mad?\n")
        judged = ["--references", files / "one.txt", "--metrics", "bleu", "--resamples", 0, "--no-baselines"]
        run(capfd, "score", files / "r2" / "out.txt", "--save", files / "r2" / "card", *judged)
        for second, name in ((files / "r2" / "out.txt", "r2/out"), (files / "r2" / "card", "out (card)")):
            code, out, err = run(capfd, "compare", files / "r1" / "out.txt", second, *judged)
            assert (code, err) == (0, "")
            assert out.splitlines()[1].startswith("r1/out" if name == "r2/out" else "out")
            assert out.splitlines()[2].startswith(name)
        code, _, err = run(capfd, "compare", files / "r1" / "out.txt", files / "r2" / ".." / "r1" / "out.txt", *judged)
        assert (code, err.count("\n")) == (2, 1)
        assert "r1/out.txt was given twice" in err

    def test_systems_whose_names_make_one_folder_are_both_saved(self, capfd, files):
        records = [{"output": "x", "input": "y", "system": name, "scores": {"acc": 1}} for name in ("a/b", "a_b")]
        (files / "two.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        run(capfd, "score", files / "two.jsonl", "--metrics", "none", "--save", files / "two", "--resamples", 0)
        assert sorted(load(folder).system for folder in (files / "two").iterdir()) == ["a/b", "a_b"]

    def test_one_system_alone_is_wrong_use(self, capfd, files):
        code, _, err = run(capfd, "compare", files / "out.txt", "--references", files / "gold.txt", "--metrics", "bleu")
        assert code == 2
        assert "one system alone cannot be compared" in err


class TestMistakes:
    def test_every_one_is_answered_in_one_line(self, capfd, files):
        (files / "short.txt").write_text("a\n")
        (files / "empty.txt").write_text("")
        (files / "bad.tsv").write_text("output\tverdict\na\tyes\n")
        (files / "half.jsonl").write_text('{"output": "a", "target": "x"}\n{"output": "b"}\n')
        (files / "nan.jsonl").write_text('{"output": "a", "scores": {"acc": NaN}}\n')
        (files / "control.txt").write_bytes(b"a\x00b\n")
        out, judged = files / "out.txt", files / "judged.jsonl"
        for arguments, code, message in [
            ([out, "--inputs", files / "short.txt"], 1, "3 outputs, but 1 inputs; they must pair line by line"),
            (
                [out, "--references", files / "gold.txt", "--references", files / "short.txt"],
                1,
                "files of references differ in length",
            ),
            ([files / "empty.txt", "--metrics", "none"], 1, "empty has no outputs; at least one sentence is needed"),
            ([out, "--metrics", "bleu"], 2, "the metric bleu needs references, which were not given"),
            ([out, "--metrics", "blue"], 2, "no metric is called 'blue'; did you mean bleu?"),
            ([out, "--metrics", "none"], 2, "there is nothing to score with"),
            ([out, "--metrics", "acc-linear"], 2, "the metric acc-linear needs target, which were not given"),
            ([out, "--metrics", "acc-linear", "--to", "shakespear"], 2, "did you mean shakespeare?"),
            ([files / "nan.jsonl", "--metrics", "none"], 1, "NaN is no finite number; write null where there is none"),
            ([files / "control.txt", "--metrics", "none"], 1, "control.txt is a binary file"),
            ([judged, "--metrics", "none", "--aggregate", "J2=acc*sim"], 2, "no column is called 'sim'"),
            (
                [judged, "--metrics", "none", "--to", "new"],
                1,
                "was to be 'old', but the target that was given is 'new'",
            ),
            ([judged, "--metrics", "none", "--thresholds", "1"], 2, "thresholds has 1 values; 4 were expected"),
            ([judged, "--metrics", "none", "--embeddings", out], 2, "--embeddings are drawn in the report only"),
            (
                [files / "bad.tsv", "--metrics", "none", "--column", "acc=verdict"],
                1,
                "'yes' in the column acc is not a number",
            ),
            ([files / "bad.tsv", "--metrics", "none", "--column", "acc"], 1, "has no field 'acc' for the column acc"),
            ([files / "half.jsonl", "--metrics", "none"], 1, "output 2 has no 'target', which others have"),
            ([files / "absent.txt"], 1, "does not exist"),
            (["--table", "nothing"], 2, "nothing"),
        ]:
            got, _, err = run(capfd, "score", *arguments)
            assert (got, err.count("\n")) == (code, 1), (arguments, err)
            assert message in err

    def test_an_unknown_test_or_number_is_answered_with_the_nearest(self, capfd, files):
        for arguments, message in [
            (["--test", "bootstap"], "did you mean bootstrap"),
            (["--numbers", "GM J2"], "no number of every system is called 'J2'"),
            (["--baseline", "god"], "did you mean good"),
        ]:
            code, _, err = run(capfd, "compare", files / "judged.jsonl", "--metrics", "none", *arguments)
            assert code == 2
            assert message in err


class TestReading:
    def test_published_tables_are_read_by_their_own_column_names(self, tmp_path):
        (tmp_path / "runs.tsv").write_text(
            "source_style\ttarget_style\tidx\tsystem\torigin\tinput\toutput\tref0\tref1\n"
            "neg\tpos\t0\tA\tmine\tx\ty\tr\ts\nneg\tpos\t0\tA\ttheirs\tx\tz\tr\t\npos\tneg\t1\tB\tmine\tu\tv\tw\t\n"
        )
        found = read_outputs(tmp_path / "runs.tsv")
        assert [each.system for each in found] == ["A (mine)", "A (theirs)", "B"]
        assert found[0].references == [["r", "s"]]
        assert (found[2].styles, found[2].targets) == (["pos"], ["neg"])

    def test_records_say_with_what_they_were_selected(self, tmp_path):
        (tmp_path / "o.jsonl").write_text(
            '{"output": "a", "selected_with": ["acc", "fl#12"]}\n{"output": "b", "selected_with": "acc"}\n'
        )
        (found,) = read_outputs(tmp_path / "o.jsonl")
        assert found.selected_with == ("acc", "fl#12")
        assert found.system == "o"

    def test_a_score_that_a_record_lacks_is_missing_and_not_zero(self, tmp_path):
        (tmp_path / "o.jsonl").write_text(
            '{"output": "a", "scores": {"acc": 1}}\n{"output": "b", "scores": {"acc": null}}\n{"output": "c"}\n'
        )
        (found,) = read_outputs(tmp_path / "o.jsonl")
        assert np.isnan(found.columns["acc"]).tolist() == [False, True, True]

    def test_styles_can_be_called_otherwise(self, tmp_path):
        (tmp_path / "o.jsonl").write_text('{"output": "a", "target": "original", "style": "modern"}\n')
        (found,) = read_outputs(tmp_path / "o.jsonl")
        renamed = found.with_styles_called({"original": "shakespeare"})
        assert (renamed.targets, renamed.styles) == (["shakespeare"], ["modern"])

    def test_an_input_that_is_empty_is_an_input_and_one_that_is_absent_is_an_error(self, tmp_path):
        (tmp_path / "o.jsonl").write_text('{"output": "a", "input": ""}\n{"output": "b", "input": "x"}\n')
        assert read_outputs(tmp_path / "o.jsonl")[0].inputs == ["", "x"]
        (tmp_path / "o.jsonl").write_text('{"output": "a"}\n{"output": "b", "input": "x"}\n')
        with pytest.raises(InputError, match="o: output 1 has no 'input', which others have"):
            read_outputs(tmp_path / "o.jsonl")

    @pytest.mark.parametrize(("system", "name"), [("a/b", "a_b"), ("..", "_"), ("DLSM (he2020)", "DLSM (he2020)")])
    def test_a_systems_name_makes_a_folder_inside_the_one_that_was_named(self, system, name):
        assert folder_names([system]) == [name]

    def test_no_two_systems_make_the_same_folder(self):
        assert folder_names(["a_b", "a/b", "A:B", "a b"]) == ["a_b", "a_b_", "A_B__", "a b"]

    @pytest.mark.parametrize(
        ("systems", "names"),
        [
            ([("r1/out.jsonl", "out"), ("r2/out.jsonl", "out"), ("b.txt", "b")], ["r1/out", "r2/out", "b"]),
            ([("x/r/out.txt", "out"), ("y/r/out.txt", "out")], ["x/r/out", "y/r/out"]),
            ([("r1/out.jsonl", "strap"), ("r2/out.jsonl", "strap")], ["strap (r1/out)", "strap (r2/out)"]),
            ([("out.v1.jsonl.gz", "out"), ("out.v2.jsonl.gz", "out")], ["out.v1.jsonl.gz", "out.v2.jsonl.gz"]),
            ([("a.jsonl", "strap"), ("b.card", "strap"), ("a.jsonl", "dlsm")], ["strap (a)", "strap (b)", "dlsm"]),
        ],
    )
    def test_systems_of_one_name_are_told_apart_by_their_paths(self, systems, names):
        assert told_apart(systems) == names


@pytest.mark.data
def test_published_systems_are_scored_by_name(capfd, mirror):
    code, out, _ = run(capfd, "score", "--table", "strap-judged/dlsm", "--metrics", "none", "--resamples", 0)
    assert code == 0
    assert out.splitlines()[1].split() == ["dlsm", "2,924", "71.1", "43.5", "49.4", "29.4", "53.4", "16.3"]
