"""`restyle filter`: keep the pairs that say the same thing in other words."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from restyle.cli._records import ColumnsOption, EncodingOption, OnErrorOption, OutputOption
from restyle.cli._settings import with_settings
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.cli.pairs import (
    FilesArgument,
    ParaphraseColumnOption,
    ScoreColumnOption,
    TextColumnOption,
    pair_files,
)
from restyle.jobs import JobSettings
from restyle.pairs import FilterReport, FilterSettings, explain_pair, filter_files
from restyle.pairs import preset as preset_called
from restyle.records import STDIO


@with_settings(FilterSettings, with_base=True)
@with_settings(JobSettings, "job", only=("workers", "executor", "address", "num_gpus"), config=False)
def filter_pairs(
    files: FilesArgument = None,
    output: OutputOption = STDIO,
    preset: Annotated[str, typer.Option(help="strap-a1, strap-2.4, pang-gimpel or loose.")] = "strap-a1",
    explain: Annotated[
        bool, typer.Option("--explain", help="Write every pair, with what each stage measured and which dropped it.")
    ] = False,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Explain this one pair: a text and its paraphrase.", show_default=False),
    ] = None,
    *,
    settings: Callable[..., FilterSettings],
    text_column: TextColumnOption = "text",
    paraphrase_column: ParaphraseColumnOption = "paraphrase",
    score_column: ScoreColumnOption = "score",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
    job: JobSettings,
    restart: Annotated[bool, typer.Option("--restart", help="Forget what an interrupted run had done.")] = False,
    format: FormatOption = TableFormat.text,
) -> None:
    """Keep the paraphrase pairs that say the same thing in other words, in another order.

    Pairs come as TSV (with a header line, or as in ParaNMT: text, paraphrase, score), JSONL or Parquet. Survivors keep
    their order and, in the same format, their bytes. Then comes the table of survivors after each stage, and what each
    cost in seconds of the processor; finding the words, for it and those after it, is what "empty" costs. A run into a
    file that was interrupted goes on with the same command. The defaults below are those of the preset strap-a1.

    \b
    restyle filter para-nmt-50m.txt -o kept.tsv --workers 2
    restyle filter a.tsv.gz b.jsonl -o kept.jsonl --preset strap-2.4 --duplicates near --sample-dropped 20
    restyle filter --pair "Are you crazy?" "Art thou mad?"
    zcat pairs.tsv.gz | restyle filter --explain > why.jsonl
    """
    chosen = settings(base=preset_called(preset))
    if pair:
        show(explain_pair(*pair, chosen), format)
        return
    read = pair_files(files, text_column, paraphrase_column, score_column, "source", columns, encoding, on_error)
    report = filter_files(read, output, chosen, explain=explain, jobs=job, restart=restart)
    typer.echo(f"restyle: {report}", err=True)
    # Where the survivors went to stdout, the table would stand among them.
    with contextlib.redirect_stdout(sys.stderr if output == STDIO else sys.stdout):
        _show(report, format)


def _show(report: FilterReport, format: TableFormat) -> None:
    if format == TableFormat.json:
        show([report.to_dict()], format)
        return
    show(report.rows(), format)
    if report.samples:
        sys.stdout.write("\n")
        show(report.shown_samples(), format)
