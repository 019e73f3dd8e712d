"""`restyle corpora build`: a corpus of your own, or a paper's, and the account of what was kept and dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from restyle.cli._settings import with_settings
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.corpora.build import BuildReport, BuildSettings, build_cds, build_literature
from restyle.corpora.build import build as build_own
from restyle.corpora.build.cds import SETTINGS as CDS_SETTINGS
from restyle.corpora.build.literature import SETTINGS as LITERATURE_SETTINGS
from restyle.errors import UnknownName, UsageError

# A paper's builder, and the settings that it published.
_PAPERS: dict[str, tuple[Callable[..., Any], BuildSettings]] = {
    "cds": (build_cds, CDS_SETTINGS),
    "literature": (build_literature, LITERATURE_SETTINGS),
}


@with_settings(BuildSettings, with_base=True)
def build(
    inputs: Annotated[
        list[str] | None, typer.Argument(help="Files, folders of texts, or - for stdin.", show_default=False)
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="What to call the corpus.", show_default=False)] = None,
    paper: Annotated[
        str | None, typer.Option(help="Build a paper's corpus from its sources: cds or literature.", show_default=False)
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="The folder to write; in the cache, when not given.", show_default=False)
    ] = None,
    *,
    settings: Callable[..., BuildSettings],
    path: Annotated[
        list[str] | None,
        typer.Option(help="For --paper: CORPUS=FOLDER, your own copy of a source.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="For --paper: sentences read of each source.", show_default=False)
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Examples shown of each reason to drop.")] = 3,
    format: FormatOption = TableFormat.text,
) -> None:
    """Build a corpus from plain text: cleaned, without boilerplate and duplicates, split for good.

    Documents are cut into sentences, lists are taken line by line. Every line that is dropped is counted under its
    reason. What split a sentence is in depends on the sentence alone.

    \b
    restyle corpora build noir.txt --name noir
    restyle corpora build letters/ --name letters --style-from folder
    cat tweets.jsonl | restyle corpora build - --name tweets --layout lines --format json
    restyle corpora build --paper cds --path coha=~/coha
    restyle corpora build --paper literature --limit 20000
    """
    if paper is not None:
        if inputs:
            raise UsageError("--paper takes its text from the paper's sources; name no inputs, or leave --paper out")
        report = _paper(paper, name, out, settings, path or [], limit, examples)
    elif not inputs:
        raise UsageError("no text was given; name files, folders, or - for stdin, or a paper with --paper")
    elif name is None:
        raise UsageError("the corpus has no name; give it one with --name")
    else:
        _, report = build_own(inputs, name, settings=settings(), out=out, examples=examples)
    _print(report, format)


def _paper(
    paper: str,
    name: str | None,
    out: str | None,
    settings: Callable[..., BuildSettings],
    paths: list[str],
    limit: int | None,
    examples: int,
) -> BuildReport:
    """Build one of the papers' corpora; what is not told stays as the paper has it."""
    if paper not in _PAPERS:
        raise UnknownName("paper's corpus", paper, _PAPERS)
    if wrong := [pair for pair in paths if "=" not in pair]:
        raise UsageError(f"--path {wrong[0]!r} names no corpus; write it as CORPUS=FOLDER, such as coha=~/coha")
    folders = {corpus: Path(folder).expanduser() for corpus, _, folder in (pair.partition("=") for pair in paths)}
    builder, published = _PAPERS[paper]
    options: dict[str, Any] = {"paths": folders, "settings": settings(base=published), "out": out, "examples": examples}
    options |= {key: value for key, value in {"name": name, "limit": limit}.items() if value is not None}
    report: BuildReport = builder(**options)[1]
    return report


def _print(report: BuildReport, format: TableFormat) -> None:
    if format is TableFormat.json:
        typer.echo(json.dumps(report.as_dict(), ensure_ascii=False, indent=2))
        return
    show(report.rows(), format)
    if format is not TableFormat.text:
        return
    for line in report.lines():
        typer.echo(line)
    for note in report.notes:
        typer.echo(f"restyle: {note}", err=True)
