"""`restyle corpora build`: a corpus of your own, or a paper's, and the account of what was kept and dropped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from restyle.cli._tables import FormatOption, TableFormat, show

if TYPE_CHECKING:
    from restyle.corpora.build import BuildReport

_PAPERS = ("cds", "literature")


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
    config: Annotated[
        str | None, typer.Option(help="A TOML file with settings; flags come before it.", show_default=False)
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(help="What a line is: auto, lines, paragraphs or wrapped.", show_default=False),
    ] = None,
    style_from: Annotated[
        str | None, typer.Option(help="Where the style's name comes from: name, file or folder.", show_default=False)
    ] = None,
    style_column: Annotated[
        str | None, typer.Option(help="The column that names each line's style.", show_default=False)
    ] = None,
    text_column: Annotated[str | None, typer.Option(help="The column of the text.", show_default=False)] = None,
    encoding: Annotated[str | None, typer.Option(help="The encoding of the files.", show_default=False)] = None,
    on_error: Annotated[
        str | None, typer.Option(help="A bad line: stop there, or skip it and count.", show_default=False)
    ] = None,
    min_words: Annotated[int | None, typer.Option(help="Shortest sentence kept.", show_default=False)] = None,
    max_words: Annotated[int | None, typer.Option(help="Longest sentence kept.", show_default=False)] = None,
    language: Annotated[
        str | None, typer.Option(help="The language kept: en, …, auto or any.", show_default=False)
    ] = None,
    near_duplicate: Annotated[
        float | None, typer.Option(help="Similarity of a near duplicate, 0.6 to 1.", show_default=False)
    ] = None,
    valid_share: Annotated[float | None, typer.Option(help="Share of the valid split.", show_default=False)] = None,
    test_share: Annotated[float | None, typer.Option(help="Share of the test split.", show_default=False)] = None,
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
    from restyle.corpora.build import BuildSettings
    from restyle.corpora.build import build as build_own
    from restyle.errors import UsageError
    from restyle.settings import resolve

    flags = {
        "layout": layout,
        "style_from": style_from,
        "style_column": style_column,
        "text_column": text_column,
        "encoding": encoding,
        "on_error": on_error,
        "min_words": min_words,
        "max_words": max_words,
        "language": language,
        "near_duplicate": near_duplicate,
        "valid_share": valid_share,
        "test_share": test_share,
    }
    if paper is not None:
        if inputs:
            raise UsageError("--paper takes its text from the paper's sources; name no inputs, or leave --paper out")
        report = _paper(paper, name, out, config, flags, path or [], limit, examples)
    elif not inputs:
        raise UsageError("no text was given; name files, folders, or - for stdin, or a paper with --paper")
    elif name is None:
        raise UsageError("the corpus has no name; give it one with --name")
    else:
        _, report = build_own(inputs, name, settings=resolve(BuildSettings, config, flags), out=out, examples=examples)
    _print(report, format)


def _paper(
    paper: str,
    name: str | None,
    out: str | None,
    config: str | None,
    flags: dict[str, Any],
    paths: list[str],
    limit: int | None,
    examples: int,
) -> BuildReport:
    """Build one of the papers' corpora; what is not told stays as the paper has it."""
    from pathlib import Path

    from restyle.corpora.build import build_cds, build_literature
    from restyle.corpora.build.cds import SETTINGS as CDS_SETTINGS
    from restyle.corpora.build.literature import SETTINGS as LITERATURE_SETTINGS
    from restyle.errors import UnknownName, UsageError
    from restyle.settings import from_dict, read_toml, to_dict

    if paper not in _PAPERS:
        raise UnknownName("paper's corpus", paper, _PAPERS)
    if wrong := [pair for pair in paths if "=" not in pair]:
        raise UsageError(f"--path {wrong[0]!r} names no corpus; write it as CORPUS=FOLDER, such as coha=~/coha")
    folders = {corpus: Path(folder).expanduser() for corpus, _, folder in (pair.partition("=") for pair in paths)}
    published = CDS_SETTINGS if paper == "cds" else LITERATURE_SETTINGS
    chosen = {
        **(read_toml(config) if config else {}),
        **{key: value for key, value in flags.items() if value is not None},
    }
    settings = from_dict(type(published), {**to_dict(published), **chosen}, where=config or "settings")
    options: dict[str, Any] = {"paths": folders, "settings": settings, "out": out, "examples": examples}
    options |= {key: value for key, value in {"name": name, "limit": limit}.items() if value is not None}
    return (build_cds if paper == "cds" else build_literature)(**options)[1]


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
