"""The cross-aligned models: losses, steps, training that goes on, rewriting, and what is refused."""

import importlib.util
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")

from safetensors.torch import load_file, save_file  # noqa: E402
from torch.func import functional_call  # noqa: E402

from restyle.corpora import Corpus  # noqa: E402
from restyle.errors import InputError, RestyleError, UnknownName, UsageError  # noqa: E402
from restyle.evaluation import Rule  # noqa: E402
from restyle.nets.fitting import FitSettings  # noqa: E402
from restyle.nets.gru_lm import GruLm, GruLmSettings, SentenceLm  # noqa: E402
from restyle.nets.text_cnn import TextCnnSettings  # noqa: E402
from restyle.nets.vocabulary import BEGIN, END, PAD, UNKNOWN, Words  # noqa: E402
from restyle.rewriters import load  # noqa: E402
from restyle.rewriters.cross_aligned import MODELS, CrossAlignedSettings, Watch, choose, learn, trajectory_of  # noqa: E402
from restyle.rewriters.cross_aligned import _losses as losses  # noqa: E402
from restyle.rewriters.cross_aligned._batches import Batches  # noqa: E402
from restyle.rewriters.cross_aligned._checkpoint import read_checkpoint, write_checkpoint  # noqa: E402
from restyle.rewriters.cross_aligned._data import paraphrases, read_sides, two_of  # noqa: E402
from restyle.rewriters.cross_aligned._discriminators import Discriminators  # noqa: E402
from restyle.rewriters.cross_aligned._model import Transfer  # noqa: E402
from restyle.rewriters.cross_aligned._step import Step, check_finite  # noqa: E402
from restyle.rewriters.cross_aligned._training import CHECKPOINT_FILE, POINTS, TRAJECTORY_FILE, Training  # noqa: E402
from restyle.rewriters.cross_aligned._writing import transferred  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = 12
TINY = CrossAlignedSettings(
    style_dim=3, content_dim=5, word_dim=4, filters=2, max_words=10, min_count=1, vocabulary=60, batch_size=8,
    learning_rate=3e-3, epochs=2, dev_sentences=6, checkpoint_seconds=0.0, precision="float32", pairs=(),
    cnn=TextCnnSettings(word_dim=6, filters=3, fit=FitSettings(epochs=2)),
    lm=GruLmSettings(word_dim=5, hidden=6, fit=FitSettings(epochs=2)),
)  # fmt: skip
KILLED = replace(TINY, model="M2", epochs=4)
NOUNS = ("food", "place", "service", "room", "staff", "soup")
SAID = {"good": ("great", "lovely", "fine"), "bad": ("awful", "cold", "rude")}


def corpus(train=40, valid=8, styles=("good", "bad")):
    generator = random.Random(0)

    def sentence(style):
        return (
            f"the {generator.choice(NOUNS)} was {generator.choice(SAID[style])} and the {generator.choice(NOUNS)} too ."
        )

    return Corpus.of(
        "toy",
        {
            s: {"train": [sentence(s) for _ in range(train)], "valid": [sentence(s) for _ in range(valid)]}
            for s in styles
        },
    )


@pytest.fixture
def pairs_file(tmp_path):
    file = tmp_path / "pairs.jsonl"
    pairs = [
        ("the food was great", "great was the food"),
        ("the room was cold", "so cold was the room"),
        ("soup", "soup ."),
    ]
    file.write_text("".join(json.dumps({"text": a, "paraphrase": b}) + "\n" for a, b in pairs))
    return str(file)


class Measured:
    """Stands in for the measures, which need word vectors: shorter outputs and more different words are better."""

    def __call__(self, inputs, outputs, targets):
        words = [set(text.split()) for text in outputs]
        same = sum(len(set(a.split()) & b) / max(1, len(b)) for a, b in zip(inputs, words, strict=True)) / len(words)
        return {"acc": 0.7, "sim": same, "meteor": same, "pp": 30.0 + same, "gm": 10 * same}


def watch(ended=lambda points: False, rule="gm"):
    return Watch(measured=lambda gauges, sides: Measured(), ended=ended, chosen=Rule.parse(rule).chosen)


def toy(settings, dtype=torch.float64):
    torch.manual_seed(1)
    model, discriminators = Transfer(WORDS, settings).to(dtype), Discriminators(settings).to(dtype)
    lms = tuple(SentenceLm(GruLm(WORDS, GruLmSettings(word_dim=3, hidden=4))) for _ in range(2))
    for lm in lms:
        lm.network.to(dtype).requires_grad_(False)
    return model, discriminators, lms


