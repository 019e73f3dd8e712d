"""The cross-aligned models as a user types them: learn, select, rewrite, validate; mistakes included."""

import json
import random

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")

from test_cross_aligned import SAID, corpus  # noqa: E402

from restyle import corpora  # noqa: E402
from restyle.cli import main  # noqa: E402
from restyle.metrics import similarity_glove  # noqa: E402
from restyle.rewriters.strap.learning import LearnSettings  # noqa: E402
from restyle.study._items import Judged  # noqa: E402
from restyle.study._validation import preferences, read_ratings, validation  # noqa: E402

TINY = {
    "style_dim": 3, "content_dim": 6, "word_dim": 4, "filters": 2, "max_words": 10, "min_count": 1, "batch_size": 8,
    "dev_sentences": 6, "cnn.filters": 3, "cnn.word_dim": 6, "cnn.fit.epochs": 3, "lm.hidden": 6, "lm.word_dim": 5,
    "lm.fit.epochs": 2, "learning_rate": 0.01,
}  # fmt: skip


# A classifier that has learned its styles.
SURE = ["--with", "cnn.fit.epochs=12", "--with", "cnn.fit.learning_rate=0.03", "--with", "cnn.fit.batch_size=8"]


class _Vectors:
    """A vector for every word, made of its letters."""

    def __getitem__(self, word):
        return np.random.default_rng(sum(map(ord, word))).normal(size=8).astype(np.float32)


@pytest.fixture(autouse=True)
def small_world(monkeypatch, one_torch_thread):
    monkeypatch.setattr(corpora, "load", lambda name: corpus())
    monkeypatch.setattr(similarity_glove, "word_vectors", lambda named: _Vectors())


@pytest.fixture
def restyle(capfd):
    """Exit code, stdout and stderr of a command."""

    def restyle(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(each) for each in arguments])
        return stop.value.code, *capfd.readouterr()

    return restyle


def learned(restyle, folder, model="M0", *more):
    settings = [part for key, value in TINY.items() for part in ("--with", f"{key}={value}")]
    command = ("learn", "--system", f"cross-aligned:{model}", "--corpus", "toy", "-o", folder, "--epochs", 2)
    return restyle(*command, *settings, *more)


def test_a_model_is_learned_chosen_and_used(restyle, tmp_path):
    code, out, err = learned(restyle, tmp_path / "runs" / "m2", "M2", "--stop", "gm")
    assert code == 0, err
    assert out.startswith("M2 at epoch ")
    assert f"restyle rewrite --system {tmp_path / 'runs' / 'm2'} --to bad" in out
    assert "gauges of toy: accuracy" in err
    rows = [json.loads(line) for line in (tmp_path / "runs" / "m2" / "trajectory.jsonl").read_text().splitlines()]
    assert [set(row) for row in rows] == [{"step", "epoch", "acc", "sim", "meteor", "pp", "gm", "losses"}] * 4
    assert [row["epoch"] for row in rows] == [0.4, 1.0, 1.4, 2.0]

    code, out, err = restyle("select", tmp_path / "runs" / "m2", "--by", "sim=0.5", "--format", "json")
    assert code == 0, err
    (row,) = json.loads(out)
    nearest = min(rows, key=lambda point: abs(point["sim"] - 0.5))
    assert row["epoch"] == nearest["epoch"]
    assert row["why"].startswith("its Sim, ")

    code, out, err = restyle("rewrite", "--system", tmp_path / "runs" / "m2", "--to", "bad", "the food was great .")
    assert code == 0, err
    assert len(out.splitlines()) == 1
    code, out, err = restyle(
        "rewrite", "--system", tmp_path / "runs" / "m2", "--to", "bad", "--candidates", 3, "the food was great ."
    )
    assert (code, len(out.splitlines())) == (0, 3), err


