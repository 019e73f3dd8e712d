"""`restyle rewrite`: say the same thing in another style."""

from __future__ import annotations

from typing import Annotated

import typer

from restyle.cli._records import (
    ColumnsOption,
    EncodingOption,
    InputOption,
    OnErrorOption,
    OutputOption,
    TextArguments,
    TextColumnOption,
    complain_about_skipped,
    given_records,
    output_format,
)
from restyle.cli._settings import with_settings
from restyle.jobs import JobSettings, run
from restyle.records import STDIO, ReadingReport
from restyle.rewriters.records import RewriteRecords, RewriteSettings, prepared
from restyle.settings import save_beside, to_dict


@with_settings(RewriteSettings)
@with_settings(JobSettings, "job", only=("workers", "executor", "shard_size", "address", "num_gpus"), config=False)
def rewrite(
    texts: TextArguments = None,
    *,
    settings: RewriteSettings,
    source: InputOption = None,
    output: OutputOption = STDIO,
    text_column: TextColumnOption = "text",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
    job: JobSettings,
    restart: Annotated[bool, typer.Option("--restart", help="Forget what an interrupted run had done.")] = False,
) -> None:
    """Rewrite text in another style.

    Text comes from the arguments, a file or a pipe. Plain text is answered with plain text, line by line; records with
    records: {"id", "input", "output", "target", "system"}, other keys carried through. A run into a file that was
    interrupted goes on when the same command is given again.

    \b
    restyle rewrite --corpus noir --to noir "It was raining again."
    restyle rewrite --corpus shakespeare --to shakespeare -i in.txt -o out.jsonl --workers 2
    cat in.jsonl | restyle rewrite --system copy --to modern > out.jsonl
    """
    rewriter = prepared(settings)
    report = ReadingReport()
    records = given_records(
        texts, source, text_column=text_column, columns=columns, encoding=encoding, on_error=on_error, report=report
    )
    format = output_format(output, report) if settings.candidates == 1 else "jsonl"
    done = run(
        RewriteRecords(rewriter, settings, as_text=format == "txt"),
        records,
        output,
        settings=job,
        identity=to_dict(settings),
        restart=restart,
        format=format,
        what="rewriting",
    )
    complain_about_skipped(report)
    if output != STDIO:
        save_beside(settings, output)
    if done.poisoned or output != STDIO:
        typer.echo(f"restyle: {done}", err=True)
