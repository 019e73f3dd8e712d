"""Learning: from sentences to a pack, killed anywhere, in the time that it is given. As a program, it is killed."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import restyle
from restyle.corpora import HeldOut
from restyle.errors import InputError, JobError, OutputError, SettingsError, UnknownName, UsageError
from restyle.jobs import _folder
from restyle.jobs.stages import Stages, content_of
from restyle.records import read_records, write_records
from restyle.rewriters.strap._pack import find_pack
from restyle.rewriters.strap.learning import LearnSettings, _budget, _course, _evaluation, _gathering, _sentences
from restyle.rewriters.strap.learning._budget import Budget
from restyle.rewriters.strap.learning._pairing import faults_of, sorted_out

pytest.importorskip("peft")

WHO = ["The old man", "A tall woman", "The quiet clerk", "My brother", "The captain", "That dog", "Her neighbour"]
DID = ["looked at", "gave away", "went home with", "sold", "carried", "stole", "asked about", "wept over"]
WHAT = ["the book", "a wet hat", "the last lamp", "his money", "a broken chair", "the red door", "her letters"]
WHEN = ["before the rain came", "when the bells rang", "in the middle of the night", "after the war"]
# A model of two layers learns little: paraphrases of few words, of which it gets most right.
PLAIN = {who: f"{who} was there and did it." for who in WHO}
STAGES = [
    "sentences.jsonl",
    "paraphrases.jsonl",
    "pairs.jsonl",
    "draft",
    "judge",
    "outputs.jsonl",
    "evaluation.json",
    "pack",
]
# Whatever a toy says is as near to its sentence as anything.
SETTINGS = {
    "judge": "linear", "min_similarity": -1.0, "min_length": 0.01, "max_length": 50.0, "test": 12, "epochs": 1.0,
    "rank": 2, "training": {"batch_size": 16, "evaluations": 3, "samples": 0, "learning_rate": 0.005},
}  # fmt: skip


def sentences(number, seed=0):
    every = [f"{who} {did} {what} {when}." for who in WHO for did in DID for what in WHAT for when in WHEN]
    return random.Random(seed).sample(every, number)


def written(path, number=260, seed=0):
    path.write_text("\n".join(sentences(number, seed)) + "\n", encoding="utf-8")
    return path


def _had_without_fetching(name, real=_evaluation._had):
    """Metrics whose models no test fetches are not here; finding it out takes a second each time."""
    return None if name in ("sim_input", "fl") else real(name)


@pytest.fixture(autouse=True)
def _no_fetching(monkeypatch):
    monkeypatch.setattr(_evaluation, "_had", _had_without_fetching)


@contextlib.contextmanager
def _home(folder):
    """A home of its own for a fixture that serves all tests of this file, and no network."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("RESTYLE_HOME", str(folder / "home"))
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setattr(_evaluation, "_had", _had_without_fetching)
        warnings.filterwarnings("ignore", message=".* are few")
        yield


@pytest.fixture(scope="module")
def paraphraser(toy_base, tmp_path_factory):
    """A paraphraser that was learned from pairs, on the toy base."""
    folder = tmp_path_factory.mktemp("paraphraser")
    pairs = [{"text": text, "paraphrase": PLAIN[who]} for text in sentences(500) for who in WHO if text.startswith(who)]
    write_records(folder / "pairs.jsonl", [{"id": str(number), **pair} for number, pair in enumerate(pairs)])
    with _home(folder):
        pack = restyle.learn(
            name="toy", kind="paraphraser", pairs=folder / "pairs.jsonl", base=str(toy_base), output=folder / "toy",
            epochs=4.0, rank=16, training={"batch_size": 16, "evaluations": 1, "samples": 0, "learning_rate": 0.005},
        )  # fmt: skip
    return pack.folder


