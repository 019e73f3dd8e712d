"""How good the judges are, and how fast: the figures of docs/judges.md that are not on the judges' cards.

    RESTYLE_DATA=../data python benchmarks/judges.py strap            published verdicts on the Shakespeare test
    RESTYLE_DATA=../data python benchmarks/judges.py cds              eleven styles, and their published paraphrases
    RESTYLE_DATA=../data python benchmarks/judges.py speed            acc, sim and fl beside plain transformers
    RESTYLE_DATA=../data python benchmarks/judges.py speed --pairs 2000 --threads 1

`strap` compares our verdicts with the paper's own on the outputs of five systems: Cohen's kappa of ACC and FL, the FL
of each corpus, Spearman of SIM, J of each system and of STRAP at two p, and the ranking by J. `cds` gives the accuracy
on the second halves, which no judge has seen, and the fall from there to the published paraphrases. These exist for
the first halves alone, so the fall is between different sentences; what the judge gives the originals of the
paraphrases is shown too, though it was trained on most of them.

Intervals are 95%: Wilson's of shares, Newcombe's of the difference of two, percentiles of bootstrap resamples of the
rest. These are test sets: nothing may be chosen by what this prints. What judges said is kept in the cache, so a run
that was cut off goes on; `speed` never looks there.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from restyle.corpora import load, rows
from restyle.evaluation import Outputs, Scorecard, ScoreSettings, published_outputs, score_systems
from restyle.metrics import Batch
from restyle.metrics.fluency import Fluency
from restyle.metrics.judges import NetworkJudge, load_judge
from restyle.metrics.similarity_minilm import SimInput
from restyle.metrics.style import StyleAccuracy
from restyle.metrics.training import wilson
from restyle.text.clean import clean

Floats = NDArray[np.float64]

# J(A,S,F) of STRAP Table 1, and of App. A.5 for transform-delete-generate.
PUBLISHED_J = {
    "copy": 7.2,
    "unmt": 14.6,
    "dlsm": 16.3,
    "transform-delete-generate": 18.4,
    "STRAP p0.6": 33.5,
    "STRAP p0.0": 34.7,
    "reference": 70.5,
}
OUR_METRICS = ("acc", "sim_ref", "fl")
RESAMPLES = 300
# The plain way: what a script that loops over a list does.
PLAIN_BATCH = 32


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="speed", choices=("strap", "cds", "speed"))
    parser.add_argument("--sentences", type=int, help="of each system, or of each style, at most; else all")
    parser.add_argument("--pairs", type=int, default=100_000, help="that speed is measured on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="decides sentences and resamples")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {options.threads} threads; ", end="")
    print(f"torch {torch.__version__}; seed {options.seed}\n", flush=True)
    if options.what == "strap":
        strap(options.sentences, options.seed)
    elif options.what == "cds":
        cds(options.sentences, options.seed)
    else:
        speed(options.pairs)


# --- the published verdicts ------------------------------------------------------------------------------------------


def strap(sentences: int | None, seed: int) -> None:
    """Our judges beside the published verdicts."""
    ours: dict[str, Scorecard] = {}
    theirs: dict[str, Scorecard] = {}
    print(f"{'':28}{'ACC':>6}{'SIM':>6}{'FL':>6}{'J':>6}")
    for given in systems(sentences, seed):
        ours[given.system] = judged(given, OUR_METRICS)
        if given.columns:
            theirs[given.system] = judged(given, ())
        show_system(given.system, ours[given.system], theirs.get(given.system), seed)
    show_ranking(ours)
    show_fluency(ours, theirs)
    for metric, wanted in (("acc", 0.70), ("fl", 0.55)):
        show_kappa(metric, ours, theirs, wanted, seed)
    show_spearman(ours, theirs, seed)


def systems(sentences: int | None, seed: int) -> Iterator[Outputs]:
    """The outputs of the five judged systems, with the paper's verdicts as columns, and STRAP's at two p."""
    found = [*published_outputs("strap-judged"), *published_outputs("strap-shakespeare")]
    for given in sorted(found, key=lambda each: PUBLISHED_J[each.system]):
        # The same lines of every system, as they answer the same inputs in the same order.
        yield given.taken(drawn(len(given), sentences, seed))


def judged(given: Outputs, metrics: Sequence[str]) -> Scorecard:
    """The scorecard of these metrics; without any, that of the columns which are there."""
    outputs = replace(given, columns={}) if metrics else given
    (card,) = score_systems([outputs], ScoreSettings(baselines=False), metrics=list(metrics))
    return card


def show_system(name: str, ours: Scorecard, theirs: Scorecard | None, seed: int) -> None:
    """Our corpus numbers, the published ones below, and J beside its published value."""
    low, high = (100 * bound for bound in ours.interval("J", seed=seed))
    apart = 100 * ours["J"] - PUBLISHED_J[name]
    print(f"{name:28}{corpus_numbers(ours)} ({low:.1f} to {high:.1f}); published {PUBLISHED_J[name]}: {apart:+.1f}")
    if theirs:
        print(f"{'  published verdicts':28}{corpus_numbers(theirs)}", flush=True)


def corpus_numbers(card: Scorecard) -> str:
    """ACC, SIM, FL and J as percentages."""
    return "".join(f"{100 * card[name]:6.1f}" for name in (*OUR_METRICS, "J"))


def show_ranking(ours: Mapping[str, Scorecard]) -> None:
    """The order of the systems by our J, and whether it is the published one."""
    ranked = sorted(ours, key=lambda name: ours[name]["J"])
    print(f"\nranking by J: {' < '.join(ranked)}")
    print(f"the published ranking: {'the same' if ranked == list(PUBLISHED_J) else ' < '.join(PUBLISHED_J)}")


def show_fluency(ours: Mapping[str, Scorecard], theirs: Mapping[str, Scorecard]) -> None:
    """FL of the two systems whose English is broken, which a judge of CoLA alone cannot see."""
    for name in ("unmt", "dlsm"):
        mine, published = 100 * ours[name]["fl"], 100 * theirs[name]["fl"]
        print(f"FL of {name}: {mine:.1f}, published {published:.1f}: {mine - published:+.1f} (aim: within 10)")


def show_kappa(
    metric: str, ours: Mapping[str, Scorecard], theirs: Mapping[str, Scorecard], wanted: float, seed: int
) -> None:
    """How far our verdicts agree with the published ones beyond chance, over all systems and by system."""
    pairs = {name: (ours[name].columns[metric], theirs[name].columns[metric]) for name in theirs}
    mine, published = (np.concatenate(side) for side in zip(*pairs.values(), strict=True))
    low, high = bootstrap(lambda drawn: kappa(mine[drawn], published[drawn]), len(mine), seed)
    print(f"kappa of {metric}: {kappa(mine, published):.3f} ({low:.3f} to {high:.3f}; aim {wanted:.2f}); ", end="")
    print(f"the same verdict {(mine == published).mean():.3f} of {len(mine):,}")
    print("  " + ", ".join(f"{name} {kappa(*columns):.3f}" for name, columns in pairs.items()))


def show_spearman(ours: Mapping[str, Scorecard], theirs: Mapping[str, Scorecard], seed: int) -> None:
    """The rank correlation of SIM; a reference is 1 with itself for everybody, and is left out."""
    from scipy.stats import spearmanr

    known = [name for name in theirs if name != "reference"]
    mine, published = (np.concatenate([side[name].columns["sim_ref"] for name in known]) for side in (ours, theirs))
    low, high = bootstrap(lambda drawn: float(spearmanr(mine[drawn], published[drawn])[0]), len(mine), seed)
    print(f"Spearman of sim: {spearmanr(mine, published)[0]:.3f} ({low:.3f} to {high:.3f}; aim 0.80)")


def kappa(ours: Floats, theirs: Floats) -> float:
    """Cohen's kappa of two columns of verdicts; NaN where both say the same of everything."""
    agreed = float((ours == theirs).mean())
    chance = sum(float((ours == each).mean() * (theirs == each).mean()) for each in (0.0, 1.0))
    return (agreed - chance) / (1 - chance) if chance < 1 else float("nan")


