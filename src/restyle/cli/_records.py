"""The options that every verb shares which reads records and writes records."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Annotated, cast

import typer

from restyle.errors import UsageError
from restyle.records import OnError, ReadingReport, Record, read_records

TextArguments = Annotated[
    list[str] | None, typer.Argument(help="Text given here, one sentence an argument.", show_default=False)
]
InputOption = Annotated[
    str | None,
    typer.Option(
        "--input", "-i", help="A .txt, .jsonl, .tsv or .csv, plain, .gz or .zst; - is stdin.", show_default=False
    ),
]
OutputOption = Annotated[str, typer.Option("--output", "-o", help="Where to write; - is stdout.")]
TextColumnOption = Annotated[str, typer.Option(help="The field that holds the text.")]
ColumnsOption = Annotated[
    str | None,
    typer.Option(help="The columns of a table without a header line: id,text,label.", show_default=False),
]
EncodingOption = Annotated[str, typer.Option(help="The encoding of the input.")]
OnErrorOption = Annotated[str, typer.Option(help="A bad line: stop there, or skip it and count.")]


def given_records(
    texts: list[str] | None,
    source: str | None,
    *,
    text_column: str = "text",
    columns: str | None = None,
    encoding: str = "utf-8",
    on_error: str = "stop",
    report: ReadingReport,
) -> Iterator[Record]:
    """The records of the arguments, or of the file, or of what is piped in; UsageError when there is none of them.

    The first is read at once, so that `report` knows the format and a bad file is told before anything long begins.
    """
    if texts and source:
        raise UsageError("text was given both as an argument and with --input; choose one")
    if texts:
        return iter([{"id": str(number), "text": text} for number, text in enumerate(texts, 1)])
    if source is None and sys.stdin.isatty():
        raise UsageError('no text was given; give it in quotes ("Are you crazy?"), with --input FILE, or pipe it in')
    if on_error not in ("stop", "skip"):
        raise UsageError(f"--on-error is {on_error!r}; it can be stop or skip")
    records = read_records(
        source or "-",
        text_column=text_column,
        columns=[name.strip() for name in columns.split(",")] if columns else None,
        encoding=encoding,
        on_error=cast(OnError, on_error),
        report=report,
    )
    return _begun(records)


def _begun(records: Iterator[Record]) -> Iterator[Record]:
    """The same records, the first of them read already."""
    first = next(records, None)
    return itertools.chain([] if first is None else [first], records)


def complain_about_skipped(report: ReadingReport) -> None:
    """Say on stderr how many lines were skipped; nothing when there were none."""
    if report.skipped:
        typer.echo(f"restyle: {report}", err=True)
