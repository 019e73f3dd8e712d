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


def rewrite(
    texts: TextArguments = None,
    to: Annotated[str, typer.Option("--to", help="The style to write: see `restyle styles`.")] = "",
    system: Annotated[str, typer.Option(help="The system that rewrites: see `restyle systems`.")] = "retrieve",
    corpus: Annotated[
        str | None,
        typer.Option(help="The corpus that holds the style: a name, or a folder that you built.", show_default=False),
    ] = None,
    source: InputOption = None,
    output: OutputOption = "-",
    text_column: TextColumnOption = "text",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
    candidates: Annotated[int, typer.Option(min=1, help="Rewrites of each text, best first.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same words.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes, or Ray actors.")] = 1,
    executor: Annotated[str, typer.Option(help="local, or ray.")] = "local",
    restart: Annotated[bool, typer.Option("--restart", help="Forget what an interrupted run had done.")] = False,
) -> None:
    """Rewrite text in another style.

    Text comes from the arguments, a file or a pipe. Plain text is answered with plain text, line by line; records with
    records: {"id", "input", "output", "target", "system"}, other keys carried through. A run into a file that was
    interrupted goes on when the same command is given again.

    \b
    restyle rewrite --system retrieve --corpus noir --to noir "It was raining again."
    restyle rewrite --corpus shakespeare --to shakespeare -i in.txt -o out.jsonl --workers 2
    cat in.jsonl | restyle rewrite --system copy --to modern > out.jsonl
    """
    from restyle.errors import UsageError
    from restyle.jobs import JobSettings, run
    from restyle.records import ReadingReport
    from restyle.rewriters.records import RewriteRecords, prepared
    from restyle.settings import from_dict

    if not to:
        raise UsageError("no style was given; name it with --to (`restyle styles` lists those of the corpora)")
    settings = from_dict(JobSettings, {"workers": workers, "executor": executor}, where="rewrite")
    report = ReadingReport()
    records = given_records(
        texts, source, text_column=text_column, columns=columns, encoding=encoding, on_error=on_error, report=report
    )
    format = output_format(output, report) if candidates == 1 else "jsonl"
    options = {"candidates": candidates, "seed": seed}
    done = run(
        RewriteRecords(prepared(system, to, corpus), to, options, as_text=format == "txt"),
        records,
        output,
        settings=settings,
        identity={"system": system, "to": to, "corpus": corpus, **options},
        restart=restart,
        format=format,
        what="rewriting",
    )
    complain_about_skipped(report)
    if done.poisoned or output != "-":
        typer.echo(f"restyle: {done}", err=True)
