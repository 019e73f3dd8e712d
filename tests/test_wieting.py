"""The similarity model: what it scores, what it learns, and what becomes of it on the disk."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from restyle.errors import Corrupt, InputError, UsageError
from restyle.metrics import Batch
from restyle.metrics.similarity import SimWieting, SimWietingReference
from restyle.nets.wieting import Wieting, bundled
from restyle.nets.wieting_card import note_figures, readme
from restyle.nets.wieting_pairs import gathered, merged, split
from restyle.nets.wieting_settings import TrainSettings
from restyle.settings import read_toml

torch = pytest.importorskip("torch")

from restyle.nets.wieting_loss import hardest, margin_loss  # noqa: E402
from restyle.nets.wieting_training import train  # noqa: E402

SYNONYMS = [
    ["king", "lord", "prince"], ["mad", "crazy", "insane"], ["rain", "storm", "shower"], ["sword", "blade", "knife"],
    ["night", "dark", "dusk"], ["love", "adore", "cherish"], ["run", "hurry", "rush"], ["house", "home", "cottage"],
]  # fmt: skip
TOY = TrainSettings(vocabulary=300, dim=16, epochs=4, batch_size=8, mega_batch=3, pairs_per_group=2)


def toy_groups(seed=0):
    """Three wordings of each choice of three meanings, so that no two groups say the same."""
    generator = random.Random(seed)
    return [
        [" ".join(generator.choice(SYNONYMS[meaning]) for meaning in generator.sample(meanings, 3)) for _ in range(3)]
        for meanings in itertools.combinations(range(len(SYNONYMS)), 3)
    ]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A model of eight meanings, and the folder that it lies in."""
    folder = tmp_path_factory.mktemp("sim") / "toy"
    return train(toy_groups(), folder, TOY), folder


