"""How good the judges are, and how fast: every figure of docs/judges.md.

    python benchmarks/judges.py strap            published verdicts on the Shakespeare test: kappa, FL, SIM, J, ranking
    python benchmarks/judges.py cds              eleven styles on the second halves, and on the published paraphrases
    python benchmarks/judges.py speed            acc, sim and fl beside plain transformers, in the same run
    python benchmarks/judges.py speed --pairs 2000 --threads 1

These are test sets: nothing may be chosen by what this prints.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from restyle.corpora import load, rows
from restyle.metrics import Batch
from restyle.metrics.fluency import Fluency
from restyle.metrics.judges import NetworkJudge, load_judge
from restyle.metrics.similarity_minilm import SimInput, SimRef
from restyle.metrics.style import StyleAccuracy
from restyle.metrics.training import wilson

# STRAP Table 1, and App. A.5 for the delete-and-generate system.
PUBLISHED = {
    "copy": 7.2,
    "unmt": 14.6,
    "dlsm": 16.3,
    "transform-delete-generate": 18.4,
    "STRAP p0.6": 33.5,
    "STRAP p0.0": 34.7,
    "reference": 70.5,
}


def kappa(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Cohen's kappa of two columns of verdicts."""
    agreed = (ours == theirs).mean()
    chance = sum((ours == each).mean() * (theirs == each).mean() for each in (0.0, 1.0))
    return float((agreed - chance) / (1 - chance))


def bootstrap(number: Callable[[np.ndarray], float], size: int, resamples: int = 300) -> tuple[float, float]:
    """The 95% percentile interval of a number of rows."""
    draw = np.random.default_rng(0)
    found = [number(draw.integers(size, size=size)) for _ in range(resamples)]
    return float(np.percentile(found, 2.5)), float(np.percentile(found, 97.5))


