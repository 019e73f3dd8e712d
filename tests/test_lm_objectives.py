"""Objectives beside the reconstruction: what each asks for, that it is reached, and that a killed run goes on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

from test_lm_training import DEV, TRAIN, one_thread, same, settings_of  # noqa: E402, F401 - one_thread is a fixture

from restyle.errors import UsageError  # noqa: E402
from restyle.lm.adapters import Adapter  # noqa: E402
from restyle.lm.bases import load_base  # noqa: E402
from restyle.lm.training import Adversary, LinearRisk, Pairs, SampledRisk, tune  # noqa: E402
from restyle.lm.training._batches import collate  # noqa: E402
from restyle.lm.training._loss import output_losses  # noqa: E402
from restyle.lm.training._objectives import Step, _from_uniform, _Reversed  # noqa: E402

BEGUN = {"epochs": 2, "evaluations": 2}


def batch_of(base, pairs=DEV):
    return collate([found for found in base.format(50).examples(pairs.inputs, pairs.outputs) if found is not None])


def extra(base, objective, pairs=DEV):
    """What an objective adds to each row of the dev pairs."""
    batch = batch_of(base, pairs)
    plain, counts = output_losses(base.model, batch)
    whole, _ = output_losses(base.model, batch, objective)
    return (whole - plain) / counts


def weights_of(base) -> np.ndarray:
    """An attacker to whom some subwords say much: those of `cat` and `dog`, and of `house`."""
    weights = np.zeros(len(base.tokenizer))
    for word, weight in ((" cat", 1.5), (" dog", 1.5), (" house", -1.5), ("Who", 0.8)):
        weights[base.tokenizer(word, add_special_tokens=False)["input_ids"]] = weight
    return weights


# --- risk ------------------------------------------------------------------------------------------------------------


def test_the_relaxation_is_the_leak_of_what_is_expected(toy_base: Path) -> None:
    base = load_base(str(toy_base))
    objective = LinearRisk(weights_of(base), 0.1, alpha=2.0)
    batch = batch_of(base)
    with torch.no_grad():
        found = extra(base, objective)
        probabilities = base.model(batch["input_ids"], attention_mask=batch["attention_mask"]).logits.softmax(-1)
        expected = probabilities @ torch.from_numpy(objective.weights).float()
    for row, value in enumerate(found.tolist()):
        learned = batch["labels"][row, 1:] != -100
        logit = 0.1 + float(expected[row, :-1][learned].sum())
        assert value == pytest.approx(2 * abs(2 / (1 + math.exp(-logit)) - 1), rel=1e-4)


def test_risk_makes_what_is_written_give_less_away(toy_base: Path, tmp_path: Path) -> None:
    base = load_base(str(toy_base))
    weights = weights_of(base)
    leaks = {}
    for alpha in (0.0, 5.0):
        tuned = tune(
            TRAIN, DEV, tmp_path / str(alpha), settings_of(toy_base), objective=LinearRisk(weights, 0.0, alpha)
        )
        assert tuned.adapter is not None
        after = load_base(str(toy_base))
        tuned.adapter.merge_into(after.model)
        with torch.no_grad():
            leaks[alpha] = float(extra(after, LinearRisk(weights, 0.0, 1.0)).mean())
    assert leaks[5.0] < leaks[0.0] - 0.1


def test_alpha_zero_learns_what_is_learned_without_an_objective(toy_base: Path, tmp_path: Path) -> None:
    plain = tune(TRAIN, DEV, tmp_path / "plain", settings_of(toy_base, **BEGUN))
    weights = weights_of(load_base(str(toy_base)))
    other = tune(TRAIN, DEV, tmp_path / "zero", settings_of(toy_base, **BEGUN), objective=LinearRisk(weights, 0, 0.0))
    assert plain.dev_loss == pytest.approx(other.dev_loss, abs=1e-6)


def test_an_attacker_of_another_vocabulary_is_refused(toy_base: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="more subwords than the base model"):
        tune(TRAIN, DEV, tmp_path, settings_of(toy_base), objective=LinearRisk(np.zeros(100_000), 0.0, 1.0))


def test_sampled_risk_is_the_leak_over_what_is_drawn(toy_base: Path) -> None:
    base = load_base(str(toy_base))
    asked: list[str] = []

    def leaks(texts):
        asked.extend(texts)
        return [0.25] * len(texts)

    objective = SampledRisk(leaks, "toy", alpha=2.0, samples=3)
    objective.prepare(base.model, base.format(20))
    few = Pairs(DEV.inputs[:2], DEV.outputs[:2])
    torch.manual_seed(0)
    found = extra(base, objective, few)
    # Shares sum to one: where all leak the same, so does the row.
    assert found.tolist() == pytest.approx([0.5, 0.5], rel=1e-3)
    assert 2 <= len(asked) <= 6


def test_sampled_risk_prefers_what_leaks_less(toy_base: Path) -> None:
    base = load_base(str(toy_base))

    def leaks(texts):
        return [place % 4 / 3 for place in range(len(texts))]

    objective = SampledRisk(leaks, "toy", alpha=1.0, kappa=1.0)
    objective.prepare(base.model, base.format(12))
    few = Pairs(DEV.inputs[:3], DEV.outputs[:3])
    base.model.requires_grad_(True)
    optimiser = torch.optim.SGD(base.model.parameters(), lr=0.5)
    torch.manual_seed(0)
    # The same are drawn again, so that one step can be held against the next.
    drawn, others = objective._drawn(base.model, [[5, 6, 7], [8, 9, 10, 11, 12]])
    assert len(drawn) == len(others) == 4
    objective._drawn = lambda model, prompts: [drawn] * len(prompts)  # type: ignore[method-assign]
    risks = []
    for _ in range(4):
        risk = extra(base, objective, few).mean()
        optimiser.zero_grad()
        risk.backward()
        optimiser.step()
        risks.append(float(risk.detach()))
    assert risks[-1] < risks[0]


# --- adv -------------------------------------------------------------------------------------------------------------


def test_reversed_gradients_are_turned_round_and_scaled() -> None:
    states = torch.ones(2, 3, requires_grad=True)
    (_Reversed.apply(states, 0.5) * 4).sum().backward()
    assert states.grad is not None
    assert states.grad.unique().tolist() == [-2.0]


def test_confusion_is_least_where_nothing_is_known() -> None:
    known = _from_uniform(torch.tensor([[0.0, 0.0], [3.0, -3.0], [9.0, -9.0]]))
    assert known[0] == pytest.approx(0, abs=1e-6)
    assert 0 < known[1] < known[2]


def test_the_states_of_an_input_are_those_before_its_output() -> None:
    learned = torch.tensor([[False, True, True], [False, False, True]])
    states = torch.arange(8.0).reshape(2, 4, 1)
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 1]])
    step = Step(torch.zeros(2, 4, dtype=torch.long), mask, states, learned, torch.zeros(3, 5), None)
    assert step.of_inputs().tolist() == [[0.5], [5.0]]
    assert step.by_row(torch.tensor([1.0, 2.0, 4.0])).tolist() == [3.0, 4.0]


WHOSE = Pairs(TRAIN.inputs, TRAIN.outputs, [place % 2 for place in range(len(TRAIN))])


@pytest.mark.parametrize("bounded", [False, True])
def test_an_adversary_is_trained_beside_the_model_and_killed_it_goes_on(
    toy_base: Path, tmp_path: Path, bounded: bool
) -> None:
    objective = Adversary(2, 0.5, bounded)
    settings = settings_of(toy_base, **BEGUN)
    whole = tune(WHOSE, DEV, tmp_path / "whole", settings, objective=objective)

    class Killed(Exception):
        pass

    def log(line: str) -> None:
        if line.startswith(f"step {whole.steps}/"):
            raise Killed

    with pytest.raises(Killed):
        tune(WHOSE, DEV, tmp_path / "killed", settings, objective=objective, log=log)
    resumed = tune(WHOSE, DEV, tmp_path / "killed", settings, objective=objective)
    assert resumed.adapter is not None and whole.adapter is not None
    assert same(resumed.adapter, whole.adapter)
    plain: Adapter | None = tune(TRAIN, DEV, tmp_path / "plain", settings).adapter
    assert plain is not None
    # The attacker is no part of the adapter, but it had its part in the learning.
    assert plain.factors.keys() == whole.adapter.factors.keys()
    assert not same(plain, whole.adapter)


def test_pairs_that_do_not_say_whose_they_are_are_refused(toy_base: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must know whose each output is"):
        tune(TRAIN, DEV, tmp_path, settings_of(toy_base, **BEGUN), objective=Adversary(2, 1.0))


def test_another_objective_does_not_go_on_in_the_folder(toy_base: Path, tmp_path: Path) -> None:
    settings = settings_of(toy_base, **BEGUN)
    tune(WHOSE, DEV, tmp_path, settings, objective=Adversary(2, 0.5))
    with pytest.raises(UsageError, match="holds a training with other lambda"):
        tune(WHOSE, DEV, tmp_path, settings, objective=Adversary(2, 1.0))