class TestTheBundledModel:
    PARAPHRASES = [
        ("Are you out of your mind?", "Have you gone crazy?"),
        ("Where did you put my keys?", "Where are the keys that you took from me?"),
        ("The council voted to close the library.", "The library will be shut, the council decided."),
        ("Thou hast deceived me, and I shall not forgive thee.", "You lied to me, and I won't forgive you."),
        ("How can I lose weight quickly?", "What is the fastest way to lose weight?"),
    ]

    def test_a_paraphrase_is_nearer_than_any_other_sentence(self):
        left, right = zip(*self.PARAPHRASES, strict=True)
        cosines = bundled().embed(left) @ bundled().embed(right).T
        assert cosines.argmax(axis=1).tolist() == list(range(len(left)))

    def test_a_sentence_is_itself_however_it_is_tokenised_and_cased(self):
        scores = bundled().similarity(
            ["I can't see it, he said."] * 3,
            ["I can't see it, he said.", "I ca n't see it , he said .", "I CAN'T SEE IT, HE SAID."],
        )
        np.testing.assert_allclose(scores, 1, atol=1e-6)

    def test_empty_sentences_are_the_same_as_each_other_and_like_nothing_else(self):
        scores = bundled().similarity(["", " ", "Rain.", ""], ["", "\n", "", "Rain."])
        np.testing.assert_array_equal(scores, [1, 1, 0, 0])

    def test_a_pair_has_the_same_score_whatever_it_is_scored_with(self):
        generator = random.Random(0)
        words = [word for meaning in SYNONYMS for word in meaning]
        left, right = (
            [" ".join(generator.choices(words, k=generator.randint(1, 40))) for _ in range(5000)] for _ in range(2)
        )
        whole = bundled().similarity(left, right)
        np.testing.assert_array_equal(whole[4321:4400], bundled().similarity(left[4321:4400], right[4321:4400]))
        np.testing.assert_array_equal(whole, bundled().similarity(right, left))

    def test_a_sentence_of_a_megabyte_is_scored_and_is_itself(self):
        long = "the king is mad " * 65_536
        scores = bundled().similarity([long, "x" * 1_000_000], [long, "The king is mad."])
        assert scores[0] == pytest.approx(1)
        assert -1 <= scores[1] <= 1

    def test_any_string_has_a_score(self):
        odd = ["\ud800", "\x00", "🤷🏽‍♀️", "مرحبا", "▁", "&amp;", "``"]
        assert np.isfinite(bundled().similarity(odd, odd[::-1])).all()

    def test_it_fits_in_the_wheel(self):
        folder = Path(str(resources.files("restyle") / "packs" / "judges" / "sim-wieting"))
        assert {file.name for file in folder.iterdir()} == {
            "README.md", "judge.toml", "subwords.model", "vectors.safetensors"
        }  # fmt: skip
        assert sum(file.stat().st_size for file in folder.iterdir()) < 12_000_000

    def test_scoring_imports_no_torch(self):
        code = "import sys; from restyle.nets.wieting import bundled; bundled().similarity(['a'], ['b']); "
        out = subprocess.check_output([sys.executable, "-c", code + "print('torch' in sys.modules)"], text=True)
        assert out.strip() == "False"

    def test_sides_that_do_not_pair_are_refused(self):
        with pytest.raises(InputError, match="2 sentences on the left, but 1 on the right; they must pair"):
            bundled().similarity(["a", "b"], ["a"])

    @pytest.mark.data
    def test_it_orders_the_sts_benchmark_as_people_do(self, mirror):
        from scipy.stats import spearmanr

        from restyle.corpora import rows

        pairs = list(rows("stsb", "dev"))
        scores = bundled().similarity([pair["text"] for pair in pairs], [pair["other"] for pair in pairs])
        assert spearmanr(scores, [pair["score"] for pair in pairs]).statistic > 0.81

    @pytest.mark.data
    def test_it_orders_the_judged_outputs_as_the_published_model_did(self, mirror):
        from scipy.stats import spearmanr

        from restyle.corpora import rows

        pairs = [
            pair for system in ("dlsm", "unmt", "transform-delete-generate") for pair in rows("strap-judged", system)
        ]
        batch = Batch(outputs=[pair["output"] for pair in pairs], references=[pair["references"] for pair in pairs])
        published = [pair["scores"]["sim_ref"] for pair in pairs]
        assert spearmanr(SimWietingReference().score(batch), published).statistic > 0.9


class TestTheMetrics:
    def test_sim_wieting_compares_with_the_input(self):
        batch = Batch(outputs=["Art thou mad?", "It rained."], inputs=["Are you crazy?", "It rained."])
        near, same = SimWieting().score(batch)
        assert near < same == pytest.approx(1)
        assert SimWieting().signature()["side"] == "input"

    def test_sim_wieting_ref_takes_the_nearest_of_several_references(self):
        batch = Batch(outputs=["It rained.", "Go home!"], references=[["Go home!", "It rained."], ["Rain."]])
        nearest, far = SimWietingReference().score(batch)
        assert far < 0.9 < nearest == pytest.approx(1)

    def test_an_output_without_a_reference_is_named(self):
        with pytest.raises(InputError, match="sentence 2 has no reference, which the metric sim-wieting-ref needs"):
            SimWietingReference().score(Batch(outputs=["a", "b"], references=[["a"], []]))

    def test_the_signature_names_the_model_by_its_contents(self, toy):
        _, folder = toy
        assert SimWieting(folder).signature()["model"] != SimWieting().signature()["model"]
        assert SimWieting(folder).signature() == SimWieting(folder).signature()