def judged(name: str, records: Sequence[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Our three columns of one system."""
    outputs = [record["output"] for record in records]
    targets = np.array([record["target"] for record in records])
    style = StyleAccuracy("shakespeare")
    verdicts = np.array([style_ for style_ in load_judge("shakespeare").verdicts(outputs)])
    labels = np.array([load_judge("shakespeare").card.label_of(target) for target in targets])
    del style
    return {
        "acc": (verdicts == labels).astype(float),
        "sim": SimRef().score(Batch(outputs, references=[record["references"] for record in records])),
        "fl": Fluency().score(Batch(outputs)),
    }


def strap() -> None:
    """Our judges beside the published verdicts."""
    from scipy.stats import spearmanr

    ours: dict[str, dict[str, np.ndarray]] = {}
    theirs: dict[str, dict[str, np.ndarray]] = {}
    for table, parts in (
        ("strap-judged", ("copy", "unmt", "dlsm", "transform-delete-generate", "reference")),
        ("strap-shakespeare", ("p0.0", "p0.6")),
    ):
        for part in parts:
            records = list(rows(table, part))
            name = part if table == "strap-judged" else f"STRAP {part}"
            ours[name] = judged(name, records)
            if table == "strap-judged":
                theirs[name] = {
                    key: np.array([record["scores"][key] for record in records]) for key in records[0]["scores"]
                }
            j = 100 * np.prod(list(ours[name].values()), axis=0)
            low, high = bootstrap(lambda rows_, j=j: float(j[rows_].mean()), len(j))
            acc, sim, fl = (100 * ours[name][key].mean() for key in ("acc", "sim", "fl"))
            print(
                f"{name:28} ACC {acc:5.1f}  SIM {sim:5.1f}  FL {fl:5.1f}  J {j.mean():5.1f} ({low:.1f} to {high:.1f})"
                f"  published J {PUBLISHED[name]:5.1f}  difference {j.mean() - PUBLISHED[name]:+.1f}",
                flush=True,
            )
            if name in theirs:
                acc, sim, fl = (100 * theirs[name][key].mean() for key in ("accuracy", "sim_ref", "fluency"))
                print(f"{'':28} ACC {acc:5.1f}  SIM {sim:5.1f}  FL {fl:5.1f}  (published)")
    by_us = sorted(ours, key=lambda name: np.prod(list(ours[name].values()), axis=0).mean())
    print(
        "ranking by J:",
        " < ".join(by_us),
        "| published:",
        " < ".join(sorted(PUBLISHED, key=lambda name: PUBLISHED[name])),
    )
    for key, other in (("acc", "accuracy"), ("fl", "fluency")):
        mine, published = (
            np.concatenate([table[name][column] for name in theirs]) for table, column in ((ours, key), (theirs, other))
        )
        low, high = bootstrap(lambda rows_, a=mine, b=published: kappa(a[rows_], b[rows_]), len(mine))
        print(
            f"kappa of {key}: {kappa(mine, published):.3f} ({low:.3f} to {high:.3f}), "
            f"agreement {(mine == published).mean():.3f}"
        )
        print("  by system:", {name: round(kappa(ours[name][key], theirs[name][other]), 3) for name in theirs})
    judged_ = [name for name in theirs if name != "reference"]  # a reference is 1 with itself for everybody
    mine = np.concatenate([ours[name]["sim"] for name in judged_])
    published = np.concatenate([theirs[name]["sim_ref"] for name in judged_])
    low, high = bootstrap(lambda rows_: float(spearmanr(mine[rows_], published[rows_])[0]), len(mine), 100)
    print(f"Spearman of sim: {spearmanr(mine, published)[0]:.3f} ({low:.3f} to {high:.3f})")


def cds() -> None:
    """Accuracy on the second halves; on the first halves' published paraphrases, and on what those were made from."""
    judge = load_judge("cds")
    corpus = load("cds")

    def share(what: str, texts: Sequence[str], labels: Sequence[str]) -> None:
        right = int((np.array(judge.verdicts(texts)) == np.array(labels)).sum())
        low, high = wilson(right, len(texts))
        print(f"{what}: {right / len(texts):.3f} ({low:.3f} to {high:.3f}) of {len(texts):,}", flush=True)

    tests = {style: corpus.sentences(style, "test") for style in corpus.styles}
    for style, texts in tests.items():
        share(style, texts, [style] * len(texts))
    share(
        "second halves",
        [text for texts in tests.values() for text in texts],
        [style for style in tests for _ in tests[style]],
    )
    records = list(rows("strap-cds", "outputs"))
    share("paraphrases", [record["paraphrase"] for record in records], [record["style"] for record in records])
    share(
        "(first halves, partly trained on)",
        [record["text"] for record in records],
        [record["style"] for record in records],
    )


def speed(pairs: int, threads: int) -> None:
    """Sentences a second of each judge, ours and the plain way."""
    torch.set_num_threads(threads)
    outputs, inputs = zip(*itertools.islice(_pairs(), pairs), strict=True)
    print(f"{len(outputs):,} pairs, {threads} threads, {torch.get_num_threads()} used")
    total = {"ours": 0.0, "plain": 0.0}
    for name, metric, plain in (
        ("acc", StyleAccuracy("shakespeare"), _plain_judge("shakespeare", outputs)),
        ("fl", Fluency(), _plain_judge("fluency", outputs)),
        ("sim", SimInput(), _plain_sim(outputs, inputs)),
    ):
        metric.score(Batch(outputs[:64], inputs[:64], target="modern"))  # loaded, and warm
        start = time.perf_counter()
        ours = metric.score(Batch(outputs, inputs, target="modern"))
        took = time.perf_counter() - start
        theirs, plainly = plain()
        agreed = np.mean(ours == theirs) if name != "sim" else np.abs(ours - theirs).max()
        total["ours"] += took
        total["plain"] += plainly
        what = "same label" if name != "sim" else "largest difference"
        print(
            f"{name}: {len(outputs) / took:.0f} a second, plain {len(outputs) / plainly:.0f}; "
            f"{plainly / took:.2f} times as fast; {what} {agreed:.4f}",
            flush=True,
        )
    print(
        f"all three: {len(outputs) / total['ours']:.0f} pairs a second, "
        f"{total['plain'] / total['ours']:.2f} times as fast"
    )


def _pairs() -> Iterator[tuple[str, str]]:
    """Outputs and inputs as they come: each is scored once, unsorted."""
    parts = [
        *(("strap-judged", part) for part in ("unmt", "dlsm", "copy")),
        ("systems", "shakespeare"),
        ("systems", "yelp"),
    ]
    for table, part in parts:
        for record in rows(table, part):
            if record["output"].strip():
                yield record["output"], record["input"]


def _batches(texts: Sequence[str], tokenizer: Any, size: int = 32) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    from restyle.nets.encoder import padded

    for start in range(0, len(texts), size):
        yield padded(tokenizer(texts[start : start + size], 128))


def _plain_judge(name: str, texts: Sequence[str]) -> Callable[[], tuple[np.ndarray, float]]:
    """The same network as transformers runs it: batches of 32 as they come, padded, float32."""
    from restyle.text.clean import clean

    judge = load_judge(name)
    assert isinstance(judge, NetworkJudge)

    def run() -> tuple[np.ndarray, float]:
        network = judge._network
        network.body.float()
        start = time.perf_counter()
        probabilities = []
        with torch.inference_mode():
            for ids, mask in _batches([clean(text) for text in texts], network.tokenizer):
                probabilities.append(network(ids, mask).softmax(1).double().numpy())
        took = time.perf_counter() - start
        wanted = "modern" if name == "shakespeare" else "acceptable"
        said = judge.verdicts_from(np.concatenate(probabilities))
        return np.array([label == wanted for label in said], float), took

    return run


def _plain_sim(outputs: Sequence[str], inputs: Sequence[str]) -> Callable[[], tuple[np.ndarray, float]]:
    from restyle.nets.pretrained import load_pretrained
    from restyle.text.clean import clean

    def run() -> tuple[np.ndarray, float]:
        loaded = load_pretrained("minilm-l6")
        start = time.perf_counter()
        sides = []
        with torch.inference_mode():
            for texts in (outputs, inputs):
                vectors = []
                for ids, mask in _batches([clean(text) for text in texts], loaded.tokenizer):
                    states = loaded.body(input_ids=ids, attention_mask=mask).last_hidden_state
                    mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
                    vectors.append(torch.nn.functional.normalize(mean))
                sides.append(torch.cat(vectors))
        cosines = (sides[0] * sides[1]).sum(1).double().numpy()
        return cosines, time.perf_counter() - start

    return run


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="speed", choices=("strap", "cds", "speed"))
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    if chosen.what == "speed":
        speed(chosen.pairs, chosen.threads)
    else:
        {"strap": strap, "cds": cds}[chosen.what]()


if __name__ == "__main__":
    main()