def bootstrap(number: Callable[[NDArray[np.int64]], float], size: int, seed: int) -> tuple[float, float]:
    """The 95% percentile interval of a number of rows."""
    generator = np.random.default_rng(seed)
    found = [number(generator.integers(size, size=size)) for _ in range(RESAMPLES)]
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


# --- eleven styles ---------------------------------------------------------------------------------------------------


def cds(sentences: int | None, seed: int) -> None:
    """Accuracy on the second halves; on the first halves' published paraphrases, and on what those were made from."""
    corpus, records = load("cds"), list(rows("strap-cds", "outputs"))
    unseen = {style: corpus.sentences(style, "test") for style in corpus.styles}
    right = {
        "second halves": right_of("second halves", unseen, sentences, seed),
        "paraphrases": right_of("paraphrases", by_style(records, "paraphrase"), sentences, seed),
        "originals": right_of("their originals", by_style(records, "text"), sentences, seed),
    }
    for first, second, remark in (
        ("second halves", "paraphrases", "other sentences; the judge saw neither"),
        ("originals", "paraphrases", "the same sentences, but the judge was trained on most of the originals"),
    ):
        fall, low, high = difference(right[first], right[second])
        print(f"fall from {first} to {second}: {fall:.3f} ({low:.3f} to {high:.3f}; aim 0.35); {remark}")


