"""`restyle corpora`: where sentences come from, fetching them, and looking at them."""

from __future__ import annotations

from typing import Annotated

import typer

from restyle.cli._corpora_build import build
from restyle.cli._tables import FormatOption, TableFormat, show

app = typer.Typer(help="Corpora: which there are, fetching them, and looking into them.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(help="A corpus, as `restyle corpora ls` names it, or one that you built.")]
PathOption = Annotated[
    str | None, typer.Option("--path", help="A folder with your own copy of the corpus.", show_default=False)
]


@app.command("ls")
def ls(
    long: Annotated[
        bool, typer.Option("--long", help="Licence, origin and traps too, and nothing of this machine.")
    ] = False,
    format: FormatOption = TableFormat.text,
) -> None:
    """List the corpora.

    Where a corpus is: "here"; "to fetch" from its origin with `restyle corpora fetch`; to be had in another way, which
    "info" tells; or "on request" from its owner.

    \b
    restyle corpora ls
    restyle corpora ls --long --format markdown
    """
    from restyle.corpora._overview import described, listed

    show(described() if long else listed(), format)


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(help="A corpus, as `restyle corpora ls` names it.")],
    format: FormatOption = TableFormat.text,
) -> None:
    """Say what is known of a corpus: what it is for, its origin, licence, citation, traps and files.

    \b
    restyle corpora info yelp
    """
    from restyle.corpora._overview import all_known

    show(all_known(name), format)


@app.command("fetch")
def fetch(names: Annotated[list[str], typer.Argument(help="Corpora, as `restyle corpora ls` names them.")]) -> None:
    """Fetch corpora into the cache and print where their files are; a download that was cut off goes on.

    \b
    restyle corpora fetch cds tweets
    """
    from restyle.corpora import Files, catalogued

    entries = [catalogued(name) for name in names]  # a typo in the last name should not cost the download of the first
    for entry in entries:
        for path in Files(entry).all_paths():
            typer.echo(path)


@app.command("sample")
def sample(
    name: NameArgument,
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="How many.")] = 5,
    style: Annotated[str | None, typer.Option(help="Only of this style, or part of a table.")] = None,
    split: Annotated[str | None, typer.Option(help="Only of this split; the first there is, when not given.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same sentences.")] = 0,
    raw: Annotated[bool, typer.Option("--raw", help="As they stand in their source, not cleaned.")] = False,
    path: PathOption = None,
    format: FormatOption = TableFormat.text,
) -> None:
    """Draw sentences of a corpus, or rows of a table, at random.

    \b
    restyle corpora sample shakespeare --style modern
    restyle corpora sample quora -n 2 --format jsonl
    """
    from restyle.corpora._sample import drawn

    records = drawn(name, number, style=style, split=split, seed=seed, raw=raw, path=path)
    if format is TableFormat.text and all("text" in record for record in records):
        records = [{"id": record["id"], "text": record["text"]} for record in records]
    show(records, format)


@app.command("stats")
def stats(
    names: Annotated[
        list[str] | None, typer.Argument(help="Corpora; those on this machine, when none is named.")
    ] = None,
    sentences: Annotated[
        bool,
        typer.Option("--sentences", help="Open each corpus and count what it gives, per style and split (a minute)."),
    ] = False,
    path: PathOption = None,
    format: FormatOption = TableFormat.text,
) -> None:
    """Count the lines in the files of each corpus, or the sentences that its loader makes of them.

    \b
    restyle corpora stats
    restyle corpora stats yelp --sentences
    """
    from restyle.corpora._overview import counted

    show(counted(names or [], sentences=sentences, path=path), format)


app.command("build")(build)
