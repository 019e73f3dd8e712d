"""The job folder: what an unfinished job has done so far, on the disk beside its output.

    out.jsonl.job/job.json                what the job is: which work, which settings, which versions
    out.jsonl.job/lock                    held by the process that works on it; the system frees it when that dies
    out.jsonl.job/shards/000000042.jsonl  a finished shard: a header line, the output records, the poison records

A shard's file gets its name when it is whole and on the disk, so that the name is the marker of completion. The header
holds the hash of the shard's input, by which a job that goes on sees that it is still the same.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from restyle.errors import JobError, OutputError
from restyle.jobs._report import JobReport
from restyle.jobs._shards import FinishedShard, Shard
from restyle.records import Format, Record, RecordWriter, writing_to

_START_OVER = "start over with restart=True (--restart)"


@dataclass(frozen=True)
class _Header:
    """The first line of a shard's file."""

    input: str  # the hash of the shard's input
    read: int
    written: int
    poisoned: int


# Makes of a result what the output holds of it.
AsWritten = Callable[[Record], Record]


class JobFolder:
    """What a job has done so far; as a context, it holds the job against any other process."""

    def __init__(self, output: str | Path) -> None:
        self.output = Path(output)
        self.path = Path(f"{output}.job")
        self.poison_file = Path(f"{output}.poison.jsonl")
        self._shards = self.path / "shards"
        self._identity = self.path / "job.json"
        self._lock: IO[str]
        self._merged = False

    def __enter__(self) -> JobFolder:
        if self.output.is_dir():
            raise OutputError(f"cannot write {self.output}: it is a folder; name a file")
        with writing_to(self.path):
            self._lock = self._locked()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the folder where it is of no more use, then free the lock: never the other way, others wait for it."""
        if self._merged or not self._finished():
            # First what makes it a job, so that a folder half removed by a kill is not taken for one.
            with contextlib.suppress(OSError):
                self._identity.unlink(missing_ok=True)
                shutil.rmtree(self.path)
        self._lock.close()

    def begin(self, identity: dict[str, Any], *, restart: bool) -> None:
        """Take up the job, or start it; JobError when another one lies here."""
        # As JSON has it, so that a tuple equals the list it is read back as.
        identity = json.loads(json.dumps(identity, default=str))
        if self._finished() and self._identity.exists() and not restart:
            self._check(identity)
        elif self._shards.exists():
            with writing_to(self.path):
                shutil.rmtree(self._shards)
        with writing_to(self.path):
            self._shards.mkdir(exist_ok=True)
            _write_whole(self._identity, [json.dumps(identity, ensure_ascii=False, indent=2).encode()])

    def unfinished(self, shards: Iterable[Shard]) -> Iterator[Shard]:
        """The shards that are still to be done; JobError when one that is done had another input, or is not there."""
        count = 0
        for shard in shards:
            count += 1
            header = self._header(self._file(shard.index))
            if header is None:
                yield shard
            elif header.input != shard.digest:
                raise self._changed_at(shard)
        if any(int(file.stem) >= count for file in self._finished()):
            raise JobError(
                f"the input is shorter than when {self.path} was begun: give the old input, or {_START_OVER}"
            )

    def records_done(self) -> int:
        """How many input records the finished shards hold."""
        return sum(header.read for header in map(self._header, self._finished()) if header)

    def save(self, finished: FinishedShard) -> None:
        """Put a finished shard on the disk, whole or not at all."""
        header = _Header(finished.shard.digest, len(finished.shard.lines), len(finished.outputs), len(finished.poison))
        first = json.dumps(asdict(header)).encode() + b"\n"
        with writing_to(self.path):
            _write_whole(self._file(finished.shard.index), [first, *finished.outputs, *finished.poison])

    def merge(self, format: Format | None, as_written: AsWritten | None = None) -> JobReport:
        """Write the output and the poison file from all shards in order; the folder is then of no more use."""
        report = JobReport()
        with ExitStack() as files:
            poison: RecordWriter | None = None
            output = files.enter_context(RecordWriter(self.output, format=format))
            for file in self._finished():
                with file.open("rb") as lines:
                    header = _Header(**json.loads(next(lines)))
                    report.count(read=header.read, written=header.written)
                    for line in itertools.islice(lines, header.written):
                        record = json.loads(line)
                        self._write(output, as_written(record) if as_written else record)
                    for line in lines:
                        poison = poison or files.enter_context(RecordWriter(self.poison_file))
                        record = json.loads(line)
                        poison.write(record)
                        report.poison(record)
        if poison:
            report.poison_file = self.poison_file
        else:
            # One that an earlier job left would be taken for this one's.
            with writing_to(self.poison_file):
                self.poison_file.unlink(missing_ok=True)
        self._merged = True
        return report

    def _write(self, output: RecordWriter, record: dict[str, Any]) -> None:
        try:
            output.write(record)
        except OutputError as error:
            if isinstance(error.__cause__, OSError):
                raise
            other = self.output.with_suffix(".jsonl")
            raise OutputError(
                f"{error}. All results are kept: mv {self.path} {other}.job, then run again with the output {other}"
            ) from None

    def _check(self, identity: dict[str, Any]) -> None:
        """JobError when the finished shards were made by another job."""
        before = json.loads(self._identity.read_text(encoding="utf-8"))
        changed = [key for key in sorted(before.keys() | identity.keys()) if before.get(key) != identity.get(key)]
        if changed:
            was = ", ".join(f"{key}={before.get(key)!r}" for key in changed)
            now = ", ".join(f"{key}={identity.get(key)!r}" for key in changed)
            raise JobError(
                f"{self.path} holds an unfinished job with {was}, and now it is {now}: go on with the old, "
                f"write to another output, or {_START_OVER}"
            )

    def _changed_at(self, shard: Shard) -> JobError:
        first, last = (json.loads(line).get("id") for line in (shard.lines[0], shard.lines[-1]))
        return JobError(
            f"the input has changed since {self.path} was begun, between the records {first!r} and {last!r}: "
            f"give the old input, or {_START_OVER}"
        )

    def _file(self, index: int) -> Path:
        return self._shards / f"{index:09}.jsonl"

    def _finished(self) -> list[Path]:
        return sorted(self._shards.glob("*.jsonl"))

    def _header(self, file: Path) -> _Header | None:
        try:
            with file.open("rb") as lines:
                return _Header(**json.loads(lines.readline()))
        except FileNotFoundError:
            return None

    def _locked(self) -> IO[str]:
        """The lock of the folder, made first where there is none."""
        with ExitStack() as opened:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = opened.enter_context((self.path / "lock").open("a", encoding="utf-8"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise JobError(
                    f"another process is writing {self.output}: wait until it is done, or choose another output"
                ) from None
            # That process may have removed the folder, when it was done, after the file was opened.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock.fileno()), os.stat(lock.name)):
                    opened.pop_all()
                    return lock
        return self._locked()


def _write_whole(file: Path, parts: Iterable[bytes]) -> None:
    """Write a file that has its name only when it is whole and on the disk."""
    temporary = file.with_suffix(".tmp")
    with temporary.open("wb") as stream:
        stream.writelines(parts)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
