"""`restyle rewrite`: say the same thing in another style."""

from __future__ import annotations

from restyle.cli._settings import with_settings
from restyle.cli._streams import Streams, with_streams
from restyle.rewriters.records import RewriteRecords, RewriteSettings, prepared
from restyle.settings import save_beside, to_dict


@with_settings(RewriteSettings)
@with_streams
def rewrite(streams: Streams, settings: RewriteSettings) -> None:
    """Rewrite text in another style.

    Text comes from the arguments, a file or a pipe. Plain text is answered with plain text, line by line; records with
    records: {"id", "input", "output", "target", "system"}, and a record's other keys. A run into a file that was
    interrupted goes on when the same command is given again.

    \b
    restyle rewrite --corpus noir --to noir "It was raining again."
    restyle rewrite --corpus noir --to noir -i in.txt -o out.jsonl --workers 2
    cat in.jsonl | restyle rewrite --system copy --to modern > out.jsonl
    """
    rewriter = prepared(settings)
    streams.run(
        RewriteRecords(rewriter, settings),
        what="rewriting",
        identity={**to_dict(settings), "rewriter": rewriter.fingerprint()},
        text="output" if settings.candidates == 1 else None,
    )
    if not streams.to_stdout:
        save_beside(settings, streams.output)