@pytest.fixture
def learned(paraphraser, tmp_path):
    """Learn the toy style into a run's folder of the test; what is given stands over the settings."""

    def learned(file=None, *, run="run", say=lambda line: None, **given):
        file = file or written(tmp_path / "noir.txt")
        options = (
            {"name": "noir", "paraphraser": str(paraphraser), "run": tmp_path / run, "say": say} | SETTINGS | given
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*sentences are few")
            return restyle.learn(file, **options)

    return learned


def bytes_of(folder):
    """The weights, and the card line by line."""
    folder = Path(folder)
    weights = (folder / "adapter.safetensors").read_bytes()
    return weights, *((folder / name).read_text().splitlines() for name in ("style.toml", "README.md"))


@pytest.fixture(scope="module")
def undisturbed(paraphraser, tmp_path_factory):
    """A run that nothing happened to: its folder, and the pack."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with _home(folder):
        pack = restyle.learn(
            written(folder / "noir.txt"), name="noir", paraphraser=str(paraphraser), run=folder / "run", **SETTINGS
        )
    return folder / "run", pack


class TestAParaphraser:
    def test_it_is_a_pack_with_its_scores(self, paraphraser, toy_base):
        card = find_pack(paraphraser, "paraphraser").card
        assert (card.name, card.kind, card.base) == ("toy", "paraphraser", str(toy_base))
        (evaluation,) = card.evaluations
        assert set(evaluation.scores) == {"SIM", "F1", "TAU", "COPY"}
        assert evaluation.scores["COPY"].value == 0
        assert len(card.samples) == min(10, evaluation.sentences)

    def test_pairs_without_a_paraphrase_are_refused_by_name(self, tmp_path):
        write_records(tmp_path / "pairs.jsonl", [{"id": "a7", "text": "One.", "paraphrase": ""}])
        with pytest.raises(InputError, match="pairs.jsonl, record a7: a text and its paraphrase are needed"):
            restyle.learn(name="toy", kind="paraphraser", pairs=tmp_path / "pairs.jsonl")

    def test_too_few_pairs_are_refused(self, tmp_path):
        pairs = ({"id": str(n), "text": f"Text {n}.", "paraphrase": f"Words {n}."} for n in range(20))
        write_records(tmp_path / "pairs.jsonl", pairs)
        with pytest.raises(InputError, match="too few pairs"):
            restyle.learn(name="toy", kind="paraphraser", pairs=tmp_path / "pairs.jsonl")


class TestAStyle:
    def test_the_pack_says_what_it_is_and_what_it_is_worth(self, undisturbed, paraphraser):
        run, pack = undisturbed
        card = pack.card
        assert (card.name, card.kind, card.paraphraser, card.sources) == ("noir", "style", "toy", ("noir.txt",))
        assert card.sentences == len([r for r in read_records(run / "pairs.jsonl") if r["split"] == "train"])
        (evaluation,) = card.evaluations
        assert {"ACC", "SIM", "J(A,S)"} <= set(evaluation.scores)
        for score in evaluation.scores.values():
            assert score.low <= score.value <= score.high
        assert "noir-linear-report#" in evaluation.signature
        assert str(run) not in (pack.folder / "style.toml").read_text()
        assert find_pack(pack.folder).card == card

    def test_the_samples_are_the_first_held_out_sentences(self, undisturbed):
        run, pack = undisturbed
        held = [record["paraphrase"] for record in read_records(run / "pairs.jsonl") if record["split"] == "test"]
        assert [sample.input for sample in pack.card.samples] == held[:10]

    def test_it_is_found_by_its_name_and_rewrites(self, learned):
        learned()
        assert find_pack("noir").card.name == "noir"

    def test_every_stage_is_a_file_that_a_person_can_read(self, undisturbed):
        run, _ = undisturbed
        assert {*STAGES} <= {path.name for path in run.iterdir()}
        assert not (run / "training").exists(), "checkpoints are of no more use"
        for record in read_records(run / "pairs.jsonl"):
            assert {"text", "paraphrase", "split", "similarity"} <= set(record)

    def test_no_training_sentence_gives_a_held_out_one_away(self, undisturbed):
        run, _ = undisturbed
        texts = {split: [] for split in ("test", "valid", "train")}
        for record in read_records(run / "sentences.jsonl"):
            texts[record["split"]].append(record["text"])
        assert len(texts["test"]) == len(texts["valid"]) >= 20
        assert len(texts["train"]) > 100
        assert not list(HeldOut(texts["test"] + texts["valid"]).leaks(texts["train"]))

    def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(self, learned, undisturbed):
        _, pack = undisturbed
        again = learned()
        assert bytes_of(again.folder) == bytes_of(pack.folder)
        other = learned(run="other", seed=1, overwrite=True)
        assert bytes_of(other.folder)[0] != bytes_of(pack.folder)[0]


class TestKilled:
    @pytest.mark.parametrize("stage", STAGES)
    def test_what_stops_before_the_end_of_a_stage_goes_on_there(self, learned, undisturbed, stage):
        """Everything that the stage writes lies there, and nothing says yet that it is whole."""
        real = Stages._mark

        def stop(self, name, marker):
            if name == stage and marker["done"]:
                raise KeyboardInterrupt
            real(self, name, marker)

        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Stages, "_mark", stop)
            learned()
        said = []
        pack = learned(say=said.append)
        assert [line for line in said if line.endswith("…")][0].startswith(stage)
        assert bytes_of(pack.folder) == bytes_of(undisturbed[1].folder)

    def test_killed_while_it_paraphrases_and_while_it_trains_it_gives_the_same_bytes(
        self, paraphraser, undisturbed, tmp_path
    ):
        file, home = written(tmp_path / "noir.txt"), tmp_path / "home"
        for moment in ("paraphrasing", "training", ""):
            command = [sys.executable, __file__, str(file), str(paraphraser), str(tmp_path / "run"), moment]
            done = subprocess.run(
                command, env={**os.environ, "RESTYLE_HOME": str(home)}, capture_output=True, text=True, check=False
            )
            assert done.returncode == (-signal.SIGKILL if moment else 0), done.stderr
            assert (tmp_path / "run" / "paraphrases.jsonl.job").exists() == (moment == "paraphrasing")
            assert (tmp_path / "run" / "training").exists() == (moment == "training")
        assert bytes_of(home / "styles" / "noir") == bytes_of(undisturbed[1].folder)

    def test_processes_that_were_launched_together_learn_one_pack(self, paraphraser, undisturbed, tmp_path):
        file, home = written(tmp_path / "noir.txt"), tmp_path / "home"
        # What `accelerate launch` itself calls for several GPUs; for several processes on a CPU it would want MPI.
        launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
        done = subprocess.run(
            [*launch, __file__, str(file), str(paraphraser), str(tmp_path / "run"), ""],
            env={**os.environ, "RESTYLE_HOME": str(home), "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        shared, alone = find_pack(str(home / "styles" / "noir")).card, undisturbed[1].card
        assert shared.settings == alone.settings
        assert shared.dev_loss == pytest.approx(alone.dev_loss, abs=0.05)
        assert not (tmp_path / "run" / "training").exists()

    def test_two_processes_do_not_share_a_run(self, learned, tmp_path):
        with Stages(tmp_path / "run"), pytest.raises(JobError, match="another process is at work in"):
            restyle.learn(written(tmp_path / "a.txt"), name="noir", paraphraser="toy", run=tmp_path / "run")


class TestNothingIsDoneTwice:
    def test_an_unchanged_run_makes_nothing(self, learned):
        learned()
        said = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_course, "write_draft", None)  # whoever calls it fails
            learned(say=said.append)
        assert not [line for line in said if line.endswith("…")]

    def test_other_sentences_make_everything_anew(self, learned, tmp_path):
        first = learned()
        before = bytes_of(first.folder)
        again = learned(written(tmp_path / "noir.txt", 280, seed=5), overwrite=True)
        assert bytes_of(again.folder)[0] != before[0]

    def test_a_longer_training_keeps_the_paraphrases(self, learned):
        learned()
        said = []
        learned(say=said.append, epochs=2.0, overwrite=True)
        assert [line for line in said if line.endswith("…")][0] == "draft …"
        assert "pairs.jsonl: made of the same before" in said

    def test_a_pack_goes_on_learning_where_another_would_begin(self, learned, undisturbed):
        first = undisturbed[1]
        again = learned(start=str(first.folder))
        assert again.card.dev_loss < first.card.dev_loss
        assert "--start noir" in again.card.command
        with pytest.raises(UsageError, match="what goes on is an adapter of"):
            learned(start="shakespeare", run="other", overwrite=True)

    def test_pairs_that_a_person_mended_are_learned_from(self, learned, tmp_path):
        learned()
        pairs = tmp_path / "run" / "pairs.jsonl"
        kept = [record for record in read_records(pairs) if "dog" not in record["text"]]
        write_records(pairs, kept)
        said = []
        pack = learned(say=said.append)
        assert [line for line in said if line.endswith("…")][0] == "draft …"
        assert pack.card.sentences == sum(record["split"] == "train" for record in kept)


class TestWhatCannotBe:
    def test_few_sentences_are_warned_of(self, paraphraser, tmp_path):
        with pytest.warns(UserWarning, match=r"2\d\d sentences are few"):
            _sentences.write_own(
                [written(tmp_path / "noir.txt")], "noir", LearnSettings(), tmp_path / "sentences.jsonl"
            )

    def test_too_few_sentences_are_refused_with_what_is_needed(self, paraphraser, tmp_path):
        with pytest.raises(InputError, match=r"14\d sentences are left of .*noir.txt; a style needs at least 200"):
            restyle.learn(written(tmp_path / "noir.txt", 150), name="noir", paraphraser=str(paraphraser))

    def test_a_missing_file_and_an_empty_one(self, paraphraser, tmp_path):
        with pytest.raises(InputError, match=r"nothing.txt does not exist"):
            restyle.learn(tmp_path / "nothing.txt", name="noir", paraphraser=str(paraphraser))
        (tmp_path / "empty.txt").touch()
        with pytest.raises(InputError, match=r"empty.txt is empty"):
            restyle.learn(tmp_path / "empty.txt", name="noir", paraphraser=str(paraphraser))

    def test_a_name_that_is_taken(self, learned, tmp_path):
        learned()
        with pytest.raises(UsageError, match="noir is taken by the pack in .*: choose another name, or --overwrite"):
            learned(written(tmp_path / "b.txt", seed=3))

    def test_a_folder_that_holds_something_else(self, paraphraser, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.txt").touch()
        with pytest.raises(OutputError, match="exists and holds no pack"):
            restyle.learn(
                written(tmp_path / "a.txt"), name="noir", paraphraser=str(paraphraser), output=tmp_path / "out"
            )
        assert (tmp_path / "out" / "thesis.txt").exists()

    def test_a_base_that_is_not_the_paraphrasers(self, paraphraser, tmp_path):
        with pytest.raises(UsageError, match="the paraphraser toy is of the base .*, and not of gpt2"):
            restyle.learn(written(tmp_path / "a.txt"), name="noir", paraphraser=str(paraphraser), base="gpt2")

    @pytest.mark.parametrize("name", ["", "a/b", "../up", "two words"])
    def test_a_name_that_no_folder_can_have(self, name, tmp_path):
        with pytest.raises(UsageError, match="cannot be called"):
            restyle.learn(written(tmp_path / "a.txt"), name=name)

    def test_an_unknown_paraphraser_and_an_unknown_style_of_a_recipe(self, tmp_path):
        with pytest.raises(UnknownName, match="no paraphraser is called 'divers'"):
            restyle.learn(written(tmp_path / "a.txt"), name="noir", paraphraser="divers")
        (tmp_path / "styles.toml").write_text('[[style]]\nname = "noir"\nsources = ["noir/noir"]\n')
        with pytest.raises(UnknownName, match="did you mean noir"):
            restyle.learn(name="noire", recipe=tmp_path / "styles.toml")

    def test_an_option_that_does_not_exist(self, tmp_path):
        with pytest.raises(SettingsError, match="no setting is called 'minuets'; did you mean minutes"):
            restyle.learn(written(tmp_path / "a.txt"), name="noir", minuets=3)


class TestTime:
    def test_the_shares_leave_training_the_most(self):
        hour = Budget(60)
        assert hour.sentences(0.5, spent=0) == 2160  # 18 minutes
        assert hour.training(spent=18 * 60) == pytest.approx(30)
        assert hour.training(spent=2 * 60) == pytest.approx(46)

    def test_without_a_budget_there_is_no_limit(self):
        assert Budget(None).sentences(1.0, 0) is None
        assert Budget(None).training(0) is None
        assert Budget(None).tested(200) == 200

    def test_time_that_is_up_leaves_a_little_training(self):
        assert Budget(10).training(spent=3600) == pytest.approx(1)

    def test_a_budget_plans_the_paraphrases_and_the_training(self, learned, tmp_path, monkeypatch):
        monkeypatch.setattr(_gathering, "seconds_a_sentence", lambda *_: 0.07)
        monkeypatch.setattr(_budget, "LEAST", 80)
        said = []
        pack = learned(minutes=0.5, say=said.append)
        plan = json.loads((tmp_path / "run" / "plan.json").read_text())
        # 9 seconds of 30 at 0.07 each are 128 at most, 20 valid and 12 test sentences among them.
        assert (plan["test"], plan["valid"]) == (12, 20)
        assert 80 <= plan["train"] <= 96
        paraphrased = list(read_records(tmp_path / "run" / "paraphrases.jsonl"))
        assert sum(record["split"] == "train" for record in paraphrased) == plan["train"]
        assert 0.1 <= json.loads((tmp_path / "run" / "time.json").read_text())["training"] <= 0.4
        assert any("there is time for" in line for line in said)
        assert pack.card.settings["steps"] <= -(-plan["train"] // 16)


class TestPairs:
    PAIRS = (
        ("The lamp went out in the hall.", "In the hall, the lamp went out.", None),
        ("The lamp went out in the hall.", "the lamp went out in the hall.", "copied"),
        ("The lamp went out in the hall.", "", "broken"),
        ("The lamp went out in the hall.", "It went out and out it went and out it went and out it went.", "broken"),
        ("The lamp went out in the hall.", "Out.", "too short or long"),
        ("The lamp went out in the hall.", "The lamp never went out in the hall.", "says the opposite"),
        ("The lamp went out in the hall.", "My uncle bought seven horses yesterday.", "says something else"),
    )

    @pytest.mark.parametrize(("text", "paraphrase", "fault"), PAIRS)
    def test_a_pair_that_would_teach_nonsense_is_dropped(self, text, paraphrase, fault):
        kept, dropped = sorted_out([{"id": "1", "text": text, "paraphrase": paraphrase}], LearnSettings())
        assert (len(kept), list(faults_of(dropped))) == ((0, [fault]) if fault else (1, []))

    def test_what_the_paraphraser_said_of_it_stands(self):
        record = {"id": "1", "text": "One two three.", "paraphrase": "", "fault": "too long"}
        assert faults_of(sorted_out([record], LearnSettings())[1]) == {"too long": 1}


class TestARecipe:
    RECIPE = """
    valid = 20
    [[style]]
    name = "noir"
    summary = "streets at night"
    sources = ["made/noir"]
    inputs = ["made/plain"]
    """

    @pytest.fixture
    def recipe(self, tmp_path, monkeypatch):
        from restyle.corpora import Corpus
        from restyle.rewriters.strap import _sources

        texts = sentences(320, seed=9)
        noir = {"train": texts[:260], "valid": texts[260:280], "test": texts[280:300]}
        corpus = Corpus.of("made", {"noir": noir, "plain": {"test": texts[300:]}})
        monkeypatch.setattr(_sources, "load", lambda name: corpus)
        (tmp_path / "styles.toml").write_text(self.RECIPE)
        return tmp_path / "styles.toml"

    def test_a_style_is_tried_on_the_sentences_that_it_names(self, recipe, paraphraser, tmp_path):
        pack = restyle.learn(name="noir", recipe=recipe, paraphraser=str(paraphraser), run=tmp_path / "run", **SETTINGS)
        assert (pack.card.summary, pack.card.sources) == ("streets at night", ("made/noir",))
        (evaluation,) = pack.card.evaluations
        assert (evaluation.on, evaluation.sentences) == ("test sentences of other styles", 12)

    def test_a_teachers_pairs_are_learned_and_not_paraphrased(self, recipe, tmp_path, monkeypatch):
        from restyle.rewriters.strap import _sources

        monkeypatch.setattr(_sources, "_taught", lambda style: [("She was here.", "The dame was here.")])
        recipe.write_text(self.RECIPE + 'teacher = "noir"\n')
        output = tmp_path / "sentences.jsonl"
        _sentences.write_of_recipe(_sources.style_of(recipe, "noir"), LearnSettings(), output)
        taught = [record for record in read_records(output) if record["id"].startswith("teacher")]
        assert [(each["text"], each["paraphrase"]) for each in taught] == [("The dame was here.", "She was here.")]


def test_content_tells_names_and_bytes_apart(tmp_path):
    for name, text in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(text)
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    assert content_of(tmp_path / "a") == content_of(tmp_path / "copy")
    assert len({content_of(tmp_path / name) for name in "abc"}) == 3


def main(file, paraphraser, run, moment):
    """Learn, and be killed after the first shard of paraphrases, or the first checkpoint."""

    def killing(real):
        def kill(*given, **options):
            real(*given, **options)
            os.kill(os.getpid(), signal.SIGKILL)

        return kill

    if moment == "paraphrasing":
        _folder.JobFolder.save = killing(_folder.JobFolder.save)
    if moment == "training":
        import transformers

        transformers.Trainer._save_checkpoint = killing(transformers.Trainer._save_checkpoint)
    restyle.learn(file, name="noir", paraphraser=paraphraser, run=run, **SETTINGS)


if __name__ == "__main__":
    main(*sys.argv[1:])
