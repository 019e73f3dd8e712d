"""Work in stages: each makes a plain file or folder, and is left out where that lies there, made of the same.

    pairs.jsonl                 what a stage made: open it, mend it, and only what comes after it is made again
    made-of/pairs.jsonl.json    what it was made of: settings, and the hashes of what it read

A stage that was killed is called again over what it left behind, so that it can go on there; one whose inputs have
changed begins anew.

Under `accelerate launch` every process walks through the same stages: the first makes them, and the others wait for
what it made, except where they make it together.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from restyle.errors import JobError
from restyle.records import writing_to

_MARKERS = "made-of"
# How often a process looks whether the first one is done.
_LOOKS_AGAIN = 0.5


class Stages:
    """The stages of one piece of work in one folder; as a context, it holds the folder against other processes."""

    def __init__(self, folder: str | Path, say: Callable[[str], None] = lambda line: None) -> None:
        """`say` is told which stages begin and which are left out."""
        self.folder = Path(folder)
        self.spent = 0.0  # seconds that the stages so far took, in whichever run they were made
        self.leads = leads()
        self._say = say if self.leads else lambda line: None
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if not self.leads:
            return self
        with writing_to(self.folder):
            (self.folder / _MARKERS).mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / _MARKERS / ".lock").open("ab")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise JobError(
                f"another process is at work in {self.folder}: wait until it is done, or choose another folder"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()

    def made(
        self,
        name: str,
        of: Mapping[str, Any],
        make: Callable[[Path], object],
        *,
        leaves: Sequence[str] = (),
        together: bool = False,
    ) -> Path:
        """What a stage makes: as it lies there when it was made of the same, else made now.

        `make` writes the file or folder that it is given, which is called `name` in the folder. `of` is all that it
        depends on. `leaves` names what it leaves beside it while it is unfinished: that is kept for the run that goes
        on, and removed when the inputs have changed, and at the end. What all processes make `together` is kept of the
        first.
        """
        path = self.folder / name
        if not self.leads:
            return self._followed(name, of, make, together=together)
        if self.is_made(name, of):
            self.spent += float(self._marker(name).get("seconds", 0.0))
            self._say(f"{name}: made of the same before")
            return path
        if self._marker(name).get("of") != _plain(of) or self._marker(name).get("done"):
            _remove(path, *(self.folder / each for each in leaves))
            self._mark(name, {"of": _plain(of), "done": False})
        self._say(f"{name} …")
        with writing_to(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        make(path)
        seconds = time.monotonic() - started
        self._mark(name, {"of": _plain(of), "done": True, "seconds": round(seconds, 3)})
        _remove(*(self.folder / each for each in leaves))
        self.spent += seconds
        return path

    def _followed(self, name: str, of: Mapping[str, Any], make: Callable[[Path], object], *, together: bool) -> Path:
        """What the first process made, once it is there; if it fails, the launcher ends all of them."""
        if together and not self.is_made(name, of):
            with tempfile.TemporaryDirectory() as aside:
                make(Path(aside) / name)
        while not self.is_made(name, of):
            time.sleep(_LOOKS_AGAIN)
        return self.folder / name

    def is_made(self, name: str, of: Mapping[str, Any]) -> bool:
        """Whether the stage would be left out."""
        marker = self._marker(name)
        return bool(marker.get("done")) and marker["of"] == _plain(of) and (self.folder / name).exists()

    def _marker(self, name: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._marker_file(name).read_text(encoding="utf-8"))
            return found
        except (FileNotFoundError, ValueError):
            return {}

    def _mark(self, name: str, marker: Mapping[str, Any]) -> None:
        file = self._marker_file(name)
        with writing_to(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            whole = file.with_suffix(".tmp")
            whole.write_text(json.dumps(marker, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            os.replace(whole, file)

    def _marker_file(self, name: str) -> Path:
        return self.folder / _MARKERS / f"{name.replace('/', '_')}.json"


def leads() -> bool:
    """Whether this is the only process, or the first of those that `accelerate launch` started."""
    return os.environ.get("RANK", "0") == "0"


def content_of(path: str | Path) -> str:
    """The hash of a file, or of all files in a folder with their names; of nothing at all, where nothing is."""
    path = Path(path)
    digest = hashlib.sha256()
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    for file in files:
        with contextlib.suppress(FileNotFoundError), file.open("rb") as stream:
            digest.update(file.relative_to(path).as_posix().encode() if path.is_dir() else b"")
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _plain(of: Mapping[str, Any]) -> Any:
    """As JSON gives it back, so that a tuple equals the list that it is read as."""
    return json.loads(json.dumps(of, default=str))


def _remove(*paths: Path) -> None:
    for path in paths:
        with writing_to(path):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
