"""A training in progress as one file: weights, the moments of both optimisers, and where it stands."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from restyle.errors import InputError, UsageError
from restyle.records import writing_to

# What a checkpoint of another layout is refused by.
VERSION = 1


def write_checkpoint(
    file: Path,
    networks: Mapping[str, tuple[nn.Module, torch.optim.Optimizer]],
    identity: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> None:
    """Write networks with their optimisers, at once or not at all."""
    tensors: dict[str, Tensor] = {}
    for name, (network, optimiser) in networks.items():
        for key, weights in network.named_parameters():
            tensors[f"{name}/{key}"] = weights.detach()
            tensors |= {f"{name}/{key}/{moment}": value for moment, value in optimiser.state.get(weights, {}).items()}
    told = {"version": str(VERSION), "identity": json.dumps(identity, sort_keys=True), "facts": json.dumps(facts)}
    partial = file.with_suffix(".part")
    with writing_to(file):
        save_file({key: value.cpu().contiguous() for key, value in tensors.items()}, partial, told)
        os.replace(partial, file)


def read_checkpoint(
    file: Path, networks: Mapping[str, tuple[nn.Module, torch.optim.Optimizer]], identity: Mapping[str, Any]
) -> dict[str, Any]:
    """Put a checkpoint into networks and optimisers, and return where it stood.

    UsageError when it is of another version or another training, InputError when it is none.
    """
    try:
        with safe_open(file, "pt") as opened:
            told = opened.metadata() or {}
            _check(file, told, identity)
            for name, (network, optimiser) in networks.items():
                for key, weights in network.named_parameters():
                    weights.data.copy_(opened.get_tensor(f"{name}/{key}"))
                    moments = [each for each in opened.keys() if each.startswith(f"{name}/{key}/")]  # noqa: SIM118
                    if moments:
                        optimiser.state[weights] = {
                            # Fused, Adam keeps even the number of steps beside the weights.
                            each.rpartition("/")[2]: opened.get_tensor(each).to(weights.device)
                            for each in moments
                        }
    except SafetensorError as error:
        raise InputError(f"{file} is no checkpoint of this training: {error}") from None
    facts: dict[str, Any] = json.loads(told["facts"])
    return facts


def _check(file: Path, told: Mapping[str, str], identity: Mapping[str, Any]) -> None:
    if told.get("version") != str(VERSION):
        raise UsageError(
            f"{file} is a checkpoint of version {told.get('version', 'unknown')}, and this restyle reads version "
            f"{VERSION}: go on with the restyle that began it, or remove the file to begin anew"
        )
    if lacking := [key for key in ("identity", "facts") if key not in told]:
        raise InputError(f"{file} is no checkpoint of this training: it has no {' and no '.join(lacking)}")
    before, now = json.loads(told["identity"]), json.loads(json.dumps(identity))
    if changed := sorted(key for key in {*before, *now} if before.get(key) != now.get(key)):
        said = ", ".join(f"{key} was {before.get(key)!r} and is {now.get(key)!r}" for key in changed)
        raise UsageError(f"{file} is of another training ({said}): go on as it began, or choose another folder")
