"""`restyle pairs`: building a set of paraphrase pairs, and what one is like."""

from __future__ import annotations

import sys
from typing import Annotated, cast

import typer

from restyle.cli._records import ColumnsOption, EncodingOption, OnErrorOption
from restyle.cli._settings import with_settings
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.errors import UsageError
from restyle.jobs import JobSettings
from restyle.pairs import ColumnNames, PairFiles, pair_quality
from restyle.pairs.plot import checked_plot, save_plot
from restyle.records import OnError

app = typer.Typer(help="Paraphrase pairs: build a training set, or measure one.", no_args_is_help=True)

FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(help="A .tsv, .jsonl (plain, .gz or .zst) or .parquet, or several; - is stdin.", show_default=False),
]
TextColumnOption = Annotated[str, typer.Option(help="The column of the text.")]
ParaphraseColumnOption = Annotated[str, typer.Option(help="The column of its paraphrase.")]
ScoreColumnOption = Annotated[str, typer.Option(help="The column of their similarity.")]


@app.command("stats")
@with_settings(JobSettings, "job", only=("workers", "executor", "address", "num_gpus"), config=False)
def stats(
    files: FilesArgument = None,
    similarity: Annotated[
        str, typer.Option(help="Where it comes from: column, a metric, auto (what there is), or off.")
    ] = "auto",
    plot: Annotated[
        str | None, typer.Option(help="Draw the table into this .png or .svg, too.", show_default=False)
    ] = None,
    text_column: TextColumnOption = "text",
    paraphrase_column: ParaphraseColumnOption = "paraphrase",
    score_column: ScoreColumnOption = "score",
    source_column: Annotated[str, typer.Option(help="The column that says where a pair is from.")] = "source",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
    *,
    job: JobSettings,
    format: FormatOption = TableFormat.text,
) -> None:
    """Similarity, unigram F1 and Kendall's tau of pairs, by source: Table 16 of Krishna et al. 2020.

    Diverse paraphrases have high similarity, low F1 and low tau; there, the diverse paraphraser has 0.725, 0.492 and
    0.46. A source is what the source column says, or else the file. Pairs that share fewer than two words have no tau:
    they are counted, and left out of its mean.

    \b
    restyle pairs stats kept.tsv
    restyle pairs stats quora.tsv.gz twitter.tsv.gz --plot diversity.svg --format json
    """
    if plot:
        checked_plot(plot)  # before the work, not after it
    read = pair_files(files, text_column, paraphrase_column, score_column, source_column, columns, encoding, on_error)
    quality = pair_quality(read, similarity_from=similarity, jobs=job)
    show(quality.rows(), format)
    if quality.skipped:
        typer.echo(f"restyle: {quality.skipped:,} bad lines skipped (the first: {quality.problems[0]})", err=True)
    if plot:
        save_plot(quality, plot)


@app.command("build")
def build(
    recipe: Annotated[str, typer.Argument(help="A TOML file: the sources, and what a pair of each must be.")],
    output: Annotated[str, typer.Option("--output", "-o", help="Where the pairs go: a .jsonl, plain, .gz or .zst.")],
    twin: Annotated[
        bool, typer.Option("--twin", help="The non-diverse twin of the set, for the ablation without diversity.")
    ] = False,
    format: FormatOption = TableFormat.text,
) -> None:
    """Build the training pairs of a paraphraser from public corpora, as a recipe describes them.

    What each source offered, what of it would have given away a test sentence, what the filter kept and what was taken
    is printed. The same recipe makes the same bytes.

    \b
    restyle pairs build recipes/strap/paraphrase_pairs.toml -o pairs.jsonl
    restyle pairs build recipes/strap/paraphrase_pairs.toml -o twin.jsonl --twin
    """
    from restyle.pairs.recipe import build as build_pairs

    show(build_pairs(recipe, output, twin=twin), format)


def pair_files(
    files: list[str] | None,
    text: str,
    paraphrase: str,
    score: str,
    source: str,
    columns: str | None,
    encoding: str,
    on_error: str,
) -> PairFiles:
    """What the options of a verb say of the files to read; UsageError when there is none and nothing is piped in."""
    if not files and sys.stdin.isatty():
        raise UsageError("no pairs were given; name one or more files, or pipe them in")
    names = tuple(name.strip() for name in columns.split(",")) if columns else None
    return PairFiles(
        tuple(files or ["-"]),
        names=ColumnNames(text, paraphrase, score, source),
        columns=names,
        encoding=encoding,
        on_error=cast(OnError, on_error),
    )
