"""Workers as Ray actors, on a cluster that runs already or on one started here for the job."""

from __future__ import annotations

import logging
import os
import socket
from types import TracebackType
from typing import Any

from restyle.errors import JobError, MissingExtra
from restyle.jobs._worker import Died, Failed, Reply, Worker

_PATIENCE_SECONDS = 10


class RayActors:
    """A bounded number of actors, each with one worker, so that a model is loaded once per actor.

    Where the cluster has room for fewer actors than asked for, those that start do all the work.
    """

    def __init__(self, work: Any, workers: int, address: str | None, num_gpus: float) -> None:
        self._ray = _import_ray()
        self.workers = workers
        self._address = address
        self._num_gpus = num_gpus
        self._given = work
        self._ours = False
        self._started = 0
        self._actors: dict[int, Any] = {}
        # What each busy actor was asked; Ray's references carry no types.
        self._asked: dict[Any, int] = {}

    def __enter__(self) -> RayActors:
        if not self._ray.is_initialized():
            self._connect()
        # By value where it has to be: the nodes need not have the caller's script.
        self._work = self._ray.cloudpickle.dumps(self._given)
        # Without restarts and retries: whether a batch is tried again is for the job to say.
        self._actor = self._ray.remote(num_cpus=1, num_gpus=self._num_gpus, max_restarts=0, max_task_retries=0)(Worker)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._asked.clear()
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()
        if self._ours:
            self._ray.shutdown()

    def start(self) -> int:
        """Ask the cluster for one more actor and return its number."""
        self._started += 1
        actor = self._actors[self._started] = self._actor.remote()
        self._asked[actor.build.remote(self._work)] = self._started
        return self._started

    def send(self, worker: int, batch: list[bytes]) -> None:
        """Call the actor with a batch."""
        self._asked[self._actors[worker].answer.remote(batch)] = worker

    def reply(self) -> tuple[int, Reply]:
        """Wait until an actor answers or dies."""
        errors = self._ray.exceptions
        [answered], _ = self._ray.wait(list(self._asked), num_returns=1)
        worker = self._asked.pop(answered)
        try:
            reply: Reply = self._ray.get(answered)
        except errors.RayTaskError as error:
            # Workers answer with data, so this is Ray or the installation: another version of restyle on a node.
            return worker, Failed.from_exception(error, building=True)
        except errors.RayError as error:
            self._ray.kill(self._actors.pop(worker))
            return worker, Died(f"its Ray actor died ({type(error).__name__})")
        return worker, reply

    def _connect(self) -> None:
        """Join the cluster at the address, or at $RAY_ADDRESS; without one, start a cluster on this machine."""
        address = self._address or os.environ.get("RAY_ADDRESS")
        # Ray would tell its makers of every cluster that is started.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # What workers print would stand among the results on stdout.
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            if address:
                _knock(address)
                self._ray.init(address=address, **quiet)
            else:
                self._ray.init(address="local", include_dashboard=False, **quiet)
        except (OSError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            raise JobError(
                f"no Ray cluster at {address or 'this machine'}: {error}; start one with: ray start --head"
            ) from error
        self._ours = True
        if not address and self._num_gpus > self._ray.cluster_resources().get("GPU", 0):
            # A cluster elsewhere may add nodes with GPUs when asked; this machine never will.
            self._ray.shutdown()
            raise JobError(f"num_gpus is {self._num_gpus:g}, and this machine has fewer; give the address of a cluster")


def _knock(address: str) -> None:
    """OSError when nobody listens at host:port; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "//" not in host:
        socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()


def _import_ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtra("ray", "ray", "running a job on Ray") from error
    return ray
