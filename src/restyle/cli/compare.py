"""`restyle compare`: several systems side by side, and which differences are more than chance."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from restyle.cli._settings import with_settings
from restyle.cli._tables import FormatOption, TableFormat
from restyle.cli.score import EmbeddingsOption, HtmlOption, TableOption, naive_row, show, warnings_told, write_html
from restyle.evaluation import (
    OutputsSettings,
    ScoreSettings,
    Test,
    is_saved,
    load,
    published_outputs,
    read_outputs,
    score_systems,
)
from restyle.evaluation import compare as compared


@with_settings(ScoreSettings)
@with_settings(OutputsSettings, "about", config=False, only=("to", "inputs", "references", "column", "style_name"))
def compare(
    systems: Annotated[
        list[str] | None,
        typer.Argument(help="Outputs of systems, as `restyle score` reads them, or scorecards that it saved."),
    ] = None,
    *,
    about: OutputsSettings,
    settings: ScoreSettings,
    table: TableOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="Test every system against this one; otherwise all pairs.", show_default=False),
    ] = None,
    numbers: Annotated[
        str | None,
        typer.Option(help='What to test: "J GM bleu"; otherwise J and its factors.', show_default=False),
    ] = None,
    test: Annotated[str, typer.Option(help="bootstrap, or randomisation.")] = "bootstrap",
    format: FormatOption = TableFormat.text,
    html: HtmlOption = None,
    embeddings: EmbeddingsOption = None,
) -> None:
    """Compare systems on the same inputs: a leaderboard, and a paired test of every difference, corrected for many.

    \b
    restyle compare a.jsonl b.jsonl --html report.html
    restyle compare dlsm.card unmt.card --test randomisation --numbers "J GM"
    restyle compare --table strap-judged --metrics none --baseline dlsm
    """
    given = systems or []
    saved = [load(path).with_formulas(*settings.aggregate) for path in given if is_saved(path)]
    found = [each for path in given if not is_saved(path) for each in read_outputs(path, about)]
    if table is not None:
        found += published_outputs(table, about)
    with warnings_told():
        cards = saved + score_systems(
            found, settings, naive=naive_row(found, settings) if found else None, progress=None
        )
    comparison = compared(
        cards,
        numbers=numbers.split() if numbers else None,
        test=cast(Test, test),  # one that does not exist is refused by name
        baseline=baseline,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    write_html(html, comparison, embeddings, settings)
    show(comparison, cards, format)
