"""`restyle study report`, `export`, `import` and `correlate`: what comes out of a study, and what comes back to it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from restyle.cli._settings import with_settings
from restyle.cli._study_stores import (
    STORE,
    URL,
    FileArgument,
    ProtocolOption,
    PublishedOption,
    StoreOption,
    UrlOption,
    admin_link,
    judged_of,
    opened,
)
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.cli.score import HtmlOption
from restyle.errors import UsageError
from restyle.evaluation import load
from restyle.records import STDIO, format_of, write_records, writing_to
from restyle.study import Judged, load_protocol, read_judged
from restyle.study._batches import ColumnSettings

ScorecardOption = Annotated[
    list[str] | None,
    typer.Option("--scorecard", help="A scorecard of a system that `restyle score --save` wrote; may be repeated."),
]
ResamplesOption = Annotated[int, typer.Option(help="Bootstrap resamples of intervals and tests.", min=1)]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same intervals.", min=0)]


def report(
    file: FileArgument = None,
    store: StoreOption = STORE,
    published: PublishedOption = None,
    protocol: ProtocolOption = None,
    scorecard: ScorecardOption = None,
    without: Annotated[list[str] | None, typer.Option(help="Leave out a rater's votes; may be repeated.")] = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    format: FormatOption = TableFormat.text,
    html: HtmlOption = None,
) -> None:
    """Make the tables: votes, systems with intervals, tests corrected by Holm, agreement, raters.

    \b
    restyle study report
    restyle study report judged.jsonl --scorecard dlsm.card --format latex
    restyle study report --published strap-mturk --html people.html
    """
    from restyle.study._report import report as made
    from restyle.study._report_page import html_report

    judged = _scored(judged_of(file, store, published, protocol), scorecard).without(without or [])
    tables = made(judged, resamples=resamples, seed=seed)
    if html is not None:
        with writing_to(html):
            Path(html).write_text(html_report(tables), encoding="utf-8")
        typer.echo(f"restyle: wrote {html}", err=True)
    renderers = {
        TableFormat.text: tables.text,
        TableFormat.json: tables.json,
        TableFormat.jsonl: tables.jsonl,
        TableFormat.markdown: tables.markdown,
        TableFormat.latex: tables.latex,
    }
    with writing_to("stdout"):
        sys.stdout.write(renderers[format]())


def export(
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write: .jsonl; - is stdout.")] = STDIO,
    batch: Annotated[
        str | None,
        typer.Option(help="Write a CSV there instead, of what is still to be judged, for MTurk or Prolific."),
    ] = None,
    published: PublishedOption = None,
    store: StoreOption = STORE,
) -> None:
    """Write a study down: each item with its texts, votes, labels and unanimity. No token, and no withdrawn vote.

    A batch has the fields that the pages show, one item a row, and does not say who wrote what.

    \b
    restyle study export -o judged.jsonl
    restyle study export --batch batch.csv
    """
    if batch is None:
        judged_of(None, store, published).save(output)
        return
    from restyle.study._batches import batch as rows

    if published is not None or output != STDIO:
        raise UsageError("--batch is of a store, and names its own file; leave --published and --output out")
    if format_of(batch) != "csv":
        raise UsageError(f"a batch is a .csv, and {batch} is not")
    with opened(store) as study:
        drawn = rows(study.items.values(), study.wanted(), study.protocol, study.settings.seed)
    if not drawn:
        raise UsageError("nothing is left to be judged: there is no batch to make")
    count = write_records(batch, drawn)
    typer.echo(f"restyle: {count:,} items written to {batch}", err=True)


@with_settings(ColumnSettings, "columns", config=False)
def import_votes(
    file: Annotated[str, typer.Argument(help="A study that `export` wrote (.jsonl), or raw judgements (.csv, .tsv).")],
    *,
    columns: ColumnSettings,
    new: Annotated[bool, typer.Option("--new", help="Begin a new store with it.")] = False,
    protocol: Annotated[
        str | None, typer.Option(help="Of a new store: the protocol of a CSV, or your own of an export.")
    ] = None,
    store: StoreOption = STORE,
    url: UrlOption = URL,
) -> None:
    """Take votes from elsewhere into the store; what it has already is passed over.

    Raw judgements of a batch name the item; MTurk's and Prolific's columns are known. Those that no batch was made for
    begin a new store (--new), and each row must bring `system`, `input` and `output`. Rejected work is left out.

    \b
    restyle study import mturk_results.csv
    restyle study import prolific.csv --answer paraphrase=Q1
    restyle study import raw.csv --new --protocol strap --store raw.sqlite
    restyle study import judged.jsonl --new --store postgresql://me@host/study
    """
    from restyle.study._batches import batch_votes, judged_rows, read_rows
    from restyle.study._importing import add_votes, check_same_items, study_of

    plain = format_of(file) in ("csv", "tsv")
    if new:
        chosen = load_protocol(protocol) if protocol else None
        if plain and chosen is None:
            raise UsageError("name the --protocol of these judgements; see: restyle study protocols")
        judged = judged_rows(read_rows(file), chosen, columns) if plain and chosen else read_judged(file, chosen)
        made, token = study_of(store, judged)
        made.close()
        typer.echo(f"restyle: {len(judged.items):,} items, {len(judged.votes):,} votes, in {made.shown}", err=True)
        typer.echo(admin_link(url, token))
        return
    if protocol is not None:
        raise UsageError("a store knows its protocol; --protocol goes with --new")
    with opened(store) as study:
        if plain:
            votes = batch_votes(read_rows(file), study.items, study.protocol, study.settings.seed, columns)
        else:
            judged = read_judged(file, study.protocol)
            check_same_items(study, judged)
            votes = list(judged.votes)
        done = add_votes(study, votes)
    typer.echo(f"restyle: {done.written:,} votes written, {done.known:,} were there already", err=True)


def correlate(
    file: FileArgument = None,
    store: StoreOption = STORE,
    published: PublishedOption = None,
    protocol: ProtocolOption = None,
    scorecard: ScorecardOption = None,
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; may be repeated.")] = None,
    resamples: ResamplesOption = 1000,
    seed: SeedOption = 0,
    format: FormatOption = TableFormat.text,
) -> None:
    """Hold automatic metrics against people: by sentence and by system, with intervals over the inputs.

    \b
    restyle study correlate --scorecard dlsm.card --scorecard unmt.card
    restyle study correlate --published strap-mturk --format markdown
    """
    from restyle.study._correlate import as_rows, correlations

    judged = _scored(judged_of(file, store, published, protocol), scorecard)
    show(as_rows(correlations(judged, metric or (), resamples=resamples, seed=seed)), format)


def _scored(judged: Judged, cards: list[str] | None) -> Judged:
    """The study with what the judges of some scorecards said."""
    if not cards:
        return judged
    from restyle.study._measures import with_scores

    return with_scores(judged, [load(path) for path in cards])
