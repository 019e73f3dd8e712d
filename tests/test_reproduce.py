"""A recipe is done step by step, what has not changed is left out, and the paper's numbers stand beside ours."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from restyle.cli import main
from restyle.cli._recipe import read_recipe
from restyle.records import read_records, write_records

RECIPES = sorted((Path(__file__).parent.parent / "recipes").glob("*/*.toml"))
HEAD = 'title = "toy"\n[values]\nmetrics = "copy-rate"\n'
STEP = """
[[step]]
output = "out.jsonl"
run = "rewrite --system copy --to plain -i {here}/in.txt -o {output}"
"""
RECIPE = (
    HEAD
    + STEP
    + """
[[step]]
output = "card"
run = "score {run}/out.jsonl --metrics {metrics},length-ratio --no-baselines --save {output}"

[[step]]
output = "clean.txt"
run = "text clean -i {here}/in.txt"

[[table]]
title = "Table 0"
columns = ["COPIED", "LENGTH"]
take = ["copy-rate", "length-ratio"]
scale = [100, 1]
differs = "three sentences where the paper has thousands"
row = [
  { name = "COPY", paper = [100.0, 1.0], of = "card" },
  { name = "STRAP", paper = [2.5, 0.9] },
]
"""
)
SENTENCES = ["The lamp went out .", "Nobody moved .", "Somebody laughed ."]


@pytest.fixture
def recipe(tmp_path):
    """A recipe with its input beside it; written with other text when it is given some."""

    def recipe(text=RECIPE, sentences=SENTENCES):
        (tmp_path / "in.txt").write_text("\n".join(sentences) + "\n")
        (tmp_path / "toy.toml").write_text(text)
        return tmp_path / "toy.toml"

    return recipe


@pytest.fixture
def reproduce(capfd, tmp_path):
    """Exit code, stdout and stderr of `restyle reproduce`."""

    def reproduce(file, *options):
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", str(file), "--run", str(tmp_path / "run"), *options])
        return stop.value.code, *capfd.readouterr()

    return reproduce


def begun(err):
    """The steps that were done, and not left out."""
    return [line.split()[1] for line in err.splitlines() if line.endswith("…")]


class TestTheSteps:
    def test_each_makes_what_it_names_and_the_tables_stand_beside_the_papers(self, recipe, reproduce, tmp_path):
        code, out, err = reproduce(recipe())
        assert (code, begun(err)) == (0, ["out.jsonl", "card", "clean.txt"])
        assert [record["text"] for record in read_records(tmp_path / "run" / "out.jsonl", text_column="output")] == (
            SENTENCES
        )
        assert (tmp_path / "run" / "clean.txt").read_text().startswith("The lamp went out.\n")
        assert [line.split() for line in out.splitlines()[2:6]] == [
            ["system", "from", "COPIED", "LENGTH"],
            ["COPY", "paper", "100.0", "1.00"],
            ["COPY", "here", "100.0", "1.00"],
            ["STRAP", "paper", "2.5", "0.90"],
        ]
        assert "what differs: three sentences where the paper has thousands" in out

    def test_what_has_not_changed_is_left_out(self, recipe, reproduce):
        first = reproduce(recipe())
        again = reproduce(recipe())
        assert begun(again[2]) == []
        assert again[1] == first[1]

    def test_a_changed_input_is_done_again_with_all_that_comes_of_it(self, recipe, reproduce):
        reproduce(recipe())
        _, _, err = reproduce(recipe(sentences=[*SENTENCES, "A dog barked ."]))
        assert begun(err) == ["out.jsonl", "card", "clean.txt"]

    def test_a_changed_step_is_done_again_and_the_others_are_not(self, recipe, reproduce):
        reproduce(recipe())
        _, _, err = reproduce(recipe(RECIPE.replace("length-ratio", "unigram-f1")))
        assert begun(err) == ["card"]

    def test_a_lost_output_is_made_again(self, recipe, reproduce, tmp_path):
        reproduce(recipe())
        (tmp_path / "run" / "clean.txt").unlink()
        assert begun(reproduce(recipe())[2]) == ["clean.txt"]

    def test_values_can_be_changed(self, recipe, reproduce):
        file = recipe(RECIPE.replace('"copy-rate"\n', '"unigram-f1"\n'))
        _, out, _ = reproduce(file, "--set", "metrics=copy-rate", "--format", "json")
        (table,) = json.loads(out)
        assert table["rows"][1] == {"system": "COPY", "from": "here", "COPIED": 100.0, "LENGTH": 1.0}

    def test_they_can_be_listed_without_being_done(self, recipe, reproduce, tmp_path):
        code, out, _ = reproduce(recipe(), "--steps")
        assert code == 0
        assert "rewrite --system copy --to plain" in out
        assert not (tmp_path / "run").exists()

    def test_a_step_is_done_for_each_entry_of_its_list(self, recipe, reproduce, tmp_path):
        text = HEAD + '[each]\nstyles = [{ to = "plain" }, { to = "odd" }]\n'
        text += STEP.replace('"out.jsonl"', '"{to}.jsonl"\neach = "styles"').replace("--to plain", "--to {to}")
        text += '[[step]]\noutput = "both.jsonl"\njoin = ["plain.jsonl", "odd.jsonl"]\n'
        _, _, err = reproduce(recipe(text))
        assert begun(err) == ["plain.jsonl", "odd.jsonl", "both.jsonl"]
        both = [json.loads(line) for line in (tmp_path / "run" / "both.jsonl").read_text().splitlines()]
        assert [record["target"] for record in both] == ["plain"] * 3 + ["odd"] * 3

    def test_an_entry_may_name_a_value(self, recipe, reproduce, tmp_path):
        text = HEAD + '[each]\nstyles = [{ to = "{metrics}" }]\n'
        text += STEP.replace('"out.jsonl"', '"{to}.jsonl"\neach = "styles"').replace("--to plain", "--to {to}")
        assert begun(reproduce(recipe(text))[2]) == ["copy-rate.jsonl"]
        code, _, err = reproduce(recipe(text.replace("{metrics}", "{metrisc}")))
        assert code == 2
        assert "did you mean metrics" in err

    def test_rows_of_an_output_are_picked(self, recipe, reproduce, tmp_path):
        text = HEAD + STEP + '[[step]]\noutput = "some.jsonl"\nrows = "out.jsonl"\nadds = { target = "odd" }\n'
        text += 'fields = { text = "input", deep = "scores.a" }\nwhere = { index = { least = 2 } }\n'
        file = recipe(text)
        records = [
            {"id": "a", "input": "One.", "output": "1", "index": 1, "scores": {"a": 5}},
            {"id": "b", "input": "Two.", "output": "2", "index": 2, "scores": {"a": 6}},
            {"id": "c", "input": "Three.", "output": "3", "index": 3, "scores": {}},
        ]
        (tmp_path / "run").mkdir()
        file.write_text(text.replace(STEP, '[[step]]\noutput = "out.jsonl"\njoin = ["given.jsonl"]\n'))
        write_records(tmp_path / "run" / "given.jsonl", records)
        assert reproduce(file)[0] == 0
        picked = [json.loads(line) for line in (tmp_path / "run" / "some.jsonl").read_text().splitlines()]
        assert picked == [{"id": "b", "text": "Two.", "deep": 6, "target": "odd"}]

    def test_every_so_manieth_row_is_picked_of_those_that_fit(self, recipe, reproduce, tmp_path):
        text = HEAD + '[[step]]\noutput = "out.jsonl"\njoin = ["given.jsonl"]\n'
        text += '[[step]]\noutput = "some.jsonl"\nrows = "out.jsonl"\nwhere = { index = { least = 2 } }\nevery = 3\n'
        (tmp_path / "run").mkdir()
        write_records(tmp_path / "run" / "given.jsonl", [{"id": str(n), "text": "x", "index": n} for n in range(10)])
        assert reproduce(recipe(text))[0] == 0
        picked = [json.loads(line) for line in (tmp_path / "run" / "some.jsonl").read_text().splitlines()]
        assert [row["index"] for row in picked] == [2, 5, 8]

    def test_killed_in_a_step_it_goes_on_there(self, recipe, tmp_path):
        """The rewriting is killed after some of its shards, by a job that is no more."""
        many = [f"Sentence number {number} ." for number in range(2000)]
        file, run = recipe(RECIPE, many), tmp_path / "run"
        for moment in ("kill", ""):
            command = [sys.executable, __file__, str(file), str(run), moment]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == (-signal.SIGKILL if moment else 0), done.stderr
            assert (run / "out.jsonl.job").exists() == bool(moment)
        assert "done by an earlier run" in done.stderr
        assert len(list(read_records(run / "out.jsonl", text_column="output"))) == 2000


class TestPacks:
    @pytest.fixture
    def packs(self, toy_base, tmp_path):
        """A paraphraser and a style of random weights."""
        from restyle.lm.adapters import Adapter
        from restyle.lm.bases import base_hash, load_base
        from restyle.rewriters.strap._pack import ADAPTER_FILE, Card, users_folder, write_card

        drawn = np.random.default_rng(0)
        layers = {name: layer.weight.shape for name, layer in load_base(str(toy_base)).model.named_modules()
                  if name.endswith("_proj")}  # fmt: skip
        for name, kind in (("toy", "paraphraser"), ("noir", "style")):
            factors = {
                layer: (drawn.normal(size=(2, into)).astype("f") / 10, drawn.normal(size=(out, 2)).astype("f") / 10)
                for layer, (out, into) in layers.items()
            }
            folder = users_folder() / name
            Adapter(factors).save(folder / ADAPTER_FILE)
            made = {"base": str(toy_base), "base_sha256": base_hash(str(toy_base)), "paraphraser": "toy"}
            write_card(Card(name, kind=kind, **made), folder)
        return users_folder()

    TEXT = HEAD + STEP.replace("--system copy --to plain", "--to noir")

    def test_a_pack_that_has_changed_rewrites_again(self, packs, recipe, reproduce):
        from restyle.lm.adapters import Adapter
        from restyle.rewriters.strap._pack import ADAPTER_FILE, read_pack, write_card

        assert begun(reproduce(recipe(self.TEXT))[2]) == ["out.jsonl"]
        assert begun(reproduce(recipe(self.TEXT))[2]) == []
        for name in ("noir", "toy"):
            pack = read_pack(packs / name)
            Adapter.load(pack.adapter).scaled(0.5).save(packs / name / ADAPTER_FILE)
            write_card(pack.card, packs / name)
            assert begun(reproduce(recipe(self.TEXT))[2]) == ["out.jsonl"], f"{name} has changed"

    def test_a_pack_that_is_installed_is_not_learned(self, packs, recipe, reproduce):
        step = '[[step]]\npack = "noir"\noutput = "learning"\nrun = "learn {here}/in.txt --name noir --run {output}"\n'
        code, _, err = reproduce(recipe(HEAD + step + self.TEXT.removeprefix(HEAD)))
        assert code == 0
        assert "learning: left out, the pack noir is installed" in err

    def test_one_that_is_missing_is_asked_for_by_its_step(self, recipe, reproduce):
        code, _, err = reproduce(recipe(self.TEXT))
        assert code == 2
        assert "restyle: step out.jsonl: no style is called 'noir'" in err


class TestWhatCannotBe:
    @pytest.mark.parametrize(
        ("wrong", "right", "said"),
        [
            ("[[step]]", "[[stepp]]", "no setting is called 'stepp'; did you mean step"),
            ("run = ", "ran = ", "no setting is called 'ran'"),
            ("rewrite --system", "rewirte --system", "is called 'rewirte'; did you mean rewrite"),
            ("{here}/in.txt", "{her}/in.txt", "is called 'her'; did you mean here"),
            ("{here}/in.txt", "{here/in.txt", "cannot be filled in"),
            ('output = "card"', 'output = "../card"', "a file or folder in the run's folder was expected"),
            ('output = "card"', 'output = "out.jsonl"', "several steps make out.jsonl"),
            ('of = "card"', 'of = "cart"', "no step makes 'cart'; did you mean card"),
            ("[2.5, 0.9]", "[2.5]", "STRAP has 1 values for 2 columns"),
            ('run = "text clean', 'rows = "quora"\nrun = "text clean', "there is run and rows"),
            ('run = "text clean', 'each = "them"\nrun = "text clean', "is called 'them'"),
            ("-o {output}", "-o {output} --nucleus 7", "step out.jsonl: settings: nucleus is 7"),
            ("-o {output}", "-o {output} --nuclear 7", "step out.jsonl: No such option"),
            ("-i {here}/in.txt -o", "-i {here}/out.txt -o", "step out.jsonl:"),
        ],
    )
    def test_a_wrong_recipe_is_answered_with_one_line(self, recipe, reproduce, wrong, right, said):
        assert wrong in RECIPE
        code, out, err = reproduce(recipe(RECIPE.replace(wrong, right, 1)))
        assert code in (1, 2)
        (line,) = [line for line in err.splitlines() if not line.endswith("…")]
        assert line.startswith("restyle: ")
        assert said in line
        assert not out

    def test_a_missing_recipe_an_empty_one_and_a_wrong_value(self, recipe, reproduce, tmp_path):
        assert "does not exist" in reproduce(tmp_path / "none.toml")[2]
        assert "names no step" in reproduce(recipe(HEAD))[2]
        assert "is called 'metric'; did you mean metrics" in reproduce(recipe(), "--set", "metric=x")[2]
        assert "write --set NAME=VALUE" in reproduce(recipe(), "--set", "metrics")[2]


class TestOurRecipes:
    @pytest.mark.parametrize("file", RECIPES, ids=lambda path: path.stem)
    def test_each_can_be_read(self, file):
        if file.stem in ("paraphrase_pairs", "styles"):
            pytest.skip("a recipe of sentences, not of steps")
        recipe = read_recipe(file)
        assert recipe.table
        assert all(table.differs for table in recipe.table)

    @pytest.mark.data
    def test_table_1_comes_out_of_the_published_verdicts(self, mirror, reproduce):
        (file,) = [path for path in RECIPES if path.stem == "rescore_published"]
        code, out, _ = reproduce(file, "--format", "json")
        assert code == 0
        rows = json.loads(out)[0]["rows"]
        ours = {row["system"]: row for row in rows if row["from"] == "here"}
        assert set(ours) == {"COPY", "REF", "UNMT", "DLSM"}
        for row in rows:
            if row["from"] == "paper" and row["system"] in ours:
                for column in ("ACC", "SIM", "FL", "J"):
                    assert round(ours[row["system"]][column], 1) == row[column]


if __name__ == "__main__":
    import os

    from restyle.jobs import _folder

    real = _folder.JobFolder.save

    def save(self, finished):
        real(self, finished)
        if sys.argv[3]:
            os.kill(os.getpid(), signal.SIGKILL)

    _folder.JobFolder.save = save
    main(["reproduce", sys.argv[1], "--run", sys.argv[2]])
