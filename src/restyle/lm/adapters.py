"""Low-rank adapters (LoRA; Hu et al. 2022): what a style adds to a base model, as a file, a sum, a share of itself.

A layer's weight W becomes W + B A, with A (r, in) and B (out, r); the scale alpha / r is already in B. So "half the
style" is half of B, and a mix of styles is a sum: nothing but the weights of the base is needed to write with either.
The factors are arrays, so that a pack can be read, and an engine found in the cache, without importing torch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from safetensors.numpy import save as as_bytes

from restyle.errors import Corrupt, InputError
from restyle.records import writing_to

Precision = Literal["float16", "int8"]
Floats = NDArray[np.float32]
_SCALES = ".scales"


@dataclass(frozen=True)
class Adapter:
    """The factors A and B of each adapted layer, by the layer's name."""

    factors: Mapping[str, tuple[Floats, Floats]]

    @classmethod
    def of(cls, model: Any) -> Adapter:
        """What a peft model has learned."""
        factors = {}
        for name, layer in model.get_base_model().named_modules():
            if hasattr(layer, "lora_A") and "default" in layer.lora_A:
                down, up = layer.lora_A["default"].weight, layer.lora_B["default"].weight
                factors[name] = (
                    down.detach().float().cpu().numpy().copy(),  # A (r, in)
                    up.detach().float().cpu().numpy() * np.float32(layer.scaling["default"]),  # B (out, r)
                )
        return cls(factors)

    @classmethod
    def load(cls, path: str | Path) -> Adapter:
        """The adapter in a file; Corrupt when the file is not whole, InputError when it holds something else."""
        try:
            tensors = load_file(path)
        except FileNotFoundError:
            raise InputError(f"{path} does not exist") from None
        except (SafetensorError, OSError) as error:
            raise Corrupt(f"{path} is not a whole safetensors file ({error}); install the pack again") from None
        layers = [name.removesuffix(".A") for name in tensors if name.endswith(".A")]
        if not layers:
            raise InputError(f"{path} is no adapter: no layer has factors A and B")
        return cls({layer: _factors(tensors, layer, path) for layer in layers})

    def put_into(self, model: Any) -> None:
        """Make a peft model go on from here; InputError when it was made with another rank or on other layers."""
        import torch

        layers = {name: layer for name, layer in model.get_base_model().named_modules() if hasattr(layer, "lora_A")}
        if layers.keys() != self.factors.keys():
            raise InputError("the adapter to go on from is of another base model")
        for name, (down, up) in self.factors.items():
            inner, outer = layers[name].lora_A["default"].weight, layers[name].lora_B["default"].weight
            if inner.shape != down.shape or outer.shape != up.shape:
                raise InputError(f"the adapter to go on from has rank {len(down)}, and not {len(inner)}")
            inner.data.copy_(torch.from_numpy(down))
            outer.data.copy_(torch.from_numpy(up / np.float32(layers[name].scaling["default"])))

    def save(self, path: str | Path, precision: Precision = "float16") -> Path:
        """Write the factors, in float16 or in eight bits with a scale for each row."""
        path = Path(path)
        tensors: dict[str, NDArray[Any]] = {}
        for layer, factors in self.factors.items():
            for which, factor in zip("AB", factors, strict=True):
                tensors |= _stored(f"{layer}.{which}", factor, precision)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                partial.write_bytes(as_bytes(tensors))
                os.replace(partial, path)
            finally:
                partial.unlink(missing_ok=True)
        return path

    def scaled(self, strength: float) -> Adapter:
        """So much of what it changes: 0 is the base, 1 the adapter as it was learned."""
        return Adapter({name: (down, up * np.float32(strength)) for name, (down, up) in self.factors.items()})

    def __add__(self, other: Adapter) -> Adapter:
        """The sum of what both change."""
        both = dict(self.factors)
        for name, (down, up) in other.factors.items():
            if name in both:
                down, up = np.concatenate([both[name][0], down]), np.concatenate([both[name][1], up], axis=1)
            both[name] = (down, up)
        return Adapter(both)

    def merge_into(self, model: Any) -> None:
        """Add what the adapter changes to the weights of a base model; InputError when they do not fit."""
        import torch
        from transformers.pytorch_utils import Conv1D

        layers = dict(model.named_modules())
        for name, (down, up) in self.factors.items():
            weight = getattr(layers.get(name), "weight", None)
            change = torch.from_numpy(up @ down)  # (out, in)
            if isinstance(layers.get(name), Conv1D):
                change = change.T  # GPT-2 keeps its weights the other way round
            if weight is None or weight.shape != change.shape:
                raise InputError(f"the adapter is of another base model: it has no layer {name} of this shape")
            weight.data += change.to(weight.dtype).to(weight.device)


def _stored(name: str, factor: Floats, precision: Precision) -> dict[str, NDArray[Any]]:
    if precision == "float16":
        return {name: np.ascontiguousarray(factor, np.float16)}
    scales = np.maximum(np.abs(factor).max(1, keepdims=True), 1e-12) / 127  # (rows, 1)
    return {name: np.rint(factor / scales).astype(np.int8), name + _SCALES: scales.astype(np.float16)}


def _factors(tensors: Mapping[str, NDArray[Any]], layer: str, path: str | Path) -> tuple[Floats, Floats]:
    if f"{layer}.B" not in tensors:
        raise InputError(f"{path} is no adapter: {layer} has one factor of two")
    try:
        down, up = _restored(tensors, f"{layer}.A"), _restored(tensors, f"{layer}.B")
        up[:1] @ down[:, :1]
    except (ValueError, IndexError, KeyError):
        raise InputError(f"{path} is no adapter: the factors of {layer} do not fit each other") from None
    if not (np.isfinite(down).all() and np.isfinite(up).all()):
        raise InputError(f"{path} is no adapter: some factors of {layer} are no numbers")
    return down, up


def _restored(tensors: Mapping[str, NDArray[Any]], name: str) -> Floats:
    stored = tensors[name]
    factor: Floats = stored.astype(np.float32)
    return factor * tensors[name + _SCALES].astype(np.float32) if stored.dtype == np.int8 else factor
