"""Workers as processes of this machine, each at the end of its own pipe.

Not a concurrent.futures pool: when a worker dies it breaks as a whole and does not say over which batch, and when the
parent is killed its workers wait for ever. Over a pipe of its own, a worker that dies names its batch, and one whose
parent died reads the end of the pipe and goes.

Processes are spawned: a fork of a program that has loaded torch inherits locks held by threads that do not exist in the
child. A forkserver would save each worker the interpreter's start, 0.1 s beside seconds for a model, for one process
more to explain.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, cast

from restyle.errors import UsageError
from restyle.jobs._worker import Died, Reply, Worker, name_of

# How long a worker that is told to go may take over it before it is killed.
_PATIENCE_SECONDS = 5


@dataclass
class _Process:
    process: BaseProcess
    pipe: Connection[Any, Any]
    busy: bool = True


class Processes:
    """A bounded number of worker processes on this machine."""

    def __init__(self, work: Any, workers: int) -> None:
        self.workers = workers
        self._work = _pickled(work)
        self._context = multiprocessing.get_context("spawn")
        self._processes: dict[int, _Process] = {}
        self._started = 0
        self._speaking: deque[int] = deque()

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all pipes, which idle workers take as the end; kill those amid a batch, which nobody waits for."""
        for worker in self._processes.values():
            worker.pipe.close()
            if worker.busy:
                worker.process.kill()
        for worker in self._processes.values():
            _bury(worker.process)
        self._processes.clear()

    def start(self) -> int:
        """Start one more process and return its number."""
        ours, theirs = self._context.Pipe()
        threads = max(1, (os.cpu_count() or 1) // self.workers)
        process = self._context.Process(target=_serve, args=(theirs, self._work, threads), daemon=True)
        with _deaf_to_ctrl_c():
            process.start()
        # With our copy closed, the pipe ends when the worker does.
        theirs.close()
        self._started += 1
        self._processes[self._started] = _Process(process, ours)
        return self._started

    def send(self, worker: int, batch: list[bytes]) -> None:
        """Write a batch into a worker's pipe; it is idle and reads, so this does not wait."""
        self._processes[worker].busy = True
        # A worker that died while it stood idle is told of by the next reply, as any other death.
        with contextlib.suppress(BrokenPipeError):
            self._processes[worker].pipe.send(batch)

    def reply(self) -> tuple[int, Reply]:
        """Wait until a worker answers or dies."""
        if not self._speaking:
            # All that speak are heard before any is waited for again, so that none is starved.
            busy = {worker.pipe: number for number, worker in self._processes.items() if worker.busy}
            self._speaking.extend(busy[cast("Connection[Any, Any]", pipe)] for pipe in wait(list(busy)))
        number = self._speaking.popleft()
        worker = self._processes[number]
        try:
            reply: Reply = worker.pipe.recv()
        except (EOFError, OSError):
            del self._processes[number]
            worker.pipe.close()
            _bury(worker.process)
            return number, Died(_cause_of_death(worker.process.exitcode))
        worker.busy = False
        return number, reply


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes started in the block never notice a Ctrl-C, which reaches all of a terminal: this one acts on it."""
    # The first start of a process starts this one too, which lifts the block.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection[Any, Any], work: bytes, threads: int) -> None:
    """The life of a worker process: build the work, then answer batches until the pipe ends."""
    # Results stand on stdout; what the work prints goes to stderr.
    os.dup2(2, 1)
    # Else every worker's linear algebra takes all cores, and they stand in each other's way.
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    worker = Worker()
    # The parent has gone when the pipe is broken; there is nobody left to tell.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        pipe.send(worker.build(work))
        while True:
            pipe.send(worker.answer(pipe.recv()))


def _pickled(work: Any) -> bytes:
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(
            f"the work {name_of(work)} cannot be sent to worker processes ({error}): define it at the top of a module, "
            "or use one worker"
        ) from None


def _bury(process: BaseProcess) -> None:
    process.join(_PATIENCE_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()


def _cause_of_death(code: int | None) -> str:
    if code is None or code >= 0:
        return f"its worker process ended with exit code {code}"
    name = signal.Signals(-code).name
    return f"its worker process was killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
