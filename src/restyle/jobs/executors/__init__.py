"""Where the work is done: in this process, in processes beside it, or in the actors of a Ray cluster."""

from __future__ import annotations

from typing import Any

from restyle.errors import UsageError
from restyle.jobs._settings import JobSettings
from restyle.jobs.executors._base import Executor


def executor_for(work: Any, settings: JobSettings) -> Executor:
    """The executor that the settings ask for; nothing is started yet."""
    if settings.executor == "ray":
        from restyle.jobs.executors._ray import RayActors

        return RayActors(work, settings.workers, settings.address, settings.num_gpus)
    if settings.num_gpus or settings.address:
        raise UsageError("num_gpus and address are for Ray: add executor='ray', or leave them out")
    if settings.workers == 1:
        from restyle.jobs.executors._in_process import InProcess

        return InProcess(work)
    from restyle.jobs.executors._processes import Processes

    return Processes(work, settings.workers)


__all__ = ["Executor", "executor_for"]
