"""`restyle reproduce`: a published experiment, step by step, and its tables with ours beside them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from restyle.cli._recipe import Table, read_recipe
from restyle.cli._reproduction import done, tables
from restyle.cli._settings import assigned
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.records import writing_to


def reproduce(
    recipe: Annotated[str, typer.Argument(help="A TOML file of steps and tables.")],
    run: Annotated[
        str | None, typer.Option(help="The folder of what the steps make; runs/RECIPE when not given.")
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE, for a value of the recipe; several.")
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="List the steps and do nothing.")] = False,
    format: FormatOption = TableFormat.text,
) -> None:
    """Reproduce a published experiment: do its steps, and print the paper's tables with ours beside them.

    Each step makes a file or a folder in the run's folder. One whose inputs have not changed since is left out, and one
    that was interrupted goes on: the same command again does what is left to do.

    \b
    restyle reproduce recipes/strap/rescore_published.toml
    restyle reproduce recipes/strap/shakespeare.toml --run shakespeare --set nucleus=0.6
    restyle reproduce recipes/strap/cds.toml --steps
    """
    folder = Path(run) if run else Path("runs") / Path(recipe).stem
    read = read_recipe(recipe, assigned(change or [], "--set"))
    if steps:
        what = ({"makes": step.output, "step": step.run or step.rows or " + ".join(step.join)} for step in read.step)
        show(list(what), format)
        return
    done(read, folder, lambda line: typer.echo(f"restyle: {line}", err=True))
    found = list(tables(read, folder))
    if format in (TableFormat.json, TableFormat.jsonl):
        whole = [{"title": table.title, "differs": table.differs, "rows": lines} for table, lines in found]
        with writing_to("stdout"):
            sys.stdout.write(json.dumps(whole, ensure_ascii=False, indent=2) + "\n")
        return
    for table, lines in found:
        typer.echo(f"{table.title}\n")
        show(_printed(table, lines), format)
        typer.echo(f"\nwhat differs: {table.differs}\n" if table.differs else "")


def _printed(table: Table, lines: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """The lines as the paper prints its numbers: one decimal, and two where all of a column are shares."""
    decimals = {column: 1 if any(abs(line[column] or 0) > 1 for line in lines) else 2 for column in table.columns}
    return [
        {"system": line["system"], "from": line["from"]}
        | {
            column: ("-" if line[column] is None else f"{line[column]:.{decimals[column]}f}").rjust(5)
            for column in table.columns
        }
        for line in lines
    ]
