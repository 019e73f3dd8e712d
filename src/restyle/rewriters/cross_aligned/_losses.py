"""The losses of Pang and Gimpel 2019, each a function of what the networks gave; the numbers are the paper's.

Expectations are means over the sentences of a style, and what the paper sums over both styles is summed: a batch with
as many sentences of either is divided by half their number. Logs of words are summed over a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

Critic = Callable[[Tensor], Tensor]


def writing(logits: Tensor, words: Tensor, sentences: int) -> Tensor:
    """-log p_G of the words, (W, V) and (W,), of so many sentences, half of them of each style.

    This is Eq. 2 where the decoder started at the content of the sentence itself, Eq. 4 where at that of its transfer,
    and Eq. 5 where at that of its paraphrase.
    """
    return functional.cross_entropy(logits, words, reduction="sum") / (sentences / 2)


def language(logits: Tensor, expected: Tensor, sentences: int) -> Tensor:
    """Eq. 6: cross entropy of the decoder's distributions with those of the other style's frozen language model.

    Both are logits, (W, V), of the same places in transferred sentences.
    """
    return -(expected.softmax(1) * logits.log_softmax(1)).sum() / (sentences / 2)


def discrimination(real: Tensor, transferred: Tensor) -> Tensor:
    """Eq. 3 from the logits, (N,) each, that D_t gives to states of its own style and to states transferred to it."""
    # -log sigmoid(a) is softplus(-a), and -log(1 - sigmoid(a)) is softplus(a): no log of a rounded 0.
    return functional.softplus(-real).mean() + functional.softplus(transferred).mean()


def fooling(transferred: Tensor) -> Tensor:
    """-log D_t of transferred states: what Goodfellow et al. 2014 minimise in the place of -L_adv, which saturates."""
    return functional.softplus(-transferred).mean()


class Criticism(NamedTuple):
    """The two parts of Eq. 7."""

    difference: Tensor  # what the decoder is told of
    penalty: Tensor  # what only the critic sees


def criticism(critic: Critic, real: Tensor, transferred: Tensor, mix: Tensor, weight: float) -> Criticism:
    """Eq. 7 (Gulrajani et al. 2017): states of the style and states transferred to it, (N, T, H), mixed by (N,).

    Printed is the transferred state of the same sentence; D'_t is given the one that was transferred to t, as D_t is.
    """
    score_real, score_transferred = critic(torch.cat([real, transferred])).chunk(2)
    return Criticism((score_transferred - score_real).mean(), gradient_penalty(critic, real, transferred, mix, weight))


def gradient_penalty(critic: Critic, real: Tensor, transferred: Tensor, mix: Tensor, weight: float) -> Tensor:
    """Xi (|gradient| - 1)^2 where the states are mixed; its own gradient reaches the critic's weights alone."""
    share = mix[:, None, None]
    between = (share * real.detach() + (1 - share) * transferred.detach()).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    # The root has no slope at 0, where a critic that says the same of everything is.
    length = (slope.flatten(1).square().sum(1) + 1e-12).sqrt()  # (N,)
    return weight * (length - 1).square().mean()
