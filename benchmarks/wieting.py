"""How fast the bundled similarity model scores, and how well, beside people, the published model and MiniLM.

    python benchmarks/wieting.py                                       # 100,000 made-up pairs
    RESTYLE_DATA=../data python benchmarks/wieting.py --quality        # the figures of its card (--save)

The quality is the correlation with human scores on the STS benchmark, and, on the Shakespeare test, with the scores
that the published model of Wieting et al. 2019 gave the same pairs of output and reference (`pp_scores` of STRAP's
release), for each judged system and for all together; intervals are 95% of bootstrap resamples of the pairs. MiniLM
makes it six minutes of two cores, without it (`--no-minilm`) it is one.
MiniLM is all-MiniLM-L6-v2, with torch; `--model` names another folder than the bundled one.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import random
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.nets.wieting import Wieting
from restyle.nets.wieting_card import note_figures

Column = NDArray[np.float64]
Judge = Callable[[Sequence[str], Sequence[str]], Column]
# What it is compared with, by which measure, what that says, and what each judge says.
Test = tuple[str, str, Column, dict[str, Column]]
# Outputs of systems, and COPY; the reference folder compares each reference with itself.
JUDGED = ("dlsm", "unmt", "transform-delete-generate", "copy")
SYSTEMS = JUDGED[:3]
BUNDLED = str(resources.files("restyle") / "packs" / "judges" / "sim-wieting")


def main() -> None:
    """Print pairs a second, and with --quality the correlations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000, help="how many pairs are timed")
    parser.add_argument("--quality", action="store_true", help="print the correlations; needs $RESTYLE_DATA")
    parser.add_argument("--only", choices=("sts", "judged"), help="one of the two tables")
    parser.add_argument("--no-minilm", action="store_true", help="leave MiniLM out")
    parser.add_argument("--model", default=BUNDLED, help="a folder that `restyle similarity train` made")
    parser.add_argument("--save", action="store_true", help="write the quality on the card of the model")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    model = Wieting.load(options.model)
    print(f"{model.fingerprint}; Python {platform.python_version()}, {os.cpu_count()} cores; seed {options.seed}\n")
    if not options.quality:
        throughput(model, options.pairs, random.Random(options.seed))
        return
    judges: dict[str, Judge] = {"ours": model.similarity}
    if not options.no_minilm:
        judges["MiniLM"] = minilm()
    figures = list(quality(judges, options.only, options.resamples, options.seed))
    if options.save:
        note_figures(options.model, figures)


def throughput(model: Wieting, count: int, generator: random.Random) -> None:
    """Time the scoring of sentences of about thirteen words, tokenised or not, from strings to numbers."""
    pieces = (model.subwords.decode([number]) for number in range(4, len(model.subwords)))
    words = [piece for piece in pieces if piece.isalpha()]  # the more frequent first
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    left, right = (
        [
            " ".join(generator.choices(words, weights=weights, k=max(4, round(generator.gauss(13, 4))))) + end
            for end in generator.choices([".", " ."], k=count)
        ]
        for _ in range(2)
    )
    model.similarity(left[:100], right[:100])
    begun, worked = time.perf_counter(), time.process_time()
    model.similarity(left, right)
    took, busy = time.perf_counter() - begun, time.process_time() - worked
    print(f"{count:,} pairs in {took:.1f} s ({busy:.1f} s of one core): {count / busy:,.0f} pairs a second and core")


