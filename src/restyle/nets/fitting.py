"""Training a small network until it gets no better: Adam, batches of about one length, the best epoch kept."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from restyle.errors import InputError
from restyle.progress import progress_bar
from restyle.settings import setting

Example = TypeVar("Example")
Batches = Callable[[int], Iterator[list[Example]]]

# Batches are cut from stretches of this many, sorted by length: little padding, and still a different mix every epoch.
SORTED_BATCHES = 40
# Of the gradient; a recurrent network's explode now and then (Pascanu et al. 2013).
_LONGEST_GRADIENT = 5.0


@dataclass(frozen=True)
class FitSettings:
    """How a small network is trained."""

    epochs: int = setting(10, "how often every sentence is seen at most", minimum=1)
    patience: int = setting(1, "epochs without getting better, after which it ends", minimum=0)
    batch_size: int = setting(64, "sentences a step", minimum=1)
    learning_rate: float = setting(1e-3, "of Adam", minimum=0)
    seed: int = setting(0, "decides the first weights, the batches and the dropout", minimum=0)


def fit(
    network: nn.Module,
    batches: Batches[Example],
    loss: Callable[[Sequence[Example]], Tensor],
    quality: Callable[[], float],
    settings: FitSettings,
    *,
    what: str,
    shown: bool | None = False,
) -> list[float]:
    """Train in place; `quality` is measured after every epoch, and the weights of the best epoch are kept.

    What it gave comes back. InputError when the loss is no number any more.
    """
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)
    qualities: list[float] = []
    best = copy.deepcopy(network.state_dict())
    with torch.random.fork_rng(), progress_bar(what, None, shown=shown) as advance:
        torch.manual_seed(settings.seed)  # the dropout's
        for epoch in range(settings.epochs):
            network.train()
            for batch in batches(epoch):
                value = loss(batch)
                optimiser.zero_grad()
                value.backward()  # type: ignore[no-untyped-call]
                length = nn.utils.clip_grad_norm_(network.parameters(), _LONGEST_GRADIENT)
                if not torch.isfinite(length):
                    raise InputError(f"{what}: the loss is no number any more; lower the learning rate")
                optimiser.step()
                advance(len(batch))
            network.eval()
            qualities.append(quality())
            if qualities[-1] >= max(qualities):
                best = copy.deepcopy(network.state_dict())
            if len(qualities) - 1 - int(np.argmax(qualities)) > settings.patience:
                break
    network.load_state_dict(best)
    network.eval()
    return qualities


def examples_by_length(examples: Sequence[Example], lengths: Sequence[int], settings: FitSettings) -> Batches[Example]:
    """For each epoch its batches, of sentences of about one length, in an order that the seed decides."""

    def batches(epoch: int) -> Iterator[list[Example]]:
        generator = np.random.default_rng([settings.seed, epoch])
        for rows in batches_of(lengths, settings.batch_size, generator):
            yield [examples[row] for row in rows]

    return batches


def batches_of(lengths: Sequence[int], size: int, generator: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """One epoch of batches, each of sentences of about one length, in a random order."""
    order = generator.permutation(len(lengths))
    stretch = size * SORTED_BATCHES
    batches: list[NDArray[np.intp]] = []
    for start in range(0, len(order), stretch):
        part = order[start : start + stretch]
        part = part[np.argsort([lengths[place] for place in part], kind="stable")]
        batches += [part[at : at + size] for at in range(0, len(part), size)]
    for place in generator.permutation(len(batches)):
        yield batches[place]
