"""The loss of the output alone: logits are made where they are learned from, and nowhere else.

The vocabulary layer is a fifth of the work of a small model, and more than half of what it would multiply are prompts
and padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from restyle.errors import UsageError
from restyle.lm.training._batches import IGNORED
from restyle.lm.training._objectives import Objective, Step

# What two ways to the same sum may differ by in float32, as a share of it.
_ROUNDING = 1e-3


def output_losses(
    model: Any, inputs: Mapping[str, Tensor], objective: Objective | None = None
) -> tuple[Tensor, Tensor]:
    """For each row under a causal model of transformers, the cross-entropy of its learned tokens, and their number.

    An objective adds what it asks of a row once for every token of it, so that a mean over tokens grows by as much.
    """
    ids, mask = inputs["input_ids"], inputs["attention_mask"]
    states = _body(model)(input_ids=ids, attention_mask=mask).last_hidden_state
    following = inputs["labels"][:, 1:]  # (B, T-1): what stands next
    learned = following != IGNORED
    # (N, H), of all (B, T-1, H) those N from which something is learned.
    logits = model.get_output_embeddings()(states[:, :-1][learned])  # (N, V)
    losses = functional.cross_entropy(logits.float(), following[learned], reduction="none")
    # Back to their rows, as a sum by row numbers would depend on the order in which a GPU adds.
    rows = losses.new_zeros(learned.shape).masked_scatter(learned, losses)  # (B, T-1)
    sums, counts = rows.sum(1), learned.sum(1)
    if objective is not None:
        step = Step(ids, mask, states, learned, logits, inputs.get("attributes"))
        sums = sums + counts * objective.losses(model, step)
    return sums, counts


def output_loss(model: Any, inputs: dict[str, Tensor]) -> Tensor:
    """The mean cross-entropy of the learned tokens of a batch."""
    sums, counts = output_losses(model, inputs)
    return sums.sum() / counts.sum()


def learn_outputs_alone(model: Any, example: dict[str, Tensor], objective: Objective | None = None) -> None:
    """Have a model answer labels with the loss of the output, and of an objective; without labels it is as it was.

    What stands around a model in training, such as autocast and DistributedDataParallel, sees its `forward` and nothing
    else. UsageError when, for the batch `example`, the loss is not the one that the model itself would give: some
    models do more to their logits than multiply.
    """
    whole = model.forward
    example = {name: value for name, value in example.items() if name != "attributes"}
    with torch.no_grad():
        ours, its_own = float(output_loss(model, example)), float(whole(**example).loss)
    if not abs(ours - its_own) <= _ROUNDING * abs(its_own):
        raise UsageError(
            f"{model.config.name_or_path} cannot be tuned: its logits are more than a product with its states "
            f"(loss {ours:.4f}, and by its own account {its_own:.4f}); choose another base"
        )

    def forward(*args: Any, labels: Tensor | None = None, **inputs: Any) -> Any:
        if labels is None:
            return whole(*args, **inputs)
        sums, counts = output_losses(model, {"labels": labels, **inputs}, objective)
        return {"loss": sums.sum() / counts.sum(), "sums": sums, "counts": counts}

    model.forward = forward


def _body(model: Any) -> nn.Module:
    """The network beneath the vocabulary layer."""
    body: nn.Module = getattr(model, model.base_model_prefix)
    return body
