"""`restyle text`: what restyle does to any text before and after it is rewritten."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from restyle.cli._records import (
    ColumnsOption,
    EncodingOption,
    InputOption,
    OnErrorOption,
    OutputOption,
    TextArguments,
    TextColumnOption,
    complain_about_skipped,
    existing_text,
    given_records,
    output_format,
)
from restyle.records import Record

app = typer.Typer(
    help="Text as restyle sees it: cleaned, tokenised, cut into pieces, masked, told by its language.",
    no_args_is_help=True,
)


@app.command("clean")
def clean(
    texts: TextArguments = None,
    source: InputOption = None,
    output: OutputOption = "-",
    text_column: TextColumnOption = "text",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
) -> None:
    """Undo entities, odd characters and tokenisation: the one normalisation that every corpus and every score uses.

    \b
    restyle text clean "I do n't know , sir ."
    restyle text clean -i tokenised.txt -o ordinary.txt
    """
    _each(_cleaned, texts, source, output, text_column, columns, encoding, on_error)


@app.command("tokenise")
def tokenise(
    texts: TextArguments = None,
    style: Annotated[str, typer.Option(help="ptb, yelp, spaced or moses.")] = "ptb",
    source: InputOption = None,
    output: OutputOption = "-",
    text_column: TextColumnOption = "text",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
) -> None:
    """Set the tokens of ordinary text apart, for a system that was trained on tokenised text.

    \b
    restyle text tokenise "I can't, it's $5."
    restyle text tokenise --style moses -i ordinary.txt
    """
    _each(partial(_tokenised, style=style), texts, source, output, text_column, columns, encoding, on_error)


@app.command("mask")
def mask(
    texts: TextArguments = None,
    kinds: Annotated[
        str, typer.Option(help="What to mask: of person, location, url, email, handle, number.")
    ] = "person,location",
    plain: Annotated[
        bool, typer.Option("--plain", help="Tags without numbers, -PERSON-, as in the Literature data.")
    ] = False,
    source: InputOption = None,
    output: OutputOption = "-",
    text_column: TextColumnOption = "text",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
) -> None:
    """Replace names, places, numbers and addresses by tags; into .jsonl, with what each tag stands for.

    \b
    restyle text mask "Mary left London."
    restyle text mask --kinds person,number,url -i in.jsonl -o masked.jsonl
    """
    wanted = [kind.strip() for kind in kinds.split(",")]
    work = partial(_masked, kinds=wanted, numbered=not plain)
    _each(work, texts, source, output, text_column, columns, encoding, on_error)


@app.command("unmask")
def unmask(source: InputOption = None, output: OutputOption = "-", on_error: OnErrorOption = "stop") -> None:
    """Put back what `restyle text mask` took out: records with `text` and `entities`, rewritten in between.

    \b
    restyle text unmask -i rewritten.jsonl -o whole.jsonl
    """
    _each(_unmasked, None, source, output, "text", None, "utf-8", on_error)


@app.command("language")
def language(
    texts: TextArguments = None,
    engine: Annotated[str, typer.Option(help="lid176, or langdetect as STRAP used it.")] = "lid176",
    source: InputOption = None,
    output: OutputOption = "-",
    text_column: TextColumnOption = "text",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    on_error: OnErrorOption = "stop",
) -> None:
    """Say which language each text is in, and how sure that is.

    \b
    restyle text language "Wherefore art thou?" "Où es-tu ?"
    """
    work = partial(_with_language, engine=engine)
    _each(work, texts, source, output, text_column, columns, encoding, on_error, format="jsonl")


@app.command("segment")
def segment(
    document: Annotated[str, typer.Argument(help="A text or Markdown file; - is stdin.")] = "-",
    markdown: Annotated[
        bool | None, typer.Option("--markdown/--plain", help="What the document is; by default it is guessed.")
    ] = None,
) -> None:
    """Cut a document into pieces to rewrite and pieces to leave alone; joined, they are the document again.

    \b
    restyle text segment README.md
    """
    from restyle.records import json_line
    from restyle.text.segment import segment as cut

    for piece in cut(existing_text(document), markdown=markdown):
        typer.echo(json_line({"rewrite": piece.rewrite, "kind": str(piece.kind), "text": piece.text}), nl=False)


def _each(
    work: Callable[[list[Record]], list[Record]],
    texts: list[str] | None,
    source: str | None,
    output: str,
    text_column: str,
    columns: str | None,
    encoding: str,
    on_error: str,
    format: Any = None,
) -> None:
    """Run a function over what was given, and write what it returns."""
    from restyle.jobs import run
    from restyle.records import ReadingReport

    report = ReadingReport()
    records = given_records(
        texts, source, text_column=text_column, columns=columns, encoding=encoding, on_error=on_error, report=report
    )
    done = run(work, records, output, format=format or output_format(output, report))
    complain_about_skipped(report)
    if done.poisoned or output != "-":
        typer.echo(f"restyle: {done}", err=True)


def _cleaned(records: list[Record]) -> list[Record]:
    from restyle.text.clean import clean as cleaned

    return [{**record, "text": cleaned(record["text"])} for record in records]


def _tokenised(records: list[Record], style: Any) -> list[Record]:
    from restyle.text.tokenised_styles import tokenise as tokenised

    return [{**record, "text": tokenised(record["text"], style)} for record in records]


def _masked(records: list[Record], kinds: list[str], numbered: bool) -> list[Record]:
    from restyle.text.entities import mask as masked

    results = masked([record["text"] for record in records], kinds, numbered=numbered)
    return [
        {**record, "text": result.text, "entities": [list(entity) for entity in result.entities]}
        for record, result in zip(records, results, strict=True)
    ]


def _unmasked(records: list[Record]) -> list[Record]:
    from restyle.text.entities import Entity
    from restyle.text.entities import unmask as unmasked

    whole = []
    for record in records:
        result = unmasked(record["text"], [Entity(*pair) for pair in record.get("entities", [])])
        rest = {key: value for key, value in record.items() if key not in ("text", "entities")}
        # A tag that a rewriter dropped takes its name with it: the record says which, rather than nothing.
        lost = {"missing": [entity.text for entity in result.missing]} if result.missing else {}
        whole.append({"id": record["id"], "text": result.text, **rest, **lost})
    return whole


def _with_language(records: list[Record], engine: str) -> list[Record]:
    from restyle.text.language import detect

    found = detect([record["text"] for record in records], engine)
    return [
        {**record, "language": language.code, "confidence": round(language.confidence, 4)}
        for record, language in zip(records, found, strict=True)
    ]