def toy_batches(settings, size=6):
    generator = random.Random(2)

    def row():
        return [generator.randrange(4, WORDS) for _ in range(generator.randint(1, 6))]

    rows = ([row() for _ in range(2 * size)], [row() for _ in range(2 * size)])
    pairs = [(row(), row()) for _ in range(10)] if settings.has("para") else []
    return Batches(rows, pairs, replace(settings, batch_size=size))


def obvious():
    """The obvious implementation, which the benchmark measures ours beside."""
    file = Path(__file__).parent.parent / "benchmarks" / "cross_aligned.py"
    spec = importlib.util.spec_from_file_location("cross_aligned_benchmark", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.Obvious


class TestLosses:
    """Each gradient against finite differences, in float64."""

    def setup_method(self):
        torch.manual_seed(0)
        self.logits = torch.randn(5, 7, dtype=torch.float64, requires_grad=True)
        self.words = torch.tensor([1, 0, 6, 3, 3])
        self.real = torch.randn(4, 6, 8, dtype=torch.float64, requires_grad=True)
        self.transferred = torch.randn(4, 6, 8, dtype=torch.float64, requires_grad=True)
        self.mix = torch.rand(4, dtype=torch.float64)

    def test_writing_is_the_sum_over_words_and_the_mean_over_the_sentences_of_a_style(self):
        assert torch.autograd.gradcheck(lambda logits: losses.writing(logits, self.words, 4), self.logits)
        by_hand = -self.logits.log_softmax(1)[torch.arange(5), self.words].sum() / 2
        assert losses.writing(self.logits, self.words, 4).item() == pytest.approx(by_hand.item())

    def test_language_is_a_cross_entropy_and_least_where_both_agree(self):
        expected = torch.randn(5, 7, dtype=torch.float64)
        assert torch.autograd.gradcheck(lambda logits: losses.language(logits, expected, 4), self.logits)
        agreed = expected.clone().requires_grad_()
        (slope,) = torch.autograd.grad(losses.language(agreed, expected, 4), agreed)
        assert slope.abs().max() < 1e-12

    def test_discrimination_and_fooling(self):
        real, other = torch.randn(2, 5, dtype=torch.float64).unbind()
        real.requires_grad_(), other.requires_grad_()
        assert torch.autograd.gradcheck(losses.discrimination, (real, other))
        assert torch.autograd.gradcheck(losses.fooling, (other,))
        by_hand = -real.sigmoid().log().mean() - (1 - other.sigmoid()).log().mean()
        assert losses.discrimination(real, other).item() == pytest.approx(by_hand.item())

    def test_nothing_overflows_where_a_discriminator_is_certain(self):
        certain = torch.tensor([1e4, -1e4])
        assert torch.isfinite(losses.discrimination(-certain, certain))

    def test_the_difference_of_a_critic(self):
        critic = Discriminators(replace(TINY, model="M6")).to(torch.float64).second[0]
        assert torch.autograd.gradcheck(
            lambda real, other: losses.criticism(critic, real, other, self.mix, 10.0).difference,
            (self.real, self.transferred),
        )

    def test_the_penalty_reaches_the_weights_of_the_critic_and_nothing_else(self):
        critic = Discriminators(replace(TINY, model="M6")).to(torch.float64).second[0]
        weights = dict(critic.named_parameters())

        def penalty(*values):
            def judged(states):
                return functional_call(critic, dict(zip(weights, values, strict=True)), (states,))

            return losses.gradient_penalty(judged, self.real, self.transferred, self.mix, 10.0)

        assert torch.autograd.gradcheck(penalty, tuple(value.detach().requires_grad_() for value in weights.values()))
        made = losses.gradient_penalty(critic, self.real, self.transferred, self.mix, 10.0)
        assert torch.autograd.grad(made, [self.real, self.transferred], allow_unused=True) == (None, None)

    def test_the_penalty_of_a_constant_critic_has_a_gradient(self):
        critic = Discriminators(replace(TINY, model="M6")).second[0]
        for weights in critic.parameters():
            torch.nn.init.zeros_(weights)
        losses.gradient_penalty(critic, self.real.float(), self.transferred.float(), self.mix.float(), 10.0).backward()
        assert all(torch.isfinite(weights.grad).all() for weights in critic.parameters() if weights.grad is not None)


@pytest.mark.parametrize("name", MODELS)
def test_a_step_gives_the_gradients_of_the_obvious_implementation(name):
    settings = replace(TINY, model=name)
    batch = next(toy_batches(settings).epoch(0))
    mix = torch.rand(2, 6, dtype=torch.float64)
    found = []
    for kind in (Step, obvious()):
        model, discriminators, lms = toy(settings)
        given = kind(model, discriminators, lms, settings).gradients(batch, 1, mix)
        weights = [*model.named_parameters(prefix="model"), *discriminators.named_parameters(prefix="d")]
        found.append((given, {key: value.grad for key, value in weights}))
    (ours, slopes), (theirs, others) = found
    assert set(ours) == set(theirs)
    for key, value in ours.items():
        assert value.item() == pytest.approx(theirs[key].item(), rel=1e-9), key
    for key, slope in slopes.items():
        assert torch.allclose(slope, others[key], rtol=1e-7, atol=1e-11), key


def test_the_decoder_climbs_what_the_discriminators_descend():
    """Line 10 of Algorithm 1, by finite differences: the gradient of the printed total."""
    settings = replace(TINY, model="M6", adversarial="minimax")
    batch = next(toy_batches(settings).epoch(0))
    mix = torch.rand(2, 6, dtype=torch.float64)

    def total(model, discriminators, lms):
        found = Step(model, discriminators, lms, settings).gradients(batch, 2, mix)
        # Without the penalty, of which the decoder is not told.
        adversarial = found["adv0"] + found["adv1"]
        return found, (found["rec"] + 5 * found["cyc"] - adversarial).item()

    settings = replace(settings, lambda_adv2=0.0)
    model, discriminators, lms = toy(settings)
    total(model, discriminators, lms)
    slope = model.out.bias.grad[5].item()
    values = []
    for shift in (1e-6, -1e-6):
        model, discriminators, lms = toy(settings)
        with torch.no_grad():
            model.out.bias[5] += shift
        values.append(total(model, discriminators, lms)[1])
    assert slope == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-5)


