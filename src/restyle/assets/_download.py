"""One file named by its hash: found in the mirror or the cache, or downloaded from its origin and checked."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

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
    path = _in_mirror(file) or _in_cache(file)
    if path is not None:
        _check(path, file)
    return path


def fetch(file: RemoteFile, *, shown: bool | None = None) -> Path:
    """The file on this machine, downloaded into the cache if need be; a download that was cut off is continued.

    A damaged file in the cache is replaced, one in the mirror is left to whom it belongs. Processes that want the same
    file at once download it once.

    Raises Unreachable when the origin does not answer, Corrupt when it answers with something else, OnRequest when the
    file is only to be had from its owner.
    """
    if found := _sound(file):
        return found
    if file.url is None:
        raise OnRequest(
            f"{file.path} cannot be downloaded: {file.ask or 'its origin offers no file with these contents'}; "
            f"then set RESTYLE_DATA to a folder in which it lies under {file.path}"
        )
    target = cache_folder("corpora", str(Path(file.path).parent)) / Path(file.path).name
    partial = target.with_name(target.name + ".part")
    with _locked(partial, shown) as out:
        try:
            if found := _sound(file):  # another process was first
                return found
            _download(file, partial, out, shown)
            try:
                _check(partial, file)
            except Corrupt:
                out.truncate(0)
                raise
            os.replace(partial, target)
        finally:
            # Nothing to go on from. After the replacement, no file of this name is there.
            if partial.exists() and not partial.stat().st_size:
                partial.unlink()
    return target


def _in_mirror(file: RemoteFile) -> Path | None:
    root = mirror()
    return path if root is not None and (path := root / file.path).is_file() else None


def _in_cache(file: RemoteFile) -> Path | None:
    return path if (path := cache_home() / "corpora" / file.path).is_file() else None


def _sound(file: RemoteFile) -> Path | None:
    """As `locate`, but a damaged file in the cache that can be downloaded again counts as none."""
    try:
        return locate(file)
    except Corrupt:
        if file.url is None or _in_mirror(file):
            raise
        return None


@contextlib.contextmanager
def _locked(partial: Path, shown: bool | None) -> Iterator[BinaryIO]:
    """A partial file, open to be appended to, for this process alone; another one is waited for."""
    while True:
        # What fails in here and is not told otherwise is the disk's refusal.
        with writing_to(partial), partial.open("ab") as out:
            _lock(out, partial, shown)
            # The process that had it may have renamed it, when it was complete, or removed it.
            if partial.exists() and os.path.samestat(os.fstat(out.fileno()), partial.stat()):
                yield out
                return


def _lock(out: BinaryIO, partial: Path, shown: bool | None) -> None:
    try:
        fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with progress_bar(f"waiting for another process to fetch {partial.stem}", None, shown=shown):
            fcntl.flock(out, fcntl.LOCK_EX)
    except OSError:
        pass  # a file system without locks: two downloads at once are then found out by the hash


def _download(file: RemoteFile, partial: Path, out: BinaryIO, shown: bool | None) -> None:
    """Append to `partial`, open as `out`, what is missing of the file."""
    assert file.url is not None
    have = partial.stat().st_size
    if have > file.bytes:
        out.truncate(0)
        have = 0
    if have == file.bytes:
        return
    request = urllib.request.Request(file.url, headers={"User-Agent": "restyle"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            out.truncate(0)  # its file is shorter than what was kept of another
        raise Unreachable(f"{file.url} answered {error.code} {error.reason}; {_by_hand(file)}") from error
    except (http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise Unreachable(f"{file.url} cannot be reached ({reason}); {_by_hand(file)}") from error
    with answer, progress_bar(Path(file.path).name, file.bytes, unit="bytes", shown=shown) as advance:
        # An origin that ignores the range sends the whole file again.
        if answer.status == http.HTTPStatus.PARTIAL_CONTENT:
            advance(have)
        else:
            out.truncate(0)
        for chunk in _chunks(answer, file, partial):
            out.write(chunk)
            out.flush()
            advance(len(chunk))
    if partial.stat().st_size < file.bytes:
        raise Unreachable(_stopped(file, partial))


def _chunks(answer: http.client.HTTPResponse, file: RemoteFile, partial: Path) -> Iterator[bytes]:
    """What arrives; only here is a refusal of the system the network's."""
    while True:
        try:
            chunk = answer.read(_CHUNK)
        except (http.client.HTTPException, OSError) as error:
            raise Unreachable(_stopped(file, partial, f" ({error})")) from error
        if not chunk:
            return
        yield chunk


def _stopped(file: RemoteFile, partial: Path, reason: str = "") -> str:
    have = partial.stat().st_size
    return f"{file.url} stopped after {have:,} of {file.bytes:,} bytes{reason}; run the same command to go on"


def _by_hand(file: RemoteFile) -> str:
    return f"try again, or set RESTYLE_DATA to a folder in which the file lies under {file.path}"


def _check(path: Path, file: RemoteFile) -> None:
    try:
        stat = path.stat()
        digest = _sha256(path, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror or error}") from None
    if digest != file.sha256:
        raise Corrupt(
            f"{path} is not the file that the catalogue names: {stat.st_size:,} bytes with sha256 {digest[:12]}…, "
            f"{file.bytes:,} bytes with {file.sha256[:12]}… were expected; remove it and fetch it again"
        )


@lru_cache(maxsize=1024)
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    """The hash of a file as it is now; size and time are there so that a changed file is read again."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