def test_a_flag_that_says_what_is_the_default_of_strap_counts(restyle, tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr("restyle.cli._learning_cross_aligned.learn", lambda order: given.append(order.values) or [])
    (tmp_path / "settings.toml").write_text("epochs = 4\n")
    command = ("learn", "--system", "cross-aligned:M2", "--corpus", "toy", "-o", tmp_path / "m2")
    for more in ((), ("--epochs", LearnSettings().epochs, "--seed", 0), ("--config", tmp_path / "settings.toml")):
        code, _, err = restyle(*command, *more)
        assert code == 0, err
    assert given == [{}, {"epochs": 3, "seed": 0}, {"epochs": 4}]


def test_several_trainings_are_put_side_by_side_and_drawn(restyle, tmp_path):
    for model in ("M0", "M6"):
        assert learned(restyle, tmp_path / "runs" / model, model)[0] == 0
    weights = (tmp_path / "runs" / "M0" / "model.safetensors").read_bytes()
    pytest.importorskip("matplotlib")
    code, out, err = restyle(
        "select", tmp_path / "runs", "--by", "acc=0.5", "--plot", tmp_path / "t.png", "--format", "json"
    )
    assert code == 0, err
    assert [row["model"] for row in json.loads(out)] == ["M0", "M6"]
    assert (tmp_path / "t.png").stat().st_size > 1000
    assert (tmp_path / "runs" / "M0" / "model.safetensors").read_bytes() == weights, "nothing is chosen of several"
    code, _, err = restyle("select", tmp_path / "runs", "-o", tmp_path / "one")
    assert (code, "2 trainings were given, and -o is for the model of one" in err) == (2, True)


def test_gauges_are_trained_by_themselves_and_asked_by_their_folder(restyle, tmp_path):
    settings = [part for key, value in TINY.items() for part in ("--with", f"{key}={value}")]
    code, out, err = restyle("judge", "gauges", "toy", "-o", tmp_path / "gauges", *settings)
    assert (code, out.strip()) == (0, str(tmp_path / "gauges")), err
    (tmp_path / "out.jsonl").write_text(
        json.dumps({"input": "the food was great .", "output": "the food was cold .", "target": "bad"}) + "\n"
    )
    names = f"acc-cnn={tmp_path / 'gauges'},pp={tmp_path / 'gauges'},sim-glove"
    code, out, err = restyle("score", tmp_path / "out.jsonl", "--metrics", names, "--no-baselines", "--format", "json")
    assert code == 0, err
    (system,) = json.loads(out)["systems"]
    assert {"acc-cnn", "pp", "sim-glove", "GM_t"} <= set(system["numbers"])
    code, _, err = restyle("score", tmp_path / "out.jsonl", "--metrics", "bleu=x", "--no-baselines")
    assert (code, "the metric bleu takes no model" in err) == (2, True)


POINT = {"step": 1, "epoch": 0.5, "acc": 0.5, "sim": 0.5, "meteor": 0.5, "pp": None, "gm": 0.0, "losses": {}}


def test_runs_of_one_name_are_told_apart_by_their_paths_and_an_endless_perplexity_is_shown(restyle, tmp_path):
    pytest.importorskip("matplotlib")
    runs = [tmp_path / place for place in ("a/m2", "b/m2", "b/m3")]
    for run in runs:
        run.mkdir(parents=True)
        (run / "trajectory.jsonl").write_text(json.dumps(POINT) + "\n")
    code, out, err = restyle("select", *runs, runs[0], "--plot", tmp_path / "t.png", "--format", "jsonl")
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["model"], row["pp"]) for row in rows] == [("a/m2", None), ("b/m2", None), ("m3", None)]


def test_a_broken_trajectory_is_said_in_one_line(restyle, tmp_path):
    (tmp_path / "trajectory.jsonl").write_text(json.dumps(POINT)[:40])
    code, _, err = restyle("select", tmp_path)
    assert (code, "trajectory.jsonl, line 1: not JSON" in err, len(err.splitlines())) == (1, True, 1), err


