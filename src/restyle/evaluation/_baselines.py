"""COPY, NAIVE and REF for the same inputs: what any metric gives to systems that transfer nothing, or all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from restyle.errors import UnknownName
from restyle.evaluation._numbers import mean
from restyle.evaluation._outputs import Outputs
from restyle.evaluation._scorecard import Scorecard
from restyle.rewriters.naive import DEFAULT_COPY_PROBABILITY, Naive

_GRID = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True)
class NaiveRow:
    """What NAIVE draws from: sentences of each target style; and how often it copies instead."""

    sentences: Mapping[str, Sequence[str]]
    copy_probability: float = DEFAULT_COPY_PROBABILITY
    seed: int = 0
    source: str = ""  # where the sentences are from, where it is not a corpus

    def __str__(self) -> str:
        """What changes the row, for the signature."""
        told = repr({style: tuple(of_style) for style, of_style in sorted(self.sentences.items())})
        digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        source = f",from={self.source}" if self.source else ""
        return f"p={self.copy_probability:g},seed={self.seed},sentences={digest}{source}"


def baselines_of(outputs: Outputs, naive: NaiveRow | None) -> Iterator[Outputs]:
    """The outputs of the baselines that can be made: COPY needs inputs, REF references, NAIVE sentences and targets."""
    same_inputs = replace(outputs, columns={}, predicted=None, selected_with=())
    if outputs.inputs is not None:
        yield replace(same_inputs, system="COPY", outputs=list(outputs.inputs))
    if outputs.inputs is not None and outputs.targets is not None and naive is not None:
        yield replace(same_inputs, system="NAIVE", outputs=naive_outputs(outputs.inputs, outputs.targets, naive))
    if outputs.references is not None and all(outputs.references):
        # Table 1 gives REF a SIM of 100: the first reference is among those that it is compared with.
        yield replace(same_inputs, system="REF", outputs=[several[0] for several in outputs.references])


def naive_from_references(outputs: Outputs, copy_probability: float | None = None, seed: int = 0) -> NaiveRow | None:
    """NAIVE with the references as sentences of the target styles, for whoever names no corpus.

    None where a style has fewer than two: an answer would then be the very reference that it is compared with.
    """
    if outputs.references is None or outputs.targets is None:
        return None
    found: dict[str, dict[str, None]] = {}  # as an ordered set
    for target, references in zip(outputs.targets, outputs.references, strict=True):
        found.setdefault(target, {}).update(dict.fromkeys(references))
    if min(map(len, found.values())) < 2:
        return None
    sentences = {target: tuple(texts) for target, texts in found.items()}
    p = DEFAULT_COPY_PROBABILITY if copy_probability is None else copy_probability
    return NaiveRow(sentences, p, seed, source="references")


def naive_outputs(inputs: Sequence[str], targets: Sequence[str], naive: NaiveRow) -> list[str]:
    """Each input with probability p, else any sentence of its target style (STRAP Sec. 3.2)."""
    for target in dict.fromkeys(targets):
        if target not in naive.sentences:
            raise UnknownName("style with sentences for NAIVE", target, naive.sentences)
    system = Naive(naive.sentences, naive.copy_probability)
    written: list[str] = [""] * len(inputs)
    for target in dict.fromkeys(targets):
        rows = [row for row, each in enumerate(targets) if each == target]
        rewritten = system.rewrite([inputs[row] for row in rows], target, seed=naive.seed)
        for row, text in zip(rows, rewritten, strict=True):
            written[row] = text
    return written


def tuned_copy_probability(copied: Scorecard, drawn: Scorecard, formula: str = "J") -> float | None:
    """The p whose NAIVE has the highest corpus-level GM, as the paper tunes it on the validation set (footnote 11).

    `copied` and `drawn` score the same inputs copied (p = 1) and answered at random (p = 0). What p mixes at corpus
    level are only the means of the two, so every p of the grid is known from these. None without the formula's factors.
    """
    product = next((each for each in copied.products if each.name == formula), None)
    if product is None:
        return None
    of_copies, of_draws = (
        np.array([mean("", factor.values(card.columns)).value() for factor in product.factors if factor.column])
        for card in (copied, drawn)
    )
    products = [float(np.prod(p * of_copies + (1 - p) * of_draws)) for p in _GRID]
    return _GRID[products.index(max(products))]