def test_the_other_objective_tells_the_decoder_of_transferred_states_alone():
    gradients = {}
    for kind in ("minimax", "non-saturating"):
        settings = replace(TINY, model="M0", adversarial=kind)
        batch = next(toy_batches(settings).epoch(0))
        model, discriminators, lms = toy(settings)
        found = Step(model, discriminators, lms, settings).gradients(batch, 0, torch.rand(2, 6))
        own = torch.cat([weights.grad.flatten() for weights in discriminators.parameters()])
        gradients[kind] = (found, own, model.out.weight.grad)
    (found, own, told), (other_found, other_own, other_told) = gradients.values()
    assert {key: value.item() for key, value in found.items()} == {
        key: value.item() for key, value in other_found.items()
    }
    assert torch.allclose(own, other_own), "the discriminators learn the same either way"
    assert not torch.allclose(told, other_told)


def test_a_cyclic_loss_sends_no_gradient_through_the_first_transfer():
    settings = replace(TINY, model="M2", lambda_rec=0.0, lambda_adv=0.0)
    model, discriminators, lms = toy(settings)
    batch = next(toy_batches(settings).epoch(0))
    seen = []
    model.words.register_forward_hook(lambda module, given, made: seen.append(given[0]))
    Step(model, discriminators, lms, settings).gradients(batch, 0, torch.rand(2, 6))
    written = set(torch.cat([ids.flatten() for ids in seen[1:]]).tolist())
    touched = set(torch.nonzero(model.words.weight.grad.abs().sum(1)).flatten().tolist())
    assert touched <= written | {BEGIN}


def test_lambda6_halves_with_every_epoch():
    settings = replace(TINY, model="M6", lambda_rec=0.0, lambda_cyc=0.0, lambda_adv=0.0)
    batch = next(toy_batches(settings).epoch(0))
    slopes = []
    for epoch in (0, 3):
        model, discriminators, lms = toy(settings)
        Step(model, discriminators, lms, settings).gradients(batch, epoch, torch.full((2, 6), 0.5, dtype=torch.float64))
        slopes.append(model.styles.weight.grad)
    assert torch.allclose(slopes[0] / 8, slopes[1], rtol=1e-9, atol=1e-15)


def test_states_after_the_end_are_zero_and_words_after_it_padding():
    model, _, _ = toy(TINY)
    with torch.no_grad():
        model.out.bias[END] = 50.0
    written = model.write(torch.randn(3, 8, dtype=torch.float64), 4, 0.1)
    assert written.words.tolist() == [[END, PAD, PAD, PAD]] * 3
    assert written.lengths.tolist() == [0, 0, 0]
    assert (written.states[:, 1:] == 0).all() and (written.states[:, 0] != 0).any()


