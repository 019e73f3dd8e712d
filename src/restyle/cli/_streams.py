"""What every verb shares that reads records, does something to each, and writes them."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, cast, get_args

import typer

from restyle.cli._records import (
    ColumnsOption,
    EncodingOption,
    InputOption,
    OnErrorOption,
    OutputOption,
    TextArguments,
    TextColumnOption,
)
from restyle.cli._settings import flags_of, with_flags
from restyle.errors import UsageError
from restyle.jobs import JobReport, JobSettings, run
from restyle.records import STDIO, Format, OnError, ReadingReport, Record, format_of, read_records
from restyle.settings import resolve

_JOB_FLAGS = ("workers", "executor", "shard_size", "address", "num_gpus", "give_up_after")


@dataclass(frozen=True)
class Streams:
    """Where the records of a verb come from and go to, and how the work on them is run."""

    texts: list[str] | None = None
    source: str | None = None
    output: str = STDIO
    text_column: str = "text"
    columns: str | None = None
    encoding: str = "utf-8"
    on_error: str = "stop"
    restart: bool = False
    job: JobSettings = JobSettings()

    @property
    def to_stdout(self) -> bool:
        """Whether the results are printed, and nothing can be resumed."""
        return self.output == STDIO

    def run(
        self,
        work: Any,
        *,
        what: str,
        identity: Mapping[str, Any] | None = None,
        text: str | None = "text",
    ) -> None:
        """Run work over the records and write what it returns; say on stderr what was skipped or failed.

        `text` names the field that a plain text file gets, line by line; None when it could not hold the results.
        Exits with 1 when a record failed.
        """
        report = ReadingReport()
        records = self._records(report)
        format = self._format(report, text)
        job = self.job
        if format == "txt":
            # Line n answers line n: a record that failed must not shift the others.
            job = replace(job, on_error="stop")
        done = run(
            work,
            records,
            self.output,
            settings=job,
            identity=identity,
            restart=self.restart,
            format=format,
            what=what,
            as_written=_line_of(text) if format == "txt" and text else None,
        )
        self._say(report, done)

    def _records(self, report: ReadingReport) -> Iterator[Record]:
        """The records of the arguments, or of the file, or of what is piped in.

        The first is read at once, so that `report` knows the format and a bad file is told before anything long begins.
        """
        if self.on_error not in get_args(OnError):
            raise UsageError(f"--on-error is {self.on_error!r}; it can be {' or '.join(get_args(OnError))}")
        if self.texts:
            if self.source is not None:
                raise UsageError("text was given both as an argument and with --input; choose one")
            return iter([{"id": str(number), "text": text} for number, text in enumerate(self.texts, 1)])
        if self.source is None and sys.stdin is not None and sys.stdin.isatty():
            raise UsageError(
                'no text was given; give it in quotes ("Are you crazy?"), with --input FILE, or pipe it in'
            )
        records = read_records(
            STDIO if self.source is None else self.source,
            text_column=self.text_column,
            columns=[name.strip() for name in self.columns.split(",")] if self.columns else None,
            encoding=self.encoding,
            on_error=cast(OnError, self.on_error),
            report=report,
        )
        first = next(records, None)
        return itertools.chain([] if first is None else [first], records)

    def _format(self, report: ReadingReport, text: str | None) -> Format:
        """That of the output's name; on stdout, plain text answers plain text and records answer anything else."""
        if not self.to_stdout:
            format = format_of(self.output) or "jsonl"
            if text is None and format != "jsonl":
                raise UsageError(f"{self.output} cannot hold all of a result: name a .jsonl, plain, .gz or .zst")
            return format
        return "txt" if text and report.format in (None, "txt") else "jsonl"

    def _say(self, report: ReadingReport, done: JobReport) -> None:
        if report.skipped:
            typer.echo(f"restyle: {report}", err=True)
        if done.poisoned or not self.to_stdout:
            typer.echo(f"restyle: {done}", err=True)
        if done.poisoned:
            raise typer.Exit(1)


def _line_of(field: str) -> Callable[[Record], Record]:
    return lambda record: {"id": record["id"], "text": record[field]}


def with_streams(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the flags of `Streams`, and of the job that runs it, in the place of its parameter `streams`."""
    own = {
        name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, default, annotation in _FLAGS
    }
    job = flags_of(JobSettings, _JOB_FLAGS)

    def streams(**given: Any) -> Streams:
        chosen = resolve(JobSettings, None, {name: given.pop(name) for name in job})
        return Streams(**given, job=chosen)

    return with_flags("streams", own | job, streams)(verb)


_FLAGS: tuple[tuple[str, Any, Any], ...] = (
    ("texts", None, TextArguments),
    ("source", None, InputOption),
    ("output", STDIO, OutputOption),
    ("text_column", "text", TextColumnOption),
    ("columns", None, ColumnsOption),
    ("encoding", "utf-8", EncodingOption),
    ("on_error", "stop", OnErrorOption),
    ("restart", False, Annotated[bool, typer.Option("--restart", help="Forget what an interrupted run had done.")]),
)
