"""A built corpus on the disk: written whole or not at all, and read back as a `Corpus`.

NAME/corpus.toml     what it was built from and how, and what was dropped
NAME/train.jsonl     one record a sentence: id, text, style, split, source file and line
NAME/valid.jsonl
NAME/test.jsonl
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import tomli_w

from restyle import __version__
from restyle.assets import cache_home
from restyle.corpora._catalogue import catalogue
from restyle.corpora._corpus import Corpus, Line
from restyle.corpora.build._report import BuildReport
from restyle.errors import InputError, OutputError, SettingsError, UnknownName
from restyle.records import read_records, writing_to
from restyle.settings import read_toml

CARD = "corpus.toml"
_RECORD_KEYS = ("id", "text", "style", "split", "source", "line")


def built_home() -> Path:
    """Where corpora are built when no folder is named."""
    return cache_home() / "built"


def built_names() -> tuple[str, ...]:
    """The corpora that were built there, by name."""
    home = built_home()
    return tuple(sorted(path.parent.name for path in home.glob(f"*/{CARD}"))) if home.is_dir() else ()


def target_folder(name: str, out: str | Path | None) -> Path:
    """The folder of a corpus that is about to be built; SettingsError for a name that no folder can have."""
    if not name or name != Path(name).name or name.startswith("."):
        raise SettingsError(
            f"a corpus cannot be called {name!r}: its name becomes a folder's, so no / and no leading dot"
        )
    if not out and name in catalogue():
        raise SettingsError(f"{name} is the name of a corpus in the catalogue; choose another, or a folder with --out")
    return Path(out) if out else built_home() / name


@contextlib.contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to write into, which takes the place of `target` when the block ends well and vanishes when it does not.

    Raises OutputError when it cannot be written, or when `target` holds anything else than a corpus that was built.
    """
    if target.exists() and not (target / CARD).is_file() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target} exists and holds no built corpus; choose another folder")
    with writing_to(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        folder = scratch / "new"
        with writing_to(target):
            folder.mkdir()
        yield folder
        with writing_to(target):
            _put_in_place(folder, target, scratch / "old")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _put_in_place(folder: Path, target: Path, old: Path) -> None:
    """Rename `folder` to `target`; what was there goes to `old`, and comes back when that fails."""
    if target.exists():
        os.rename(target, old)
    try:
        os.rename(folder, target)
    except OSError:
        if old.exists():
            os.rename(old, target)
        raise


def write_card(folder: Path, report: BuildReport, settings: dict[str, Any], recipe: str | None = None) -> None:
    """Say in corpus.toml what the corpus was built from, how, and what became of the input; no time, no machine."""
    card = {
        "name": report.name,
        "restyle": __version__,
        **({"recipe": recipe} if recipe else {}),
        "read": report.read,
        "kept": report.kept,
        "notes": report.notes,
        "counts": report.counts,
        "dropped": report.dropped,
        "settings": settings,
        "inputs": [{key: value for key, value in vars(each).items() if value is not None} for each in report.inputs],
    }
    with writing_to(folder / CARD):
        (folder / CARD).write_text(tomli_w.dumps(card), encoding="utf-8")


def load_built(name: str | Path) -> Corpus:
    """A corpus that `restyle corpora build` made, by its name or its folder.

    Raises UnknownName when there is none, InputError when its folder lacks a file.
    """
    folder = built_home() / name
    if not (folder / CARD).is_file():
        folder = Path(name)
    if not (folder / CARD).is_file():
        raise UnknownName("built corpus", str(name), built_names())
    card = read_toml(folder / CARD)
    try:
        parts = {
            (style, split): partial(_part, folder / f"{split}.jsonl", style)
            for style, splits in card["counts"].items()
            for split, count in splits.items()
            if count
        }
        return Corpus(card["name"], parts)
    except (KeyError, AttributeError, TypeError) as error:
        raise InputError(f"{folder / CARD} is not the card of a built corpus: {error} is missing or no table") from None


def _part(file: Path, style: str) -> Iterator[Line]:
    """The lines of one style in one split."""
    for record in read_records(file):
        if record.get("style") == style:
            fields = {key: value for key, value in record.items() if key not in _RECORD_KEYS}
            key = str(record["id"]).rpartition("/")[2]
            yield Line(record["text"], str(record.get("source", file.name)), int(record.get("line", 0)), key, fields)
