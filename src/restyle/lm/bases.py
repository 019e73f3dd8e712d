"""Base models: any causal language model of a wheel, of the Hugging Face hub, or of a local folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from restyle.assets import model_wheels
from restyle.lm.format import PairFormat
from restyle.lm.subwords import TransformersSubwords


@dataclass(frozen=True)
class Base:
    """A causal language model with its output layer, in float32, and its tokenizer."""

    id: str
    model: Any  # a PreTrainedModel; transformers gives its causal models no common type
    tokenizer: Any

    def format(self, max_subwords: int) -> PairFormat:
        """How this base writes a pair."""
        return PairFormat(TransformersSubwords(self.tokenizer), max_subwords)


def load_base(name: str) -> Base:
    """The base model of this name; AssetError when it is nowhere."""
    # Which takes seconds, and is of no use where only the hash is asked for.
    from restyle.nets.pretrained import load_language_model

    model, tokenizer = load_language_model(name)
    return Base(name, model, tokenizer.subwords)


def base_hash(name: str) -> str:
    """What tells this base from another of its name: the hash of its wheels, or of a folder's weights and tokenizer.

    A model of the hub is known by its name alone.
    """
    if name in model_wheels():
        return model_wheels()[name].identity
    folder = Path(name)
    if not folder.is_dir():
        return hashlib.sha256(name.encode()).hexdigest()
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in (".safetensors", ".json", ".model", ".gguf"):
            digest.update(file.name.encode())
            with file.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def signed(name: str) -> str:
    """The name of a model as signatures give it: with eight digits of its hash, where there is more than the name."""
    if name not in model_wheels() and not Path(name).is_dir():
        return name
    return f"{Path(name).name}#{base_hash(name)[:8]}"
