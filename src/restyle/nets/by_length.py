"""Running a network over many sentences so that no number depends on which sentences stand beside it.

A batch holds sentences of one length in tokens, so nothing is padded and no mask is needed; every row is then computed
as if it were alone, whatever the size of the batch and the number of threads. Long batches of short sentences are also
the fastest: equal sentences are computed once, and in bfloat16 where the processor multiplies it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from restyle.nets.device import best_device
from restyle.progress import progress_bar

Floats = NDArray[np.float64]

# Tokens a batch: the weights of a layer are then read once for many rows, and its states still fit the cache; a GPU
# is kept busy by many more.
BATCH_TOKENS = {"cpu": 2048, "cuda": 65_536}
# Values are rounded here: what a sum in another order may change is a thousand times smaller.
DECIMALS = 5


def by_length(
    rows: Sequence[Sequence[int]],
    run: Callable[[Tensor], Tensor],
    *,
    batch_tokens: int | None = None,
    shown: bool | None = False,
) -> Floats:
    """What `run` makes of every row of token numbers, (N, …): `run` takes (B, T) and gives (B, …).

    `run` is given its rows where networks compute (`best_device`).
    """
    device = best_device()
    batch_tokens = batch_tokens or BATCH_TOKENS[device.type]
    places: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        places[tuple(row)].append(place)
    lengths: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for row in places:
        lengths[len(row)].append(row)
    made: list[tuple[list[tuple[int, ...]], Tensor]] = []
    with torch.inference_mode(), progress_bar("judging", len(rows), shown=shown) as advance:
        for length in sorted(lengths):
            size = max(1, batch_tokens // max(1, length))
            for start in range(0, len(lengths[length]), size):
                batch = lengths[length][start : start + size]
                made.append((batch, run(torch.tensor(batch).to(device)).double()))
                advance(sum(len(places[row]) for row in batch))
    return _in_order(made, places, len(rows))


def _in_order(
    made: list[tuple[list[tuple[int, ...]], Tensor]], places: dict[tuple[int, ...], list[int]], number: int
) -> Floats:
    if not made:
        return np.zeros((0, 0))
    values = np.empty((number, *made[0][1].shape[1:]))
    for batch, results in made:
        for row, result in zip(batch, results.cpu().numpy(), strict=True):
            values[places[row]] = result
    return values
