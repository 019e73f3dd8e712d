"""`restyle study`: judging by people, from the sample to the table in the paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from restyle.cli._settings import with_settings
from restyle.cli._study_results import correlate, export, import_votes, report
from restyle.cli._study_stores import HOST, PORT, STORE, URL, StoreOption, UrlOption, admin_link, opened
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.cli.score import TableOption
from restyle.errors import UnknownName, UsageError
from restyle.evaluation import Outputs, OutputsSettings, is_saved, load, published_outputs, read_outputs
from restyle.study import SamplingSettings, load_protocol, protocol_names, read_controls, sample
from restyle.study._protocol import protocol_text
from restyle.study._sampling import choices_from, styles_of

app = typer.Typer(help="Judging by people: draw a sample, run the study, make the tables.", no_args_is_help=True)


@app.command("protocols")
def protocols(
    name: Annotated[str | None, typer.Argument(help="Print this one, as a TOML to begin your own with.")] = None,
    format: FormatOption = TableFormat.text,
) -> None:
    """List the protocols; or print one, with its instructions, questions and values.

    \b
    restyle study protocols
    restyle study protocols strap > mine.toml
    """
    if name is not None:
        typer.echo(protocol_text(name), nl=False)
        return
    known = [load_protocol(each) for each in protocol_names()]
    rows = [
        {
            "protocol": each.name,
            "shows": "a pair" if each.kind == "pair" else "one output",
            "asks": ", ".join(question.name for question in each.questions),
            "items": each.items,
            "raters": each.raters,
            "paper": each.paper,
        }
        for each in known
    ]
    show(rows, format)


@app.command("new")
@with_settings(SamplingSettings)
@with_settings(OutputsSettings, "about", config=False, only=("to", "inputs", "column", "style_name"))
def new(
    systems: Annotated[
        list[str] | None,
        typer.Argument(help="Outputs of systems, as `restyle score` reads them, or scorecards that it saved."),
    ] = None,
    *,
    about: OutputsSettings,
    settings: SamplingSettings,
    protocol: Annotated[str, typer.Option(help="One that `protocols` lists, or a .toml of your own.")] = "strap",
    table: TableOption = None,
    choices: Annotated[
        list[str] | None, typer.Option(help="Choices of a question: attribute=female,male; may be repeated.")
    ] = None,
    controls: Annotated[
        str | None, typer.Option(help="A JSONL of items with known answers: input, output(s), answers.")
    ] = None,
    name: Annotated[str, typer.Option(help="What the study is called; otherwise as its protocol.")] = "",
    store: StoreOption = STORE,
    url: UrlOption = URL,
) -> None:
    """Begin a study: draw a balanced, blind and shuffled sample, and store it.

    Prints the admin's link, this once.

    \b
    restyle study new outputs/*.jsonl --protocol strap --items 150 --raters 3 --seed 1
    restyle study new a.jsonl b.jsonl --protocol pang-gimpel-preference --controls controls.jsonl
    restyle study new --table systems/yelp --protocol li --items 20 --store postgresql://me@host/study
    """
    from restyle.study._store import create_study

    found = [outputs for path in systems or () for outputs in _outputs(path, about)]
    found += published_outputs(table, about) if table is not None else []
    if not found:
        raise UsageError("no outputs were given; name files or scorecards, or a published table with --table")
    chosen = load_protocol(protocol).with_choices(choices_from(choices or ()))
    if not chosen.complete:
        chosen = chosen.with_styles(styles_of(found, chosen))
    drawn = sample(found, chosen, settings)
    known = read_controls(controls, chosen) if controls is not None else []
    made, token = create_study(store, chosen, drawn, settings, name=name, control_items=known)
    made.close()
    copies = sum(bool(item.given) for item in drawn)
    typer.echo(
        f"restyle: {len(drawn):,} items of {len(found)} systems ({copies:,} labelled without asking), "
        f"{len(known):,} controls, in {made.shown}; next: restyle study invite NAME, restyle study serve",
        err=True,
    )
    typer.echo(admin_link(url, token))


@app.command("invite")
def invite(
    names: Annotated[list[str] | None, typer.Argument(help="What the raters are called.", show_default=False)] = None,
    renew: Annotated[bool, typer.Option("--renew", help="Another link for raters who lost theirs.")] = False,
    admin: Annotated[bool, typer.Option("--admin", help="Another link for the admin; the old one ends.")] = False,
    store: StoreOption = STORE,
    url: UrlOption = URL,
) -> None:
    """Add raters, and print the personal link of each, this once: a name and a link a line.

    \b
    restyle study invite ann bob --url https://study.example.org
    restyle study invite ann --renew
    """
    if bool(names) == admin:
        raise UsageError("give the names of raters, or --admin for a new link of the admin")
    with opened(store) as study:
        if admin:
            typer.echo(admin_link(url, study.renew_admin()))
        for name in names or ():
            token = study.renew_rater(name) if renew else study.add_rater(name)
            typer.echo(f"{name}\t{url.rstrip('/')}/#{token}")


@app.command("serve")
def serve(
    store: StoreOption = STORE,
    host: Annotated[
        str, typer.Option(help="The address to listen at; 0.0.0.0 lets other machines in, without encryption.")
    ] = HOST,
    port: Annotated[int, typer.Option(help="The port; 0 takes any that is free.", min=0, max=65535)] = PORT,
) -> None:
    """Serve the pages of a study until Ctrl-C. Killed at any moment, nothing is lost: serve again.

    \b
    restyle study serve
    restyle study serve --port 8000 --store postgresql://me@host/study
    """
    from restyle.study import _server

    with opened(store) as study:
        listening = _server.bound(host, port)
        at = f"[{host}]" if ":" in host else host
        typer.echo(f"restyle: serving {study.name!r} at http://{at}:{listening.getsockname()[1]}/", err=True)
        _server.serve(study, listening)


@app.command("status")
def status(store: StoreOption = STORE, format: FormatOption = TableFormat.text) -> None:
    """Say how far a study is: judgements, agreement so far, and each rater with what should be looked at.

    \b
    restyle study status
    restyle study status --format json
    """
    from restyle.study._overview import overview

    with opened(store) as study:
        told = overview(study)
    if format in (TableFormat.json, TableFormat.jsonl):
        show([told], format)
        return
    done, wanted = told["judgements"], told["wanted"]
    summary: dict[str, Any] = {key: told[key] for key in ("name", "protocol", "items", "given", "controls")}
    summary["judgements"] = f"{done:,} of {wanted:,} ({done / wanted:.1%})" if wanted else "none wanted"
    show([{"study": key, "is": value} for key, value in summary.items()], format)
    for rows in (told["agreement"], [{**each, "remarks": ", ".join(each["remarks"])} for each in told["raters"]]):
        if rows:
            typer.echo()
            show(rows, format)


@app.command("reopen")
def reopen(
    items: Annotated[list[str], typer.Argument(help="Items, as the admin's page and `export` name them.")],
    store: StoreOption = STORE,
) -> None:
    """Withdraw the judgements of items, and hand them out again; what was withdrawn stays in the store.

    \b
    restyle study reopen 00017 00042
    """
    from restyle.study._handing import reopen as reopened

    with opened(store) as study:
        for item in items:
            typer.echo(f"{item}: {reopened(study, item)} withdrawn")


@app.command("stop")
def stop(names: Annotated[list[str], typer.Argument(help="Raters, by name.")], store: StoreOption = STORE) -> None:
    """End the links of raters, and free what lies open before them; what they judged stays.

    \b
    restyle study stop ann
    """
    from restyle.study._handing import stop_rater

    with opened(store) as study:
        known = study.raters()
        for name in names:
            if name not in known:
                raise UnknownName("rater", name, known)
            stop_rater(study, known[name])
            typer.echo(f"{name}: stopped")


app.command("report")(report)
app.command("export")(export)
app.command("import")(import_votes)
app.command("correlate")(correlate)


def _outputs(path: str, about: OutputsSettings) -> list[Outputs]:
    """The systems of a file, or of a saved scorecard with all that its judges said."""
    if not is_saved(path):
        return read_outputs(path, about)
    card = load(Path(path))
    return [replace(card.outputs, system=card.system, columns=dict(card.columns))]
