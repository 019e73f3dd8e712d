"""A classifier of sentences: a pretrained network, low-rank adapters on its layers, and one linear layer on top.

    ids (B, T) -> body -> states (B, T, H) -> pooled (B, H) -> head -> logits (B, L)

Only adapters (LoRA; Hu et al. 2022) and head are trained and stored, one to three megabytes beside a base that all
judges share. The base is a sentence encoder (MiniLM, RoBERTa …) or a causal language model (SmolLM2 …).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from restyle.errors import InputError
from restyle.nets.by_length import DECIMALS, Floats, by_length
from restyle.nets.device import best_device, fastest_type, made_fast
from restyle.nets.pretrained import Kind, Pretrained, Tokenizer, load_pretrained
from restyle.records import writing_to
from restyle.settings import setting

WEIGHTS_FILE = "adapter.safetensors"
_SCALE = ".scale"


@dataclass(frozen=True)
class NetworkSettings:
    """What the classifier is made of."""

    base: str = setting("minilm-l6", "the pretrained network: of a wheel, of the Hugging Face hub, or a folder")
    layers: int | None = setting(None, "how many of its layers are kept, from the first; all, when not set", minimum=1)
    rank: int = setting(16, "rank of the adapters", minimum=1)
    max_tokens: int = setting(128, "a longer sentence is cut at its end", minimum=8)


class EncoderClassifier(nn.Module):
    """Logits of sentences, one per label."""

    def __init__(self, pretrained: Pretrained, labels: Sequence[str], settings: NetworkSettings) -> None:
        super().__init__()
        self.body: nn.Module = pretrained.body
        self.tokenizer: Tokenizer = pretrained.tokenizer
        self.kind: Kind = pretrained.kind
        self.labels = tuple(labels)
        self.settings = settings
        self.head = nn.Linear(pretrained.width, len(self.labels))

    @classmethod
    def new(cls, labels: Sequence[str], settings: NetworkSettings, *, seed: int = 0, dropout: float = 0.05) -> Any:
        """An untrained classifier: adapters that change nothing yet, and a random head."""
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network = cls(load_pretrained(settings.base, settings.layers), labels, settings)
            network.body = _adapted(network.body, settings.rank, dropout)
        for name, value in network.named_parameters():
            value.requires_grad_(_is_trained(name))
        return network

    @classmethod
    def load(cls, folder: str | Path, labels: Sequence[str], settings: NetworkSettings) -> Any:
        """The classifier whose adapters and head were saved in a folder, merged into its base and ready to judge."""
        network = cls.new(labels, settings)
        network.restore(weights_in(Path(folder)))
        network.body = network.body.merge_and_unload()
        return network.eval().requires_grad_(False)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Logits (B, L) of token numbers (B, T); `mask` (B, T) is 1 where a token is and 0 where there is none."""
        return self.head(self._vectors(ids, mask))  # type: ignore[no-any-return]

    def probabilities(
        self, texts: Sequence[str], *, batch_tokens: int | None = None, shown: bool | None = False
    ) -> Floats:
        """The probability of each label for each text, (N, L); the same in every batch."""
        self.made_fast()
        rows = self.tokenizer(texts, self.settings.max_tokens)
        pooled = by_length(rows, self._vectors, batch_tokens=batch_tokens, shown=shown)  # (N, H)
        if not len(rows):
            return np.zeros((0, len(self.labels)))
        weight, bias = (value.detach().double().numpy() for value in (self.head.weight.cpu(), self.head.bias.cpu()))
        # Summed by einsum's plain loop, and not by a matrix product, whose order depends on N.
        logits = np.einsum("nh,lh->nl", pooled, weight) + bias
        odds = np.exp(logits - logits.max(1, keepdims=True))
        probabilities: Floats = np.round(odds / odds.sum(1, keepdims=True), DECIMALS)
        return probabilities

    def _vectors(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        # What stands after a token is not seen by a language model: its padding needs no mask.
        seen = mask if self.kind == "encoder" else None
        # While adapters are in float32 beside layers in bfloat16, their products are made in the latter.
        mixed = self.head.weight.requires_grad and fastest_type() is torch.bfloat16
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=mixed):
            states = self.body(input_ids=ids, attention_mask=seen).last_hidden_state  # (B, T, H)
        return self._pooled(states.float(), mask)

    def _pooled(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """One vector a sentence, (B, T, H) -> (B, H).

        An encoder's is the mean over tokens, as all-MiniLM was trained; a language model's is its last token, the only
        one that has seen the whole sentence.
        """
        if mask is None:
            return states.mean(1) if self.kind == "encoder" else states[:, -1]
        if self.kind == "encoder":
            weights = mask.unsqueeze(-1).to(states.dtype)  # (B, T, 1)
            return (states * weights).sum(1) / weights.sum(1)
        last = mask.sum(1) - 1  # (B,)
        return states[torch.arange(len(states), device=states.device), last]

    def made_fast(self) -> EncoderClassifier:
        """The same, in place, where and in what it computes fastest; the head stays in float32."""
        made_fast(self.body)
        self.head.to(best_device())
        return self

    def trained(self) -> dict[str, Tensor]:
        """What training changes, by name: adapters and head."""
        return {name: value for name, value in self.named_parameters() if _is_trained(name)}

    def restore(self, weights: dict[str, Tensor]) -> None:
        """Put trained weights back; InputError when they are not those of this network."""
        own = self.trained()
        if own.keys() != weights.keys():
            raise InputError(f"the weights are not those of {self.settings.base} with rank {self.settings.rank}")
        with torch.no_grad():
            for name, value in weights.items():
                own[name].copy_(value)

    def save(self, folder: str | Path) -> Path:
        """Write adapters in whole numbers of eight bits and the head in float16, as `weights_in` reads them."""
        path = Path(folder) / WEIGHTS_FILE
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            save_file(_packed(self.trained()), path)
        return path


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token numbers and mask, (B, T) each, of sentences of different lengths."""
    longest = max(map(len, rows))
    ids: NDArray[np.int64] = np.zeros((len(rows), longest), np.int64)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


def _adapted(body: nn.Module, rank: int, dropout: float) -> nn.Module:
    # alpha = 2 r: with it a learning rate found at one rank serves at others.
    config = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=dropout, target_modules="all-linear")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers for a name that will change
        return get_peft_model(body, config)


def _is_trained(name: str) -> bool:
    return "lora_" in name or name.startswith("head.")


def _packed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The head in float16, and each vector of an adapter as eight-bit numbers with a scale: a quarter of its bytes.

    An adapter is B (out, r) times A (r, in); of either, each of the r vectors has a scale of its own. One verdict in a
    thousand changes, of sentences that were even.
    """
    packed: dict[str, Tensor] = {}
    for name, value in weights.items():
        plain = value.detach().float().cpu()
        if name.startswith("head."):
            packed[name] = plain.half()
            continue
        along = 1 if "lora_A" in name else 0
        scale = plain.abs().amax(along, keepdim=True).clamp_min(1e-12) / 127
        packed[name] = (plain / scale).round().to(torch.int8)
        packed[f"{name}{_SCALE}"] = scale
    return {name: value.contiguous() for name, value in packed.items()}


def weights_in(folder: Path) -> dict[str, Tensor]:
    """The adapters and the head in a judge's folder; InputError when there are none."""
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise InputError(f"{folder} holds no {WEIGHTS_FILE}")
    packed = load_file(path)
    return {
        name: value.float() * packed.get(f"{name}{_SCALE}", 1)
        for name, value in packed.items()
        if not name.endswith(_SCALE)
    }
