"""`restyle study` as a user types it: a whole study without a browser, crowds, and what is refused."""

import csv
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

pytest.importorskip("sqlalchemy")

from restyle.cli import main  # noqa: E402
from restyle.study import _handing as handing  # noqa: E402
from restyle.study import load_protocol  # noqa: E402
from restyle.study._store import Store  # noqa: E402


@pytest.fixture
def run(capfd, tmp_path, monkeypatch):
    """Call `restyle study` in a folder of its own: exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["study", *map(str, arguments)])
        out, err = capfd.readouterr()
        return stop.value.code, out, err

    for system in ("ours", "theirs"):
        lines = [
            {
                "id": str(row), "input": f"sentence {row}", "output": f"{system} says {row}, with a comma",
                "style": "modern", "target": "old", "scores": {"acc": row % 2, "sim": row / 10},
            }
            for row in range(10)
        ]  # fmt: skip
        (tmp_path / f"{system}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return call


def begun(run, *arguments, protocol="strap", items=4, raters=1):
    code, out, err = run(
        "new", "ours.jsonl", "theirs.jsonl", "--protocol", protocol, "--items", items, "--raters", raters, *arguments
    )
    assert code == 0, err
    return out, err


def token_of(line):
    return line.rpartition("#")[2].strip()


def work(name, answers):
    """Judge everything in the store as a rater would; the answers by question."""
    store = Store("study.sqlite")
    rater = store.raters()[name]
    while (task := handing.next_task(store, rater)) is not None:
        handing.answer(store, rater, task.seat, task.turn, answers, seconds=3, version=store.protocol.version)
    store.close()


class TestAStudy:
    def test_from_the_sample_to_the_table(self, run):
        out, err = begun(run, "--seed", 1)
        assert re.fullmatch(r"admin\thttp://127\.0\.0\.1:8765/admin#[\w-]{32}\n", out)
        assert "8 items of 2 systems (0 labelled without asking), 0 controls, in study.sqlite" in err
        code, out, _ = run("invite", "ann", "--url", "https://study.example.org/")
        assert code == 0
        assert re.fullmatch(r"ann\thttps://study\.example\.org/#[\w-]{24}\n", out)
        work("ann", {"paraphrase": "2"})
        code, out, _ = run("status")
        assert "8 of 8 (100.0%)" in out
        code, out, _ = run("report", "--resamples", 20)
        assert code == 0
        assert "100.0 ±0.0" in out

    def test_the_settings_of_a_sample_can_be_a_file(self, run, tmp_path):
        (tmp_path / "mine.toml").write_text("items = 3\nraters = 2\nseed = 5\n")
        code, _, err = run("new", "ours.jsonl", "--config", "mine.toml")
        assert (code, "3 items of 1 systems" in err) == (0, True)
        store = Store("study.sqlite")
        assert (store.raters_wanted, store.settings.seed) == (2, 5)
        store.close()

    def test_the_report_comes_in_every_format(self, run, tmp_path):
        begun(run)
        run("invite", "ann")
        work("ann", {"paraphrase": "1"})
        starts = {"text": "Votes\n", "json": "{", "jsonl": '{"table"', "markdown": "### Votes", "latex": "% Votes"}
        for format, start in starts.items():
            code, out, _ = run("report", "--resamples", 5, "--format", format)
            assert code == 0
            assert out.startswith(start)
        _, _, err = run("report", "--resamples", 5, "--html", "people.html")
        assert "wrote people.html" in err
        assert "<svg" in (tmp_path / "people.html").read_text()

    def test_metrics_are_held_against_people(self, run):
        begun(run, items=9)
        run("invite", "ann")
        store = Store("study.sqlite")
        rater = store.raters()["ann"]
        while (task := handing.next_task(store, rater)) is not None:
            said = "2" if task.item.score("sim") > 0.4 else "0"
            handing.answer(store, rater, task.seat, task.turn, {"paraphrase": said}, seconds=3, version="")
        store.close()
        code, out, _ = run("correlate", "--metric", "sim", "--resamples", 10, "--format", "jsonl")
        found = {(row["level"], row["statistic"]): row for row in map(json.loads, out.splitlines())}
        assert code == 0
        assert found["sentence", "Spearman"]["value"] > 0.8
        assert {row["people"] for row in found.values()} == {"SIM"}

    def test_a_saved_scorecard_brings_systems_and_verdicts(self, run, tmp_path):
        with pytest.raises(SystemExit):
            main(["score", "ours.jsonl", "--metrics", "self-bleu", "--resamples", "0", "--save", "ours.card"])
        assert run("new", "ours.card", "--items", 3)[0] == 0
        store = Store("study.sqlite")
        assert all(item.score("self-bleu") is not None for item in store.items.values())
        store.close()

    def test_a_lost_link_is_renewed_and_a_rater_stopped(self, run):
        first_admin = token_of(begun(run)[0])
        first = token_of(run("invite", "ann")[1])
        again = token_of(run("invite", "ann", "--renew")[1])
        admin = token_of(run("invite", "--admin")[1])
        store = Store("study.sqlite")
        assert store.rater(first) is None
        assert store.rater(again) == store.raters()["ann"]
        assert store.is_admin(admin)
        assert not store.is_admin(first_admin)
        assert run("stop", "ann")[:2] == (0, "ann: stopped\n")
        assert store.rater(again) is None
        store.close()

    def test_an_item_is_reopened(self, run):
        begun(run)
        run("invite", "ann")
        work("ann", {"paraphrase": "0"})
        assert run("reopen", "00001", "00002")[:2] == (0, "00001: 1 withdrawn\n00002: 1 withdrawn\n")
        assert "6 of 8" in run("status")[1]

    def test_protocols_are_listed_and_printed_for_a_start(self, run, tmp_path):
        _, out, _ = run("protocols", "--format", "jsonl")
        assert {json.loads(line)["protocol"] for line in out.splitlines()} >= {"strap", "xu", "li"}
        _, out, _ = run("protocols", "strap")
        (tmp_path / "mine.toml").write_text(out)
        assert load_protocol("mine.toml") == load_protocol("strap")

    def test_status_for_programs_holds_no_token(self, run):
        begun(run)
        token = token_of(run("invite", "ann")[1])
        _, out, _ = run("status", "--format", "json")
        assert json.loads(out)[0]["wanted"] == 8
        assert token not in out


class TestCrowds:
    def results(self, rows, path="results.csv"):
        with open(path, "w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        return path

    def batch(self, run):
        assert run("export", "--batch", "batch.csv")[0] == 0
        with open("batch.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_batch_shows_what_the_page_shows_and_no_system(self, run, tmp_path):
        begun(run, raters=3)
        rows = self.batch(run)
        assert list(rows[0]) == ["item", "wanted", "input", "output"]
        assert len(rows) == 8
        assert {row["wanted"] for row in rows} == {"3"}

    def test_what_mturk_sends_back_is_imported_once(self, run):
        begun(run)
        rows = [
            {
                "HITId": "h", "WorkerId": f"A{number % 2}", "AssignmentStatus": "Approved",
                "WorkTimeInSeconds": "12", "Input.item": row["item"], "Input.output": row["output"],
                "Answer.paraphrase": "2" if number else "A grammatical paraphrase",
            }
            for number, row in enumerate(self.batch(run))
        ]  # fmt: skip
        rows.append({**rows[0], "WorkerId": "A9", "AssignmentStatus": "Rejected"})
        path = self.results(rows)
        assert "8 votes written, 0 were there already" in run("import", path)[2]
        assert "0 votes written, 8 were there already" in run("import", path)[2]
        assert "8 of 8" in run("status")[1]
        store = Store("study.sqlite")
        votes = store.judged().votes
        store.close()
        assert {vote.rater for vote in votes} == {"A0", "A1"}
        assert {(vote.seconds, vote.answers["paraphrase"]) for vote in votes} == {(12.0, "2")}
        assert "nothing is left" in run("export", "--batch", "batch.csv")[2]

    def test_answers_in_one_cell_are_understood(self, run):
        begun(run)
        first = self.batch(run)[0]["item"]
        said = json.dumps([{"paraphrase": {"0": False, "1": True, "2": False}}])
        path = self.results([{"WorkerId": "w", "Input.item": first, "Answer.taskAnswers": said}])
        assert run("import", path)[0] == 0
        assert json.loads(run("export")[1].splitlines()[0])["labels"] == {"paraphrase": "1"}

    def test_a_survey_of_prolific_names_its_columns(self, run):
        begun(run)
        first = self.batch(run)[0]["item"]
        path = self.results([{"Participant id": "5f", "item": first, "Q1": "no paraphrase", "Time taken": "4.5"}])
        assert run("import", path, "--answer", "paraphrase=Q1")[0] == 0
        (vote,) = json.loads(run("export")[1].splitlines()[0])["votes"]
        assert vote == {"rater": "5f", "answers": {"paraphrase": "0"}, "seconds": 4.5, "version": ""}

    def test_sides_of_a_pair_are_turned_back(self, run):
        begun(run, protocol="pang-gimpel-preference", items=9)
        rows = self.batch(run)
        assert {row["output_a"].split()[0] for row in rows} == {"ours", "theirs"}
        # Always for ours, wherever it stands.
        path = self.results(
            [
                {"WorkerId": "w", "Input.item": row["item"], "Answer.preference": "AB"["ours" in row["output_b"]]}
                for row in rows
            ]
        )
        assert run("import", path)[0] == 0
        labels = {json.loads(line)["labels"]["preference"] for line in run("export")[1].splitlines()}
        assert labels == {"first"}

    def test_more_judgements_than_were_wanted_are_kept(self, run):
        begun(run)
        first = self.batch(run)[0]["item"]
        rows = [{"WorkerId": f"w{number}", "Input.item": first, "Answer.paraphrase": "2"} for number in range(4)]
        assert "4 votes written" in run("import", self.results(rows))[2]

    def test_raw_judgements_that_no_batch_was_made_for_become_a_study(self, run):
        rows = [
            {"system": "ours", "input": f"i{row}", "output": f"o{row}", "rater": rater, "paraphrase": value}
            for row in range(3)
            for rater, value in zip("abc", ("2", "2", "1"), strict=True)
        ]
        code, out, err = run("import", self.results(rows), "--new", "--protocol", "strap")
        assert code == 0, err
        assert "3 items, 9 votes" in err
        assert out.startswith("admin\t")
        assert "100.0" in run("report", "--resamples", 5)[1]

    def test_raw_judgements_bring_the_styles_that_a_question_asks_for(self, run):
        rows = [
            {
                "system": "ours", "input": f"i{row}", "output": f"o{row}", "style": style, "rater": "a",
                "grammar": "5", "coherence": "4", "attribute": "female",
            }
            for row, style in enumerate(["female", "male"])
        ]  # fmt: skip
        assert run("import", self.results(rows), "--new", "--protocol", "xu")[0] == 0
        assert "50.0" in run("report", "--resamples", 5)[1]
        code, _, err = run(
            "import", self.results([{**rows[0], "style": ""}]), "--new", "--protocol", "xu", "--store", "b"
        )
        assert code != 0
        assert "attribute" in err

    def test_an_export_moves_to_another_store(self, run):
        begun(run)
        run("invite", "ann")
        work("ann", {"paraphrase": "1"})
        assert run("export", "-o", "judged.jsonl")[0] == 0
        assert run("import", "judged.jsonl", "--new", "--store", "other.sqlite")[0] == 0
        assert run("export", "--store", "other.sqlite")[1] == run("export")[1]
        assert "0 votes written, 8 were there already" in run("import", "judged.jsonl")[2]

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ({"WorkerId": "w", "Input.item": "99", "Answer.paraphrase": "1"}, "row 1: the study has no item '99'"),
            ({"WorkerId": "w", "Answer.paraphrase": "1"}, "row 1 has no item (looked in Input.item, item)"),
            ({"Input.item": "00001", "Answer.paraphrase": "1"}, "row 1 has no rater"),
            ({"WorkerId": "w", "Input.item": "00001"}, "row 1 has no answer to 'paraphrase'"),
            ({"WorkerId": "w", "Input.item": "00001", "paraphrase": "7"}, "'7' is no answer to 'paraphrase'"),
            *(
                (
                    {"WorkerId": "w", "Input.item": "00001", "paraphrase": "1", "seconds": seconds},
                    f"'{seconds}' is no number of seconds",
                )
                for seconds in ("long", "nan", "-1")
            ),
        ],
    )
    def test_a_row_that_cannot_be_read_stops_the_import_whole(self, run, row, message):
        begun(run)
        code, _, err = run("import", self.results([row]))
        assert code == 1
        assert message in err
        assert err.count("\n") == 1


class TestWrongUse:
    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["new"], 2, "no outputs were given"),
            (["new", "none.jsonl"], 1, "none.jsonl"),
            (["new", "ours.jsonl", "--protocol", "strapp"], 2, "did you mean strap?"),
            (["new", "ours.jsonl", "--items", "999"], 1, "ask for fewer (--items)"),
            (["new", "ours.jsonl", "--items", "0"], 2, "items"),
            (["new", "ours.jsonl", "--protocol", "xu", "--choices", "attribute"], 2, "QUESTION=ONE,OTHER"),
            (["new", "ours.jsonl", "--items", "2", "--store", "mysql://x/y"], 2, "postgresql:// URL"),
            (["new", "ours.jsonl", "--items", "2", "--controls", "ours.jsonl"], 1, "has no 'answers'"),
            (["new", "ours.jsonl", "--items", "2", "--controls", "broken.jsonl"], 1, "broken.jsonl, line 1: not JSON"),
            (["invite"], 2, "give the names of raters"),
            (["invite", "ann"], 1, "there is no study in study.sqlite; begin one with: restyle study new"),
            (["serve"], 1, "there is no study"),
            (["status"], 1, "there is no study"),
            (["report"], 1, "there is no study"),
            (["report", "none.jsonl"], 1, "none.jsonl"),
            (["report", "x.jsonl", "--published", "strap-mturk"], 2, "choose one"),
            (["report", "--published", "strap"], 2, "strap-mturk"),
            (["export", "--batch", "batch.jsonl"], 2, "is a .csv"),
            (["import", "x.csv", "--new"], 2, "name the --protocol"),
            (["import", "x.csv", "--protocol", "strap"], 2, "goes with --new"),
        ],
    )
    def test_what_is_wrong_is_told_in_one_line(self, run, tmp_path, arguments, code, message):
        (tmp_path / "broken.jsonl").write_text("{\n")
        got, out, err = run(*arguments)
        assert (got, out) == (code, "")
        assert message in err
        assert err.count("\n") == 1
        assert not (tmp_path / "study.sqlite").exists()

    def test_a_study_is_not_written_over(self, run):
        begun(run)
        code, _, err = run("new", "ours.jsonl", "--items", 2)
        assert (code, "exists already" in err) == (2, True)

    def test_an_unknown_rater_and_item_are_told(self, run):
        begun(run)
        run("invite", "ann")
        assert "did you mean ann?" in run("stop", "an")[2]
        assert "there is no item '9'" in run("reopen", "9")[2]
        assert "nobody has judged" in run("report")[2]
        assert "already" in run("invite", "ann")[2]
        assert "no rater is called 'bob'" in run("invite", "bob", "--renew")[2]


def asked(url, token):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


class TestServing:
    def test_it_serves_at_the_loopback_until_it_is_interrupted(self, run, tmp_path):
        pytest.importorskip("uvicorn")
        begun(run)
        token = token_of(run("invite", "ann")[1])
        command = [sys.executable, "-m", "restyle", "study", "serve", "--port", "0"]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        try:
            told = server.stderr.readline()
            url = re.search(r"http://127\.0\.0\.1:\d+/", told)[0]
            for _ in range(100):
                try:
                    assert asked(f"{url}api/study", token)["version"]
                    break
                except urllib.error.URLError:
                    time.sleep(0.05)
            server.send_signal(signal.SIGINT)
            assert server.wait(10) in (0, 130)
            assert "Traceback" not in server.stderr.read()
        finally:
            server.kill()
            server.stderr.close()
            server.wait()

    def test_a_port_that_is_taken_is_told(self, run):
        begun(run)
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            code, _, err = run("serve", "--port", other.getsockname()[1])
        assert code == 1
        assert "try another --port" in err


def test_help_does_not_need_a_database(run):
    # What a verb needs is imported when it runs, so that its help is drawn everywhere.
    script = "import sys; sys.modules['sqlalchemy'] = None; from restyle.cli import main; main(['study', '--help'])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ}, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "correlate" in done.stdout