def quality(judges: dict[str, Judge], only: str | None, resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Print each correlation of each judge with its interval, and give it as the card has it."""
    print(f"{'compared with':<44}{'pairs':>7}  {'measure':<9}" + "".join(f"{name:>24}" for name in judges))
    tests = sts_benchmark(judges) if only != "judged" else iter(())
    tests = itertools.chain(tests, judged_systems(judges) if only != "sts" else ())
    for test, measure, theirs, scores in tests:
        figure: dict[str, Any] = {"test": test, "pairs": len(theirs), "measure": measure}
        line = f"{test:<44}{len(theirs):>7,}  {measure:<9}"
        for name, ours in scores.items():
            figure[name] = with_interval(MEASURES[measure], ours, theirs, resamples, np.random.default_rng(seed))
            value, low, high = figure[name]
            line += f"{value:>8.3f} [{low:.3f}, {high:.3f}]"
        print(line, flush=True)
        yield figure


def sts_benchmark(judges: dict[str, Judge]) -> Iterator[Test]:
    """What people say of the pairs of the STS benchmark."""
    from restyle.corpora import rows

    for part in ("dev", "test"):
        pairs = list(rows("stsb", part))
        human = np.array([pair["score"] for pair in pairs])
        texts, others = [pair["text"] for pair in pairs], [pair["other"] for pair in pairs]
        scores = {name: judge(texts, others) for name, judge in judges.items()}
        for measure in MEASURES:
            yield f"people, STS benchmark {part}", measure, human, scores


def judged_systems(judges: dict[str, Judge]) -> Iterator[Test]:
    """What the published model says of outputs and their references."""
    from restyle.corpora import rows

    published: dict[str, Column] = {}
    scores: dict[str, dict[str, Column]] = {name: {} for name in judges}
    for system in JUDGED:
        pairs = list(rows("strap-judged", system))
        published[system] = np.array([pair["scores"]["sim_ref"] for pair in pairs])
        for name, judge in judges.items():
            scores[name][system] = judge([pair["output"] for pair in pairs], [pair["references"][0] for pair in pairs])
    pools = {**{system: (system,) for system in JUDGED}, "the three systems": SYSTEMS, "all four": JUDGED}
    for title, pool in pools.items():
        ours = {name: np.concatenate([of_judge[system] for system in pool]) for name, of_judge in scores.items()}
        theirs = np.concatenate([published[system] for system in pool])
        yield f"published model, {title}", "Spearman", theirs, ours


def with_interval(
    measure: Callable[[Column, Column], float],
    ours: Column,
    theirs: Column,
    resamples: int,
    generator: np.random.Generator,
) -> list[float]:
    """A correlation and the two ends of its percentile bootstrap interval."""
    drawn = (generator.integers(len(ours), size=len(ours)) for _ in range(resamples))
    low, high = np.quantile([measure(ours[rows], theirs[rows]) for rows in drawn], [0.025, 0.975])
    return [round(float(value), 6) for value in (measure(ours, theirs), low, high)]


def pearson(ours: Column, theirs: Column) -> float:
    """Pearson's r."""
    from scipy.stats import pearsonr

    return float(pearsonr(ours, theirs).statistic)


def spearman(ours: Column, theirs: Column) -> float:
    """Spearman's rho."""
    from scipy.stats import spearmanr

    return float(spearmanr(ours, theirs).statistic)


MEASURES = {"Pearson": pearson, "Spearman": spearman}


def minilm() -> Judge:
    """The cosine of MiniLM's mean-pooled states, of the same cleaned sentences."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from restyle.assets import model_folder
    from restyle.text.clean import clean

    folder = model_folder("minilm-l6")
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    @torch.no_grad()
    def embed(sentences: Sequence[str]) -> NDArray[np.float32]:
        texts = [clean(sentence) for sentence in sentences]
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = np.empty((len(texts), network.config.hidden_size), dtype=np.float32)
        for start in range(0, len(order), 64):
            rows = order[start : start + 64]
            batch = tokenizer([texts[row] for row in rows], padding=True, truncation=True, return_tensors="pt")
            mask = batch["attention_mask"][:, :, None]  # (N, T, 1)
            states = network(**batch).last_hidden_state  # (N, T, H)
            pooled = (states * mask).sum(1) / mask.sum(1)
            vectors[rows] = torch.nn.functional.normalize(pooled, dim=1).numpy()
        return vectors

    return lambda left, right: (embed(left) * embed(right)).sum(1).astype(np.float64)


if __name__ == "__main__":
    main()
