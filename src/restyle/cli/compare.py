"""`restyle compare`: several systems side by side, and which differences are more than chance."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, cast

import typer

from restyle.cli._names import told_apart
from restyle.cli._settings import with_settings
from restyle.cli._tables import FormatOption, TableFormat
from restyle.cli.score import EmbeddingsOption, HtmlOption, TableOption, naive_row, show, warnings_told, write_html
from restyle.errors import UsageError
from restyle.evaluation import (
    Outputs,
    OutputsSettings,
    Scorecard,
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

    Systems of one name are told apart by their paths: r1/out.jsonl and r2/out.jsonl are r1/out and r2/out.

    \b
    restyle compare a.jsonl b.jsonl --html report.html
    restyle compare dlsm.card unmt.card --test randomisation --numbers "J GM"
    restyle compare --table strap-judged --metrics none --baseline dlsm
    """
    saved, found = _read(systems or [], table, about)
    saved = [card.with_formulas(*settings.aggregate) for card in saved]
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


def _read(paths: Sequence[str], table: str | None, about: OutputsSettings) -> tuple[list[Scorecard], list[Outputs]]:
    """The scorecards that were saved and the outputs that are still to be judged, each system with a name of its own.

    UsageError when one path is given twice.
    """
    if doubles := [path for path, times in Counter(map(os.path.abspath, paths)).items() if times > 1]:
        raise UsageError(f"{doubles[0]} was given twice; every system is compared once")
    saved = [(path, load(path)) for path in paths if is_saved(path)]
    found = [(path, each) for path in paths if not is_saved(path) for each in read_outputs(path, about)]
    if table is not None:
        found += [(table, each) for each in published_outputs(table, about)]
    names = iter(
        told_apart([(path, card.system) for path, card in saved] + [(source, each.system) for source, each in found])
    )
    cards = [replace(card, outputs=replace(card.outputs, system=next(names))) for _, card in saved]
    return cards, [replace(each, system=next(names)) for _, each in found]
