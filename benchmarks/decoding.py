"""How fast two stages rewrite, paraphrase then style, beside `generate` of transformers in the same run.

    python benchmarks/decoding.py                     # 256 sentences, the bundled paraphraser and Shakespeare
    python benchmarks/decoding.py --threads 1         # where others are at work
    python benchmarks/decoding.py --paraphraser random --style random --base gpt2

The plain way is float32, greedy, with the adapters merged, at batch 1 and at batch 32 padded on the left. Every way may
write the same number of subwords for a sentence. The floors are 8 and 2.5 times as many sentences a second, and 5
seconds from a cold start to the first sentence once the engines are in the cache. The sentences are inputs of the
Shakespeare test where $RESTYLE_DATA has them, else made up. Seconds of one core are what the processor worked, which a
busy machine changes least.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import torch
import transformers

import restyle
from restyle.lm.adapters import Adapter
from restyle.lm.bases import Base, load_base
from restyle.lm.decoding import Decoding, Engine, Prompt, open_engine
from restyle.lm.format import PairFormat
from restyle.nets.device import best_device, hardware
from restyle.nets.pretrained import hushed

FLOORS = {1: 8.0, 32: 2.5}
COLD = 5.0
Stage = Callable[[Sequence[str]], list[str]]


def main() -> None:
    """Print sentences a second of all, the share of equal outputs, and how long a cold start takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="smollm2-135m")
    parser.add_argument("--paraphraser", default="diverse", help="a bundled pack, an adapter.safetensors, or random")
    parser.add_argument("--style", default="shakespeare", help="a bundled pack, an adapter.safetensors, or random")
    parser.add_argument(
        "--sentences", type=int, default=256, help="of which batch 32 rewrites half, and batch 1 an eighth"
    )
    parser.add_argument("--threads", type=int, help="of each; all cores by default")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    base = load_base(options.base)
    wanted = (options.paraphraser, options.style)
    adapters = [adapter_of(name, base, options.seed + number) for number, name in enumerate(wanted)]
    names = [f"{name} {digest(adapter)}" for name, adapter in zip(wanted, adapters, strict=True)]
    texts = sentences(base.tokenizer, options.sentences, random.Random(options.seed))
    engines = [
        open_engine(options.base, lambda adapter=adapter: adapter, identity=name)
        for adapter, name in zip(adapters, names, strict=True)
    ]
    print(
        f"{options.base}, {hardware()}, {len(os.sched_getaffinity(0))} cores; {engines[0].name}; ctranslate2 "
        f"{ctranslate2.__version__}, torch {torch.__version__}, transformers {transformers.__version__}, Python "
        f"{platform.python_version()}; adapters {', '.join(names)}; seed {options.seed}\n"
    )
    plain = [merged(options.base, adapter) for adapter in adapters]
    stages = [ours(engine) for engine in engines]
    rewritten(stages, texts[:8])  # warm
    fast, fast_core, written = timed(stages, texts)
    print(
        f"{'sentences':<24}{'':>6}{'a second':>12}{'of one core':>14}{'times':>9}{'of one core':>14}{'floor':>8}"
        f"{'equal: stage 1':>17}{'both':>9}"
    )
    print(f"{'restyle':<24}{len(texts):>6}{fast:>12.2f}{fast_core:>14.2f}", flush=True)
    for size, count in ((32, max(32, len(texts) // 2)), (1, max(1, len(texts) // 8))):
        wall, core, theirs = timed([generated(each, size) for each in plain], texts[:count])
        first, both = (share(mine[:count], other) for mine, other in zip(written, theirs, strict=True))
        print(
            f"{f'transformers, batch {size}':<24}{count:>6}{wall:>12.2f}{core:>14.2f}{fast / wall:>9.2f}"
            f"{fast_core / core:>14.2f}{FLOORS[size]:>8}{first:>17.1%}{both:>9.1%}",
            flush=True,
        )
    cold = cold_start(options.base, names, texts[0])
    print(f"\ncold start to the first sentence, engines cached: {cold:.2f} s (floor {COLD})")


def sentences(tokenizer: Any, count: int, generator: random.Random) -> list[str]:
    """Sentences of about a dozen words."""
    if os.environ.get("RESTYLE_DATA"):
        from restyle.corpora import rows

        return [record["input"] for record in rows("strap-judged", "copy")][:count]
    words = sorted(
        word[1:] for word in tokenizer.get_vocab() if word[0] == "Ġ" and word[1:].isascii() and word[1:].isalpha()
    )
    return [
        " ".join(generator.choices(words, k=max(4, round(generator.gauss(12, 4))))).capitalize() + "."
        for _ in range(count)
    ]


def adapter_of(name: str, base: Base, seed: int) -> Adapter:
    """A pack's adapter, that in a file, or a random one that changes a little what the base writes."""
    if name != "random":
        bundled = Path(restyle.__file__).parent / "packs" / "styles" / name / "adapter.safetensors"
        return Adapter.load(bundled if bundled.is_file() else name)
    generator = np.random.default_rng(seed)
    layers = {
        name: layer.weight.shape for name, layer in base.model.named_modules() if name.endswith(("q_proj", "up_proj"))
    }
    return Adapter(
        {
            name: (
                generator.normal(0, 0.02, (4, inner)).astype(np.float32),
                generator.normal(0, 0.02, (outer, 4)).astype(np.float32),
            )
            for name, (outer, inner) in layers.items()
        }
    )


def digest(adapter: Adapter) -> str:
    """What tells an adapter from all others."""
    found = hashlib.sha256()
    for layer, factors in sorted(adapter.factors.items()):
        found.update(b"".join([layer.encode(), *(factor.tobytes() for factor in factors)]))
    return found.hexdigest()[:8]


def prompts_of(texts: Sequence[str], format_: PairFormat) -> list[Prompt]:
    """What each text may become: half as long again, and a few subwords more."""
    return [
        Prompt(tuple(ids), min(50, int(1.5 * len(ids)) + 12), text)
        for text, ids in zip(texts, format_.prompts(texts), strict=True)
    ]


def ours(engine: Engine) -> Stage:
    """A stage of restyle."""
    format_ = engine.format(50)

    def stage(texts: Sequence[str]) -> list[str]:
        found = engine.generate(prompts_of(texts, format_), Decoding())
        return [format_.text(best.ids) for best, *_ in found]

    return stage


def merged(name: str, adapter: Adapter) -> Base:
    """The plain model."""
    base = load_base(name)
    adapter.merge_into(base.model)
    base.model.to(best_device()).config.use_cache = True
    return base


def generated(base: Base, size: int) -> Stage:
    """A stage as transformers writes it, batches as they come."""
    format_ = base.format(50)

    @torch.inference_mode()
    def stage(texts: Sequence[str]) -> list[str]:
        written = []
        for start in range(0, len(texts), size):
            prompts = prompts_of(texts[start : start + size], format_)
            longest = max(len(prompt.ids) for prompt in prompts)
            ids = torch.tensor([[format_.end] * (longest - len(prompt.ids)) + list(prompt.ids) for prompt in prompts])
            mask = torch.tensor([[0] * (longest - len(prompt.ids)) + [1] * len(prompt.ids) for prompt in prompts])
            with hushed():
                made = base.model.generate(
                    input_ids=ids.to(base.model.device), attention_mask=mask.to(base.model.device), do_sample=False,
                    max_new_tokens=max(prompt.room for prompt in prompts), eos_token_id=format_.end,
                    pad_token_id=format_.end,
                )  # fmt: skip
            written += [
                format_.text(row[: prompt.room])
                for row, prompt in zip(made[:, longest:].tolist(), prompts, strict=True)
            ]
        return written

    return stage


def rewritten(stages: Sequence[Stage], texts: Sequence[str]) -> list[list[str]]:
    """What each stage made of what the one before it made."""
    made = []
    for stage in stages:
        texts = stage(texts)
        made.append(texts)
    return made


def timed(stages: Sequence[Stage], texts: Sequence[str]) -> tuple[float, float, list[list[str]]]:
    """Sentences a second, sentences a second of one core, and what was written."""
    begun, worked = time.perf_counter(), time.process_time()
    made = rewritten(stages, texts)
    took, busy = time.perf_counter() - begun, time.process_time() - worked
    return len(texts) / took, len(texts) / busy, made


def share(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Of equal ones."""
    return float(np.mean([one == other for one, other in zip(ours, theirs, strict=True)]))


FIRST = """
from restyle.lm.decoding import Decoding, Prompt, open_engine
text = {text!r}
for name in {names!r}:
    engine = open_engine({base!r}, identity=name)
    format_ = engine.format(50)
    (ids,) = format_.prompts([text])
    ((best,),) = engine.generate([Prompt(tuple(ids), 50, text)], Decoding())
    text = format_.text(best.ids)
"""


def cold_start(base: str, names: list[str], text: str) -> float:
    """Seconds of a new Python until it has rewritten one sentence."""
    script = FIRST.format(base=base, names=names, text=text)
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", script], check=True)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
