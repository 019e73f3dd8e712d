"""The command line as a user types it, mistakes included."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from restyle import __version__
from restyle.cli import main
from restyle.cli.doctor import EXTRAS

HEAVY = ("torch", "pandas", "ray", "fastapi", "spacy", "sklearn", "numba", "transformers")


PIRATE = [
    "Hoist the sails before the tide turns, ye dogs!",
    "The old captain buried his rum beneath the palm.",
    "A parrot never forgets a word that was shouted at it.",
    "We sighted the merchantman at dawn, low in the water.",
    "Ye'll swab that deck until it shines like the queen's silver.",
    "Dead men tell no tales, but their maps do.",
    "The cook has served us the same biscuit for a month.",
    "No wind for nine days, and the barrels run dry.",
]


def run(capfd, *arguments):
    """Exit code, stdout and stderr of a call."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capfd.readouterr()
    return stop.value.code, out, err


def shell(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "restyle", *arguments], capture_output=True, text=True, check=False, **options
    )


class TestStartingUp:
    @pytest.mark.parametrize("program", ["import restyle", "import restyle.cli", "from restyle.cli import _main"])
    def test_nothing_heavy_is_imported(self, program):
        code = f"import sys; {program}; print([name for name in {HEAVY} if name in sys.modules])"
        assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"

    @pytest.mark.parametrize("command", [["-c", "import restyle"], ["-m", "restyle", "--help"]])
    def test_it_takes_less_than_three_tenths_of_a_second(self, command):
        def seconds():
            # Processor time, as other tests may have the cores for a moment: no less than the time on an idle machine.
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        assert min(seconds() for _ in range(3)) < 0.3

    def test_the_version_is_printed(self, capfd):
        assert run(capfd, "--version") == (0, f"restyle {__version__}\n", "")


class TestMistakes:
    def test_an_unknown_verb_is_wrong_use_in_one_line(self, capfd):
        code, out, err = run(capfd, "rewriet", "x")
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert "rewriet" in err
        assert "rewrite" in err.replace("rewriet", "")

    def test_an_unknown_option_is_wrong_use_in_one_line(self, capfd):
        code, _, err = run(capfd, "systems", "--fromat", "json")
        assert code == 2
        assert err.startswith("restyle: No such option: --fromat")
        assert "--format" in err.replace("--fromat", "")
        assert err.count("\n") == 1

    def test_an_unknown_system_is_answered_with_the_nearest(self, capfd):
        code, out, err = run(capfd, "rewrite", "x", "--to", "noir", "--system", "retreive")
        assert (code, out) == (2, "")
        assert err == "restyle: no system is called 'retreive'; did you mean retrieve?\n"

    def test_a_missing_style_says_how_to_name_one(self, capfd):
        code, _, err = run(capfd, "rewrite", "x")
        assert code == 2
        assert "name it with --to" in err

    def test_no_text_at_all_says_how_to_give_some(self, capfd, monkeypatch):
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        code, _, err = run(capfd, "rewrite", "--system", "copy", "--to", "x")
        assert code == 2
        assert "no text was given; give it in quotes" in err

    def test_text_given_twice_is_refused(self, capfd):
        code, _, err = run(capfd, "rewrite", "x", "--input", "y.txt", "--system", "copy", "--to", "x")
        assert code == 2
        assert "both as an argument and with --input" in err

    def test_a_file_that_is_not_there_is_told_in_one_line(self, capfd):
        code, _, err = run(capfd, "rewrite", "--input", "absent.txt", "--system", "copy", "--to", "x")
        assert (code, err) == (1, "restyle: absent.txt does not exist\n")

    def test_debug_adds_the_traceback(self):
        done = shell("--debug", "rewrite", "--input", "absent.txt", "--system", "copy", "--to", "x")
        assert done.returncode == 1
        assert "Traceback" in done.stderr
        assert done.stderr.endswith("restyle: absent.txt does not exist\n")


