"""Training a classifier of sentences: cross-entropy, AdamW, batches of one length; killed, it goes on where it was.

The n-th batch and the n-th dropout mask follow from the seed alone, so that a run that was interrupted and resumed ends
with the weights of one that was not.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from restyle.errors import UsageError
from restyle.nets.device import best_device
from restyle.nets.encoder import EncoderClassifier, padded
from restyle.nets.fitting import batches_of
from restyle.progress import progress_bar
from restyle.records import writing_to
from restyle.settings import setting

CHECKPOINT_FILE = "checkpoint.safetensors"
# The mean over so many steps is shown.
_LOSSES = 50


@dataclass(frozen=True)
class TrainingSettings:
    """How the classifier is trained."""

    epochs: int = setting(2, "how often every sentence is seen", minimum=1)
    batch_size: int = setting(32, "sentences a step (STRAP App. A.3)", minimum=1)
    learning_rate: float = setting(5e-4, "of adapters and head; warmed up, then decayed to zero", minimum=0)
    warm_up: float = setting(0.06, "share of the steps that warm up (STRAP App. A.3)", minimum=0, maximum=1)
    weight_decay: float = setting(0.01, "of AdamW", minimum=0)
    balanced: bool = setting(False, "every label weighs the same in the loss, however many sentences it has")
    dropout: float = setting(0.05, "on what enters the adapters", minimum=0, maximum=0.9)
    seed: int = setting(0, "decides head, batches and dropout", minimum=0)
    checkpoint_seconds: float = setting(60.0, "how often a run in progress is saved", minimum=0)


@dataclass(frozen=True)
class Examples:
    """Sentences and the number of the label of each."""

    texts: Sequence[str]
    labels: Sequence[int]

    def __len__(self) -> int:
        return len(self.texts)


Quality = Callable[[EncoderClassifier], float]


def fit(
    network: EncoderClassifier,
    train: Examples,
    settings: TrainingSettings,
    folder: Path,
    *,
    quality: Quality | None = None,
    shown: bool | None = None,
    log: Callable[[str], None] = lambda line: None,
) -> list[float]:
    """Train in place; the checkpoint in `folder` is taken up, and removed at the end.

    `quality` is measured after every epoch, and the weights of the best epoch are kept. What it gave comes back.
    """
    if not len(train):
        raise UsageError("there is nothing to train on")
    rows = network.tokenizer(train.texts, network.settings.max_tokens)
    labels = torch.tensor(train.labels)
    network.made_fast()
    weights = _weights(train.labels, len(network.labels)).to(best_device()) if settings.balanced else None
    run = _Run.resumed(network, settings, folder, steps_of(len(train), settings))
    network.train()
    with progress_bar("training", run.steps, shown=shown, done=run.step) as advance:
        for batch in run.batches([len(row) for row in rows]):
            run.update(_loss(network, [rows[place] for place in batch], labels[torch.from_numpy(batch)], weights))
            advance(1)
            if run.step % 20 == 0:
                log(f"step {run.step}/{run.steps} loss {run.mean_loss:.4f} {time.strftime('%H:%M:%S')}")
            if run.ends_epoch and quality is not None:
                network.eval()
                run.judge(quality(network))
                network.train()
                log(f"epoch {run.epoch} quality {run.qualities[-1]:.4f}")
            run.save_if_due()
    run.finish()
    network.eval()
    return run.qualities


def steps_of(examples: int, settings: TrainingSettings) -> int:
    """How many batches the training takes."""
    return settings.epochs * -(-examples // settings.batch_size)


class _Run:
    """Where a training stands: its step, the moments of the optimiser, the best weights so far."""

    def __init__(self, network: EncoderClassifier, settings: TrainingSettings, folder: Path, steps: int) -> None:
        self._network, self._settings, self._file = network, settings, folder / CHECKPOINT_FILE
        self.steps, self.step, self._per_epoch = steps, 0, steps // settings.epochs
        self.qualities: list[float] = []
        self._best: dict[str, Tensor] = {}
        self._losses: deque[Tensor] = deque(maxlen=_LOSSES)
        self._trained = network.trained()
        self._optimiser = torch.optim.AdamW(
            self._trained.values(),
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=best_device().type == "cuda",  # one launch for all tensors, where launches are what takes the time
        )
        self._saved_at = time.monotonic()

    @classmethod
    def resumed(cls, network: EncoderClassifier, settings: TrainingSettings, folder: Path, steps: int) -> _Run:
        run = cls(network, settings, folder, steps)
        if run._file.is_file():
            run._read()
        return run

    @property
    def epoch(self) -> int:
        return self.step // self._per_epoch

    @property
    def ends_epoch(self) -> bool:
        return self.step % self._per_epoch == 0

    @property
    def mean_loss(self) -> float:
        return float(torch.stack(list(self._losses)).mean())

    def batches(self, lengths: Sequence[int]) -> Iterator[NDArray[np.intp]]:
        """The batches that are still to come."""
        while self.step < self.steps:
            generator = np.random.default_rng([self._settings.seed, self.epoch])
            done = self.step % self._per_epoch
            for place, batch in enumerate(batches_of(lengths, self._settings.batch_size, generator)):
                if place >= done:
                    torch.manual_seed(self._settings.seed * 1_000_003 + self.step)  # this step's dropout
                    yield batch

    def update(self, loss: Tensor) -> None:
        for group in self._optimiser.param_groups:
            group["lr"] = self._settings.learning_rate * self._rate()
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._trained.values(), 1.0)
        self._optimiser.step()
        self._losses.append(loss.detach())  # read only when it is shown: a GPU would be waited for
        self.step += 1

    def _rate(self) -> float:
        """The learning rate's share: up over the warm-up, then down in a line."""
        warm = max(1, round(self.steps * self._settings.warm_up))
        if self.step < warm:
            return (self.step + 1) / warm
        return (self.steps - self.step) / max(1, self.steps - warm)

    def judge(self, quality: float) -> None:
        if not self.qualities or quality > max(self.qualities):
            self._best = {name: value.detach().clone() for name, value in self._trained.items()}
        self.qualities.append(quality)

    def save_if_due(self) -> None:
        if time.monotonic() - self._saved_at >= self._settings.checkpoint_seconds:
            self._write()
            self._saved_at = time.monotonic()

    def finish(self) -> None:
        if self._best:
            self._network.restore(self._best)
        self._file.unlink(missing_ok=True)

    def _write(self) -> None:
        tensors = {f"now.{name}": value.detach() for name, value in self._trained.items()}
        tensors |= {f"best.{name}": value for name, value in self._best.items()}
        for name, value in self._trained.items():
            state: dict[str, Any] = self._optimiser.state.get(value, {})
            tensors |= {f"{key}.{name}": moment for key, moment in state.items()}
        partial = self._file.with_suffix(".part")
        with writing_to(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            save_file(
                {name: value.cpu().contiguous() for name, value in tensors.items()},
                partial,
                {"step": str(self.step), "qualities": json.dumps(self.qualities), "steps": str(self.steps)},
            )
            os.replace(partial, self._file)

    def _read(self) -> None:
        with safe_open(self._file, "pt") as file:
            facts = file.metadata() or {}
            if facts.get("steps") != str(self.steps):
                raise UsageError(
                    f"{self._file} is of another training ({facts.get('steps')} steps, not {self.steps}); "
                    "remove it, or train with the settings and the data that it began with"
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        self.step, self.qualities = int(facts["step"]), json.loads(facts["qualities"])
        for name, value in self._trained.items():
            value.data.copy_(tensors[f"now.{name}"])
            if f"exp_avg.{name}" in tensors:
                state = {key: tensors[f"{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq")}
                self._optimiser.state[value] = {key: moment.to(value.device) for key, moment in state.items()}
        self._best = {name: tensors[f"best.{name}"] for name in self._trained if f"best.{name}" in tensors}


def _weights(labels: Sequence[int], number: int) -> Tensor:
    """Of each label, so that the sentences of every label together weigh the same."""
    counts = np.bincount(labels, minlength=number)
    return torch.tensor(len(labels) / (number * np.maximum(counts, 1)), dtype=torch.float32)


def _loss(network: EncoderClassifier, rows: Sequence[Sequence[int]], labels: Tensor, weights: Tensor | None) -> Tensor:
    ids, mask, true = (values.to(best_device(), non_blocking=True) for values in (*padded(rows), labels))
    return nn.functional.cross_entropy(network(ids, mask), true, weights)