def test_a_loss_that_is_no_number_ends_the_training_with_its_name():
    with pytest.raises(RestyleError, match="step 3: the loss cyc is nan; lower learning_rate"):
        check_finite({"rec": torch.tensor(1.0), "cyc": torch.tensor(math.nan)}, "step 3")


def test_a_checkpoint_brings_all_that_adam_keeps_to_the_device_of_the_weights(tmp_path):
    """A fused Adam stops at a number of steps that is elsewhere; `meta` stands in for a GPU."""
    networks = {}
    for device in ("cpu", "meta"):
        network = torch.nn.Linear(2, 1, device=device)
        networks[device] = {"model": (network, torch.optim.Adam(network.parameters(), fused=device == "cpu"))}
    network, optimiser = networks["cpu"]["model"]
    network(torch.ones(1, 2)).sum().backward()
    optimiser.step()
    write_checkpoint(tmp_path / "c.safetensors", networks["cpu"], {}, {"step": 1})
    assert read_checkpoint(tmp_path / "c.safetensors", networks["meta"], {}) == {"step": 1}
    _, resumed = networks["meta"]["model"]
    found = [(name, value.device.type) for state in resumed.state.values() for name, value in state.items()]
    assert sorted(set(found)) == [("exp_avg", "meta"), ("exp_avg_sq", "meta"), ("step", "meta")]


def test_a_checkpoint_that_does_not_say_of_what_is_refused(tmp_path):
    save_file({"x": torch.zeros(1)}, tmp_path / "c.safetensors", {"version": "1"})
    with pytest.raises(InputError, match="is no checkpoint of this training: it has no identity and no facts"):
        read_checkpoint(tmp_path / "c.safetensors", {}, {})


