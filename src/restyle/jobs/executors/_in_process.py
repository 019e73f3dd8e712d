"""One worker in this very process: nothing to start, nothing to pickle, and a debugger works."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from restyle.jobs._worker import Failed, Ready, Reply, Work, answer, built


class InProcess:
    """Runs the work here. A record that kills its process kills the job: give two workers to survive it."""

    workers = 1

    def __init__(self, work: Any) -> None:
        self._given = work
        self._work: Work
        self._batch: list[bytes] | None = None

    def __enter__(self) -> InProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def start(self) -> int:
        """Nothing yet: the work is built when its reply is asked for."""
        return 0

    def send(self, worker: int, batch: list[bytes]) -> None:
        """Keep the batch until its reply is asked for."""
        self._batch = batch

    def reply(self) -> tuple[int, Reply]:
        """Build the work, or run it on the batch."""
        if self._batch is not None:
            return 0, answer(self._work, self._batch)
        try:
            self._work = built(self._given)
        except Exception as error:
            return 0, Failed.from_exception(error, building=True)
        return 0, Ready()