class TestLearning:
    def test_the_loss_decreases(self, toy):
        losses = [epoch["loss"] for epoch in toy[0].card["epochs"]]
        assert len(losses) == TOY.epochs
        # The first epoch is easier: its mega-batches are of one batch.
        assert losses[-1] < losses[2] < losses[1]

    def test_words_of_one_meaning_come_together(self, toy):
        same, other = toy[0].similarity(["king", "king"], ["lord", "rain"])
        assert same > other + 0.3

    def test_the_negative_is_the_nearest_sentence_of_another_group(self):
        generator = torch.Generator().manual_seed(0)
        queries, others = (
            torch.nn.functional.normalize(torch.randn(40, 5, generator=generator), dim=1) for _ in range(2)
        )
        groups = torch.arange(40) // 4
        found = hardest(queries, others, groups)
        for place, negative in enumerate(found.tolist()):
            allowed = [other for other in range(40) if groups[other] != groups[place]]
            assert negative == max(allowed, key=lambda other: float(queries[place] @ others[other]))

    def test_the_loss_is_that_of_the_paper(self):
        left, right = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.6, 0.8]])
        not_left, not_right = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.8, 0.6]])
        # 0.4 - 0.6 + 0.8 to the right, 0.4 - 0.6 + 0.8 to the left.
        assert margin_loss(left, right, not_left, not_right, 0.4).item() == pytest.approx(1.2)
        assert margin_loss(left, left, not_left, -left, 0.4).item() == 0

    def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(self, toy, tmp_path):
        _, folder = toy
        train(toy_groups(), tmp_path / "again", TOY)
        for name in ("vectors.safetensors", "subwords.model"):
            assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()
        other = train(toy_groups(), tmp_path / "other", TrainSettings(**{**vars(TOY), "seed": 1}))
        assert other.fingerprint != toy[0].fingerprint

    def test_nothing_to_learn_from_is_said(self, tmp_path):
        with pytest.raises(InputError, match="at least two groups"):
            train([["a", "b"], ["c", " "]], tmp_path / "sim")

    def test_a_corpus_too_small_for_the_vocabulary_is_said_and_a_smaller_one_may_follow(self, tmp_path):
        with pytest.raises(UsageError, match="too small for 5,000 subwords; it has at most"):
            train(toy_groups(), tmp_path / "sim", TrainSettings(vocabulary=5_000))
        train(toy_groups(), tmp_path / "sim", TrainSettings(**{**vars(TOY), "epochs": 1}))

    def test_groups_that_share_a_sentence_are_learned_from_as_one(self):
        assert merged([["a", "b"], ["c", "d"], ["e", "b"], ["f", "f"]]) == [["a", "b", "e"], ["c", "d"]]

    @pytest.mark.data
    def test_nothing_that_is_reported_on_is_learned_from(self, mirror):
        from restyle.corpora import load, rows

        tests = {pair[side] for part in ("dev", "test") for pair in rows("stsb", part) for side in ("text", "other")}
        for style in ("shakespeare", "modern"):
            tests |= set(load("shakespeare").sentences(style, "test"))
        long = {text.lower() for text in tests if len(text.split()) > 6}
        learned = {text.lower() for group in gathered(["stsb", "pan", "strap-cds"]) for text in group}
        assert len(learned) > 10_000
        assert not learned & long

    def test_no_sentence_is_in_training_and_validation_both(self):
        groups = merged([[f"sentence {n}", f"say {n}", f"say {n + 1}"] for n in range(0, 3000, 3)])
        learned, validated = split(groups)
        assert len(validated) / len(groups) == pytest.approx(1 / 20, abs=0.02)
        assert not {text for group in learned for text in group} & {text for group in validated for text in group}