COMMAND = ["--system", "cross-aligned:M0", "--corpus", "toy", "-o", "x"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--system", "cross-aligned:M8", *COMMAND[2:]],
            "no cross-aligned model is called 'M8'; there are: M0, M1, M2",
        ),
        (
            ["--system", "aligned", *COMMAND[2:]],
            "no system that learns from a corpus is called 'aligned'; did you mean",
        ),
        (COMMAND[:2] + COMMAND[4:], "learns from a corpus into a folder: name it with --corpus"),
        (COMMAND[:4], "learns from a corpus into a folder: name it with --output"),
        ([*COMMAND, "--rank", "4"], "--rank: not for --system cross-aligned:M0"),
        ([*COMMAND, "--rank", "32"], "--rank: not for --system cross-aligned:M0"),
        ([*COMMAND, "--epochs", "2.5"], "--epochs 2.5: cross-aligned:M0 goes through its corpus a whole number of"),
        ([*COMMAND, "--epochs", "0.5"], "--epochs 0.5: cross-aligned:M0 goes through its corpus a whole number of"),
        ([*COMMAND, "a.txt"], "texts: not for --system"),
        ([*COMMAND, "--with", "xi=3"], "no setting is called 'xi'"),
        ([*COMMAND, "--with", "penalty=nan"], "penalty is not a number"),
        ([*COMMAND, "--stop", "bleu"], "write gm, acc=0.8 or sim=0.8"),
        ([*COMMAND, "--with", "model=M1"], "the model is M0 in --system"),
        (["a.txt", "--name", "x", "--corpus", "toy"], "--corpus is for systems that learn from a corpus"),
    ],
)
def test_what_cannot_be_learned_is_said_in_one_line(restyle, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = restyle("learn", *arguments)
    assert (code, said in err, len(err.splitlines())) == (2, True, 1), err


def test_a_system_that_is_learned_cannot_be_used_without_its_folder(restyle, tmp_path):
    code, _, err = restyle("rewrite", "--system", "cross-aligned", "--to", "bad", "x")
    assert (code, "name the folder of a model of it (restyle learn)" in err) == (2, True)
    code, _, err = restyle("select", tmp_path)
    assert (code, "holds no training" in err) == (1, True)


def ratings(file, count=60):
    """Ratings of raters who see what is to be seen: the style by its words, the content by its nouns."""
    generator = random.Random(5)
    lines = ["input\toutput\ttarget\tsystem\tgrammaticality\tstyle\ttopic"]
    for number in range(count):
        noun = generator.choice(("food", "soup", "room"))
        source = f"the {noun} was {generator.choice(SAID['good'])} and number {number} ."
        for system, kept, turned in (("keeps", 1, 0), ("turns", 0, 1), ("both", 1, 1)):
            noun_out = noun if kept else "staff"
            word = generator.choice(SAID["bad" if turned else "good"])
            output = f"the {noun_out} was {word} and number {number} ." if kept else f"the {noun_out} was {word} ."
            said = (5 if kept else 4, 5 if turned else 1, 5 if kept else 2)
            lines.append("\t".join([source, output, "bad", system, *map(str, said)]))
    file.write_text("\n".join(lines) + "\n")
    return file


def test_measures_are_held_against_ratings_and_preferences_made_of_them(restyle, tmp_path):
    pytest.importorskip("scipy")
    assert learned(restyle, tmp_path / "runs" / "m0", "M0", *SURE)[0] == 0
    gauges, file = tmp_path / "runs" / "gauges", ratings(tmp_path / "ratings.tsv")
    code, out, err = restyle("thresholds", "validate", file, "--gauges", gauges, "--resamples", 20, "--format", "json")
    assert code == 0, err
    rows = json.loads(out)
    match = next(row for row in rows if row["statistic"] == "match")
    assert match["value"] > 0.9 and match["n"] == 180
    content = next(
        row for row in rows if (row["metric"], row["level"], row["statistic"]) == ("sim-glove", "sentence", "Spearman")
    )
    assert 0 < content["low"] <= content["value"] <= content["high"] <= 1
    assert {row["level"] for row in rows} == {"sentence", "system"}

    code, _, err = restyle("thresholds", "derive", file, "--gauges", gauges, "-o", tmp_path / "prefs.tsv")
    assert (code, "restyle: 120 pairs" in err) == (0, True), err
    code, out, err = restyle("thresholds", "learn", tmp_path / "prefs.tsv", "--format", "json")
    assert code == 0, err
    assert json.loads(out)[1]["agrees"] > 0.6


def test_rows_that_are_no_ratings_are_named(tmp_path):
    from restyle.errors import InputError

    for line, said in (
        ("a\tb\tbad\t6", "row 1: style is '6'; a rating from 1 to 5 was expected"),
        ("a\tb\tbad\t", "row 1 has no rating"),
    ):
        (tmp_path / "r.tsv").write_text(f"input\toutput\ttarget\tstyle\n{line}\n")
        with pytest.raises(InputError, match=said):
            read_ratings(tmp_path / "r.tsv")
    (tmp_path / "r.tsv").write_text("input\toutput\tstyle\na\tb\t3\n")
    with pytest.raises(InputError, match="row 1 has no target"):
        read_ratings(tmp_path / "r.tsv")


def test_several_raters_of_one_output_are_votes_on_it(tmp_path):
    (tmp_path / "r.tsv").write_text(
        "input\toutput\ttarget\tsystem\trater\tgrammar\tstyle\tcontent\n"
        "a\tb\tbad\tone\tx\t5\t5\t5\na\tb\tbad\tone\ty\t3\t4\t5\na\tc\tbad\ttwo\tx\t1\t1\t1\n"
    )
    judged = read_ratings(tmp_path / "r.tsv")
    assert [len(votes) for votes in judged.of_item.values()] == [2, 1]
    judged.save(tmp_path / "study.jsonl")
    again = read_ratings(tmp_path / "study.jsonl")
    assert [item.id for item in again.items] == [item.id for item in judged.items]
    assert list(preferences(again)) == [], "outputs that nobody measured make no preference"
    assert isinstance(again, Judged) and callable(validation)
