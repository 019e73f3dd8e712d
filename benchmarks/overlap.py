"""Pairs a second of the vectorised overlap measures, beside the same measures one pair at a time in plain Python.

    python benchmarks/overlap.py --pairs 200000

Both sides run in this process on one core, on the same made-up sentences of about twelve words (ParaNMT's length).
Times are of this process on the processor, from strings to numbers, encoding included; compilation happens before. The
vectorised form gets its pairs in batches, as a stream of records would hand them over.

The last two lines are the three measures of STRAP's filter (App. A.1) together, against a straightforward function of
one pair: once with the words as the SQuAD evaluation script finds them, once with our faster way to the same words.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import re
import string
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from restyle.text import overlap, overlap_pair

MEASURES = ["unigram_f1", "ngram_overlap", "jaccard", "shuffled", "edit_distance"]
Column = list[str]


def main() -> None:
    """Print one line per measure, and two for the three of the filter together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000, help="how many pairs the vectorised form gets")
    parser.add_argument("--plain-pairs", type=int, default=20_000, help="how many of them the plain form gets")
    parser.add_argument("--batch", type=int, default=4_000, help="how many pairs the vectorised form gets at once")
    parser.add_argument("--accented", type=float, default=0.02, help="the share of sentences that are not ASCII")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sources, rewrites = made_up_pairs(options.pairs, options.accented, random.Random(options.seed))
    few = sources[: options.plain_pairs], rewrites[: options.plain_pairs]

    length = sum(map(len, map(overlap_pair.words, few[0]))) / len(few[0])
    print(f"{options.pairs:,} pairs of about {length:.1f} words, {options.accented:.0%} not ASCII; seed {options.seed}")
    print(f"{processor()}, {os.cpu_count()} cores, of which one is used; Python {platform.python_version()}\n")
    print(f"{'':<24}{'plain pairs/s':>15}{'ours pairs/s':>15}{'times':>8}")
    rows: list[tuple[str, Callable[[Column, Column], object], Callable[[Column, Column], object]]] = [
        (measure, one_by_one(getattr(overlap_pair, measure)), getattr(overlap, measure)) for measure in MEASURES
    ]
    rows.append(("filter, SQuAD's words", one_by_one(partial(plain_filter, squad_words)), vectorised_filter))
    rows.append(("filter, our words", one_by_one(partial(plain_filter, overlap_pair.words)), vectorised_filter))
    for name, plain, ours in rows:
        ours(*few)  # compiles, or loads what was compiled
        plain_rate = len(few[0]) / seconds(plain, *few)
        rate = len(sources) / seconds(in_batches(ours, options.batch), sources, rewrites)
        print(f"{name:<24}{plain_rate:>15,.0f}{rate:>15,.0f}{rate / plain_rate:>8.1f}")


def made_up_pairs(count: int, accented: float, generator: random.Random) -> tuple[Column, Column]:
    """Sentences of words with natural lengths and frequencies, and rewrites that keep half of the words, turned."""
    letters = "etaoinshrdlcumwfgypbvk"
    lengths = generator.choices(range(2, 12), weights=(9, 20, 22, 15, 11, 9, 6, 4, 2, 2), k=20_000)
    vocabulary = ["the", "a", "of", "to", "and", *("".join(generator.choices(letters, k=length)) for length in lengths)]
    zipf = [sum(1 / rank for rank in range(1, 2))]
    for rank in range(2, len(vocabulary) + 1):
        zipf.append(zipf[-1] + 1 / rank)
    sources, rewrites = [], []
    for _ in range(count):
        words = generator.choices(vocabulary, cum_weights=zipf, k=max(4, round(generator.gauss(13, 4))))
        others = generator.choices(vocabulary, cum_weights=zipf, k=len(words))
        kept = [word if generator.random() < 0.5 else other for word, other in zip(words, others, strict=True)]
        middle = generator.randrange(len(kept))
        for side, tokens in ((sources, words), (rewrites, kept[middle:] + kept[:middle])):
            end = " é ." if generator.random() < accented else " ."
            side.append(" ".join(tokens).capitalize() + end)
    return sources, rewrites


def squad_words(text: str) -> list[str]:
    """The normalisation of the SQuAD evaluation script, written as it is there."""
    punctuation = set(string.punctuation)
    text = "".join(character for character in text.lower() if character not in punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split()).split()


def plain_filter(words_of: Callable[[str], list[str]], source: str, rewrite: str) -> tuple[float, float, float]:
    """Unigram precision, trigram overlap and share shuffled, as one would first write them; words found only once."""
    ours, theirs = words_of(source), words_of(rewrite)
    precision = sum((Counter(ours) & Counter(theirs)).values()) / max(len(theirs), 1)
    our_trigrams, their_trigrams = (Counter(zip(words, words[1:], words[2:], strict=False)) for words in (ours, theirs))
    trigrams = sum((our_trigrams & their_trigrams).values()) / max(sum(their_trigrams.values()), 1)
    order, free = [], list(ours)
    for word in theirs:
        if word in free:
            place = free.index(word)
            free[place] = ""
            order.append(place)
    pairs = [(left, right) for at, right in enumerate(order) for left in order[:at]]
    return precision, trigrams, sum(left > right for left, right in pairs) / len(pairs) if pairs else 1.0


def vectorised_filter(sources: Column, rewrites: Column) -> object:
    """The same three, for all pairs, each column encoded once."""
    ours, theirs = overlap.encode(sources), overlap.encode(rewrites)
    return (
        overlap.unigram_precision(ours, theirs),
        overlap.ngram_overlap(ours, theirs),
        overlap.shuffled(ours, theirs),
    )


def one_by_one(measure: Callable[[str, str], object]) -> Callable[[Column, Column], object]:
    """A measure of one pair, applied to each pair in turn."""
    return lambda sources, rewrites: [measure(*pair) for pair in zip(sources, rewrites, strict=True)]


def in_batches(measure: Callable[[Column, Column], object], size: int) -> Callable[[Column, Column], object]:
    """A measure of columns, applied to so many rows at a time."""

    def measured(sources: Column, rewrites: Column) -> object:
        return [
            measure(sources[start : start + size], rewrites[start : start + size])
            for start in range(0, len(sources), size)
        ]

    return measured


def seconds(function: Callable[[Column, Column], object], *columns: Column) -> float:
    """How long the call keeps the processor busy, the shortest of three; other programs do not count."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        function(*columns)
        times.append(time.process_time() - begun)
    return min(times)


def processor() -> str:
    """What the processor calls itself."""
    info = Path("/proc/cpuinfo")
    names = [line for line in info.read_text().splitlines() if line.startswith("model name")] if info.exists() else []
    return names[0].partition(":")[2].strip() if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
