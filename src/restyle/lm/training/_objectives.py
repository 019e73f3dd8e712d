"""What a training may be asked for beside the outputs: to give away nothing of who wrote them.

A re-implementation with inferred objective: the body of Xu et al. 2019 could not be had, and these follow from its
appendix and from what the literature before it did. Beside the reconstruction L_rec of an output x from an input z:

    risk, linear    L_rec + alpha |2 sigmoid(b + sum_t sum_v p(v|x_<t, z) w_v) - 1|
    risk, sampled   L_rec + alpha sum_y Q(y) D(y), Q(y) proportional to p(y|z)^kappa over drawn y (Shen et al. 2016)
    adv             L_rec + CE(attribute | states of z), its gradient times -lambda in the network (Ganin et al. 2016)
    adv, bounded    L_rec + lambda KL(uniform || attacker of the states of z), which cannot grow without end

None asks for the likelihood of the true label to fall: its least value is the opposite class.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from restyle.errors import UsageError
from restyle.lm.format import PairFormat, Sequence2
from restyle.lm.training._batches import collate

HEAD = "attribute_head"


@dataclass(frozen=True)
class Step:
    """What a batch looked like on its way through the model."""

    ids: Tensor  # (B, T)
    mask: Tensor  # (B, T)
    states: Tensor  # (B, T, H)
    learned: Tensor  # (B, T-1): where the next token is learned
    logits: Tensor  # (N, V), of all learned places in a row
    attributes: Tensor | None  # (B,): whose the output is

    def by_row(self, values: Tensor) -> Tensor:
        """The sum of values of learned places, (N,) -> (B,)."""
        return values.new_zeros(self.learned.shape).masked_scatter(self.learned, values).sum(1)

    def of_inputs(self) -> Tensor:
        """The mean state of each input, (B, H): all that is read before the first token that is learned."""
        first = self.learned.int().argmax(1, keepdim=True)  # (B, 1)
        before = torch.arange(self.ids.shape[1], device=self.ids.device)[None] <= first  # (B, T)
        weights = (before & self.mask.bool()).unsqueeze(-1).float()  # (B, T, 1)
        return (self.states.float() * weights).sum(1) / weights.sum(1)


class Objective(Protocol):
    """Something that is added to the loss of each row."""

    @property
    def identity(self) -> dict[str, Any]:
        """What tells this objective from others: a training is not gone on with under another."""
        ...

    def prepare(self, model: Any, format_: PairFormat) -> tuple[str, ...]:
        """Get ready for a model; the names of the modules that it was given, which are trained whole."""
        ...

    def losses(self, model: Any, step: Step) -> Tensor:
        """What each row adds to the loss, (B,)."""
        ...


@dataclass(frozen=True)
class LinearRisk:
    """The expected leak under an attacker of the base's subwords, without drawing anything."""

    weights: NDArray[np.float64]  # (V,): what each subword says for the second of two labels
    bias: float
    alpha: float

    @property
    def identity(self) -> dict[str, Any]:
        """The attacker and the weight."""
        digest = hashlib.blake2b(np.ascontiguousarray(self.weights).tobytes(), digest_size=16).hexdigest()
        return {"objective": "risk", "alpha": self.alpha, "attacker": digest, "bias": self.bias}

    def prepare(self, model: Any, format_: PairFormat) -> tuple[str, ...]:
        """Nothing to prepare; UsageError when the attacker is of another vocabulary."""
        if len(self.weights) > model.get_output_embeddings().weight.shape[0]:
            raise UsageError("the attacker of Risk knows more subwords than the base model: train it on this base")
        return ()

    def losses(self, model: Any, step: Step) -> Tensor:
        """Alpha D of what is expected to be written in each row."""
        vocabulary = step.logits.shape[1]
        weights = torch.zeros(vocabulary, device=step.logits.device)
        weights[: len(self.weights)] = torch.from_numpy(self.weights).float()
        expected = step.logits.float().softmax(-1) @ weights  # (N,)
        total = step.by_row(expected) + self.bias  # (B,)
        return self.alpha * (2 * total.sigmoid() - 1).abs()


