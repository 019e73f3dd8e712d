"""Training a cross-aligned model: Algorithm 1 in a loop, measured every half epoch; killed, it goes on where it was.

    checkpoint.safetensors      the training in progress
    trajectory.jsonl            a line for each half epoch: the measures on validation sentences, and the mean losses;
                                a pp of null is endless, that of a model which says nothing
    points/000123.safetensors   the model as it was measured at that step

Batches, and all else that is random, follow from the seed and the number of the step alone. Under `accelerate launch`
every process takes its share of each batch, and the gradients are averaged.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from restyle.errors import RecordError
from restyle.nets.gru_lm import SentenceLm
from restyle.nets.weights import save_weights
from restyle.progress import progress_bar
from restyle.records import finite, json_line, read_objects, writing_to
from restyle.rewriters.cross_aligned._batches import Batches, Pairs
from restyle.rewriters.cross_aligned._checkpoint import read_checkpoint, write_checkpoint
from restyle.rewriters.cross_aligned._data import Sides
from restyle.rewriters.cross_aligned._discriminators import Discriminators
from restyle.rewriters.cross_aligned._model import Transfer
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings, learned_with
from restyle.rewriters.cross_aligned._step import Losses, Step, check_finite
from restyle.rewriters.cross_aligned._writing import limit_of, transferred

CHECKPOINT_FILE, TRAJECTORY_FILE, POINTS = "checkpoint.safetensors", "trajectory.jsonl", "points"
# What a stream of random numbers is for: no two of them are the same.
_WEIGHTS, _MIX = range(2)
# A checkpoint is measured so often in an epoch (Sec. 6.1).
_MEASURED = 2
# What a point is chosen by.
_MEASURES = ("step", "epoch", "acc", "sim", "meteor", "pp", "gm")

Point = Mapping[str, Any]


# Inputs, outputs and the style that was asked for, line by line, to the numbers of them all.
Measured = Callable[[Sequence[str], Sequence[str], Sequence[str]], Mapping[str, float]]


class Training:
    """A training in its folder, as it stands."""

    def __init__(
        self,
        sides: Sides,
        pairs: Pairs,
        style_lms: tuple[SentenceLm, SentenceLm],
        settings: CrossAlignedSettings,
        folder: Path,
    ) -> None:
        """The networks are made, or read from the checkpoint in the folder."""
        self._sides, self._settings, self._folder = sides, settings, folder
        # Or several processes on a processor would not find one another, and each train by itself.
        self._across = Accelerator(cpu=not torch.cuda.is_available())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed * 2 + _WEIGHTS)
            self.model = Transfer(len(sides.vocabulary), settings).to(self._across.device)
            discriminators = Discriminators(settings).to(self._across.device)
        self._networks: dict[str, tuple[nn.Module, torch.optim.Optimizer]] = {
            "model": (self.model, _adam(self.model, settings)),
            "discriminators": (discriminators, _adam(discriminators, settings)),
        }
        for lm in style_lms:
            lm.network.requires_grad_(False).to(self._across.device)
        self._step = Step(self.model, discriminators, style_lms, settings)
        self._batches = Batches(sides.rows, pairs, settings, self._across.process_index, self._across.num_processes)
        self.steps, self.step = self._batches.per_epoch * settings.epochs, 0
        self._sums: dict[str, float] = {}
        self._saved_at = time.monotonic()
        self.trajectory: list[Point] = []
        self._resume()

    def go(
        self,
        measured: Measured,
        ended: Callable[[Sequence[Point]], bool] = lambda points: False,
        *,
        shown: bool | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Learn until all epochs are over or `ended` says so."""
        over = bool(self.trajectory) and ended(self.trajectory)
        with progress_bar(f"learning {self._settings.model}", self.steps, shown=shown, done=self.step) as advance:
            while self.step < self.steps and not over:
                for losses in self._epoch():
                    for name, value in losses.items():
                        self._sums[name] = self._sums.get(name, 0.0) + float(value)
                    advance(1)
                    if self._is_measured():
                        self._measure(measured)
                        say(f"{self._settings.model} {_told(self.trajectory[-1])}")
                        over = ended(self.trajectory)
                        self._save()
                        if over:
                            break
                    elif time.monotonic() - self._saved_at >= self._settings.checkpoint_seconds:
                        self._save()

    @property
    def across(self) -> Accelerator:
        """The processes that train together."""
        return self._across

    def _epoch(self) -> Iterator[Losses]:
        """What is left of an epoch, a step at a time."""
        epoch, done = divmod(self.step, self._batches.per_epoch)
        for batch in self._batches.epoch(epoch, done):
            half = len(batch.sentences.styles) // 2
            generator = torch.Generator().manual_seed(self._settings.seed * 2 + _MIX + (self.step << 20))
            mix = torch.rand(2, half, generator=generator).to(self._across.device)
            for _, optimiser in self._networks.values():
                optimiser.zero_grad()
            losses = self._step.gradients(batch.to(self._across.device), epoch, mix)
            check_finite(losses, f"step {self.step + 1}")
            # Before either steps: weights that are no numbers would be saved, and stay so.
            lengths = {name: self._clipped(network) for name, (network, _) in self._networks.items()}
            check_finite(lengths, f"step {self.step + 1}", "gradient of the")
            for _, optimiser in self._networks.values():
                optimiser.step()
            self.step += 1
            yield losses

    def _clipped(self, network: nn.Module) -> Tensor:
        """Shorten the gradient of the model, or of each discriminator; returns the longest as it was."""
        self._average(network)
        parts = network.each() if isinstance(network, Discriminators) else [network]
        clip = self._settings.clip
        return torch.stack([nn.utils.clip_grad_norm_(part.parameters(), clip) for part in parts]).max()

    def _average(self, network: nn.Module) -> None:
        """The mean of a network's gradients over all processes."""
        if self._across.num_processes > 1:
            for weights in network.parameters():
                if weights.grad is not None:
                    weights.grad = self._across.reduce(weights.grad, "mean")

    def _is_measured(self) -> bool:
        """Whether a half epoch is over."""
        per_epoch = self._batches.per_epoch
        done = self.step % per_epoch or per_epoch
        return done in {per_epoch * part // _MEASURED for part in range(1, _MEASURED + 1)}

    def _measure(self, measured: Measured) -> None:
        """Transfer the validation sentences of both styles, measure them, and keep the model as a point."""
        sides, settings = self._sides, self._settings
        inputs, outputs, targets = [], [], []
        self.model.eval()
        for style, (texts, rows) in enumerate(zip(sides.dev_texts, sides.dev_rows, strict=True)):
            written = transferred(self.model, rows, style, limit_of(settings))
            inputs += list(texts)
            outputs += [
                sides.vocabulary.decode(
                    several[0], sides.vocabulary.unknown(text) if settings.unknown == "copy" else ()
                )
                for text, several in zip(texts, written, strict=True)
            ]
            targets += [sides.styles[1 - style]] * len(texts)
        self.model.train()
        steps = self.step - (self.trajectory[-1]["step"] if self.trajectory else 0)
        point = {
            "step": self.step,
            "epoch": round(self.step / self._batches.per_epoch, 3),
            **{name: round(value, 5) for name, value in measured(inputs, outputs, targets).items()},
            "losses": {name: round(value / steps, 4) for name, value in self._sums.items()},
        }
        self._sums = {}
        self.trajectory.append(point)
        if self._across.is_main_process:
            save_weights(self.model, point_file(self._folder, self.step))
            write_trajectory(self._folder, self.trajectory)

    def _save(self) -> None:
        self._saved_at = time.monotonic()
        if self._across.is_main_process:
            facts = {"step": self.step, "sums": self._sums}
            write_checkpoint(self._folder / CHECKPOINT_FILE, self._networks, self._identity(), facts)

    def _resume(self) -> None:
        file = self._folder / CHECKPOINT_FILE
        if not file.is_file():
            return
        facts = read_checkpoint(file, self._networks, self._identity())
        self.step, self._sums = facts["step"], facts["sums"]
        # What was measured after the checkpoint was written will be measured again.
        self.trajectory = [point for point in read_trajectory(self._folder) if point["step"] <= self.step]

    def _identity(self) -> dict[str, Any]:
        return {**learned_with(self._settings), "sentences": self._sides.fingerprint()}


def point_file(folder: Path, step: int) -> Path:
    """Where the model of a step is kept."""
    return folder / POINTS / f"{step:06d}.safetensors"


def read_trajectory(folder: Path) -> list[dict[str, Any]]:
    """The measures of every half epoch so far; RecordError names the line that holds none."""
    file = folder / TRAJECTORY_FILE
    if not file.is_file():
        return []
    points = []
    for number, point in read_objects(file):
        if lacking := [name for name in _MEASURES if name not in point]:
            raise RecordError(str(file), number, f"a point has no {', '.join(lacking)}; its fields are {sorted(point)}")
        points.append(point | {"pp": math.inf if point["pp"] is None else point["pp"]})
    return points


def write_trajectory(folder: Path, points: Sequence[Point]) -> None:
    """Write the measures, at once or not at all."""
    file = folder / TRAJECTORY_FILE
    partial = file.with_suffix(".part")
    with writing_to(file):
        lines = (json_line({**point, "pp": finite(point["pp"])}) for point in points)
        partial.write_text("".join(lines), encoding="utf-8")
        os.replace(partial, file)


def _adam(network: nn.Module, settings: CrossAlignedSettings) -> torch.optim.Adam:
    # Fused, or a step over all weights takes as long as a pass of a small batch.
    return torch.optim.Adam(network.parameters(), lr=settings.learning_rate, betas=(settings.beta1, 0.999), fused=True)


def _told(point: Point) -> str:
    measures = " ".join(
        f"{name} {value:.4g}" for name, value in point.items() if isinstance(value, float) and name != "epoch"
    )
    return f"epoch {point['epoch']:g}: {measures}"
