"""The margin loss of Wieting et al. 2019 ("Beyond BLEU"), and the negatives that it is taken against.

With f the average of a sentence's vectors,

    max(0, margin - cos(f(s), f(t)) + cos(f(s), f(t'))) + max(0, margin - cos(f(s), f(t)) + cos(f(s'), f(t)))

where (s, t) is a pair, and t' and s' are the hardest negatives: of all sentences of the mega-batch that do not mean the
same, those nearest to s and to t.
"""

from __future__ import annotations

import torch
from torch import Tensor

# Of a mega-batch, so that one of any size fits in memory: 67 MB of cosines for each 4,096 pairs that it holds.
_QUERIES_AT_ONCE = 4096


def hardest(queries: Tensor, others: Tensor, groups: Tensor) -> Tensor:
    """For each query the place of the nearest of the others that is not of its group.

    Another paraphrase of the same group would often be nearer, and is no negative. (N, D), (N, D), (N,) -> (N,).
    """
    found = []
    for some, of_groups in zip(
        torch.split(queries, _QUERIES_AT_ONCE), torch.split(groups, _QUERIES_AT_ONCE), strict=True
    ):
        cosines = some @ others.T  # (n, N)
        found.append(cosines.masked_fill_(of_groups[:, None] == groups[None, :], -torch.inf).argmax(dim=1))
    return torch.cat(found)


def margin_loss(left: Tensor, right: Tensor, not_left: Tensor, not_right: Tensor, margin: float) -> Tensor:
    """The loss of N pairs of unit vectors, (N, D) each; `not_right` is the negative of `left`, and vice versa."""
    paraphrase = (left * right).sum(1)  # (N,)
    to_the_right = (margin - paraphrase + (left * not_right).sum(1)).relu()
    to_the_left = (margin - paraphrase + (not_left * right).sum(1)).relu()
    return (to_the_right + to_the_left).mean()