def by_style(records: Sequence[Mapping[str, Any]], field: str) -> dict[str, list[str]]:
    """A field of the records under each style."""
    found: dict[str, list[str]] = {}
    for record in records:
        found.setdefault(record["style"], []).append(record[field])
    return found


def right_of(what: str, texts: Mapping[str, Sequence[str]], sentences: int | None, seed: int) -> tuple[int, int]:
    """How many of how many the judge of eleven styles gets right; printed for each style and for all."""
    print(what)
    every: list[tuple[int, int]] = []
    for style, of_style in texts.items():
        chosen = [of_style[row] for row in drawn(len(of_style), sentences, seed)]
        outputs = Outputs(chosen, targets=[style] * len(chosen))
        (card,) = score_systems([outputs], ScoreSettings(baselines=False), metrics=[StyleAccuracy("cds")])
        every.append((int(card.columns["acc"].sum()), len(chosen)))
        print(f"  {style:14}{share(*every[-1])}", flush=True)
    right, number = (sum(counts) for counts in zip(*every, strict=True))
    print(f"  {'all':14}{share(right, number)}\n")
    return right, number


def share(right: int, number: int) -> str:
    """A share with its interval."""
    low, high = wilson(right, number)
    return f"{right / number:.3f} ({low:.3f} to {high:.3f}) of {number:,}"


def difference(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float, float]:
    """One share less another of other sentences, with its interval (Newcombe 1998, method 10)."""
    (p, q), (p_ends, q_ends) = (
        [right / number for right, number in (first, second)],
        (wilson(*first), wilson(*second)),
    )
    low = p - q - np.hypot(p - p_ends[0], q_ends[1] - q)
    high = p - q + np.hypot(p_ends[1] - p, q - q_ends[0])
    return p - q, float(low), float(high)


def drawn(size: int, wanted: int | None, seed: int) -> NDArray[np.intp]:
    """The lines that are taken, in their order: all, or a draw."""
    if wanted is None or wanted >= size:
        return np.arange(size)
    return np.array(sorted(random.Random(seed).sample(range(size), wanted)))


# --- speed -----------------------------------------------------------------------------------------------------------


