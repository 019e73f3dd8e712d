from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from restyle.errors import UsageError  # noqa: E402
from restyle.lm.adapters import Adapter  # noqa: E402
from restyle.lm.bases import load_base  # noqa: E402
from restyle.lm.format import Sequence2  # noqa: E402
from restyle.lm.training import Pairs, TuneSettings, tune  # noqa: E402
from restyle.lm.training._batches import IGNORED, ByLength, collate  # noqa: E402
from restyle.lm.training._loss import output_loss  # noqa: E402

NOUNS = ["cat", "dog", "man", "book", "rain", "house", "king", "fool", "ship", "tree", "road", "moon"]
VERBS = ["saw", "took", "left", "had", "knew", "met", "sold", "made"]


def pairs(first: int, last: int) -> Pairs:
    """Sentences, and the same ones as a question would put them."""
    said = [(NOUNS[i % 12], VERBS[i % 8], NOUNS[(i // 2 + 5) % 12]) for i in range(first, last)]
    return Pairs(
        [f"The {who} {did} the {what}." for who, did, what in said],
        [f"Who {did} the {what}? The {who}!" for who, did, what in said],
    )


TRAIN, DEV = pairs(0, 60), pairs(60, 70)


def settings_of(base: Path, **changes: object) -> TuneSettings:
    chosen = {"base": str(base), "rank": 4, "epochs": 4, "batch_size": 8, "learning_rate": 5e-3, "evaluations": 4}
    return TuneSettings(**(chosen | {"samples": 0} | changes))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks of a few dimensions lose more to waiting for a second thread than it takes off them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def same(one: Adapter, other: Adapter) -> bool:
    return one.factors.keys() == other.factors.keys() and all(
        np.array_equal(ours, theirs)
        for name in one.factors
        for ours, theirs in zip(one.factors[name], other.factors[name], strict=True)
    )


def test_tuning_learns(toy_base: Path, tmp_path: Path) -> None:
    said: list[str] = []
    tuned = tune(TRAIN, DEV, tmp_path, settings_of(toy_base, samples=1), log=said.append)
    losses = [float(line.rpartition(" ")[2]) for line in said if "dev loss" in line]
    assert len(losses) == 4
    assert tuned.dev_loss == pytest.approx(min(losses), abs=1e-4)
    assert losses[-1] < losses[0] - 0.3
    assert tuned.steps == 30
    assert tuned.dev_perplexity == pytest.approx(np.exp(tuned.dev_loss))
    assert sum(line.startswith(f"    {DEV.inputs[0]}  ->  ") for line in said) == 4


def test_the_same_seed_gives_the_same_bytes(toy_base: Path, tmp_path: Path) -> None:
    settings = settings_of(toy_base, epochs=1)
    first, second = (tune(TRAIN, DEV, tmp_path / name, settings).adapter for name in "ab")
    third = tune(TRAIN, DEV, tmp_path / "c", settings_of(toy_base, epochs=1, seed=1)).adapter
    assert first and second and third
    assert same(first, second)
    assert not same(first, third)


@pytest.mark.parametrize("device_type", ["float32", "bfloat16"])
def test_the_loss_is_that_of_all_logits_at_the_outputs(toy_base: Path, device_type: str) -> None:
    base = load_base(str(toy_base))
    model = base.model.to(getattr(torch, device_type))
    found = [each for each in base.format(50).examples(DEV.inputs, DEV.outputs) if each is not None]
    batch = collate(found)
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits.float()
    plain = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten())
    close = {"rtol": 1e-5 if device_type == "float32" else 5e-3, "atol": 0.0}
    assert torch.allclose(output_loss(model, batch), plain, **close)


def test_padding_and_the_input_are_not_learned_from(toy_base: Path) -> None:
    base = load_base(str(toy_base))
    short, long = base.format(50).examples(["The cat.", "The dog saw the old man there."], ["Cat!", "Who saw the man?"])
    assert short is not None and long is not None
    batch = collate([short, long])
    assert batch["labels"][0, : short.prompt].eq(IGNORED).all()
    assert batch["labels"][0, short.prompt : len(short)].tolist() == short.ids[short.prompt :]
    assert batch["labels"][0, len(short) :].eq(IGNORED).all()
    assert batch["attention_mask"].sum(1).tolist() == [len(short), len(long)]
    with torch.no_grad():
        model = base.model
        apart = [output_loss(model, collate([each])) * (len(each) - each.prompt) for each in (short, long)]
        together = output_loss(model, batch) * sum(len(each) - each.prompt for each in (short, long))
    assert float(sum(apart)) == pytest.approx(float(together), rel=1e-5)


def test_the_end_is_learned_though_it_is_also_what_pads(toy_base: Path) -> None:
    base = load_base(str(toy_base))
    assert base.tokenizer.pad_token_id == base.tokenizer.eos_token_id
    (one,) = base.format(50).examples(["a"], ["b"])
    assert one is not None
    assert collate([one, Sequence2([1] * 40, 3)])["labels"][0, len(one) - 1] == base.tokenizer.eos_token_id


def test_a_model_that_does_more_to_its_logits_is_refused(toy_base: Path, tmp_path: Path) -> None:
    base = load_base(str(toy_base))
    config = transformers.Gemma2Config(
        vocab_size=320, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, final_logit_softcapping=0.5, initializer_range=0.3,
        eos_token_id=1, bos_token_id=0, pad_token_id=1,
    )  # fmt: skip
    base.tokenizer.save_pretrained(tmp_path / "capped")
    transformers.Gemma2ForCausalLM(config).save_pretrained(tmp_path / "capped")
    with pytest.raises(UsageError, match="choose another base"):
        tune(TRAIN, DEV, tmp_path / "run", settings_of(tmp_path / "capped"))


def test_batches_hold_sequences_of_about_one_length() -> None:
    lengths = np.random.default_rng(0).integers(5, 100, 2000).tolist()
    order = list(ByLength(lengths, 16, seed=3))
    assert sorted(order) == list(range(2000))
    spans = [np.ptp([lengths[place] for place in order[at : at + 16]]) for at in range(0, 2000, 16)]
    assert np.mean(spans) < 8


def test_batches_follow_from_the_seed_and_the_epoch() -> None:
    lengths = [5, 9, 7, 5, 8, 6, 6, 9, 5]
    sampler, again = ByLength(lengths, 2, seed=1), ByLength(lengths, 2, seed=1)
    first, repeated = list(sampler), list(again)
    sampler.set_epoch(1)
    again.set_epoch(1)
    assert first == repeated
    assert list(sampler) == list(again) != first
    assert list(ByLength(lengths, 2, seed=2)) != first


def test_it_stops_when_the_dev_pairs_are_known_no_better(toy_base: Path, tmp_path: Path) -> None:
    said: list[str] = []
    # What the dev pairs say has nothing to do with what is learned, so that learning soon does harm.
    dev = Pairs(DEV.inputs, ["zq xj vw kp"] * len(DEV))
    settings = settings_of(toy_base, epochs=40, evaluations=40, patience=3, learning_rate=2e-2)
    tuned = tune(TRAIN, dev, tmp_path, settings, log=said.append)
    losses = [float(line.rpartition(" ")[2]) for line in said]
    assert len(losses) == int(np.argmin(losses)) + 4 < 40
    assert tuned.dev_loss == pytest.approx(min(losses), abs=1e-4)
    assert tuned.adapter is not None
    # The same call finds what is finished, and the best weights, not the last.
    again = tune(TRAIN, dev, tmp_path, settings, log=said.append)
    assert len(said) == len(losses)
    assert (again.steps, again.dev_loss) == (tuned.steps, tuned.dev_loss)
    assert again.adapter is not None and same(again.adapter, tuned.adapter)


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
from test_lm_training import DEV, TRAIN, settings_of
from restyle.lm.training import tune
said = []
def log(line):
    said.append(line)
    if len(said) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
tune(TRAIN, DEV, {folder!r}, settings_of({base!r}, evaluations=5), log=log)
"""


def test_killed_it_goes_on_to_the_same_bytes(toy_base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    script = KILLED.format(tests=str(Path(__file__).parent), folder=str(folder), base=str(toy_base))
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    killed = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    # Killed again, while a checkpoint was written.
    cut = folder / "checkpoint-18"
    cut.mkdir(exist_ok=True)
    (cut / "trainer_state.json").write_text('{"global_step": 18, "best')
    said: list[str] = []
    moved = folder.rename(tmp_path / "moved")
    settings = settings_of(toy_base, evaluations=5)
    resumed = tune(TRAIN, DEV, moved, settings, log=said.append)
    undisturbed = tune(TRAIN, DEV, tmp_path / "undisturbed", settings)
    assert [line.partition(":")[0] for line in said] == ["step 18/30", "step 24/30", "step 30/30"]
    assert resumed.dev_loss == undisturbed.dev_loss
    assert resumed.adapter is not None and undisturbed.adapter is not None
    assert same(resumed.adapter, undisturbed.adapter)


def test_patience_outlives_a_kill(toy_base: Path, tmp_path: Path) -> None:
    dev = Pairs(DEV.inputs, ["zq xj vw kp"] * len(DEV))
    settings = settings_of(toy_base, epochs=40, evaluations=40, patience=3, learning_rate=2e-2)
    whole = tune(TRAIN, dev, tmp_path / "whole", settings)

    class Killed(Exception):
        pass

    def log(line: str) -> None:
        if line.startswith(f"step {whole.steps}/"):
            raise Killed

    with pytest.raises(Killed):
        tune(TRAIN, dev, tmp_path / "killed", settings, log=log)
    said: list[str] = []
    resumed = tune(TRAIN, dev, tmp_path / "killed", settings, log=said.append)
    assert len(said) == 1
    assert (resumed.steps, resumed.dev_loss) == (whole.steps, whole.dev_loss)


def test_another_training_does_not_go_on_in_the_folder(toy_base: Path, tmp_path: Path) -> None:
    tune(TRAIN, DEV, tmp_path, settings_of(toy_base, epochs=0.2))
    with pytest.raises(UsageError, match="another|other learning_rate: go on") as refused:
        tune(TRAIN, DEV, tmp_path, settings_of(toy_base, epochs=0.2, learning_rate=1e-3))
    assert "\n" not in str(refused.value)
    with pytest.raises(UsageError, match="other train pairs"):
        tune(pairs(1, 61), DEV, tmp_path, settings_of(toy_base, epochs=0.2))
    tuned = tune(TRAIN, DEV, tmp_path, settings_of(toy_base, epochs=0.2, samples=3))  # which changes no weight
    with pytest.raises(UsageError, match="other start"):
        tune(TRAIN, DEV, tmp_path, settings_of(toy_base, epochs=0.2), start=tuned.adapter)


def test_a_budget_of_minutes_is_kept(toy_base: Path, tmp_path: Path) -> None:
    settings = settings_of(toy_base, epochs=10_000, minutes=0.05, patience=1000)
    began = time.monotonic()
    tuned = tune(TRAIN, DEV, tmp_path, settings)
    assert 1 < time.monotonic() - began < 6
    assert 8 < tuned.steps < 70_000
    began = time.monotonic()
    assert tune(TRAIN, DEV, tmp_path, settings).steps == tuned.steps
    assert time.monotonic() - began < 1.5


def test_where_the_steps_take_longer_than_planned_the_clock_stops_it(
    toy_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from restyle.lm.training import _plan

    monkeypatch.setattr(_plan, "_seconds_a_step", lambda *given: 1e-6)
    settings = settings_of(toy_base, epochs=10_000, minutes=0.03, patience=1000)
    began = time.monotonic()
    tuned = tune(TRAIN, DEV, tmp_path, settings)
    assert time.monotonic() - began < 6
    assert tuned.adapter is not None
    again = tune(TRAIN, DEV, tmp_path, settings)
    assert (again.steps, again.dev_loss) == (tuned.steps, tuned.dev_loss)
    assert again.adapter is not None and same(again.adapter, tuned.adapter)


def test_an_adapter_that_has_learned_goes_on(toy_base: Path, tmp_path: Path) -> None:
    first = tune(TRAIN, DEV, tmp_path / "first", settings_of(toy_base, epochs=2))
    said: list[str] = []
    settings = settings_of(toy_base, epochs=0.2, learning_rate=1e-6, evaluations=1)
    second = tune(TRAIN, DEV, tmp_path / "second", settings, start=first.adapter, log=said.append)
    assert second.dev_loss == pytest.approx(first.dev_loss, abs=0.02)


def test_all_weights_can_be_tuned(toy_base: Path, tmp_path: Path) -> None:
    tuned = tune(TRAIN, DEV, tmp_path, settings_of(toy_base, rank=0, learning_rate=2e-3))
    assert tuned.adapter is None
    base = load_base(str(tuned.folder))
    found = [each for each in base.format(50).examples(DEV.inputs, DEV.outputs) if each is not None]
    with torch.no_grad():
        assert float(output_loss(base.model, collate(found))) == pytest.approx(tuned.dev_loss, rel=0.02)
    untouched = load_base(str(toy_base)).model
    assert not torch.equal(base.model.model.embed_tokens.weight, untouched.model.embed_tokens.weight)


def test_what_cannot_be_learned_from_is_told_in_one_line(toy_base: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no train pair is left"):
        tune(Pairs(["a"], [""]), DEV, tmp_path, settings_of(toy_base))
    with pytest.raises(UsageError, match="no dev pair is left: each output must have 1 to 5 subwords"):
        tune(
            Pairs(["a"], ["b"]), Pairs(["a"], ["a long sentence " * 9]), tmp_path, settings_of(toy_base, max_subwords=5)
        )
    with pytest.raises(UsageError, match="lower the learning rate"):
        tune(TRAIN, DEV, tmp_path, settings_of(toy_base, learning_rate=1e30, warm_up=0.0))
    with pytest.raises(UsageError, match="epochs is 0"):
        TuneSettings(epochs=0)


def test_tensorboard_is_asked_for_by_name(toy_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from restyle.lm.training import _trainer

    monkeypatch.setattr(_trainer, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install tensorboard"):
        tune(TRAIN, DEV, tmp_path, settings_of(toy_base, tensorboard=True))


def test_tensorboard_is_given_the_losses(toy_base: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    tune(TRAIN, DEV, tmp_path, settings_of(toy_base, epochs=1, tensorboard=True))
    assert list(tmp_path.rglob("events.out.tfevents.*"))


SHARED = """
import os, sys
sys.path.insert(0, {tests!r})
import torch
torch.set_num_threads(1)
from test_lm_training import DEV, TRAIN, settings_of
from restyle.lm.training import tune
tuned = tune(TRAIN, DEV, {folder!r}, settings_of({base!r}, dropout=0.0))
tuned.adapter.save(os.path.join({folder!r}, os.environ["RANK"] + ".safetensors"))
print(tuned.steps, tuned.dev_loss)
"""


def test_processes_share_every_step(toy_base: Path, tmp_path: Path) -> None:
    script = tmp_path / "shared.py"
    script.write_text(SHARED.format(tests=str(Path(__file__).parent), folder=str(tmp_path), base=str(toy_base)))
    # What `accelerate launch` itself calls for several GPUs; for several processes on a CPU it would want MPI.
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(script)]
    ran = subprocess.run(launch, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    alone = tune(TRAIN, DEV, tmp_path / "alone", settings_of(toy_base, dropout=0.0))
    first, second = ran.stdout.strip().splitlines()
    assert first == second
    assert int(first.split()[0]) == alone.steps
    assert float(first.split()[1]) == pytest.approx(alone.dev_loss, abs=0.05)
    ours, theirs = (Adapter.load(tmp_path / f"{rank}.safetensors") for rank in (0, 1))
    assert same(ours, theirs)
