"""Pairs a second of the filter, stage by stage and from file to file, beside the same filter one pair at a time.

    python benchmarks/filter.py                       # a million pairs, some two minutes
    python benchmarks/filter.py --pairs 5000000       # some ten

The pairs are made up: ParaNMT's length profile (about 12 words, many short, few long), a score, and paraphrases that
keep between none and all of the words, in order or turned, so that each stage drops about as many as in Table 8. The
plain filter is what one would first write from App. A.1: a function for each stage that takes two sentences, with the
SQuAD script's normalisation, Counters and a loop over pairs of shared words. A tuned form of it finds the words once
for all stages. Both stop at the first stage that a pair fails.

Rates of stages are of one core, by processor time, the best of three. From file to file it is wall time, and the memory
is that of all processes together, sampled; pages that they share are counted in each.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import platform
import re
import string
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from restyle.assets import find_model
from restyle.jobs import JobSettings
from restyle.pairs import FilterSettings, PairFiles, filter_files, preset
from restyle.pairs.stages import Filter, Pairs

PARANMT = 51_410_000  # Table 8, "Original"
BLOCK = 8192  # about what a block of a file holds
Rows = list[tuple[str, str, float]]


def main() -> None:
    """Print the rate of each stage, then the whole road, then what ParaNMT would take."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000, help="how many pairs go from file to file")
    parser.add_argument("--stage-pairs", type=int, default=100_000, help="how many of them the stages are timed on")
    parser.add_argument("--plain-pairs", type=int, default=10_000, help="how many of them the plain filter gets")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--preset", default="strap-a1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", nargs=2, metavar=("PAIRS", "KEPT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    settings = preset(options.preset, {"similarity": "column", "language": "off"})
    if options.run:
        run(*options.run, options.preset, options.workers)
        return
    print(f"{processor()}, {os.cpu_count()} cores; Python {platform.python_version()}; seed {options.seed}\n")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pairs.tsv")
        make_up(file, options.pairs, options.seed)
        rows = read(file, options.stage_pairs)
        time_stages(rows, settings, options.plain_pairs)
        time_whole(file, options)