class TestTraining:
    def test_a_gradient_that_is_no_number_never_reaches_the_weights(self, tmp_path, monkeypatch):
        given = Step.gradients

        def poisoned(self, *arguments):
            found = given(self, *arguments)
            if poisoned.left == 0:
                self._discriminators.first[1].out.bias.grad.fill_(math.inf)
            poisoned.left -= 1
            return found

        poisoned.left = 2
        monkeypatch.setattr(Step, "gradients", poisoned)
        with pytest.raises(RestyleError, match="step 3: the gradient of the discriminators is inf; lower"):
            learn(corpus(), (), replace(TINY, model="M0"), tmp_path / "run", watch())
        tensors = load_file(tmp_path / "run" / CHECKPOINT_FILE)
        assert all(torch.isfinite(value).all() for value in tensors.values())

    def test_each_discriminator_is_clipped_by_itself(self, tmp_path, monkeypatch):
        longest = []
        step = torch.optim.Adam.step

        def watched(self, *arguments):
            (group,) = self.param_groups
            longest.append([weights.grad.norm().item() for weights in group["params"] if weights.grad is not None])
            return step(self, *arguments)

        settings = replace(TINY, model="M6", epochs=1, clip=1e-4)
        sides = read_sides(corpus(), (), settings)
        lms = tuple(SentenceLm(GruLm(len(sides.vocabulary), GruLmSettings(word_dim=3, hidden=4))) for _ in range(2))
        training = Training(sides, [], lms, settings, tmp_path)
        monkeypatch.setattr(torch.optim.Adam, "step", watched)
        next(iter(training._epoch()))
        model, discriminators = (math.hypot(*norms) for norms in longest)
        assert model == pytest.approx(1e-4, rel=1e-2)
        assert discriminators == pytest.approx(math.sqrt(4) * 1e-4, rel=1e-2)

    def test_a_model_that_says_nothing_goes_on_and_its_perplexity_is_endless(self, tmp_path, monkeypatch):
        def silent(self, inputs, outputs, targets):
            return {"acc": 0.5, "sim": 0.0, "meteor": 0.0, "pp": math.inf, "gm": 0.0}

        monkeypatch.setattr(Measured, "__call__", silent)
        once = replace(TINY, model="M0", epochs=1)
        learn(corpus(), (), once, tmp_path / "run", watch())
        learn(corpus(), (), replace(once, epochs=2), tmp_path / "run", watch())
        assert '"pp": null' in (tmp_path / "run" / TRAJECTORY_FILE).read_text()
        assert [point["pp"] for point in trajectory_of(tmp_path / "run")] == [math.inf] * 4
        assert load(tmp_path / "run").chosen["pp"] == math.inf

    @pytest.mark.parametrize(
        ("line", "said"),
        [('{"step": 5, "epo', "line 2: not JSON"), ("[1]", "line 2: a JSON object"), ("{}", "line 2: a point has no")],
    )
    def test_a_trajectory_that_is_broken_is_named_by_its_line(self, tmp_path, line, said):
        point = {"step": 1, "epoch": 0.5, "acc": 0.5, "sim": 0.5, "meteor": 0.5, "pp": 3.0, "gm": 0.0}
        (tmp_path / TRAJECTORY_FILE).write_text(f"{json.dumps(point)}\n{line}\n")
        with pytest.raises(InputError, match=said):
            trajectory_of(tmp_path)

    def test_it_learns_to_write_what_it_reads(self, tmp_path, pairs_file):
        settings = replace(TINY, model="M2", epochs=25, learning_rate=0.03, content_dim=24)
        learn(corpus(), (), settings, tmp_path / "run", watch())
        rows = trajectory_of(tmp_path / "run")
        assert rows[-1]["losses"]["rec"] < rows[0]["losses"]["rec"] / 3
        assert [row["epoch"] for row in rows[:3]] == [0.5, 1.0, 1.5] or [row["epoch"] for row in rows[:3]] == [
            0.4,
            1.0,
            1.4,
        ]

    def test_all_eight_go_through_one_path_and_none_meets_a_number_that_is_none(self, tmp_path, pairs_file):
        for name in MODELS:
            settings = replace(TINY, model=name, epochs=1, pairs=(pairs_file,), gauges=str(tmp_path / "gauges"))
            learn(corpus(), (), settings, tmp_path / name, watch())
            (last,) = trajectory_of(tmp_path / name)[-1:]
            wanted = (
                {"rec", "adv0", "adv1"}
                | (MODELS[name] - {"2d"})
                | ({"adv20", "adv21"} if "2d" in MODELS[name] else set())
            )
            assert set(last["losses"]) == wanted

    def test_a_long_run_at_a_wild_rate_meets_no_nan_and_no_denormal(self, tmp_path, pairs_file):
        settings = replace(TINY, model="M7", epochs=12, learning_rate=0.3, pairs=(pairs_file,), precision="fastest")
        made = learn(corpus(train=24), (), settings, tmp_path / "run", watch())
        weights = torch.cat([value.flatten() for value in made.model.state_dict().values()])
        assert torch.isfinite(weights).all()
        assert all(math.isfinite(value) for row in trajectory_of(tmp_path / "run") for value in row["losses"].values())
        assert (torch.tensor(1e-39) * 1.0).item() != 0, "what was flushed is flushed no longer"

    def test_the_same_seed_gives_the_same_bytes_and_another_others(self, tmp_path):
        weights = []
        for run, seed in (("one", 1), ("two", 1), ("three", 2)):
            learn(corpus(), (), replace(TINY, seed=seed, epochs=1, model="M6"), tmp_path / run / "m", watch())
            weights.append((tmp_path / run / "m" / "model.safetensors").read_bytes())
        assert weights[0] == weights[1] != weights[2]

    def test_a_run_that_was_stopped_anywhere_ends_as_one_that_was_not(self, tmp_path, pairs_file):
        settings = replace(TINY, model="M7", pairs=(pairs_file,), gauges=str(tmp_path / "gauges"))
        learn(corpus(), (), settings, tmp_path / "whole", watch())
        for stopped_at in (1, 3, 6):
            folder = tmp_path / f"stopped-{stopped_at}"
            _stop_after(stopped_at, settings, folder)
            learn(corpus(), (), settings, folder, watch())
            for file in ("model.safetensors", TRAJECTORY_FILE, "words.json"):
                assert (folder / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), (stopped_at, file)

    def test_a_point_can_be_chosen_of_a_run_that_was_stopped(self, tmp_path):
        _stop_after(4, replace(TINY, model="M0"), tmp_path / "run")
        made = choose(tmp_path / "run", Rule.parse("gm").chosen(trajectory_of(tmp_path / "run")))
        assert load(tmp_path / "run").fingerprint() == made.fingerprint()

    def test_more_epochs_go_on_from_where_the_fewer_ended(self, tmp_path):
        once = replace(TINY, model="M0", gauges=str(tmp_path / "gauges"))
        learn(corpus(), (), replace(once, epochs=1), tmp_path / "grown", watch())
        learn(corpus(), (), replace(once, epochs=2), tmp_path / "grown", watch())
        learn(corpus(), (), replace(once, epochs=2), tmp_path / "whole", watch())
        assert (tmp_path / "grown" / TRAJECTORY_FILE).read_bytes() == (
            tmp_path / "whole" / TRAJECTORY_FILE
        ).read_bytes()

    def test_it_ends_when_it_is_told_to(self, tmp_path):
        learn(
            corpus(), (), replace(TINY, epochs=9, model="M0"), tmp_path / "run", watch(lambda points: len(points) == 3)
        )
        assert len(trajectory_of(tmp_path / "run")) == 3

    def test_a_checkpoint_of_another_version_is_refused(self, tmp_path, monkeypatch):
        settings = replace(TINY, model="M0", epochs=1)
        learn(corpus(), (), settings, tmp_path / "run", watch())
        monkeypatch.setattr("restyle.rewriters.cross_aligned._checkpoint.VERSION", 2)
        with pytest.raises(UsageError, match=r"is a checkpoint of version 1, and this restyle reads version 2"):
            learn(corpus(), (), replace(settings, epochs=2), tmp_path / "run", watch())

    def test_a_checkpoint_of_other_settings_is_refused_by_what_differs(self, tmp_path):
        settings = replace(TINY, model="M0", epochs=1)
        learn(corpus(), (), settings, tmp_path / "run", watch())
        with pytest.raises(UsageError, match=r"another training \(lambda_adv was 1.0 and is 2.0\)"):
            learn(corpus(), (), replace(settings, lambda_adv=2.0), tmp_path / "run", watch())

    def test_gauges_of_other_sentences_are_refused(self, tmp_path):
        settings = replace(TINY, model="M0", epochs=1, gauges=str(tmp_path / "gauges"))
        learn(corpus(), (), settings, tmp_path / "run", watch())
        with pytest.raises(UsageError, match=r"holds gauges of other sentences or settings \(toy, good and bad\)"):
            learn(corpus(train=30), (), settings, tmp_path / "other", watch())

    def test_a_point_whose_weights_are_gone_cannot_be_chosen(self, tmp_path):
        learn(corpus(), (), replace(TINY, model="M0", epochs=1), tmp_path / "run", watch())
        for file in (tmp_path / "run" / POINTS).iterdir():
            file.unlink()
        with pytest.raises(InputError, match="holds no weights of step"):
            choose(tmp_path / "run", Rule.parse("gm").chosen(trajectory_of(tmp_path / "run")))


