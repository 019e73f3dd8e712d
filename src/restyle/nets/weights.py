"""The weights of a network in a file, and back; never a pickle."""

from __future__ import annotations

import os
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from restyle.errors import InputError
from restyle.records import writing_to


def save_weights(network: nn.Module, file: Path) -> None:
    """Write the weights, at once or not at all."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    partial = file.with_suffix(".part")
    with writing_to(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        save_file(tensors, partial)
        os.replace(partial, file)


def load_weights(network: nn.Module, file: Path) -> None:
    """Put saved weights into a network; InputError when there are none, or they are not of its shape."""
    try:
        network.load_state_dict(load_file(file))
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{file} does not hold the weights that its settings describe: {reason}") from None