@dataclass
class SampledRisk:
    """The expected leak over drawn outputs, renormalised (minimum-risk training; Shen et al. 2016)."""

    leaks: Callable[[Sequence[str]], Sequence[float]]  # D of texts
    attacker: str  # which attacker that is
    alpha: float
    samples: int = 4
    kappa: float = 0.005  # Shen et al. 2016, Sec. 5.2: how much the likeliest of the drawn counts above the others

    @property
    def identity(self) -> dict[str, Any]:
        """The attacker, the weight, and how outputs are drawn."""
        return {
            "objective": "risk-sampled",
            "alpha": self.alpha,
            "attacker": self.attacker,
            "samples": self.samples,
            "kappa": self.kappa,
        }

    def prepare(self, model: Any, format_: PairFormat) -> tuple[str, ...]:
        """Remember how the base writes."""
        self._format = format_
        return ()

    def losses(self, model: Any, step: Step) -> Tensor:
        """Alpha times the expected leak of each row."""
        # The loss asks objectives, of which this one asks the loss.
        from restyle.lm.training._loss import output_losses

        prompts = [
            row[: int(learned.int().argmax()) + 1].tolist() for row, learned in zip(step.ids, step.learned, strict=True)
        ]
        drawn = self._drawn(model, prompts)
        sequences = [
            Sequence2([*prompt, *ids, self._format.end], len(prompt))
            for prompt, several in zip(prompts, drawn, strict=True)
            for ids in several
        ]
        leaks = self.leaks([self._format.text(ids) for several in drawn for ids in several])
        found = step.states.new_tensor(leaks, dtype=torch.float32)  # (all,)
        batch = {name: value.to(step.ids.device) for name, value in collate(sequences).items()}
        surprise, _ = output_losses(model, batch)  # (all,): -log p(y|z)
        risks, start = [], 0
        for several in drawn:
            part = slice(start, start + len(several))
            share = functional.softmax(-self.kappa * surprise[part].float(), 0)  # Q(y)
            risks.append((share * found[part]).sum())
            start += len(several)
        return self.alpha * torch.stack(risks)

    def _drawn(self, model: Any, prompts: Sequence[Sequence[int]]) -> list[list[list[int]]]:
        """For each prompt, different outputs drawn from the model as it is now, each up to its end."""
        width, end = max(map(len, prompts)), self._format.end
        # Padded on the left, so that all outputs begin at one place.
        ids = [[*[end] * (width - len(prompt)), *prompt] for prompt in prompts]
        seen = [[*[0] * (width - len(prompt)), *[1] * len(prompt)] for prompt in prompts]
        was_training = model.training
        model.eval()
        with torch.no_grad():
            made = model.generate(
                input_ids=torch.tensor(ids, device=model.device),
                attention_mask=torch.tensor(seen, device=model.device),
                do_sample=True, top_k=0, num_return_sequences=self.samples, use_cache=True,
                max_new_tokens=self._format.max_subwords, eos_token_id=end, pad_token_id=end,
            )  # fmt: skip
        model.train(was_training)
        rows = [row[: row.index(end)] if end in row else row for row in made[:, width:].tolist()]
        several = [rows[at : at + self.samples] for at in range(0, len(rows), self.samples)]
        return [[list(ids) for ids in dict.fromkeys(map(tuple, some))] for some in several]


@dataclass(frozen=True)
class Adversary:
    """An attacker inside the network, who reads the states of the input, and is to find nothing there."""

    labels: int
    strength: float  # lambda
    bounded: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        """The form, the weight, and how many labels there are."""
        form = "adv-bounded" if self.bounded else "adv"
        return {"objective": form, "lambda": self.strength, "labels": self.labels}

    def prepare(self, model: Any, format_: PairFormat) -> tuple[str, ...]:
        """Give the model the attacker."""
        width = model.get_input_embeddings().weight.shape[1]
        head = nn.Linear(width, self.labels)
        setattr(model, HEAD, head.to(model.get_input_embeddings().weight.device))
        return (HEAD,)

    def losses(self, model: Any, step: Step) -> Tensor:
        """What the attacker loses and what the network does, of each row.

        Evaluated, it is how far the attacker is from knowing nothing, in both forms: what is to become small.
        """
        states, head = step.of_inputs(), getattr(model, HEAD)
        if not torch.is_grad_enabled():
            return self.strength * _from_uniform(head(states))
        if step.attributes is None:
            raise UsageError("an adversary must know whose each output is, and the pairs do not say")
        with torch.autocast(states.device.type, enabled=False):
            if not self.bounded:
                turned = _Reversed.apply(states, self.strength)  # type: ignore[no-untyped-call]
                guess = head(turned)
                return functional.cross_entropy(guess.float(), step.attributes, reduction="none")
            learns = functional.cross_entropy(head(states.detach()).float(), step.attributes, reduction="none")
            return learns + self.strength * _from_uniform(_frozen(head, states))


class _Reversed(torch.autograd.Function):
    """The same forward; backward the gradient turned round, times lambda."""

    @staticmethod
    def forward(context: Any, states: Tensor, strength: float) -> Tensor:
        context.strength = strength
        return states.view_as(states)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -context.strength * gradients[0], None


def _frozen(head: Any, states: Tensor) -> Tensor:
    """What the attacker guesses, as one who learns nothing from it."""
    for weights in head.parameters():
        weights.requires_grad_(False)
    guess: Tensor = head(states)
    for weights in head.parameters():
        weights.requires_grad_(True)
    return guess


def _from_uniform(logits: Tensor) -> Tensor:
    """KL(uniform || guess) of each row, (B, L) -> (B,)."""
    return -logits.float().log_softmax(-1).mean(1) - float(np.log(logits.shape[1]))
