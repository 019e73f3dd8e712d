"""The HF Trainer as pairs need it: its order of batches, its dev loss, its arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset
from transformers import EvalPrediction, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from restyle.errors import UsageError
from restyle.lm.format import Sequence2
from restyle.lm.training._batches import ByLength, collate
from restyle.lm.training._settings import TuneSettings
from restyle.nets.device import fastest_type


class Sequences(Dataset[Sequence2]):
    """Sequences as the Trainer takes them."""

    def __init__(self, sequences: Sequence[Sequence2]) -> None:
        self._sequences = sequences
        self.lengths = [len(sequence) for sequence in sequences]

    def __len__(self) -> int:
        return len(self._sequences)

    def __getitem__(self, place: int) -> Sequence2:
        return self._sequences[place]


class PairTrainer(Trainer):
    """The Trainer; the model is one whose `forward` answers labels with `output_losses`."""

    def __init__(
        self, model: Any, arguments: TrainingArguments, train: Sequences, dev: Sequences, batch_size: int,
        callbacks: list[TrainerCallback],
    ) -> None:  # fmt: skip
        """`batch_size` is that of a step, in which several processes may have a share."""
        self._order = ByLength(train.lengths, batch_size, arguments.seed)
        super().__init__(
            model=model, args=arguments, data_collator=collate, train_dataset=train, eval_dataset=dev,
            compute_metrics=_mean_loss, callbacks=callbacks,
        )  # fmt: skip
        # Our bar is drawn; the Trainer would also print every number to stdout, which is for results.
        self.remove_callback(PrinterCallback)

    def _get_train_sampler(self, train_dataset: Any = None) -> ByLength:
        return self._order

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The mean over the batch; the Trainer would count what it learns from its own way."""
        outputs = model(**inputs)
        return (outputs["loss"], outputs) if return_outputs else outputs["loss"]

    def prediction_step(self, model: Any, inputs: Any, prediction_loss_only: bool, ignore_keys: Any = None) -> Any:
        """The loss of each row and the tokens that it is of, for `_mean_loss`."""
        with torch.no_grad():
            outputs = model(**self._prepare_inputs(inputs))
        return None, outputs["sums"], outputs["counts"]


def _mean_loss(found: EvalPrediction) -> dict[str, float]:
    """The mean over all tokens, whatever batches they came in."""
    return {"loss": float(found.predictions.astype("float64").sum() / found.label_ids.sum())}  # type: ignore[union-attr]


def trainer_arguments(settings: TuneSettings, folder: Path, steps: int, processes: int) -> TrainingArguments:
    """Our settings in the Trainer's words."""
    if settings.tensorboard and find_spec("tensorboard") is None:
        raise UsageError("tensorboard is not installed: pip install tensorboard, or leave that setting out")
    every = math.ceil(steps / settings.evaluations)
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=per_process(settings.batch_size, processes),
        per_device_eval_batch_size=2 * per_process(settings.batch_size, processes),
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=round(settings.warm_up * steps),
        weight_decay=settings.weight_decay,
        bf16=fastest_type() == torch.bfloat16,
        use_cpu=not torch.cuda.is_available(),
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        logging_strategy="steps" if settings.tensorboard else "no",
        logging_steps=min(20, every),
        report_to=["tensorboard"] if settings.tensorboard else [],
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available(),
        ddp_find_unused_parameters=False,
        label_names=["labels"],
        seed=settings.seed,
    )
    # Several GPUs are for `accelerate launch`: one process that sees them all uses the first, as the Trainer would cut
    # our batches into pieces for threads.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments


def per_process(batch_size: int, processes: int) -> int:
    """The share that each process has in a step."""
    return math.ceil(batch_size / processes)
