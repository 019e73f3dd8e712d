"""`restyle rewrite`: say the same thing in another style."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from restyle.cli._settings import with_settings
from restyle.cli._streams import Streams, with_streams
from restyle.errors import UsageError
from restyle.jobs import JobReport, JobSettings, run, stream
from restyle.records import STDIO, Record, read_document, read_records, writing_to
from restyle.rewriters.documents import Document
from restyle.rewriters.records import RewriteRecords, RewriteSettings, prepared, resolved
from restyle.settings import save_beside, to_dict

# What is printed should not wait until there are as many records as a file is worth; whole batches still fit in.
_SHARD_ON_STDOUT = 64


@with_settings(RewriteSettings)
@with_streams
def rewrite(
    streams: Streams,
    settings: RewriteSettings,
    document: Annotated[
        bool, typer.Option("--document", help="The input is one document: keep its layout, code, links and headings.")
    ] = False,
) -> None:
    """Rewrite text in another style.

    Text comes from the arguments, a file or a pipe. Plain text is answered with plain text, line by line; records with
    records: {"id", "input", "output", "target", "system"}, "flags" where there is something to say, and a record's
    other keys. --explain adds the "paraphrase" between. Several styles (--to, more than once), --explain and
    --candidates answer text arguments with a line for each, and all else with records. What cannot be rewritten
    comes back as it was. A run into a file that was interrupted goes on when the same command is given again.

    \b
    restyle rewrite --to shakespeare "Are you crazy?"
    restyle rewrite --to shakespeare --to bible --explain "Are you crazy?"
    restyle rewrite --to shakespeare:0.7,bible:0.3 --candidates 8 -i in.txt -o out.jsonl
    restyle rewrite --to dickens --document -i README.md -o dickens.md
    restyle rewrite --corpus noir --to noir "It was raining again."
    cat in.jsonl | restyle rewrite --system copy --to modern > out.jsonl
    """
    settings = resolved(settings)
    rewriter = prepared(settings)
    flagged = Counter[str]()
    work = functools.partial(RewriteRecords, rewriter, settings, flagged)
    identity = {**to_dict(settings), "rewriter": rewriter.fingerprint(*settings.to)}
    streams = in_small_shards(streams)
    try:
        if document:
            if len(settings.to) > 1 or settings.explain:
                raise UsageError("--document writes one document: name one style, and leave --explain out")
            rewrite_document(streams, work, identity)
        elif streams.texts and streams.to_stdout:
            streams.run(functools.partial(_Lines, work, settings), what="rewriting", identity=identity, text="output")
        else:
            line_by_line = settings.candidates == len(settings.to) == 1 and not settings.explain
            streams.run(work, what="rewriting", identity=identity, text="output" if line_by_line else None)
    finally:
        if not settings.explain:
            say_what_was_flagged(flagged, "" if document else "; --explain says which")
    if not streams.to_stdout:
        save_beside(settings, streams.output)


def in_small_shards(streams: Streams) -> Streams:
    """The streams, printed as they come where they are printed."""
    if streams.to_stdout and streams.job.shard_size == JobSettings().shard_size:
        return replace(streams, job=replace(streams.job, shard_size=_SHARD_ON_STDOUT))
    return streams


class _Lines:
    """Lines for a person who typed a text: each rewrite, under the name of its style where there is more to tell."""

    def __init__(self, work: functools.partial[RewriteRecords], settings: RewriteSettings) -> None:
        self._rewrite, self._explain = work(), settings.explain
        self._named = settings.explain or len(settings.to) > 1

    def __call__(self, records: list[Record]) -> list[Record]:
        """A record for each line."""
        return [
            {"id": output["id"], "output": f"{name}\t{text}" if self._named else text}
            for output in self._rewrite(records)
            for name, text in self._said(output)
        ]

    def _said(self, output: Record) -> Iterator[tuple[str, str]]:
        if self._explain and output["paraphrase"]:
            yield "paraphrase", output["paraphrase"]
        for text in output.get("candidates", [output["output"]]):
            yield output["target"], text
        if self._explain and output["flags"]:
            yield "flags", "; ".join(output["flags"])


# --- documents -------------------------------------------------------------------------------------------------------


def rewrite_document(streams: Streams, work: Any, identity: dict[str, Any]) -> None:
    """Rewrite the sentences of a document as a job, and put them into their places."""
    document, output = _opened(streams), streams.output
    # A record that failed must not shift the others into wrong places.
    job = replace(streams.job, on_error="stop")
    if streams.to_stdout:
        done = [record["output"] for record in stream(work, document.records, settings=job)]
        typer.echo(document.rewritten(done), nl=False)
        return
    # The job keeps what is done beside the output, under a name of its own, until all of it is.
    sentences = Path(f"{output}.sentences.jsonl")
    made: JobReport = run(
        work, document.records, sentences, settings=job, identity=identity, restart=streams.restart, what="rewriting"
    )
    text = document.rewritten([record["text"] for record in read_records(sentences, text_column="output")])
    with writing_to(output):
        partial = Path(f"{output}.part")
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(output)
        sentences.unlink()
    typer.echo(f"restyle: {made}", err=True)


def _opened(streams: Streams) -> Document:
    """The document that was given; it is Markdown if its name says so, or else if it looks so."""
    if streams.texts:
        return Document("\n".join(streams.texts))
    source = streams.source or STDIO
    text = read_document(source, streams.encoding)
    return Document(text, markdown=True if source.lower().endswith((".md", ".markdown")) else None)


# --- flags -----------------------------------------------------------------------------------------------------------


def say_what_was_flagged(flagged: Counter[str], advice: str) -> None:
    """Say on stderr what a plain answer cannot; a record says it itself."""
    kinds = Counter[str]()
    for flag, count in flagged.items():
        kinds[flag.partition(":")[0]] += count
    if kinds:
        counted = ", ".join(f"{kind} ({count:,})" for kind, count in sorted(kinds.items()))
        typer.echo(f"restyle: flagged: {counted}{advice}", err=True)
