"""One file named by its hash: found in the mirror or the cache, or downloaded from its origin and checked."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from restyle.assets._places import cache_folder, cache_home, mirror
from restyle.errors import Corrupt, OnRequest, Unreachable
from restyle.progress import progress_bar
from restyle.records import writing_to

_CHUNK = 1 << 20
_TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class RemoteFile:
    """A file of the catalogue: its path in mirror and cache, what it must contain, and where it can be had."""

    path: str
    sha256: str
    bytes: int
    url: str | None = None
    ask: str | None = None  # who to ask and where to put the answer, for a file that nobody may redistribute


def locate(file: RemoteFile) -> Path | None:
    """Where the file lies on this machine (mirror first, then cache), its hash checked; None when it does not."""
    for root in (mirror(), cache_home() / "corpora"):
        if root is not None and (path := root / file.path).is_file():
            stat = path.stat()
            _check(path, file, stat.st_size, _sha256(path, stat.st_size, stat.st_mtime_ns))
            return path
    return None


def fetch(file: RemoteFile, *, shown: bool | None = None) -> Path:
    """The file on this machine, downloaded into the cache if need be; a download that was cut off is continued.

    Raises Unreachable when the origin does not answer, Corrupt when it answers with something else, OnRequest when the
    file is only to be had from its owner.
    """
    if found := locate(file):
        return found
    if file.url is None:
        raise OnRequest(
            f"{file.path} cannot be downloaded: {file.ask or 'its origin offers no file with these contents'}; "
            f"then set RESTYLE_DATA to a folder in which it lies under {file.path}"
        )
    target = cache_folder("corpora", str(Path(file.path).parent)) / Path(file.path).name
    partial = target.with_name(target.name + ".part")
    _download(file, partial, shown)
    digest = _sha256(partial, partial.stat().st_size, partial.stat().st_mtime_ns)
    try:
        _check(partial, file, partial.stat().st_size, digest)
    except Corrupt:
        partial.unlink()
        raise
    os.replace(partial, target)
    return target


def _download(file: RemoteFile, partial: Path, shown: bool | None) -> None:
    """Append to `partial` what is missing of the file."""
    assert file.url is not None
    have = partial.stat().st_size if partial.exists() else 0
    if have >= file.bytes:
        if have > file.bytes:
            partial.unlink()
        return
    request = urllib.request.Request(file.url, headers={"User-Agent": "restyle"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
            # An origin that ignores the range sends the whole file again.
            resumed = have > 0 and answer.status == http.HTTPStatus.PARTIAL_CONTENT
            with (
                progress_bar(Path(file.path).name, file.bytes, unit="bytes", shown=shown) as advance,
                writing_to(partial),
                partial.open("ab" if resumed else "wb") as out,
            ):
                advance(have if resumed else 0)
                while chunk := answer.read(_CHUNK):
                    out.write(chunk)
                    advance(len(chunk))
    except urllib.error.HTTPError as error:
        raise Unreachable(f"{file.url} answered {error.code} {error.reason}; {_by_hand(file)}") from error
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", None) or error
        raise Unreachable(f"{file.url} cannot be reached ({reason}); {_by_hand(file)}") from error
    if partial.stat().st_size < file.bytes:
        have = partial.stat().st_size
        raise Unreachable(f"{file.url} stopped after {have:,} of {file.bytes:,} bytes; run the same command to go on")


def _by_hand(file: RemoteFile) -> str:
    return f"try again, or set RESTYLE_DATA to a folder in which the file lies under {file.path}"


def _check(path: Path, file: RemoteFile, size: int, digest: str) -> None:
    if digest != file.sha256:
        raise Corrupt(
            f"{path} is not the file that the catalogue names: {size:,} bytes with sha256 {digest[:12]}…, "
            f"{file.bytes:,} bytes with {file.sha256[:12]}… were expected; remove it and fetch it again"
        )


@lru_cache(maxsize=1024)
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    """The hash of a file as it is now; size and time are there so that a changed file is read again."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
