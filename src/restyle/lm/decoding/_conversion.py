"""A base with its adapter as an engine of CTranslate2: converted once, then found in the cache by what it is made of.

    engines/KEY/   model.bin, config.json, vocabulary.json   what CTranslate2 reads
                   tokenizer.json, marks.json                 what turns sentences into its numbers

The merge is done in float32 and eight bits come last. (int8_bfloat16 would be slow: few processors have its kernels.)
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from restyle.assets import cache_home
from restyle.errors import UsageError
from restyle.lm.bases import base_hash, load_base
from restyle.lm.decoding._ctranslate2 import VERSION, compute_type
from restyle.lm.subwords import TransformersSubwords
from restyle.progress import progress_bar
from restyle.records import writing_to

if TYPE_CHECKING:
    from restyle.lm.adapters import Adapter

# Changes with what this module writes.
_LAYOUT = 2
# Engines are some hundred megabytes each, and every strength and mix is one: the longest unused make room.
_MOST_ENGINES = 32


def engine_folder(base: str, adapter: Callable[[], Adapter | None], identity: str) -> Path:
    """Where the engine of a base and an adapter lies, converted if need be.

    `identity` tells the adapter from all others; `adapter` is called when there is something to convert. Processes
    that want the same engine at once convert it once. OutputError when the cache cannot be written, UsageError when
    CTranslate2 does not know the base's architecture.
    """
    made_of = f"{_LAYOUT}\0{base_hash(base)}\0{identity}\0{compute_type()}\0{VERSION}"
    engines = cache_home() / "engines"
    target = engines / hashlib.sha256(made_of.encode()).hexdigest()[:32]
    if not target.is_dir():
        with writing_to(engines):
            engines.mkdir(parents=True, exist_ok=True)
            with _locked(engines / f".{target.name}.lock"):
                if not target.is_dir():
                    _convert(base, adapter, target)
                    _make_room(engines)
    with contextlib.suppress(OSError):
        os.utime(target)  # last used now
    return target


def _convert(base: str, adapter: Callable[[], Adapter | None], target: Path) -> None:
    for left in target.parent.glob(f".{target.name}.*.part"):
        shutil.rmtree(left, ignore_errors=True)  # by a process that was killed
    scratch = target.with_name(f".{target.name}.{os.getpid()}.part")
    with progress_bar("preparing the engine, once", None):
        loaded, change = load_base(base), adapter()
        if change is not None:
            change.merge_into(loaded.model)
        try:
            _written(loaded.model, loaded.tokenizer, scratch)
            TransformersSubwords(loaded.tokenizer).save(scratch)
            os.rename(scratch, target)
        except OSError:
            if not target.is_dir():  # where files cannot be locked, another process may have been first
                raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _written(model: Any, tokenizer: Any, folder: Path) -> None:
    """Convert a model in memory, which is used up by it."""
    from ctranslate2.converters import TransformersConverter

    class InMemory(TransformersConverter):  # type: ignore[misc]  # CTranslate2 has no types
        """The converter reads the configuration from a folder; the weights and the tokenizer it is given."""

        def load_model(self, model_class: Any, model_name_or_path: str, **options: Any) -> Any:
            return model

        def load_tokenizer(self, tokenizer_class: Any, model_name_or_path: str, **options: Any) -> Any:
            return tokenizer

        def _load(self) -> Any:
            spec = super()._load()
            # Read though never met: a vocabulary of bytes needs no such mark, and CTranslate2 wants one.
            spec.config.unk_token = spec.config.unk_token or spec.config.eos_token
            spec._alias_variables = lambda: _alias(spec)
            return spec

    configuration = folder.with_name(f"{folder.name}.config.part")
    model.config.save_pretrained(configuration)
    # The converter collects garbage after each layer; what stands now is not to be looked through thirty times.
    gc.freeze()
    try:
        InMemory(str(configuration)).convert(str(folder), quantization=compute_type(), force=True)
    except (ValueError, NotImplementedError) as error:
        reason = str(error).splitlines()[0].partition(" (supported")[0]
        raise UsageError(f"the engine ctranslate2 cannot run this base ({reason}); use the engine torch") from error
    finally:
        gc.unfreeze()
        shutil.rmtree(configuration, ignore_errors=True)


def _alias(spec: Any) -> None:
    """Keep once what several layers share.

    CTranslate2 would find out by comparing every weight with all others of its shape, which takes ten times as long as
    all the rest; weights that are shared lie at the same place.
    """
    from ctranslate2.specs.model_spec import index_spec

    first: dict[int, str] = {}
    for name, value in spec.variables(ordered=True):
        if hasattr(value, "tensor") and not value.is_scalar():
            kept = first.setdefault(value.tensor.data_ptr(), name)
            if kept != name:
                scope, _, attribute = name.rpartition("/")
                setattr(index_spec(spec, scope), attribute, kept)


def _make_room(engines: Path) -> None:
    """Remove the engines that were not used for longest."""
    found = [(folder.stat().st_mtime, folder) for folder in engines.iterdir() if not folder.name.startswith(".")]
    for _, folder in sorted(found, reverse=True)[_MOST_ENGINES:]:
        gone = folder.with_name(f".{folder.name}.gone.part")
        with contextlib.suppress(OSError):
            os.rename(folder, gone)
        shutil.rmtree(gone, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """While it lasts, no other process is in here for the same path."""
    with path.open("ab") as lock:
        with contextlib.suppress(OSError):  # a file system without locks: the engine is converted more than once
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
