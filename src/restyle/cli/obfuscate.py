"""`restyle obfuscate`: say the same thing, and not who says it."""

from __future__ import annotations

import functools
from typing import Annotated

import typer

from restyle.cli._settings import with_settings
from restyle.cli._streams import Streams, with_streams
from restyle.cli.rewrite import in_small_shards, rewrite_document, say_what_was_flagged
from restyle.rewriters.privacy.records import ObfuscateRecords, ObfuscateSettings, Told, opened, with_systems_own
from restyle.settings import save_beside, to_dict


@with_settings(ObfuscateSettings)
@with_streams
def obfuscate(
    streams: Streams,
    settings: ObfuscateSettings,
    document: Annotated[
        bool, typer.Option("--document", help="The input is one document: keep its layout, code, links and headings.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Answer with records, whatever was given.")] = False,
) -> None:
    """Rewrite text so that it no longer tells who wrote it, and say what it gave away before and gives away now.

    A leak is how sure an attacker is: 0 knows nothing, 1 is certain, whether right or wrong. Plain text is answered
    with plain text, records with records: {"id", "input", "output", "target", "system", "attribute", "leak_before",
    "leak_after"}, "flags" where there is something to say. With --max-leak a text that gives away no more is left
    alone, of any other the closest rewrite is given that does not, and where there is none it is flagged. A run into a
    file that was interrupted goes on when the same command is given again. What this protects against, and what not:
    docs/privacy.md.

    \b
    restyle obfuscate --attribute gender "My husband and I loved the salon!"
    restyle obfuscate --attribute politics --max-leak 0.6 -i tweets.txt -o neutral.jsonl
    restyle obfuscate --attribute gender --system back-translation --pivots spa,cat -i in.txt -o out.txt
    restyle obfuscate --attribute gender --mask names --document -i letter.md -o neutral.md
    """
    rewriter = opened(settings)
    told = Told()
    work = functools.partial(ObfuscateRecords, rewriter, settings, told)
    identity = {**to_dict(with_systems_own(settings)), "rewriter": rewriter.fingerprint(settings.attribute)}
    streams = in_small_shards(streams)
    try:
        if document:
            rewrite_document(streams, work, identity)
        else:
            streams.run(work, what="obfuscating", identity=identity, text=None if explain else "output")
    finally:
        if told.texts:
            typer.echo(f"restyle: {told}", err=True)
        say_what_was_flagged(told.flags, "" if document or explain else "; --explain says which")
    if not streams.to_stdout:
        save_beside(settings, streams.output)
