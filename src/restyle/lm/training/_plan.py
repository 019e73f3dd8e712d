"""What a training sets out to do, kept in its folder, so that the same call goes on with it and no other does."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import TrainerState

from restyle.errors import UsageError
from restyle.lm.adapters import Adapter
from restyle.lm.bases import base_hash
from restyle.lm.format import Sequence2
from restyle.lm.training._batches import collate
from restyle.lm.training._loss import output_loss
from restyle.lm.training._settings import TuneSettings
from restyle.nets.device import best_device, fastest_type
from restyle.records import writing_to
from restyle.settings import to_dict

PLAN_FILE = "plan.json"
STATE_FILE = "trainer_state.json"
# Batches that are timed to turn a time budget into a number of steps, and the update of the weights, which is not.
_PROBES = 6
_UPDATE = 1.1
# Of a step, evaluating as many pairs takes the forward half, which is a third of the work.
_FORWARD = 1 / 3
# What is looked at, but changes no weight.
_FREE = ("samples", "tensorboard")


@dataclass(frozen=True)
class Plan:
    """How many steps there will be, of which training; once decided it holds for all who resume it."""

    folder: Path
    made_of: dict[str, Any]
    steps: int

    @classmethod
    def of(cls, folder: Path, made_of: dict[str, Any], steps: Callable[[], int]) -> Plan:
        """The plan in the folder, else a new one; UsageError when the folder's is of another training."""
        try:
            known = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))
            held, count = known["made_of"], int(known["steps"])
        except (OSError, ValueError, KeyError, TypeError):
            return cls(folder, made_of, steps())._written()
        other = sorted(name for name in held.keys() | made_of.keys() if held.get(name) != made_of.get(name))
        if other:
            raise UsageError(
                f"{folder} holds a training with other {' and '.join(other)}: go on with what it was begun with, "
                "remove it, or choose another folder"
            )
        return cls(folder, made_of, count)

    def end_at(self, step: int) -> None:
        """No more than so many steps after all."""
        Plan(self.folder, self.made_of, step)._written()

    def _written(self) -> Plan:
        file = self.folder / PLAN_FILE
        with writing_to(file):
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = file.with_name(f".{file.name}.{os.getpid()}")
            partial.write_text(json.dumps({"made_of": self.made_of, "steps": self.steps}), encoding="utf-8")
            os.replace(partial, file)
        return self

    def checkpoint(self) -> Path | None:
        """The newest checkpoint that was written to its end: the Trainer writes its state last."""
        whole = []
        for checkpoint in self.folder.glob("checkpoint-*"):
            try:
                state = json.loads((checkpoint / STATE_FILE).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                shutil.rmtree(checkpoint, ignore_errors=True)  # cut off while it was written
                continue
            whole.append((int(state["global_step"]), checkpoint))
        return max(whole)[1] if whole else None

    def state(self, checkpoint: Path) -> TrainerState:
        """What a checkpoint knows of its training, its best checkpoint being sought where the folder is now."""
        state: TrainerState = TrainerState.load_from_json(str(checkpoint / STATE_FILE))
        if state.best_global_step:
            state.best_model_checkpoint = str(self.folder / f"checkpoint-{state.best_global_step}")
        return state


def made_of(settings: TuneSettings, sequences: dict[str, list[Sequence2]], start: Adapter | None) -> dict[str, Any]:
    """Everything that decides the weights a training ends with, in plain values."""
    decided = {name: value for name, value in to_dict(settings).items() if name not in _FREE}
    digests = {f"{name} pairs": hashlib.blake2b(digest_size=16) for name in sequences}
    for name, found in sequences.items():
        for sequence in found:
            whose = [] if sequence.attribute is None else [sequence.attribute]
            row = np.array([sequence.prompt, len(sequence), *sequence.ids, *whose], "<i8")
            digests[f"{name} pairs"].update(row.tobytes())
    begun = hashlib.blake2b(digest_size=16)
    for layer, factors in sorted(start.factors.items()) if start else ():
        begun.update(b"".join([layer.encode(), *(factor.tobytes() for factor in factors)]))
    hashes = {name: digest.hexdigest() for name, digest in digests.items()}
    return decided | hashes | {"base": [settings.base, base_hash(settings.base)], "start": begun.hexdigest()}


def steps_of(model: Any, sequences: dict[str, list[Sequence2]], settings: TuneSettings) -> int:
    """The steps of so many epochs, or of so many minutes where those are fewer."""
    steps = max(1, math.ceil(settings.epochs * len(sequences["train"]) / settings.batch_size))
    if settings.minutes is None:
        return steps
    seconds = _seconds_a_step(model, sequences["train"], settings.batch_size)
    evaluation = seconds * _FORWARD * len(sequences["dev"]) / settings.batch_size
    left = settings.minutes * 60 - settings.evaluations * evaluation
    return max(1, min(steps, int(left / (_UPDATE * seconds))))


def _seconds_a_step(model: Any, sequences: Sequence[Sequence2], batch_size: int) -> float:
    """How long a step takes here: forward and backward of a few batches that stand for all."""
    order = sorted(sequences, key=len)
    device = best_device()
    model.to(device).train()
    plain = model.get_base_model() if hasattr(model, "get_base_model") else model
    taken = []
    for probe in range(_PROBES):
        at = round((probe + 0.5) / _PROBES * max(0, len(order) - batch_size))
        batch = {name: value.to(device) for name, value in collate(order[at : at + batch_size]).items()}
        started = time.monotonic()
        with torch.autocast(device.type, torch.bfloat16, enabled=fastest_type() == torch.bfloat16):
            output_loss(plain, batch).backward()  # type: ignore[no-untyped-call]
        if device.type == "cuda":
            torch.cuda.synchronize()
        taken.append(time.monotonic() - started)
    model.zero_grad()
    return sum(taken[1:]) / (len(taken) - 1)  # the first warms up
