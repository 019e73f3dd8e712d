"""A worker: builds the work once, then answers batch after batch. The same class serves every executor.

What it answers is data, never an exception: not every exception survives the way between two processes.
"""

from __future__ import annotations

import functools
import json
import pickle
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from restyle import errors
from restyle.errors import AssetError, JobError, MissingExtra, RestyleError, UsageError
from restyle.records import Record, json_line

Work = Callable[[list[Record]], Iterable[Record]]


@dataclass(frozen=True)
class Ready:
    """The work is built."""


@dataclass(frozen=True)
class Done:
    """A batch is through: the records that the work returned, as lines of JSON."""

    lines: list[bytes]


@dataclass(frozen=True)
class Died:
    """The worker is gone, and took its batch with it."""

    problem: str


@dataclass(frozen=True)
class Failed:
    """The work raised. `stops` when no record is to blame, so that the job has to end."""

    problem: str
    stops: bool
    kind: str  # the nearest class of restyle.errors
    trace: str

    @classmethod
    def from_exception(cls, error: Exception, *, building: bool = False) -> Failed:
        """An exception as data."""
        known = next((base for base in type(error).__mro__ if base.__module__ == errors.__name__), None)
        message = " ".join(str(error).split())
        if not known:
            message = f"{type(error).__name__}: {message}".removesuffix(": ")
            message = f"the work could not be set up: {message}" if building else message
        return cls(
            problem=message,
            stops=building or isinstance(error, (AssetError, MissingExtra, UsageError, WrongWork)),
            kind=known.__name__ if known else JobError.__name__,
            trace="".join(traceback.format_exception(error)),
        )

    def as_error(self) -> RestyleError:
        """The exception again, with the worker's traceback as its cause."""
        cls: type[RestyleError] = getattr(errors, self.kind)
        # Not cls(message): several have other parameters, from which they make their message.
        error = cls.__new__(cls, self.problem)
        error.__cause__ = WorkerTraceback(self.trace)
        return error


Reply = Ready | Done | Failed | Died


class WorkerTraceback(Exception):
    """The traceback of another process, shown by `--debug`."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class WrongWork(JobError):
    """The work does not return records."""


class Worker:
    """Builds the work and runs it on batches; one per process or actor."""

    def __init__(self) -> None:
        self._work: Work

    def build(self, pickled: bytes) -> Reply:
        """Load the work, and make it first if it is a class: Ready, or Failed."""
        try:
            self._work = built(pickle.loads(pickled))
        except Exception as error:
            return Failed.from_exception(error, building=True)
        return Ready()

    def answer(self, batch: list[bytes]) -> Reply:
        """Run the work on a batch: Done, or Failed."""
        return answer(self._work, batch)


def answer(work: Work, batch: list[bytes]) -> Reply:
    """Run the work on a batch of lines: Done, or Failed."""
    try:
        return Done([_line(work, record) for record in _results(work, [json.loads(line) for line in batch])])
    except Exception as error:
        return Failed.from_exception(error)


def built(work: Any) -> Work:
    """The callable itself, made first where `work` is a class, or a `functools.partial` of one."""
    made: Work = work() if isinstance(_innermost(work), type) else work
    if not callable(made):
        raise WrongWork(f"the work {name_of(work)} is not callable; a function of a list of records was expected")
    return made


def name_of(work: Any) -> str:
    """What the work is called, as `module:name`."""
    inner = _innermost(work)
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{named.__module__}:{named.__qualname__}"


def arguments_of(work: Any) -> list[str]:
    """What a `functools.partial` of the work holds: with other arguments, it is another job."""
    arguments: list[str] = []
    while isinstance(work, functools.partial):
        arguments += [
            *map(_shown, work.args),
            *(f"{key}={_shown(work.keywords[key])}" for key in sorted(work.keywords)),
        ]
        work = work.func
    return arguments


def _shown(argument: Any) -> str:
    shown = repr(argument)
    # Without a repr of its own, an object shows where it lies in memory, which says nothing in another process.
    return name_of(argument) if " at 0x" in shown else shown


def _innermost(work: Any) -> Any:
    while isinstance(work, functools.partial):
        work = work.func
    return work


def _results(work: Work, batch: list[Record]) -> Iterable[Record]:
    results = work(batch)
    if isinstance(results, (dict, str)) or not isinstance(results, Iterable):
        raise WrongWork(f"the work {name_of(work)} returned {type(results).__name__}; a list of records was expected")
    return results


def _line(work: Work, record: Record) -> bytes:
    if not isinstance(record, dict):
        raise WrongWork(f"the work {name_of(work)} returned a list of {type(record).__name__}; records are dicts")
    return json_line(record).encode()
