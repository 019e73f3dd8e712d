"""Tuning a base model on pairs: the HF Trainer, with LoRA of peft; killed, the same call goes on where it was."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from peft import LoraConfig, get_peft_model
from peft.helpers import disable_input_dtype_casting
from transformers import set_seed

from restyle.errors import UsageError
from restyle.lm.adapters import Adapter
from restyle.lm.bases import Base, load_base
from restyle.lm.format import PairFormat, Sequence2
from restyle.lm.segments import with_segments, without_segments
from restyle.lm.training._batches import collate
from restyle.lm.training._callbacks import Progress, Stopping, has_converged
from restyle.lm.training._loss import learn_outputs_alone
from restyle.lm.training._objectives import Objective
from restyle.lm.training._plan import Plan, made_of, steps_of
from restyle.lm.training._settings import TuneSettings
from restyle.lm.training._trainer import PairTrainer, Sequences, per_process, trainer_arguments
from restyle.nets.device import best_device, fastest_type
from restyle.nets.pretrained import hushed
from restyle.records import writing_to


@dataclass(frozen=True)
class Tuned:
    """A tuned model: its adapter, or its folder when all weights were tuned, and how well it knows the dev pairs."""

    adapter: Adapter | None
    folder: Path
    dev_loss: float
    steps: int
    seconds: float

    @property
    def dev_perplexity(self) -> float:
        """Per subword of the output."""
        return math.exp(self.dev_loss)


@dataclass(frozen=True)
class Pairs:
    """What to rewrite, and as what."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Sequence[int] | None = None  # whose each output is, where an objective asks

    def __len__(self) -> int:
        return len(self.inputs)


def tune(
    train: Pairs,
    dev: Pairs,
    folder: str | Path,
    settings: TuneSettings,
    *,
    start: Adapter | None = None,
    objective: Objective | None = None,
    what: str = "learning",
    shown: bool | None = None,
    log: Callable[[str], None] = lambda line: None,
) -> Tuned:
    """Tune a base model until the dev pairs say stop; with `start`, an adapter that has learned already goes on.

    An `objective` is added to the loss, in training and on the dev pairs alike.

    `folder` keeps the plan and the checkpoints: the same call resumes what was killed, and finds what was finished.
    Under `accelerate launch` each process makes the same call, and they share every step. UsageError when there is
    nothing to learn from, or when `folder` holds another training.
    """
    started = time.monotonic()
    folder = Path(folder)
    # One process, or one of those that `accelerate launch` started.
    processes = PartialState(cpu=not torch.cuda.is_available())
    set_seed(settings.seed)
    loaded = load_base(settings.base)
    if settings.segments:
        loaded = with_segments(loaded, settings.max_subwords)
    format_ = loaded.format(settings.max_subwords)
    sequences = {name: _fitting(format_, pairs) for name, pairs in (("train", train), ("dev", dev))}
    for name, found in sequences.items():
        if not found:
            raise UsageError(f"no {name} pair is left: each output must have 1 to {settings.max_subwords} subwords")
    sequences["dev"].sort(key=len)
    learn_outputs_alone(loaded.model, collate(sequences["dev"][:1]), objective)
    modules = objective.prepare(loaded.model, format_) if objective else ()
    model = _prepared(loaded.model, settings, modules)
    if start is not None:
        start.put_into(model)
    with processes.main_process_first(), writing_to(folder):
        of = made_of(settings, sequences, start) | (objective.identity if objective else {})
        plan = Plan.of(folder, of, lambda: steps_of(model, sequences, settings))
        checkpoint = plan.checkpoint()
    seconds = None if settings.minutes is None else settings.minutes * 60 - (time.monotonic() - started)
    trainer = PairTrainer(
        model,
        trainer_arguments(settings, folder, plan.steps, processes.num_processes),
        Sequences(sequences["train"]),
        Sequences(sequences["dev"]),
        processes.num_processes * per_process(settings.batch_size, processes.num_processes),
        [
            Stopping(settings.patience, seconds, plan.end_at),
            Progress(what, shown, list(dev.inputs[: settings.samples]), _writer(model, format_), log),
        ],
    )
    # Autocast brings what enters an adapter to its numbers: peft need not bring it to float32 before.
    with hushed(), disable_input_dtype_casting(model):
        _train(trainer, plan, checkpoint, settings.patience)
    dev_loss = math.nan if trainer.state.best_metric is None else trainer.state.best_metric
    if not math.isfinite(dev_loss):
        raise UsageError(f"the dev loss is no number any more: lower the learning rate ({settings.learning_rate})")
    adapter = Adapter.of(model) if settings.rank else None
    if settings.segments:
        without_segments(model)
    kept = folder if settings.rank else _saved(model, loaded, folder / "model")
    return Tuned(adapter, kept, dev_loss, trainer.state.global_step, time.monotonic() - started)


def _fitting(format_: PairFormat, pairs: Pairs) -> list[Sequence2]:
    examples = format_.examples(pairs.inputs, pairs.outputs)
    attributes: Sequence[int | None] = pairs.attributes or [None] * len(examples)
    return [
        found if whose is None else replace(found, attribute=whose)
        for found, whose in zip(examples, attributes, strict=True)
        if found is not None
    ]


def _prepared(model: Any, settings: TuneSettings, modules: Sequence[str]) -> Any:
    """The model as it is trained: under LoRA the frozen weights in the fastest numbers, and some modules whole."""
    model.config.use_cache = False
    if not settings.rank:
        return model.float()
    # alpha = 2 r: with it a learning rate found at one rank serves at others.
    config = LoraConfig(
        r=settings.rank, lora_alpha=2 * settings.rank, lora_dropout=settings.dropout, target_modules="all-linear",
        modules_to_save=list(modules) or None, exclude_modules=list(modules) or None,
    )  # fmt: skip
    with hushed():  # peft asks transformers in words that this is about to give up
        adapted = get_peft_model(model.to(fastest_type()), config)
    for weights in adapted.parameters():
        if weights.requires_grad:  # what is trained whole would lose its steps in the fastest numbers
            weights.data = weights.data.float()
    return adapted


def _train(trainer: PairTrainer, plan: Plan, checkpoint: Path | None, patience: int) -> None:
    """From the start, from a checkpoint, or not at all where that is of a training that came to its end."""
    if checkpoint is not None:
        state = plan.state(checkpoint)
        if state.global_step >= plan.steps or has_converged(state, patience):
            trainer.state = state
            trainer._load_best_model()
            return
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))


def _saved(model: Any, base: Base, folder: Path) -> Path:
    """All weights, with the tokenizer: a base of its own."""
    if PartialState().is_main_process:
        model.config.use_cache = True
        with writing_to(folder), hushed():
            model.save_pretrained(folder)
            base.tokenizer.save_pretrained(folder)
    PartialState().wait_for_everyone()
    return folder


def _writer(model: Any, format_: PairFormat) -> Callable[[Sequence[str]], list[str]]:
    def write(texts: Sequence[str]) -> list[str]:
        device = best_device().type
        written = []
        was_training = model.training
        model.eval()
        with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=fastest_type() == torch.bfloat16):
            for prompt in format_.prompts(texts):
                ids = torch.tensor([prompt], device=model.device)
                made = model.generate(
                    input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, use_cache=True,
                    max_new_tokens=format_.max_subwords, eos_token_id=format_.end, pad_token_id=format_.end,
                )  # fmt: skip
                written.append(format_.text(made[0, len(prompt) :].tolist()))
        model.train(was_training)
        return written

    return write
