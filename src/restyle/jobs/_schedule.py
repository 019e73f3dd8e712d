"""Which worker gets what next, and what follows when a batch fails.

A batch that raises or that kills its worker is cut into parts, and those that fail again into single records, so that
only the record at fault is set aside. What the workers hold is bounded by their number: a shard is read from the input
when a worker stands ready for it.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from restyle.errors import JobError
from restyle.jobs._settings import JobSettings
from restyle.jobs._shards import FinishedShard, Shard
from restyle.jobs._worker import Died, Done, Failed, Ready, Reply
from restyle.jobs.executors import Executor
from restyle.records import Record, json_line

# A batch that fails is cut into so many parts. Halves would kill a worker, and load its model again, ten times to find
# one record of a thousand; single records at once would give up all batching. This finds it in three rounds.
PARTS = 32


@dataclass(frozen=True)
class _Task:
    """A part of a shard: some of its lines and the place of the first; how many workers died over it."""

    shard: int
    start: int
    lines: list[bytes]
    deaths: int = 0


@dataclass
class _OpenShard:
    """A shard at work: the results of its parts by their place, and how many are missing."""

    shard: Shard
    missing: int = 1
    outputs: dict[int, list[bytes]] = field(default_factory=dict)
    poison: dict[int, bytes] = field(default_factory=dict)

    def finished(self) -> FinishedShard:
        outputs = [line for start in sorted(self.outputs) for line in self.outputs[start]]
        return FinishedShard(self.shard, outputs, [self.poison[start] for start in sorted(self.poison)])


class Schedule:
    """Runs shards on an executor and yields each as it finishes, not always in order.

    `ahead` bounds how far any shard may be ahead of the oldest unfinished one, for a caller that has to hold them to
    put them in order.
    """

    def __init__(
        self, executor: Executor, shards: Iterator[Shard], settings: JobSettings, *, ahead: int | None = None
    ) -> None:
        self._executor = executor
        self._shards = shards
        self._settings = settings
        self._ahead = ahead
        self._open: dict[int, _OpenShard] = {}  # oldest first
        self._waiting: deque[_Task] = deque()
        self._idle: list[int] = []
        self._busy: dict[int, _Task | None] = {}  # None: it builds the work
        self._newest = 0
        self._failed_in_a_row = 0

    def __iter__(self) -> Iterator[FinishedShard]:
        while True:
            self._hand_out()
            if not self._busy:
                return
            if finished := self._settle(*self._executor.reply()):
                yield finished

    def _hand_out(self) -> None:
        """Give every idle worker a task, and start workers for as many more tasks as there are."""
        while self._idle and self._have_waiting(1):
            worker, task = self._idle.pop(), self._waiting.popleft()
            self._busy[worker] = task
            self._executor.send(worker, task.lines)
        while len(self._busy) < self._executor.workers and self._have_waiting(self._building() + 1):
            self._busy[self._executor.start()] = None

    def _building(self) -> int:
        return sum(task is None for task in self._busy.values())

    def _have_waiting(self, count: int) -> bool:
        """Read shards until so many tasks wait; False when there are not so many left."""
        while len(self._waiting) < count:
            oldest = next(iter(self._open), None)
            if self._ahead and oldest is not None and self._newest - oldest >= self._ahead:
                return False
            shard = next(self._shards, None)
            if shard is None:
                return False
            self._newest = shard.index
            self._open[shard.index] = _OpenShard(shard)
            self._waiting.append(_Task(shard.index, 0, shard.lines))
        return True

    def _settle(self, worker: int, reply: Reply) -> FinishedShard | None:
        """Take a reply in; returns the shard that it completes."""
        task = self._busy.pop(worker)
        if not isinstance(reply, Died):
            self._idle.append(worker)
        if isinstance(reply, Failed) and reply.stops:
            raise reply.as_error()
        if task is None or isinstance(reply, Ready):
            if isinstance(reply, Died):
                raise JobError(f"the work could not be set up: {reply.problem}; what it printed says more")
            return None
        if isinstance(reply, Done):
            self._failed_in_a_row = 0
            self._open[task.shard].outputs[task.start] = reply.lines
        elif isinstance(reply, Died) and not task.deaths:
            # Workers are also taken away for reasons that lie in no record: a node that leaves, a full memory.
            self._waiting.appendleft(replace(task, deaths=1))
            return None
        elif len(task.lines) > 1:
            self._split(task)
            return None
        else:
            self._set_aside(task, reply.problem)
        return self._closed(task.shard)

    def _split(self, task: _Task) -> None:
        """Queue a failed task again in parts, before anything new."""
        size = math.ceil(len(task.lines) / PARTS)
        starts = range(0, len(task.lines), size)
        parts = [replace(task, start=task.start + at, lines=task.lines[at : at + size]) for at in starts]
        self._waiting.extendleft(reversed(parts))
        self._open[task.shard].missing += len(parts) - 1

    def _set_aside(self, task: _Task, problem: str) -> None:
        """Note the one record of a task as poison, or stop: where that is asked for, or where all records fail."""
        record: Record = json.loads(task.lines[0])
        if self._settings.on_error == "stop":
            raise JobError(f"record {record.get('id')!r} failed: {problem}; on_error='isolate' would set it aside")
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._settings.give_up_after:
            raise JobError(
                f"{self._failed_in_a_row} records in a row failed, the last {record.get('id')!r}: {problem}; if it is "
                "the records and not the work, raise give_up_after (--give-up-after)"
            )
        self._open[task.shard].poison[task.start] = json_line({**record, "error": problem}).encode()

    def _closed(self, index: int) -> FinishedShard | None:
        """The shard, if no part of it is missing any more."""
        self._open[index].missing -= 1
        return None if self._open[index].missing else self._open.pop(index).finished()