class TestLists:
    @pytest.mark.parametrize("verb", ["systems", "metrics", "styles"])
    def test_a_list_names_everything_with_what_it_is(self, capfd, verb):
        code, out, err = run(capfd, verb, "--format", "json")
        assert (code, err) == (0, "")
        rows = json.loads(out)
        assert rows
        assert all(row["what it is"] for row in rows)

    def test_the_systems_are_those_of_the_registry(self, capfd):
        from restyle.rewriters import systems

        _, out, _ = run(capfd, "systems", "--format", "jsonl")
        assert [json.loads(line)["system"] for line in out.splitlines()] == list(systems.names())

    def test_text_is_aligned_and_markdown_and_latex_are_tables(self, capfd):
        _, text, _ = run(capfd, "systems")
        column = text.splitlines()[0].index("what it is")
        assert all(line[column - 2 : column] == "  " for line in text.splitlines())
        _, markdown, _ = run(capfd, "systems", "--format", "markdown")
        assert markdown.startswith("| system | what it is | extra |\n| --- | --- | --- |\n| back-translation |")
        _, latex, _ = run(capfd, "systems", "--format", "latex")
        assert latex.startswith("\\begin{tabular}{lll}\n\\toprule\nsystem & what it is & extra \\\\\n\\midrule\n")

    def test_a_list_may_be_cut_short_by_its_reader(self):
        done = subprocess.run(
            f"{sys.executable} -m restyle metrics | head -1", shell=True, capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("metric")
        assert done.stderr == ""


class TestRewrite:
    def test_a_sentence_is_answered_with_a_sentence(self, capfd):
        assert run(capfd, "rewrite", "As it is.", "--system", "copy", "--to", "any") == (0, "As it is.\n", "")

    def test_a_pipe_of_plain_text_is_answered_line_by_line(self):
        done = shell("rewrite", "--system", "copy", "--to", "any", input="one\n\nthree\n")
        assert (done.returncode, done.stdout, done.stderr) == (0, "one\n\nthree\n", "")

    def test_a_pipe_of_records_is_answered_with_records_their_keys_carried_through(self):
        done = shell(
            "rewrite",
            "-i",
            "-",
            "-o",
            "-",
            "--system",
            "copy",
            "--to",
            "any",
            input='{"id": "a", "text": "x", "n": 1}\n',
        )
        assert done.returncode == 0
        assert json.loads(done.stdout) == {
            "id": "a", "input": "x", "output": "x", "target": "any", "system": "copy", "n": 1,
        }  # fmt: skip

    def test_a_file_is_answered_with_a_file_and_a_count(self, capfd, tmp_path):
        (tmp_path / "in.tsv").write_text("sentence\tn\none\t1\ntwo\t2\n")
        code, out, err = run(
            capfd, "rewrite", "-i", str(tmp_path / "in.tsv"), "--text-column", "sentence",
            "-o", str(tmp_path / "out.jsonl"), "--system", "copy", "--to", "any",
        )  # fmt: skip
        assert (code, out, err) == (0, "", "restyle: 2 records read, 2 written\n")
        rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [(row["output"], row["n"]) for row in rows] == [("one", "1"), ("two", "2")]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.tsv", "out.jsonl", "out.jsonl.settings.toml"]

    def test_bad_lines_are_skipped_and_counted_when_asked(self, capfd, tmp_path):
        (tmp_path / "in.jsonl").write_text('{"text": "a"}\nbad\n')
        arguments = ["rewrite", "-i", str(tmp_path / "in.jsonl"), "--system", "copy", "--to", "x"]
        assert run(capfd, *arguments)[0] == 1
        code, out, err = run(capfd, *arguments, "--on-error", "skip")
        assert code == 0
        assert json.loads(out)["output"] == "a"
        assert "1 bad lines skipped" in err

    def test_a_style_that_you_built_can_be_written(self, capfd, tmp_path, monkeypatch):
        (tmp_path / "pirate.txt").write_text("\n".join(PIRATE) + "\n")
        code, _, err = run(capfd, "corpora", "build", str(tmp_path / "pirate.txt"), "--name", "pirate")
        assert code == 0, err
        code, out, _ = run(capfd, "rewrite", "What has the cook served?", "--corpus", "pirate", "--to", "pirate")
        assert code == 0
        assert "biscuit" in out

    def test_a_full_disk_is_one_line(self):
        if not os.path.exists("/dev/full"):
            pytest.skip("no /dev/full here")
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "restyle", "rewrite", "x", "--system", "copy", "--to", "y"],
                stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        assert done.returncode == 1
        assert (
            done.stderr
            == "restyle: cannot write stdout: the disk is full; free some space and run the same command again\n"
        )

    def test_several_candidates_do_not_fit_into_a_text_file(self, capfd, tmp_path):
        code, _, err = run(
            capfd, "rewrite", "x", "--system", "copy", "--to", "y", "--candidates", "2", "-o", str(tmp_path / "out.txt")
        )
        assert code == 2
        assert "out.txt cannot hold all of a result: name a .jsonl" in err

    def test_a_text_output_that_cannot_hold_a_result_can_be_had_as_records(self, capfd, tmp_path):
        lines = [{"id": str(n), "text": "a\nb" if n == 400 else f"sentence {n}"} for n in range(500)]
        (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        arguments = ["rewrite", "-i", str(tmp_path / "in.jsonl"), "--system", "copy", "--to", "y", "-o"]
        code, _, err = run(capfd, *arguments, str(tmp_path / "out.txt"))
        assert code == 1
        assert "holds a line break" in err
        move = err.partition("kept: mv ")[2].partition(",")[0].split()
        os.rename(*move)
        assert run(capfd, *arguments, str(tmp_path / "out.jsonl"))[0] == 0
        rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert [row["output"] for row in rows] == [line["text"] for line in lines]
        assert all(row["system"] == "copy" for row in rows)


class TestInterrupting:
    """A long run, stopped in the middle."""

    @pytest.fixture
    def long(self, tmp_path):
        (tmp_path / "long.txt").write_text("".join(f"Sentence number {n} isn't short.\n" for n in range(60_000)))
        return tmp_path / "long.txt"

    def begun(self, long, *options):
        """A run that has a few shards on the disk."""
        output = long.parent / "out.txt"
        command = [sys.executable, "-m", "restyle", "text", "tokenise", "-i", str(long), "-o", str(output), *options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        shards = long.parent / "out.txt.job" / "shards"
        while len(list(shards.glob("*.jsonl"))) < 3:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        return process, command

    def test_ctrl_c_says_that_nothing_is_lost_and_the_same_command_goes_on(self, long):
        process, command = self.begun(long)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err == "restyle: interrupted; the same command goes on where this one was\n"
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "were done by an earlier run" in done.stderr
        lines = (long.parent / "out.txt").read_text().splitlines()
        assert lines == [f"Sentence number {n} is n't short ." for n in range(60_000)]

    def test_other_options_do_not_go_on_with_what_these_have_done(self, long):
        process, _ = self.begun(long)
        process.kill()
        process.communicate()
        done = shell("text", "tokenise", "--style", "moses", "-i", str(long), "-o", str(long.parent / "out.txt"))
        assert done.returncode == 1
        assert "holds an unfinished job with" in done.stderr
        assert "--restart" in done.stderr
        again = shell(
            "text", "tokenise", "--style", "moses", "-i", str(long), "-o", str(long.parent / "out.txt"), "--restart"
        )
        assert again.returncode == 0
        assert "isn &apos;t short ." in (long.parent / "out.txt").read_text()


class TestText:
    def test_a_masked_name_comes_back_through_a_pipe_of_records(self, capfd, models):
        code, out, _ = run(capfd, "text", "mask", "Mary left London.")
        assert code == 0
        masked = json.loads(out)
        assert "Mary" not in masked["text"]
        done = shell("text", "unmask", input=out)
        assert json.loads(done.stdout)["text"] == "Mary left London."

    @pytest.mark.parametrize(
        ("arguments", "nearest"),
        [
            (["mask", "--kinds", "persn"], "person"),
            (["tokenise", "--style", "mose"], "moses"),
            (["language", "--engine", "lid167"], "lid176"),
        ],
    )
    def test_a_typo_in_an_option_is_wrong_use_and_writes_nothing(self, capfd, tmp_path, arguments, nearest):
        output = tmp_path / "out.jsonl"
        code, out, err = run(capfd, "text", *arguments, "some text", "-o", str(output))
        assert (code, out) == (2, "")
        assert f"did you mean {nearest}" in err
        assert not output.exists()

    def test_a_record_that_fails_is_set_aside_and_told_by_the_exit_code(self, capfd, tmp_path):
        records = [{"text": "Mary"}, {"text": "x", "entities": [["only one"]]}, {"text": "Ann"}]
        (tmp_path / "in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        code, _, err = run(capfd, "text", "unmask", "-i", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out.jsonl"))
        assert code == 1
        assert "3 records read, 2 written; 1 failed, set aside in" in err

    def test_segments_join_back_to_the_document(self, capfd, tmp_path):
        document = "# Tea\n\nIt is hot. Drink it.\n"
        (tmp_path / "tea.md").write_text(document)
        _, out, _ = run(capfd, "text", "segment", str(tmp_path / "tea.md"))
        pieces = [json.loads(line) for line in out.splitlines()]
        assert "".join(piece["text"] for piece in pieces) == document
        assert [piece["text"] for piece in pieces if piece["rewrite"]] == ["It is hot.", "Drink it."]

    def test_a_document_in_another_encoding_says_what_to_do(self, capfd, tmp_path):
        (tmp_path / "tea.md").write_bytes("Thé noir.".encode("latin-1"))
        code, _, err = run(capfd, "text", "segment", str(tmp_path / "tea.md"))
        assert code == 1
        assert err.endswith("tea.md is no text in utf-8: byte 3 is 0xe9; give its encoding, e.g. --encoding cp1252\n")
        code, out, _ = run(capfd, "text", "segment", str(tmp_path / "tea.md"), "--encoding", "cp1252")
        assert (code, json.loads(out.splitlines()[0])["text"]) == (0, "Thé noir.")

    def test_a_reader_that_has_seen_enough_is_no_error(self, tmp_path):
        (tmp_path / "long.txt").write_text("a sentence\n" * 50_000)
        command = f"{sys.executable} -m restyle text clean -i {tmp_path}/long.txt | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        assert done.stdout == "a sentence\n0\n"
        assert done.stderr == ""


class TestModels:
    def test_the_models_are_listed_with_their_licences(self, capfd):
        _, out, _ = run(capfd, "models", "ls", "--format", "json")
        rows = {row["model"]: row for row in json.loads(out)}
        assert rows["lid176"]["licence"] == "CC-BY-SA-3.0"
        assert rows["smollm2-135m"]["here"] is False

    def test_a_typo_costs_no_download(self, capfd):
        code, _, err = run(capfd, "models", "fetch", "smollm2-135m", "lid167")
        assert code == 2
        assert "did you mean lid176" in err


class TestDoctor:
    def test_it_knows_every_package_of_every_extra(self):
        declared = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
        extras = {
            extra: {re.split(r"[><=\[]", package)[0] for package in packages}
            for extra, packages in declared["optional-dependencies"].items()
            if extra not in ("all", "dev")
        }
        module_of = {"scikit-learn": "sklearn", "fasttext-predict": "fasttext"}
        assert {extra: set(modules) for extra, modules in EXTRAS.items()} == {
            extra: {module_of.get(package, package) for package in packages} for extra, packages in extras.items()
        }

    def test_it_says_what_is_here_and_what_to_do(self, capfd, monkeypatch, tmp_path):
        monkeypatch.setenv("RESTYLE_DATA", str(tmp_path / "absent"))
        code, out, _ = run(capfd, "doctor", "--format", "json")
        rows = {row["what"]: row for row in json.loads(out)}
        assert code == 0
        assert rows["cache"]["fine"]
        assert not rows["mirror"]["fine"]
        assert rows["[text]"]["state"] == "installed"