def speed(pairs: int) -> None:
    """Sentences a second of each judge, ours and the plain way, in float32, batches of 32 as they come."""
    outputs, inputs = zip(*itertools.islice(pairs_as_they_come(), pairs), strict=True)
    batch = Batch(outputs, inputs, target="modern")
    print(f"{len(outputs):,} pairs, {len(set(outputs)):,} different outputs")
    total = {"ours": 0.0, "plain": 0.0}
    for name, metric, plain in (
        ("acc", StyleAccuracy("shakespeare"), plain_judge("shakespeare", "modern", outputs)),
        ("fl", Fluency(), plain_judge("fluency", "acceptable", outputs)),
        ("sim", SimInput(), plain_similarity(outputs, inputs)),
    ):
        metric.score(Batch(("Warm.",), ("Warm?",), target="modern"))  # loaded
        start = time.perf_counter()
        ours = metric.score(batch)
        took = time.perf_counter() - start
        theirs, plainly = plain()
        total["ours"] += took
        total["plain"] += plainly
        agreed = f"the same label {np.mean(ours == theirs):.4f} (aim 0.995)"
        if name == "sim":
            agreed = f"largest difference {np.abs(ours - theirs).max():.4f}"
        print(f"{name}: {len(outputs) / took:.0f} a second, plain {len(outputs) / plainly:.0f}; ", end="")
        print(f"{plainly / took:.2f} times as fast; {agreed}", flush=True)
    times = total["plain"] / total["ours"]
    print(f"all three: {len(outputs) / total['ours']:.0f} pairs a second, {times:.2f} times as fast (aim 3)")


def pairs_as_they_come() -> Iterator[tuple[str, str]]:
    """Outputs and inputs of published systems, unsorted, and with the repetitions that tables of systems have."""
    for table, part in (
        ("strap-judged", "unmt"),
        ("strap-judged", "dlsm"),
        ("strap-judged", "copy"),
        ("systems", "shakespeare"),
        ("systems", "yelp"),
        ("strap-cds", "outputs"),
    ):
        for record in rows(table, part):
            # A record of the last has an output for each of ten styles, and its input under `text`.
            written = record["outputs"].values() if "outputs" in record else [record["output"]]
            source = record.get("input") or record["text"]
            yield from ((text, source) for text in written if clean(text) and clean(source))


def plain_judge(name: str, wanted: str, texts: Sequence[str]) -> Callable[[], tuple[Floats, float]]:
    """The same judge as transformers runs it; returns its verdicts and the seconds that they took."""

    def run() -> tuple[Floats, float]:
        judge = load_judge(name)
        if not isinstance(judge, NetworkJudge):
            raise TypeError(f"{name} is no network")
        network = judge._network
        network.body.float()
        start = time.perf_counter()
        cleaned, probabilities = [clean(text) for text in texts], []
        with torch.inference_mode():
            for ids, mask in plain_batches(cleaned, network.tokenizer):
                probabilities.append(network(ids, mask).softmax(1).double().numpy())  # (B, L)
        said = judge.verdicts_from(judge._beside(np.concatenate(probabilities), cleaned))
        return np.array([label == wanted for label in said], float), time.perf_counter() - start

    return run


def plain_similarity(outputs: Sequence[str], inputs: Sequence[str]) -> Callable[[], tuple[Floats, float]]:
    """The same encoder as transformers runs it, on both sides; returns the cosines and the seconds."""

    def run() -> tuple[Floats, float]:
        from restyle.nets.pretrained import load_pretrained

        loaded = load_pretrained("minilm-l6")
        start = time.perf_counter()
        sides = []
        with torch.inference_mode():
            for texts in (outputs, inputs):
                vectors = []
                for ids, mask in plain_batches([clean(text) for text in texts], loaded.tokenizer):
                    states = loaded.body(input_ids=ids, attention_mask=mask).last_hidden_state  # (B, T, H)
                    mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)  # (B, H)
                    vectors.append(torch.nn.functional.normalize(mean))
                sides.append(torch.cat(vectors))
        cosines = (sides[0] * sides[1]).sum(1).double().numpy()
        return cosines, time.perf_counter() - start

    return run


def plain_batches(texts: Sequence[str], tokenizer: Any) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Token numbers and masks, (B, T) each, padded to the longest of the batch."""
    from restyle.nets.encoder import padded

    for start in range(0, len(texts), PLAIN_BATCH):
        yield padded(tokenizer(texts[start : start + PLAIN_BATCH], 128))


if __name__ == "__main__":
    main()
