"""`restyle text`: what restyle does to any text before and after it is rewritten."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated, Any

import typer

from restyle.cli._records import EncodingOption
from restyle.cli._streams import Streams, with_streams
from restyle.errors import UnknownName, UsageError
from restyle.records import STDIO, Record

app = typer.Typer(
    help="Text as restyle sees it: cleaned, tokenised, cut into pieces, masked, told by its language.",
    no_args_is_help=True,
)


@app.command("clean")
@with_streams
def clean(streams: Streams) -> None:
    """Undo entities, odd characters and tokenisation: the one normalisation that every corpus and every score uses.

    \b
    restyle text clean "I do n't know , sir ."
    restyle text clean -i tokenised.txt -o ordinary.txt
    """
    streams.run(_cleaned, what="cleaning")


@app.command("tokenise")
@with_streams
def tokenise(streams: Streams, style: Annotated[str, typer.Option(help="ptb, yelp, spaced or moses.")] = "ptb") -> None:
    """Set the tokens of ordinary text apart, for a system that was trained on tokenised text.

    \b
    restyle text tokenise "I can't, it's $5."
    restyle text tokenise --style moses -i ordinary.txt
    """
    from restyle.text.tokenised_styles import tokenise as tokenised

    tokenised("", style)  # type: ignore[arg-type]  # refuses a style that there is not, before anything is read
    streams.run(partial(_tokenised, style=style), what="tokenising", identity={"style": style})


@app.command("mask")
@with_streams
def mask(
    streams: Streams,
    kinds: Annotated[
        str, typer.Option(help="What to mask: of person, location, url, email, handle, number.")
    ] = "person,location",
    plain: Annotated[
        bool, typer.Option("--plain", help="Tags without numbers, -PERSON-, as in the Literature data.")
    ] = False,
) -> None:
    """Replace names, places, numbers and addresses by tags; records say what each tag stands for.

    With --plain, plain text is answered with plain text, for training data: what was masked is then gone.

    \b
    restyle text mask "Mary left London."
    restyle text mask --kinds person,number,url -i in.jsonl -o masked.jsonl
    """
    from restyle.text.entities import KINDS

    wanted = [kind.strip() for kind in kinds.split(",")]
    for kind in wanted:
        if kind not in KINDS:
            raise UnknownName("kind of entity", kind, KINDS)
    work = partial(_masked, kinds=wanted, numbered=not plain)
    identity = {"kinds": wanted, "plain": plain}
    streams.run(work, what="masking", identity=identity, text="text" if plain else None)


@app.command("unmask")
@with_streams
def unmask(streams: Streams) -> None:
    """Put back what `restyle text mask` took out: records with `text` and `entities`, rewritten in between.

    \b
    restyle text unmask -i rewritten.jsonl -o whole.jsonl
    restyle text mask "Mary left London." | restyle text unmask
    """
    streams.run(_unmasked, what="unmasking", text=None)


@app.command("language")
@with_streams
def language(
    streams: Streams,
    engine: Annotated[str, typer.Option(help="lid176, or langdetect as STRAP used it.")] = "lid176",
) -> None:
    """Say which language each text is in, and how sure that is.

    \b
    restyle text language "Wherefore art thou?" "Où es-tu ?"
    """
    from restyle.text.language import ENGINES

    if engine not in ENGINES:
        raise UnknownName("language engine", engine, ENGINES)
    work = partial(_with_language, engine=engine)
    streams.run(work, what="telling languages", identity={"engine": engine}, text=None)


@app.command("segment")
def segment(
    document: Annotated[str, typer.Argument(help="A text or Markdown file; - is stdin.")] = STDIO,
    encoding: EncodingOption = "utf-8",
    markdown: Annotated[
        bool | None, typer.Option("--markdown/--plain", help="What the document is; by default it is guessed.")
    ] = None,
) -> None:
    """Cut a document into pieces to rewrite and pieces to leave alone; joined, they are the document again.

    \b
    restyle text segment README.md
    """
    from restyle.records import read_document, write_records
    from restyle.text.segment import segment as cut

    if document == STDIO and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("no document was given; name a file, or pipe it in")
    pieces = cut(read_document(document, encoding), markdown=markdown)
    write_records(
        STDIO,
        ({"rewrite": piece.rewrite, "kind": str(piece.kind), "text": piece.text} for piece in pieces),
        format="jsonl",
    )


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
