"""What the styles that come with restyle are worth, on test sentences that no training saw.

    RESTYLE_DATA=../data python benchmarks/styles.py                            # every style, and the paraphraser
    RESTYLE_DATA=../data python benchmarks/styles.py bible joyce --sentences 300
    RESTYLE_DATA=../data python benchmarks/styles.py --save                     # the figures and samples of their cards
    RESTYLE_DATA=../data python benchmarks/styles.py bible --strengths 1,1.2,1.4,1.6      # on valid sentences
    RESTYLE_DATA=../data python benchmarks/styles.py diverse --strengths 1,1.4,1.8        # Table 16, on valid sentences

Rewritten are sentences of three kinds: modern lines of Romeo and Juliet, plain modern prose, and reviews (the test
splits of shakespeare/modern, books/modern_plain and yelp); for `modern`, lines of Romeo and Juliet as Shakespeare has
them. Greedy, judged by the set `report`; intervals are 95% of bootstrap resamples. Sentences and samples are drawn by
the seed, and nothing is left out. The samples are rewrites of sentences of ours (examples/), written before any output
was seen: a card holds no sentence of a corpus.

With --strengths, what a pack's card might say of its `strength` is compared on valid sentences by the judges of the set
`select`: the best J is taken, of those strengths that keep a similarity of 0.7 or more and a fluency of 0.75. Beyond
them J still grows for some styles, because the judge of style likes what a reader does not.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from restyle.cli._learning import scored
from restyle.corpora import load
from restyle.metrics import Batch, Metric
from restyle.metrics.fluency import Fluency
from restyle.metrics.judges import judge_of
from restyle.metrics.similarity_minilm import SimInput
from restyle.metrics.style import StyleAccuracy
from restyle.rewriters._base import Request, Rewrite
from restyle.rewriters.strap._pack import DEFAULT_PARAPHRASER, Evaluation, Pack, Sample, find_pack, packs, write_card
from restyle.rewriters.strap._rewriter import Strap
from restyle.rewriters.strap.learning._evaluation import evaluated, paraphrase_metrics, style_metrics

PLAIN = ("shakespeare/modern", "books/modern_plain", "yelp/positive", "yelp/negative")
SHARES = (1 / 3, 1 / 3, 1 / 6, 1 / 6)
EARLY = ("shakespeare/shakespeare",)


def main() -> None:
    """Print a line for each style; with --save, write it on the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="styles, or the paraphraser; all, when none is named")
    parser.add_argument("--sentences", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strengths", help="compare these on valid sentences, with commas between")
    parser.add_argument("--save", action="store_true", help="write figures and samples on the cards")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores; seed {options.seed}\n")
    for name in options.names or [DEFAULT_PARAPHRASER, *packs()]:
        started = time.perf_counter()
        of = EARLY if name == "modern" else PLAIN
        if options.strengths:
            texts = sentences(of, options.sentences, options.seed, split="valid")
            wanted = [float(each) for each in options.strengths.split(",")]
            if name in packs():
                strengths(find_pack(name), texts, wanted)
            else:
                strengths_of_paraphraser(find_pack(name, "paraphraser"), texts, wanted)
            continue
        if name in packs():
            pack = find_pack(name)
            found, samples = style(pack, sentences(of, options.sentences, options.seed), of)
        else:
            pack = find_pack(name, "paraphraser")
            found, samples = paraphraser(pack, sentences(PLAIN, options.sentences, options.seed))
        print(f"{name:12} {told(found)}  {time.perf_counter() - started:.0f} s", flush=True)
        if options.save:
            write_card(replace(pack.card, evaluations=(found,), samples=tuple(samples)), pack.folder)


def strengths(pack: Pack, texts: Sequence[str], wanted: Sequence[float]) -> None:
    """A line for each strength that the card might give."""
    name = pack.card.name
    judge = judge_of([name], part="select")
    for strength in wanted:
        started = time.perf_counter()
        rewrites = Strap(name).rewrites(texts, Request(name, strength=strength / pack.card.strength))
        batch = Batch([rewrite.outputs[0] for rewrite in rewrites], inputs=texts, target=name)
        metrics: dict[str, Metric] = {
            "ACC": StyleAccuracy(judge), "SIM": SimInput(), "FL": Fluency(part="select")
        }  # fmt: skip
        columns = {key: metric.score(batch) for key, metric in metrics.items()}
        columns["J"] = columns["ACC"] * columns["SIM"] * columns["FL"]
        said = "  ".join(f"{key} {100 * column.mean():5.1f}" for key, column in columns.items())
        print(f"{name:12} strength {strength:<5g} {said}  {time.perf_counter() - started:.0f} s", flush=True)


def strengths_of_paraphraser(pack: Pack, texts: Sequence[str], wanted: Sequence[float]) -> None:
    """A line of Table 16 for each strength."""
    for strength in wanted:
        stronger = replace(pack, card=replace(pack.card, strength=strength))
        found = evaluated(_paraphrased(stronger, texts), "valid sentences", None, paraphrase_metrics(), scored)
        print(f"{pack.card.name:12} strength {strength:<5g} {told(found)}", flush=True)


def told(found: Evaluation) -> str:
    """The scores with their intervals, on one line."""
    return "  ".join(
        f"{key} {100 * score.value:5.1f} ({100 * score.low:.1f} to {100 * score.high:.1f})"
        for key, score in found.scores.items()
    )


def style(pack: Pack, texts: Sequence[str], of: Sequence[str]) -> tuple[Evaluation, list[Sample]]:
    """The scores of a style, and its rewrites."""
    name, strap = pack.card.name, Strap(pack.card.name)
    judges = style_metrics(judge_of([name], part="report").card.name)
    rewrites = strap.rewrites(texts, Request(name))
    records = [{"input": rewrite.text, "output": rewrite.outputs[0]} for rewrite in rewrites]
    samples = samples_of(strap.rewrites(our_own(of), Request(name)))
    return evaluated(records, f"test sentences of {', '.join(of)}", name, judges, scored), samples


def paraphraser(pack: Pack, texts: Sequence[str]) -> tuple[Evaluation, list[Sample]]:
    """Table 16 for the paraphraser, and what it wrote."""
    on = f"test sentences of {', '.join(PLAIN)}"
    found = evaluated(_paraphrased(pack, texts), on, None, paraphrase_metrics(), scored)
    own = _paraphrased(pack, our_own(PLAIN))
    return found, [Sample(each["input"], each["output"], each["output"]) for each in own]


def _paraphrased(pack: Pack, texts: Sequence[str]) -> list[dict[str, str]]:
    """What a paraphraser writes of each text, greedily."""
    from restyle.lm.decoding import Decoding
    from restyle.rewriters.strap.learning._writing import writer_of

    made = writer_of(pack, "auto").write(texts, Decoding())
    return [{"input": text, "output": some[0].text} for text, some in zip(texts, made, strict=True)]


def sentences(of: Sequence[str], number: int, seed: int, split: str = "test") -> list[str]:
    """So many sentences of a split, drawn by the seed: of each source its share."""
    found: list[str] = []
    for source, share in zip(of, SHARES if len(of) > 1 else (1.0,), strict=True):
        corpus, _, style = source.partition("/")
        texts = [text for text in load(corpus).sentences(style, split) if len(text.split()) >= 3]
        found += random.Random(f"{seed}/{source}").sample(texts, round(share * number))
    random.Random(seed).shuffle(found)
    return found


def our_own(of: Sequence[str]) -> list[str]:
    """The sentences of ours that are rewritten for a card."""
    name = "early.txt" if of == EARLY else "sentences.txt"
    return (Path(__file__).parent.parent / "examples" / name).read_text(encoding="utf-8").splitlines()


def samples_of(rewrites: Sequence[Rewrite]) -> list[Sample]:
    """Each sentence with the paraphrase between, in the order of the draw."""
    return [Sample(rewrite.text, rewrite.paraphrase, rewrite.outputs[0]) for rewrite in rewrites]


if __name__ == "__main__":
    main()
