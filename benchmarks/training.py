"""How fast `tune` learns, beside the plain Trainer of transformers in the same run.

    python benchmarks/training.py                    # 2 rounds of 4 timed steps each, on smollm2-135m
    python benchmarks/training.py --threads 1        # where others are at work: threads would wait for each other
    python benchmarks/training.py --batch 16         # where memory is short: the plain way takes up to 10 GB at 32

Both tune the same adapters (LoRA, r = 32, on all linear layers) on the same pairs, as many a step. The plain way is
float32, batches as they come, padded to their longest, and logits everywhere. Counted are tokens of sentences, not of
padding. The pairs are made up, of the lengths that sentences have. Seconds of one core are what the processor worked,
which a busy machine changes least. The floor is 1.8 times as fast.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import random
import tempfile
import time
from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

import peft
import torch
import transformers

from restyle.lm.bases import load_base
from restyle.lm.format import Sequence2
from restyle.lm.training import Pairs, TuneSettings, tune
from restyle.lm.training._batches import ByLength, collate
from restyle.nets.device import hardware
from restyle.nets.pretrained import hushed

FLOOR = 1.8


def main() -> None:
    """Print tokens a second of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="smollm2-135m")
    parser.add_argument("--steps", type=int, default=4, help="timed steps, after as many that warm up")
    parser.add_argument("--rounds", type=int, default=2, help="both are timed in turn so often, as machines have moods")
    parser.add_argument("--batch", type=int, default=32, help="pairs a step")
    parser.add_argument("--threads", type=int, help="of each; all cores by default")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    base = load_base(options.base)
    format_ = base.format(50)
    pairs = made_up(base.tokenizer, 2 * options.steps * options.batch, random.Random(options.seed))
    del base
    found = [each for each in format_.examples(pairs.inputs, pairs.outputs) if each is not None]
    print(
        f"{options.base}, {hardware()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads; torch "
        f"{torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}, Python "
        f"{platform.python_version()}; seed {options.seed}; {options.batch} pairs a step, "
        f"{sum(map(len, found)) / len(found):.1f} tokens a pair\n"
    )
    rates: dict[str, list[Rate]] = {"restyle": [], "plain Trainer": []}
    for number in range(options.rounds):
        rates["restyle"].append(ours(pairs, found, options))
        gc.collect()
        rates["plain Trainer"].append(plain(load_base(options.base).model, found, options))
        said = ", ".join(f"{name} {each[-1].of_a_second:.0f}" for name, each in rates.items())
        print(f"round {number + 1}, tokens a second: {said}", flush=True)
    print(f"\n{'tokens':<16}{'a second':>12}{'a second of one core':>24}")
    means = {name: (mean(e.of_a_second for e in each), mean(e.of_a_core for e in each)) for name, each in rates.items()}
    for name, (wall, core) in means.items():
        print(f"{name:<16}{wall:>12.0f}{core:>24.0f}")
    wall, core = (one / other for one, other in zip(means["restyle"], means["plain Trainer"], strict=True))
    print(f"{'times as fast':<16}{wall:>12.2f}{core:>24.2f}   (floor {FLOOR})")


class Rate(NamedTuple):
    """Tokens a second, by the clock and by the work of one core."""

    of_a_second: float
    of_a_core: float


class Clock:
    """The clock and the work of this process, whenever it is asked."""

    def __init__(self) -> None:
        self._times: list[tuple[float, float]] = []

    def tick(self) -> None:
        """Take the time."""
        self._times.append((time.perf_counter(), time.process_time()))

    def rate(self, tokens: int, first: int) -> Rate:
        """Of so many tokens between a tick and the last one."""
        return Rate(*(tokens / (last - start) for start, last in zip(self._times[first], self._times[-1], strict=True)))


def made_up(tokenizer: Any, count: int, generator: random.Random) -> Pairs:
    """Pairs of sentences of words that are one subword each, about 16 of them."""
    # A vocabulary of bytes writes the space before a word as this letter.
    words = sorted(
        word[1:] for word in tokenizer.get_vocab() if word[0] == "Ġ" and word[1:].isascii() and word[1:].isalpha()
    )

    def sentence() -> str:
        return " ".join(generator.choices(words, k=min(48, max(4, round(generator.gauss(16, 8))))))

    return Pairs([sentence() for _ in range(count)], [sentence() for _ in range(count)])


def ours(pairs: Pairs, found: Sequence[Sequence2], options: argparse.Namespace) -> Rate:
    """Tokens a second of `tune`, from its first evaluation to its second: with a checkpoint, and that evaluation."""
    settings = TuneSettings(
        base=options.base, epochs=1, batch_size=options.batch, evaluations=2, samples=0, seed=options.seed
    )
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        dev = Pairs(pairs.inputs[:1], pairs.outputs[:1])
        tune(pairs, dev, folder, settings, shown=False, log=lambda line: clock.tick())
    order = list(ByLength([len(each) for each in found], options.batch, options.seed))[options.steps * options.batch :]
    return clock.rate(sum(len(found[place]) for place in order), 0)


class EachStep(transformers.TrainerCallback):
    """Takes the time when a step has ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """A step has ended."""
        self._clock.tick()


def plain(model: Any, found: Sequence[Sequence2], options: argparse.Namespace) -> Rate:
    """Tokens a second of the Trainer, from the middle step to the last."""
    model.config.use_cache = False
    config = peft.LoraConfig(r=32, lora_alpha=64, lora_dropout=0.05, target_modules="all-linear")
    seen: list[int] = []

    def padded(batch: Sequence[Sequence2]) -> dict[str, torch.Tensor]:
        seen.append(sum(map(len, batch)))
        return collate(batch)

    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, hushed():
        arguments = transformers.TrainingArguments(
            output_dir=folder, max_steps=2 * options.steps, per_device_train_batch_size=options.batch,
            learning_rate=5e-4, seed=options.seed,
            save_strategy="no", logging_strategy="no", report_to=[], disable_tqdm=True, remove_unused_columns=False,
            use_cpu=not torch.cuda.is_available(), dataloader_pin_memory=torch.cuda.is_available(),
        )  # fmt: skip
        trainer = transformers.Trainer(
            peft.get_peft_model(model, config), arguments, data_collator=padded, train_dataset=list(found),
            callbacks=[EachStep(clock)],
        )  # fmt: skip
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
    return clock.rate(sum(seen[options.steps : 2 * options.steps]), options.steps - 1)


if __name__ == "__main__":
    main()