def _stop_after(steps, settings, folder):
    """Train so many steps and leave it as a kill would."""

    class Killed(Exception):
        pass

    def killing(self, *given, **options):
        if killing.left == 0:
            raise Killed
        killing.left -= 1
        return gradients(self, *given, **options)

    killing.left = steps
    gradients = Step.gradients
    Step.gradients = killing
    try:
        with pytest.raises(Killed):
            learn(corpus(), (), settings, folder, watch())
    finally:
        Step.gradients = gradients
    assert (folder / CHECKPOINT_FILE).is_file()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rewriting") / "run"
    learn(corpus(), (), replace(TINY, model="M2", epochs=8, learning_rate=0.02), folder, watch())
    return folder


class TestRewriting:
    @pytest.fixture
    def made(self, run):
        return load(run)

    @pytest.fixture
    def copy(self, run, tmp_path):
        return Path(shutil.copytree(run, tmp_path / "copy"))

    def test_what_was_learned_comes_back_from_its_folder_and_says_the_same(self, made, tmp_path):
        texts = ["the food was great and the soup too .", "", "the zebra was fine ."]
        made.save(tmp_path / "saved")
        again = load(tmp_path / "saved")
        assert again.styles == ("good", "bad")
        assert again.fingerprint() == made.fingerprint()
        assert again.rewrite(texts, "bad") == made.rewrite(texts, "bad")
        assert made.rewrite("", "bad") == ""
        assert isinstance(made.rewrite(texts[0], "good"), str)

    def test_a_sentence_is_written_the_same_alone_and_among_others(self, made):
        texts = corpus().sentences("good", "valid")
        together = made.rewrite(texts, "bad")
        assert together == [made.rewrite(text, "bad") for text in texts]
        assert made.rewrite(texts, "bad", batch_size=2) == together

    def test_a_beam_finds_sentences_at_least_as_likely_as_the_greedy_one_and_different(self, made):
        several = made.rewrite("the food was great .", "bad", candidates=4)
        assert len(several) == 4 and len(set(several)) == 4

    def test_a_beam_of_one_is_greedy(self, made):
        rows = [made.vocabulary.encode(text) for text in corpus().sentences("bad", "valid")]
        from restyle.rewriters.cross_aligned._writing import beamed, greedy

        for row in rows:
            ids = torch.tensor([row])
            content = made.model.encode(ids, torch.tensor([len(row)]), torch.tensor([1]))
            start = made.model.start(torch.tensor([0]), content)
            with torch.no_grad():
                assert beamed(made.model, start, 9, 1) == greedy(made.model, start, 9)

    def test_it_writes_no_mark_that_stands_in_no_sentence_and_ends(self, made):
        rows = [made.vocabulary.encode("the food was great and the soup too .")] * 3
        for several in transferred(made.model, rows, 0, 8, beam=3):
            for row in several:
                assert len(row) <= 11 and not {PAD, BEGIN, END} & set(row)

    def test_an_unknown_word_is_copied_or_marked(self):
        words = Words(["the", "was", "fine", "."])
        text = "The zebra was fine."
        assert words.encode(text) == [4, UNKNOWN, 5, 6, 7]
        assert words.unknown(text) == ["zebra"]
        assert words.decode([4, UNKNOWN, 5, UNKNOWN], words.unknown(text)) == "the zebra was <unk>"

    def test_it_does_not_write_what_it_did_not_learn(self, made):
        with pytest.raises(UnknownName, match="no style is called 'gode'; did you mean good"):
            made.rewrite("x", "gode")
        with pytest.raises(UsageError, match="writes bad from good, not from bad"):
            made.rewrite("x", "bad", from_="bad")

    def test_a_model_of_another_version_is_refused(self, copy):
        file = copy / "system.toml"
        file.write_text(file.read_text().replace("version = 1", "version = 7"))
        with pytest.raises(
            UsageError, match="holds a cross-aligned model of version 7, and this restyle reads version 1"
        ):
            load(copy)

    def test_a_point_of_a_run_of_another_version_is_not_chosen(self, copy):
        file = copy / "system.toml"
        file.write_text(file.read_text().replace("version = 1", "version = 7"))
        with pytest.raises(UsageError, match="of version 7, and this restyle reads version 1"):
            choose(copy, Rule.parse("gm").chosen(trajectory_of(copy)))
        assert "version = 7" in file.read_text()

    def test_weights_of_another_size_are_refused(self, copy):
        file = copy / "system.toml"
        file.write_text(file.read_text().replace("style_dim = 3", "style_dim = 4"))
        with pytest.raises(InputError, match="does not hold the weights that its settings describe"):
            load(copy)


