"""Where networks compute, and in which numbers: a GPU when there is one, else the processor.

`CUDA_VISIBLE_DEVICES=""` hides a GPU. The last digits differ between the two, so a signature says which it was.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache

import torch
from torch import nn


@cache
def best_device() -> torch.device:
    """The GPU that torch chooses, or the processor."""
    return torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


def fastest_type() -> torch.dtype:
    """bfloat16 where it is multiplied several times as fast, which is on every GPU of today; else float32."""
    if best_device().type == "cuda":
        return torch.bfloat16
    return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32


def fast_products(precision: str = "fastest") -> torch.autocast:
    """While it lasts, products of matrices are made in the fastest numbers, or in float32 where that is asked for.

    Only for what is a product: a recurrence would mix the two kinds of numbers.
    """
    wanted = fastest_type() if precision == "fastest" else torch.float32
    return torch.autocast(best_device().type, dtype=torch.bfloat16, enabled=wanted is torch.bfloat16)


def made_fast(module: nn.Module) -> nn.Module:
    """The module where networks compute, its weights in the fastest numbers, in place.

    What is trained keeps float32, as steps would be lost in bfloat16; so do the buffers, among them the frequencies of
    rotary positions, which rounded would shift every token.
    """
    module.to(best_device())
    for weights in module.parameters():
        if not weights.requires_grad:
            weights.data = weights.data.to(fastest_type())
    return module


@contextlib.contextmanager
def denormals_flushed() -> Iterator[None]:
    """While it lasts, numbers too small to be normal are 0: with them a product takes a hundred times as long.

    It holds for this thread and for those that torch starts from here on.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def precision() -> str:
    """What a signature says of it: `float32`, `bfloat16`, or `bfloat16 on cuda`."""
    name = str(fastest_type()).removeprefix("torch.")
    device = best_device().type
    return name if device == "cpu" else f"{name} on {device}"


def hardware() -> str:
    """On what a network was trained, for its card."""
    device = best_device()
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    return f"{name}, {precision().partition(' ')[0]}"
