"""What every executor can do: start a worker, hand it a batch, wait for the next answer."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from restyle.jobs._worker import Reply


class Executor(Protocol):
    """Workers by number; each has at most one batch, so what is in flight is bounded by their count."""

    workers: int

    def __enter__(self) -> Executor: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let every worker go, whatever it is at."""

    def start(self) -> int:
        """Start one more worker and return its number; its first reply says whether the work could be built."""

    def send(self, worker: int, batch: list[bytes]) -> None:
        """Hand a batch to a worker that stands idle; returns before it is done."""

    def reply(self) -> tuple[int, Reply]:
        """Wait until some worker has something to say; one that died has said its last."""
