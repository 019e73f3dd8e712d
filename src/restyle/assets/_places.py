"""The two places on this machine where assets lie: the mirror that a user keeps, and the cache that restyle keeps."""

from __future__ import annotations

import os
from pathlib import Path

from restyle.errors import OutputError, UsageError
from restyle.records import writing_to


def mirror() -> Path | None:
    """The local mirror that `$RESTYLE_DATA` names, laid out as the catalogue's paths are; None when it is not set."""
    named = os.environ.get("RESTYLE_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise UsageError(f"RESTYLE_DATA names {folder}, which is not a folder")
    return folder


def cache_home() -> Path:
    """The folder where fetched and built things are kept: `$RESTYLE_HOME`, else `~/.cache/restyle`."""
    return Path(os.environ.get("RESTYLE_HOME") or Path.home() / ".cache" / "restyle").expanduser()


def cache_folder(*parts: str) -> Path:
    """A folder of the cache, made if need be; OutputError says so when the cache cannot be written."""
    folder = cache_home().joinpath(*parts)
    try:
        with writing_to(folder):
            folder.mkdir(parents=True, exist_ok=True)
    except OutputError as error:
        raise OutputError(f"{error}; RESTYLE_HOME can name another place for the cache") from error
    return folder