class TestBadInput:
    def test_a_corpus_with_one_style(self):
        with pytest.raises(UsageError, match="transfer is between two styles, and 'good' alone is in the corpus"):
            read_sides(corpus(styles=("good",)), (), TINY)

    def test_more_than_two_styles_of_which_none_is_named(self):
        three = Corpus.of("three", {name: {"train": ["a b"], "valid": ["a b"]} for name in ("x", "y", "z")})
        with pytest.raises(UsageError, match=r"3 styles.*name two of three with --styles: x, y, z"):
            two_of(three, ())
        assert two_of(three, ("z", "x")) == ("z", "x")
        with pytest.raises(UnknownName, match="no style of the corpus three is called 'w'"):
            two_of(three, ("w", "x"))

    def test_an_empty_side(self):
        empty = Corpus.of("toy", {"good": {"train": ["a b"], "valid": ["a b"]}, "bad": {"train": [], "valid": ["a"]}})
        with pytest.raises(InputError, match="the style 'bad' of toy has no sentences in its split train"):
            read_sides(empty, (), TINY)

    def test_a_style_without_validation_sentences(self):
        lacking = Corpus.of("toy", {"good": {"train": ["a b"]}, "bad": {"train": ["a b"], "valid": ["a"]}})
        with pytest.raises(InputError, match="the style 'good' of toy has no sentences in its split valid"):
            read_sides(lacking, (), TINY)

    def test_sentences_that_are_all_too_long(self):
        with pytest.raises(
            InputError, match=r"none of the 40 sentences of 'good' in toy, split train, has 1 to 4 words"
        ):
            read_sides(corpus(), (), replace(TINY, max_words=4))

    def test_a_vocabulary_of_one_word(self):
        one = Corpus.of("toy", {style: {"train": ["no no no"], "valid": ["no"]} for style in ("good", "bad")})
        with pytest.raises(InputError, match="the vocabulary has 1 word that is seen 1 times or more"):
            read_sides(one, (), TINY)

    def test_a_vocabulary_that_is_cut_to_one_word(self):
        with pytest.raises(InputError, match="the vocabulary has 1 word .* where 1 may be known; at least two"):
            read_sides(corpus(), (), replace(TINY, vocabulary=1))

    @pytest.mark.parametrize("subwords", [1, 2, 3])
    def test_so_few_subwords_that_the_marks_have_no_place(self, subwords):
        with pytest.raises(UsageError, match=f"^a vocabulary of {subwords} is too small: padding"):
            read_sides(corpus(), (), replace(TINY, subwords=subwords))

    def test_paraphrases_that_stand_in_one_another_are_left_out(self, pairs_file, tmp_path):
        sides = read_sides(corpus(), (), TINY)
        assert len(paraphrases(sides.vocabulary, replace(TINY, pairs=(pairs_file,)))) == 2
        with pytest.raises(UnknownName, match="no table or file of paraphrases is called 'quorra'; did you mean quora"):
            paraphrases(sides.vocabulary, replace(TINY, pairs=("quorra",)))
        (tmp_path / "few.jsonl").write_text('{"text": "soup", "paraphrase": "the soup"}\n')
        with pytest.raises(InputError, match="none of the pairs of .*few.jsonl has two sides of 1 to 10 words"):
            paraphrases(sides.vocabulary, replace(TINY, pairs=(str(tmp_path / "few.jsonl"),)))


