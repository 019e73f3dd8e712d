"""Which prompts are decoded together: those of one length, so that a row is computed as if it were alone.

Padding shifts a row's sums, and where two subwords are about equally likely the shift decides: with prompts of mixed
lengths in a batch, an int8 engine wrote 10% to 40% of an untrained model's sentences otherwise than alone. Batches of
one length have no padding; each row's numbers then are the same to the last bit whoever stands beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from restyle.lm.decoding._base import Candidate, Decoding, Prompt

# Continues prompts of one length and room; each prompt stands in it once.
Continue = Callable[[Sequence[Prompt]], list[list[Candidate]]]


def alike(prompts: Iterable[Prompt]) -> list[list[Prompt]]:
    """The different prompts, those of one length and room together; longest first, as long work is best begun early."""
    groups: dict[tuple[int, int], list[Prompt]] = defaultdict(list)
    for prompt in dict.fromkeys(prompts):
        groups[len(prompt.ids), prompt.room].append(prompt)
    return [groups[size] for size in sorted(groups, reverse=True)]


def pieces(group: Sequence[Prompt], rows: int, workers: int = 1, least: int = 16) -> list[Sequence[Prompt]]:
    """A group in batches of at most `rows`, and enough of them for every worker where each still has `least` rows."""
    number = max(-(-len(group) // max(1, rows)), min(workers, len(group) // least), 1)
    ends = [round(len(group) * place / number) for place in range(number + 1)]
    return [group[start:end] for start, end in zip(ends, ends[1:], strict=False)]


def in_order(
    prompts: Sequence[Prompt],
    decoding: Decoding,
    continued: Callable[[list[list[Prompt]]], dict[Prompt, list[Candidate]]],
) -> list[list[Candidate]]:
    """What `continued` makes of the groups of different prompts, in the order of all."""
    keys = [prompt.told_apart(decoding) for prompt in prompts]
    found = continued(alike(keys))
    return [found[key] for key in keys]
