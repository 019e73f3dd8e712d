"""Which words systems choose: the tokens of what they wrote in the five bins of weights of Figure 3 (App. C).

    clear first   weight in (-inf, -0.3]     slight first   (-0.3, -0.1]     neutral   (-0.1, 0.1]
    slight second           (0.1, 0.3]       clear second   (0.3, inf)

The weights are those of one linear attacker, whose L2 must be reported: with another, words move from bin to bin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from restyle.errors import InputError, MissingExtra, UsageError
from restyle.nets.word_weights import WordWeights, tokens_of
from restyle.records import writing_to
from restyle.text.clean import clean

BINS = (-0.3, -0.1, 0.1, 0.3)  # App. C; the upper end belongs to the bin
_FORMATS = (".png", ".svg")


@dataclass(frozen=True)
class WordShares:
    """The share of a system's tokens in each bin, from clearly the first label's to clearly the second's."""

    system: str
    tokens: int
    shares: tuple[float, float, float, float, float]

    @property
    def neutral(self) -> float:
        """The share of tokens that give nothing away."""
        return self.shares[2]


def bin_names(labels: Sequence[str]) -> tuple[str, ...]:
    """What the bins are called: `clear female` … `clear male`."""
    first, second = labels
    return f"clear {first}", f"slight {first}", "neutral", f"slight {second}", f"clear {second}"


def word_shares(texts: Mapping[str, Sequence[str]], weights: WordWeights) -> list[WordShares]:
    """Figure 3 for any set of systems; UsageError for other than two labels, InputError for a system without words."""
    found = []
    for system, written in texts.items():
        tokens = [token for text in written for token in tokens_of(clean(text))]
        if not tokens:
            raise InputError(f"{system} wrote no words")
        of_word = {word: weights.weight(word) for word in dict.fromkeys(tokens)}
        places = np.searchsorted(BINS, [of_word[token] for token in tokens], side="left")
        first, second, third, fourth, fifth = np.bincount(places, minlength=5) / len(tokens)
        found.append(WordShares(system, len(tokens), (first, second, third, fourth, fifth)))
    return found


def save_plot(shares: Sequence[WordShares], labels: Sequence[str], path: str | Path) -> None:
    """Draw Figure 3 into a .png or .svg: a group of bars for each bin, a bar for each system."""
    path = Path(path)
    if path.suffix not in _FORMATS:
        raise UsageError(f"a plot is written as {' or '.join(_FORMATS)}; {path} is neither")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra("matplotlib", "plot", "drawing a plot") from error
    # Not pyplot, which keeps every figure and asks for a screen.
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(shares)
    for number, each in enumerate(shares):
        places = np.arange(5) - 0.4 + width * (number + 0.5)
        axes.bar(places, [100 * share for share in each.shares], width, label=each.system)
    axes.set_xticks(range(5), bin_names(labels))
    axes.set_ylabel("% of tokens")
    axes.legend(ncols=math.ceil(len(shares) / 6))
    # Without a date and with a salt of its own, an .svg is the same each time.
    with writing_to(path), matplotlib.rc_context({"svg.hashsalt": "restyle"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