def test_every_batch_has_as_many_of_either_side_and_the_shorter_comes_again():
    rows = ([[4]] * 5, [[5, 5]] * 12)
    batches = list(Batches(rows, [], replace(TINY, batch_size=4)).epoch(0))
    assert len(batches) == 3
    assert all(batch.sentences.styles.tolist() == [0] * 4 + [1] * 4 for batch in batches)
    again = list(Batches(rows, [], replace(TINY, batch_size=4)).epoch(0, 2))
    assert len(again) == 1 and torch.equal(again[0].sentences.ids, batches[2].sentences.ids)


def test_processes_share_a_batch():
    rows = ([[4 + n] for n in range(8)], [[4 + n] for n in range(8)])
    whole = next(Batches(rows, [], replace(TINY, batch_size=4)).epoch(0)).sentences.ids.flatten().tolist()
    shares = [
        next(Batches(rows, [], replace(TINY, batch_size=4), n, 2).epoch(0)).sentences.ids.flatten().tolist()
        for n in (0, 1)
    ]
    assert sorted(shares[0] + shares[1]) == sorted(whole)


TWO = replace(TINY, model="M2", checkpoint_seconds=60.0)
SHARED = """
import os, sys, torch
sys.path.insert(0, {tests!r})
torch.set_num_threads(1)
import test_cross_aligned as t
from pathlib import Path
made = t.learn(t.corpus(), (), t.TWO, Path({folder!r}), t.watch())
sys.stdout.write(made.fingerprint() + "\\n")
"""


def test_processes_train_one_model_together(tmp_path):
    (tmp_path / "shared.py").write_text(SHARED.format(tests=str(Path(__file__).parent), folder=str(tmp_path / "a/run")))
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ran = subprocess.run([*launch, str(tmp_path / "shared.py")], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.split()
    alone = learn(corpus(), (), TWO, tmp_path / "b" / "run", watch())
    assert first == second != alone.fingerprint(), "what is summed in another order has other last digits"
    ours, theirs = (load_file(tmp_path / run / "run" / "model.safetensors") for run in "ab")
    for name, weights in theirs.items():
        assert torch.allclose(ours[name], weights, atol=1e-3), name


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_run_killed_for_good_goes_on(tmp_path):
    """A process of its own, killed while it trains; what it left goes on here."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_cross_aligned as t; from pathlib import Path\n"
        "import torch; torch.set_num_threads(1)\n"
        "t.learn(t.corpus(), (), t.KILLED, Path(sys.argv[2]), t.watch(), say=lambda line: print(line, flush=True))\n"
    )
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(tmp_path / "killed" / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if "epoch 1" in line:
                break
        os.kill(process.pid, signal.SIGKILL)
    assert len((tmp_path / "killed" / "run" / TRAJECTORY_FILE).read_text().splitlines()) < 8
    for run in ("killed", "whole"):
        learn(corpus(), (), KILLED, tmp_path / run / "run", watch())
    for file in ("model.safetensors", TRAJECTORY_FILE):
        assert (tmp_path / "killed" / "run" / file).read_bytes() == (tmp_path / "whole" / "run" / file).read_bytes()