class TestGoingOn:
    SLOW = """
import sys, time
from restyle.nets import wieting_training as training
sys.path.insert(0, sys.argv[2])
from test_wieting import TOY, toy_groups
learn = training._Run._learn
def slowly(*arguments):
    time.sleep(0.05)
    learn(*arguments)
training._Run._learn = slowly
training.train(toy_groups(), sys.argv[1], TOY, checkpoint_seconds=0)
"""

    def test_a_training_that_was_killed_ends_with_the_bytes_of_one_that_was_not(self, toy, tmp_path):
        _, folder = toy
        killed = tmp_path / "toy"
        checkpoint = killed / "training" / "checkpoint.safetensors"
        process = subprocess.Popen([sys.executable, "-c", self.SLOW, str(killed), str(Path(__file__).parent)])
        while not checkpoint.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not (killed / "judge.toml").exists()

        train(toy_groups(), killed, TOY)
        for name in ("vectors.safetensors", "subwords.model", "judge.toml", "README.md"):
            assert (killed / name).read_bytes() == (folder / name).read_bytes()
        assert sorted(os.listdir(killed)) == ["README.md", "judge.toml", "subwords.model", "vectors.safetensors"]

    def test_a_finished_training_is_not_done_again(self, toy):
        _, folder = toy
        before = (folder / "vectors.safetensors").stat().st_mtime_ns
        train(toy_groups(), folder, TOY)
        assert (folder / "vectors.safetensors").stat().st_mtime_ns == before

    def test_another_training_in_its_folder_is_refused(self, toy):
        with pytest.raises(UsageError, match="holds a model of other settings or pairs"):
            train(toy_groups(seed=5), toy[1], TOY)


class TestTheFolder:
    def test_a_model_comes_back_from_the_disk_with_the_same_scores(self, toy, tmp_path):
        model, _ = toy
        model.save(tmp_path / "copy")
        left, right = ["king mad rain", "house"], ["lord crazy storm", "sword"]
        again = Wieting.load(tmp_path / "copy")
        np.testing.assert_allclose(again.similarity(left, right), model.similarity(left, right), atol=1e-6)
        assert again.card == model.card

    @pytest.mark.parametrize("name", ["vectors.safetensors", "subwords.model"])
    @pytest.mark.parametrize("damage", [lambda held: held[:-1], lambda held: held[:-1] + b"?", lambda held: b"", None])
    def test_a_file_that_is_not_what_the_card_names_is_refused_in_one_line(self, toy, tmp_path, name, damage):
        toy[0].save(tmp_path)
        if damage is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_bytes(damage((tmp_path / name).read_bytes()))
        with pytest.raises(Corrupt, match=name) as caught:
            Wieting.load(tmp_path)
        assert "\n" not in str(caught.value)

    def test_a_folder_without_a_model_says_how_to_make_one(self, tmp_path):
        with pytest.raises(InputError, match="restyle similarity train"):
            Wieting.load(tmp_path)


class TestTheCard:
    FIGURE = {"test": "people, a test", "pairs": 1000, "measure": "Spearman", "ours": [0.8123, 0.79, 0.83]}

    def test_the_bundled_one_says_all_that_is_known(self):
        folder = Path(str(resources.files("restyle") / "packs" / "judges" / "sim-wieting"))
        card, page = read_toml(folder / "judge.toml"), (folder / "README.md").read_text(encoding="utf-8")
        assert page == readme(card)
        assert all(file["sha256"] in page for file in card["files"].values())
        assert all(f"| {corpus} |" in page for corpus in card["data"].split(", "))
        assert len(card["figures"]) == 10

    def test_a_model_of_ones_own_comes_with_one(self, toy):
        model, folder = toy
        page = (folder / "README.md").read_text(encoding="utf-8")
        assert page.startswith("# toy\n")
        assert f"{model.card['trained_on']['sentences']:,} sentences" in page
        assert "Licence" not in page  # of sentences that no catalogue knows nothing can be said

    def test_known_corpora_are_named_with_their_licence_and_the_command(self):
        page = readme({"name": "mine", "data": "pan, bible", "settings": {"vocabulary": 8000, "seed": 0}})
        assert "| pan | Sentence pairs" in page
        assert "| MIT |" in page
        assert "restyle similarity train --out mine --vocabulary 8000\n" in page

    def test_figures_are_noted_and_change_no_score(self, toy, tmp_path):
        model, folder = toy
        shutil.copytree(folder, tmp_path / "toy")
        note_figures(tmp_path / "toy", [self.FIGURE])
        page = (tmp_path / "toy" / "README.md").read_text(encoding="utf-8")
        assert "| people, a test | 1,000 | Spearman | 0.812 [0.790, 0.830] |" in page
        assert Wieting.load(tmp_path / "toy").fingerprint == model.fingerprint
