"""The two ways to run a job: into a file, resumable; or as a stream, in order, as it is produced."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from restyle._version import __version__
from restyle.jobs._folder import AsWritten, JobFolder
from restyle.jobs._report import JobReport
from restyle.jobs._schedule import Schedule
from restyle.jobs._settings import JobSettings
from restyle.jobs._shards import FinishedShard, cut
from restyle.jobs._worker import Work, arguments_of, name_of
from restyle.jobs.executors import executor_for
from restyle.progress import progress_bar
from restyle.records import STDIO, Format, Record, RecordWriter
from restyle.settings import from_dict, to_dict

# How many shards for each worker a stream may hold back while it waits for an earlier one.
_AHEAD = 4


def run(
    work: Work | Callable[[], Work],
    records: Iterable[Record],
    output: str | Path,
    *,
    settings: JobSettings | None = None,
    identity: Mapping[str, Any] | None = None,
    restart: bool = False,
    format: Format | None = None,
    what: str = "working",
    total: int | None = None,
    shown: bool | None = None,
    as_written: AsWritten | None = None,
) -> JobReport:
    """Run a function over records of any number and write what it returns, in the order of the input.

    `work` takes a list of records and returns records: as many, fewer or more. A class, or a `functools.partial` of
    one, is made once on every worker, for instance to load a model, and what it makes is called. It should treat each
    record for itself, and draw randomness from a seed of its own: then the same bytes come out of any executor with
    any number of workers. With more than one it must be importable: defined at the top of a module.

    What is done is kept in `OUTPUT.job` until the output is written, all at once, at the end. After a crash, a kill or
    Ctrl-C the same call goes on where it was. `identity` is what the result depends on beside the input (settings,
    versions, a model's hash; by default the arguments of a `functools.partial`): a job is only resumed if it is
    unchanged, unless `restart` throws away what was done.

    A record on which the work raises, or which kills a worker, is set aside in `OUTPUT.poison.jsonl` with its error
    (`on_error="stop"` stops instead). With one local worker, which is this very process, a record that kills it kills
    the job; two workers survive it.

    `as_written` makes of each result what the output holds of it, for instance its text alone; what is kept while the
    job runs is whole. The output `-` is stdout: it streams, and cannot be resumed. `what`, `total` and `shown` are for
    the progress bar.

    Raises JobError when the job cannot go on, and whatever RestyleError the work raised while it was made.

    >>> run(Shakespearean, read_records("in.txt"), "out.jsonl", settings=JobSettings(workers=2))  # doctest: +SKIP
    JobReport(read=18395, written=18395, poisoned=0, resumed=0, problems=[], poison_file=None)
    """
    settings = _checked(settings)
    if str(output) == STDIO:
        return _run_to_stdout(work, records, settings, format, what, total, shown, as_written)
    dependencies = {"work": name_of(work), "shard_size": settings.shard_size, "restyle": __version__}
    if identity is None:
        # A caller that says nothing must not get half of the results from other arguments.
        identity = {"arguments": arguments_of(work)}
    with JobFolder(output) as folder, _resumable():
        folder.begin({**dependencies, **identity}, restart=restart)
        done = folder.records_done()
        todo = folder.unfinished(cut(records, settings.shard_size))
        with executor_for(work, settings) as executor, progress_bar(what, total, shown=shown, done=done) as advance:
            for finished in Schedule(executor, todo, settings):
                folder.save(finished)
                advance(len(finished.shard.lines))
        return replace(folder.merge(format, as_written), resumed=done)


def stream(
    work: Work | Callable[[], Work],
    records: Iterable[Record],
    *,
    settings: JobSettings | None = None,
    report: JobReport | None = None,
) -> Iterator[Record]:
    """Run a function over records and yield what it returns, in the order of the input, as it is produced.

    As `run`, but nothing is written and nothing can be resumed. A record that fails is counted in `report`; without
    one to be counted in, it stops the stream. Results come a shard at a time: a small `shard_size` brings them sooner.
    """
    for finished in _in_order(work, records, _checked(settings), report):
        yield from map(json.loads, finished.outputs)


def _in_order(
    work: Any, records: Iterable[Record], settings: JobSettings, report: JobReport | None
) -> Iterator[FinishedShard]:
    if report is None:
        settings, report = replace(settings, on_error="stop"), JobReport()
    held: dict[int, FinishedShard] = {}
    next_index = 0
    ahead = _AHEAD * settings.workers
    with executor_for(work, settings) as executor:
        for finished in Schedule(executor, cut(records, settings.shard_size), settings, ahead=ahead):
            held[finished.shard.index] = finished
            while due := held.pop(next_index, None):
                next_index += 1
                report.count(read=len(due.shard.lines), written=len(due.outputs))
                for line in due.poison:
                    report.poison(json.loads(line))
                yield due


def _run_to_stdout(
    work: Any,
    records: Iterable[Record],
    settings: JobSettings,
    format: Format | None,
    what: str,
    total: int | None,
    shown: bool | None,
    as_written: AsWritten | None,
) -> JobReport:
    report = JobReport()
    # On one terminal, a bar and the results would write over each other.
    shown = False if shown is None and sys.stdout.isatty() else shown
    with RecordWriter(STDIO, format=format) as writer, progress_bar(what, total, shown=shown) as advance:
        for finished in _in_order(work, records, settings, report):
            for line in finished.outputs:
                record = json.loads(line)
                writer.write(as_written(record) if as_written else record)
            sys.stdout.flush()
            advance(len(finished.shard.lines))
    return report


@contextlib.contextmanager
def _resumable() -> Iterator[None]:
    """Have a Ctrl-C say that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on where this one was") from None


def _checked(settings: JobSettings | None) -> JobSettings:
    """Settings within their bounds: zero workers would do nothing, without a word."""
    return from_dict(JobSettings, to_dict(settings or JobSettings()))