def make_up(file: Path, count: int, seed: int) -> None:
    """Write pairs as ParaNMT has them: text, paraphrase, score."""
    generator = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlcumwfgypbvk"))
    lengths = generator.choice(np.arange(2, 12), 20_000, p=np.array([9, 20, 22, 15, 11, 9, 6, 4, 2, 2]) / 100)
    made_up = ["".join(generator.choice(letters, length)) for length in lengths]
    vocabulary = ["the", "a", "of", "to", "and", ",", "you", "i", *made_up]
    zipf = 1 / np.arange(2, len(vocabulary) + 2)
    zipf /= zipf.sum()
    with file.open("w", encoding="utf-8") as lines:
        for start in range(0, count, 10_000):
            size = min(10_000, count - start)
            # Log-normal with a mean of 12 words: a quarter has seven or fewer, one in fifty more than 30.
            words = np.clip(np.rint(generator.lognormal(math.log(10.5), 0.5, size)), 2, 80).astype(int)
            # Of the words, seven pairs of ten keep nearly all, two of ten most, the rest less than half.
            least, most = np.array([(0.92, 1.0), (0.5, 0.92), (0.0, 0.5)])[
                generator.choice(3, size, p=(0.7, 0.2, 0.1))
            ].T
            kept = generator.uniform(least, most)
            turned = generator.random(size) < 0.1
            scores = np.round(generator.beta(3, 2.5, size), 4)
            pool = generator.choice(len(vocabulary), 2 * words.sum(), p=zipf)
            keeps = generator.random(words.sum())
            at = 0
            for row in range(size):
                text = pool[2 * at : 2 * at + words[row]]
                other = np.where(
                    keeps[at : at + words[row]] < kept[row], text, pool[2 * at + words[row] :][: words[row]]
                )
                if turned[row]:
                    other = np.roll(other, words[row] // 2)
                sides = (" ".join([vocabulary[word] for word in side]) for side in (text, other))
                lines.write("\t".join(f"{side} é ." if row % 50 == 0 else f"{side} ." for side in sides))
                lines.write(f"\t{scores[row]}\n")
                at += words[row]


def read(file: Path, count: int) -> Rows:
    """The first pairs of the file, as a plain program would read them."""
    rows = []
    with file.open(encoding="utf-8") as lines:
        for _, line in zip(range(count), lines, strict=False):
            text, paraphrase, score = line.rstrip("\n").split("\t")
            rows.append((text, paraphrase, float(score)))
    return rows


def time_stages(rows: Rows, settings: FilterSettings, plain_pairs: int) -> None:
    """Print what each stage does in a second, and both filters as a whole."""
    filter = Filter(settings, "column")
    blocks = [columns(rows[start : start + BLOCK]) for start in range(0, len(rows), BLOCK)]
    judged(filter, blocks)  # compiles, or loads what was compiled
    best: dict[str, float] = {}
    for _ in range(3):
        seconds = judged(filter, blocks)
        best = {name: min(spent, best.get(name, math.inf)) for name, spent in seconds.items()}
    print(f"{'stage, on one core; each of what is left':<50}{'pairs/s':>14}{'µs/pair':>10}   of all pairs")
    for name, spent in best.items():
        print(f"{name + (' (finds the words)' if name == 'empty' else ''):<50}{rate(len(rows), spent)}")
    ours = sum(best.values()) / len(rows)
    print(f"{'all of them':<50}{rate(len(rows), ours * len(rows))}")
    few = rows[:plain_pairs]
    kept = filter.judge(Pairs(*columns(few))).kept.tolist()
    for name, stages in (("from the strings", stages_from_strings), ("tuned: words found once", stages_from_words)):
        begun = time.process_time()
        found = [row for row, pair in enumerate(few) if all(stages(*pair, settings))]
        spent = (time.process_time() - begun) / len(few)
        assert found == kept, "the two filters differ"
        print(f"{'plain, ' + name:<50}{rate(1, spent)}   ours: {spent / ours:.1f} times as fast")


def columns(rows: Rows) -> tuple[list[str], list[str], np.ndarray]:
    """Texts, paraphrases and scores."""
    return [row[0] for row in rows], [row[1] for row in rows], np.array([row[2] for row in rows])


def judged(filter: Filter, blocks: list[tuple[list[str], list[str], np.ndarray]]) -> Counter[str]:
    """The seconds of each stage over all blocks."""
    seconds: Counter[str] = Counter()
    for block in blocks:
        seconds.update(filter.judge(Pairs(*block)).seconds)  # type: ignore[arg-type]
    return seconds


# Both plain filters yield whether the pair passes one stage after the other, in the paper's order; `all` stops at the
# first that it does not.


def stages_from_strings(text: str, paraphrase: str, score: float, settings: FilterSettings) -> Iterator[bool]:
    """Each stage by itself, as in a pipeline of scripts: it takes the two sentences and finds their words."""
    yield score >= settings.min_similarity
    yield bool(squad_words(text) and squad_words(paraphrase))
    yield trigram_overlap(squad_words(text), squad_words(paraphrase)) <= settings.max_trigram_overlap
    yield unigram_overlap(squad_words(text), squad_words(paraphrase)) <= settings.max_unigram_overlap
    yield shuffled(squad_words(text), squad_words(paraphrase)) >= settings.min_shuffled
    yield from length_stages(text, paraphrase, settings)


def stages_from_words(text: str, paraphrase: str, score: float, settings: FilterSettings) -> Iterator[bool]:
    """As before, by somebody who minds the time."""
    yield score >= settings.min_similarity
    ours, theirs = squad_words(text), squad_words(paraphrase)
    yield bool(ours and theirs)
    yield trigram_overlap(ours, theirs) <= settings.max_trigram_overlap
    yield unigram_overlap(ours, theirs) <= settings.max_unigram_overlap
    yield shuffled(ours, theirs) >= settings.min_shuffled
    yield from length_stages(text, paraphrase, settings)


def length_stages(text: str, paraphrase: str, settings: FilterSettings) -> Iterator[bool]:
    """Difference and average of the lengths."""
    lengths = len(text.split()), len(paraphrase.split())
    yield abs(lengths[0] - lengths[1]) <= settings.max_length_difference
    yield settings.min_average_length <= sum(lengths) / 2 <= settings.max_average_length


def trigram_overlap(ours: list[str], theirs: list[str]) -> float:
    """The share of the second's trigrams that the first has."""
    our_trigrams, their_trigrams = (Counter(zip(w, w[1:], w[2:], strict=False)) for w in (ours, theirs))
    return sum((our_trigrams & their_trigrams).values()) / max(sum(their_trigrams.values()), 1)


def unigram_overlap(ours: list[str], theirs: list[str]) -> float:
    """The share of the second's words that the first has."""
    return sum((Counter(ours) & Counter(theirs)).values()) / max(len(theirs), 1)


def shuffled(ours: list[str], theirs: list[str]) -> float:
    """The share of pairs of shared words that changed order."""
    order, free = [], list(ours)
    for word in theirs:
        if word in free:
            place = free.index(word)
            free[place] = ""
            order.append(place)
    pairs = [(left, right) for at, right in enumerate(order) for left in order[:at]]
    return sum(left > right for left, right in pairs) / len(pairs) if pairs else 1.0


def squad_words(text: str) -> list[str]:
    """The normalisation of the SQuAD evaluation script, written as it is there."""
    punctuation = set(string.punctuation)
    text = "".join(character for character in text.lower() if character not in punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def time_whole(file: Path, options: argparse.Namespace) -> None:
    """Print what it takes from file to file, and what it would take for ParaNMT."""
    command = [sys.executable, __file__, "--run", str(file), f"{file}.kept.tsv", "--preset", options.preset]
    begun = time.perf_counter()
    with subprocess.Popen([*command, "--workers", str(options.workers)]) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(resident, family(process.pid))))
            time.sleep(0.1)
    wall = time.perf_counter() - begun
    if process.returncode:
        sys.exit(process.returncode)
    megabytes = file.stat().st_size / 1e6
    print(f"\n{options.pairs:,} pairs ({megabytes:,.0f} MB) with {options.workers} workers: {wall:.1f} s", end="")
    print(f", {options.pairs / wall:,.0f} pairs/s; peak memory of all processes {peak / 1e6:,.0f} MB")
    print(f"ParaNMT's {PARANMT:,} pairs would take {PARANMT * wall / options.pairs / 60:.1f} minutes")


def run(pairs: str, output: str, name: str, workers: int) -> None:
    """The filter from file to file, with the language where its model is here; prints Table 8."""
    language = "lid176" if find_model("lid176") else "off"
    settings = preset(name, {"similarity": "column", "language": language, "duplicates": "near"})
    report = filter_files(PairFiles([pairs]), output, settings, jobs=JobSettings(workers=workers))
    print(f"\n{'stage':<20}{'survivors':>12}{'seconds':>10}   (of the processor, over all workers)")
    for row in report.rows():
        print(f"{row['stage']:<20}{row['survivors']:>12,}{row['seconds']:>10.2f}")


def family(process: int) -> list[int]:
    """A process and all that it started."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return [process, *(other for child in children for other in family(int(child)))]
    return []


def resident(process: int) -> int:
    """The bytes of memory that a process holds now."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def rate(count: int, seconds: float) -> str:
    """Pairs a second, and microseconds a pair."""
    return f"{count / max(seconds, 1e-9):>14,.0f}{seconds / count * 1e6:>10.2f}"


def processor() -> str:
    """What the processor calls itself."""
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].partition(":")[2].strip() if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
