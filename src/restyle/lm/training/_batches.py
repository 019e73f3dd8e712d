"""From pairs to batches: sequences of about one length together, so that little is padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Sampler

from restyle.lm.format import Sequence2

# Batches are cut from stretches of this many, sorted by length: little padding, a different mix every epoch.
_SORTED_BATCHES = 32
# What cross-entropy leaves out.
IGNORED = -100


class ByLength(Sampler[int]):
    """The order in which an epoch takes the sequences; it follows from the seed and the epoch alone."""

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        self._lengths, self._batch_size, self._seed = np.asarray(lengths), batch_size, seed
        self._epoch = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def set_epoch(self, epoch: int) -> None:
        """Which epoch comes next; the Trainer says so, also when it resumes."""
        self._epoch = epoch

    def __iter__(self) -> Iterator[int]:
        generator = np.random.default_rng([self._seed, self._epoch])
        order = generator.permutation(len(self))
        stretch = self._batch_size * _SORTED_BATCHES
        batches: list[np.ndarray] = []
        for start in range(0, len(order), stretch):
            part = order[start : start + stretch]
            part = part[np.argsort(self._lengths[part], kind="stable")]
            batches += [part[at : at + self._batch_size] for at in range(0, len(part), self._batch_size)]
        # The short last batch stays last, or every batch after it would straddle two lengths.
        full = [batch for batch in batches if len(batch) == self._batch_size]
        short = [batch for batch in batches if len(batch) < self._batch_size]
        for place in generator.permutation(len(full)):
            yield from full[place].tolist()
        for batch in short:
            yield from batch.tolist()


def collate(sequences: Sequence[Sequence2]) -> dict[str, Tensor]:
    """Numbers, mask and labels, (B, T) each; a label is the number itself where it is learned, else IGNORED.

    Where the sequences say whose they are, `attributes` (B,) does too.
    """
    longest = max(map(len, sequences))
    ids = torch.zeros(len(sequences), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    labels = torch.full_like(ids, IGNORED)
    for row, sequence in enumerate(sequences):
        end = len(sequence)
        ids[row, :end] = torch.tensor(sequence.ids)
        mask[row, :end] = 1
        labels[row, sequence.prompt : end] = ids[row, sequence.prompt : end]
    made = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    if all(sequence.attribute is not None for sequence in sequences):
        made["attributes"] = torch.tensor([sequence.attribute for sequence in sequences])
    return made
