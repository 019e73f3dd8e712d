"""One step of Algorithm 1 (Pang and Gimpel, A.1.2): what the networks give, the losses, the gradients of both sides.

The transferred sentences are decoded once, in the only loop over words; every loss that needs them reads that one run.
All that is fed given words, the reconstruction, the way back and the language-model loss, is one fused call of the
decoder, the paraphrases another, and the scores of words are made for words alone, not for padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from restyle.errors import RestyleError
from restyle.nets.device import fast_products
from restyle.nets.gru_lm import SentenceLm
from restyle.nets.vocabulary import BEGIN, PAD
from restyle.rewriters.cross_aligned import _losses as losses
from restyle.rewriters.cross_aligned._batches import Batch
from restyle.rewriters.cross_aligned._discriminators import Discriminators
from restyle.rewriters.cross_aligned._model import Transfer, Written
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings

Losses = Mapping[str, Tensor]


@dataclass(frozen=True)
class Unfolded:
    """One part of the fused call: where the decoder starts, what it is fed, and what it should answer."""

    start: Tensor  # (N, H)
    before: Tensor  # (N, T)
    after: Tensor  # (N, T)


class Step:
    """Gradients of a batch for the model and the discriminators, left in `.grad`; who calls it takes the step."""

    def __init__(
        self,
        model: Transfer,
        discriminators: Discriminators,
        style_lms: tuple[SentenceLm, SentenceLm] | None,
        settings: CrossAlignedSettings,
    ) -> None:
        self._model, self._discriminators, self._settings = model, discriminators, settings
        self._style_lms = style_lms

    def gradients(self, batch: Batch, epoch: int, mix: Tensor) -> Losses:
        """Lines 4 to 10 of Algorithm 1, but for the updates; `mix` is epsilon of Eq. 7, (2, N/2).

        Both updates follow from the same forward pass, as printed: a discriminator is differentiated once, by its
        weights for itself and by the states for the decoder.
        """
        model, settings, sentences = self._model, self._settings, batch.sentences
        contents = model.encode(sentences.ids, sentences.lengths, sentences.styles)  # z, line 5
        away = model.start(1 - sentences.styles, contents)
        written = model.write(away, sentences.after.shape[1], settings.temperature)  # line 4, and h-tilde of line 7
        parts = self._parts(batch, contents, away, written)
        states = self._states(parts)  # line 7
        found = self._of_words(parts, states)  # line 8
        total = self._total(found)
        real = states["rec"] * (sentences.after != PAD)[..., None]  # h of line 7
        pushed, adversarial = self._against(real, written.states, epoch, mix)
        # Line 10: the decoder's states get what the discriminators send back, and the losses of words the rest.
        torch.autograd.backward([total, real, written.states], [None, *pushed])
        return {name: value.detach() for name, value in (found | adversarial).items()}

    def _parts(self, batch: Batch, contents: Tensor, away: Tensor, written: Written) -> dict[str, Unfolded]:
        """What the decoder is fed for each loss of words."""
        model, sentences = self._model, batch.sentences
        home = model.start(sentences.styles, contents)
        parts = {"rec": Unfolded(home, sentences.before, sentences.after)}
        if batch.texts and batch.paraphrases:
            read = model.encode(batch.texts.ids, batch.texts.lengths, batch.texts.styles)
            start = model.start(batch.texts.styles, read)
            parts["para"] = Unfolded(start, batch.paraphrases.before, batch.paraphrases.after)
        if self._settings.has("cyc"):
            # An empty transfer is read as its end alone; gradients pass through this second reading only (4.2).
            back = model.encode(written.words, written.lengths.clamp(min=1), 1 - sentences.styles)
            parts["cyc"] = Unfolded(model.start(sentences.styles, back), sentences.before, sentences.after)
        if self._settings.has("lang"):
            begin = torch.full_like(written.words[:, :1], BEGIN)
            before = torch.cat([begin, written.words[:, :-1]], dim=1)
            parts["lang"] = Unfolded(away, before, written.words)
        return parts

    def _states(self, parts: Mapping[str, Unfolded]) -> dict[str, Tensor]:
        """The states of every part, from one call of the fused decoder for all parts of one length.

        All in one call would be padded to the longest, which is that of the paraphrases.
        """
        by_length: dict[int, list[str]] = {}
        for name, part in parts.items():
            by_length.setdefault(part.before.shape[1], []).append(name)
        states: dict[str, Tensor] = {}
        for names in by_length.values():
            together = self._model.unfold(
                torch.cat([parts[name].start for name in names]), torch.cat([parts[name].before for name in names])
            )
            states |= zip(names, torch.split(together, [len(parts[name].start) for name in names]), strict=True)
        return states

    def _of_words(self, parts: Mapping[str, Unfolded], states: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The losses that compare words or distributions of words."""
        found = {}
        for name, part in parts.items():
            known = part.after != PAD  # (N, T)
            logits = self._model.scores(states[name][known])  # (W, V)
            if name == "lang":
                found[name] = losses.language(logits, self._expected(part, known), len(known))
            else:
                found[name] = losses.writing(logits, part.after[known], len(known))
        return found

    def _expected(self, part: Unfolded, known: Tensor) -> Tensor:
        """What the frozen language model of the other style expects at the known places, as logits (W, V)."""
        assert self._style_lms is not None
        half = len(part.before) // 2
        found = []
        with torch.no_grad():
            # The first half is of style 0 and goes to style 1.
            for style, rows in ((1, slice(half)), (0, slice(half, None))):
                states = self._style_lms[style].network(part.before[rows])[known[rows]]
                with fast_products(self._settings.precision):
                    found.append(self._style_lms[style].network.out(states))
        return torch.cat(found).to(self._model.out.weight.dtype)

    def _total(self, found: Mapping[str, Tensor]) -> Tensor:
        """The losses of words with their weights (Sec. 5.2)."""
        settings = self._settings
        weights = {
            "rec": settings.lambda_rec,
            "para": settings.lambda_para,
            "cyc": settings.lambda_cyc,
            "lang": settings.lambda_lang,
        }
        return torch.stack([weights[name] * value for name, value in found.items()]).sum()

    def _against(
        self, real: Tensor, transferred: Tensor, epoch: int, mix: Tensor
    ) -> tuple[tuple[Tensor, Tensor], dict[str, Tensor]]:
        """The losses of the discriminators, their own gradients put where they belong, and what the states are told."""
        settings, half = self._settings, len(real) // 2
        to_real, to_transferred = torch.zeros_like(real), torch.zeros_like(transferred)
        found: dict[str, Tensor] = {}
        for style in (0, 1):
            # Of style t are the real states of its sentences, and the states of those that were transferred to it.
            own = slice(style * half, (style + 1) * half)
            other = slice((1 - style) * half, (2 - style) * half)
            pair = real[own].detach().requires_grad_(), transferred[other].detach().requires_grad_()
            found[f"adv{style}"], told = self._first(style, *pair)
            to_real[own] += settings.lambda_adv * told[0]
            to_transferred[other] += settings.lambda_adv * told[1]
            if self._discriminators.second is not None:
                found[f"adv2{style}"], told = self._second(style, *pair, mix[style])
                weight = settings.lambda_adv2 * 2.0**-epoch  # lambda_6 of Sec. 5.2
                to_real[own] += weight * told[0]
                to_transferred[other] += weight * told[1]
        return (to_real, to_transferred), found

    def _first(self, style: int, real: Tensor, transferred: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Eq. 3 of D_t; the states are told minus its gradient (line 10), or the gradient of the other objective."""
        discriminator = self._discriminators.first[style]
        of_real, of_transferred = discriminator(torch.cat([real, transferred])).chunk(2)
        loss = losses.discrimination(of_real, of_transferred)
        if self._settings.adversarial == "minimax":
            told = _differentiated(loss, discriminator, (real, transferred))
            return loss, (-told[0], -told[1])
        (fooled,) = torch.autograd.grad(losses.fooling(of_transferred), transferred, retain_graph=True)
        _differentiated(loss, discriminator, ())
        return loss, (torch.zeros_like(real), fooled)

    def _second(
        self, style: int, real: Tensor, transferred: Tensor, mix: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Eq. 7 of D'_t; the states are told of its difference alone, the penalty stays in the critic."""
        assert self._discriminators.second is not None
        critic = self._discriminators.second[style]
        made = losses.criticism(critic, real, transferred, mix, self._settings.penalty)
        told = _differentiated(made.difference, critic, (real, transferred))
        _differentiated(made.penalty, critic, ())
        return made.difference + made.penalty, (-told[0], -told[1])


def _differentiated(loss: Tensor, network: torch.nn.Module, states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Add the gradient of a loss to that of a network's weights, and return that of the states."""
    weights = list(network.parameters())
    gradients = torch.autograd.grad(loss, [*weights, *states], allow_unused=True)
    for weight, gradient in zip(weights, gradients, strict=False):
        if gradient is not None:  # the last bias has no part in a slope
            weight.grad = gradient if weight.grad is None else weight.grad + gradient
    return gradients[len(weights) :]


def check_finite(found: Losses, where: str, what: str = "loss") -> None:
    """RestyleError names the first loss, or whatever else was found, that is no number any more."""
    for name, value in found.items():
        if not torch.isfinite(value):
            raise RestyleError(
                f"{where}: the {what} {name} is {value.item()}; lower learning_rate or clip, and start the run anew"
            )
