"""`restyle score`: a scorecard of one or more systems."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from restyle.cli._names import folder_names
from restyle.cli._settings import with_settings
from restyle.cli._tables import FormatOption, TableFormat
from restyle.corpora import load as load_corpus
from restyle.errors import AssetError, InputError, MissingExtra, UsageError
from restyle.evaluation import (
    Comparison,
    Leaderboard,
    NaiveRow,
    Outputs,
    OutputsSettings,
    Scorecard,
    ScoreSettings,
    naive_from_corpus,
    published_outputs,
    read_outputs,
    score_systems,
)
from restyle.evaluation import save as save_card
from restyle.records import STDIO, json_line, writing_to
from restyle.settings import save_beside

if TYPE_CHECKING:
    from restyle.evaluation.report import Embeddings

TableOption = Annotated[
    str | None, typer.Option("--table", help="Published outputs: systems/shakespeare.", show_default=False)
]
HtmlOption = Annotated[str | None, typer.Option("--html", help="Write the report there.", show_default=False)]
EmbeddingsOption = Annotated[
    str | None,
    typer.Option(help="An .npz with vectors, styles and perhaps paraphrases, for the report.", show_default=False),
]


@with_settings(ScoreSettings)
@with_settings(OutputsSettings, "about", config=False)
def score(
    outputs: Annotated[
        str | None, typer.Argument(help="Outputs: .txt, .tsv, .csv or .jsonl; - is stdin.", show_default=False)
    ] = None,
    *,
    about: OutputsSettings,
    settings: ScoreSettings,
    table: TableOption = None,
    format: FormatOption = TableFormat.text,
    html: HtmlOption = None,
    embeddings: EmbeddingsOption = None,
    save: Annotated[
        str | None, typer.Option(help="Keep the scorecard in this folder, for `restyle compare`.", show_default=False)
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="Print the short signature alone.")] = False,
) -> None:
    """Score outputs: what each judge says, J and GM, intervals, and the rows that show a gamed metric.

    Outputs are lines of text, a table or records with `output`, and `input`, `references`, `target`, `system` where
    they are known. `--format jsonl` prints one record per sentence.

    \b
    restyle score out.txt --inputs in.txt --references gold.txt --to shakespeare --corpus shakespeare
    restyle score out.jsonl --metrics none --aggregate "J2=acc*sim_input*fl" --html report.html
    restyle score --table strap-judged/dlsm --metrics bleu,self-bleu --format latex
    """
    if table is not None and outputs is not None:
        raise UsageError("outputs were given both as a file and with --table; choose one")
    if table is None and outputs is None and sys.stdin.isatty():
        raise UsageError("no outputs were given; name a file, pipe them in, or name a published table with --table")
    found = published_outputs(table, about) if table is not None else read_outputs(outputs or STDIO, about)
    with warnings_told():
        cards = score_systems(found, settings, naive=naive_row(found, settings), progress=None)
    if save is not None:
        for card, folder in zip(cards, folder_names([card.system for card in cards]), strict=True):
            save_card(card, save if len(cards) == 1 else Path(save) / folder)
    level = 0.95 if settings.resamples else None
    board = Leaderboard(cards, level=level, resamples=settings.resamples, seed=settings.seed)
    if short:
        for line in dict.fromkeys(card.signature.short() for card in cards):
            typer.echo(line)
        tell_remarks(board)
        return
    write_html(html, board, embeddings, settings)
    show(board, cards, format)


def naive_row(found: Sequence[Outputs], settings: ScoreSettings) -> NaiveRow | None:
    """NAIVE with the sentences of the corpus that the settings name; None where none is named."""
    if settings.corpus is None or not settings.baselines:
        return None
    targets = sorted({target for each in found for target in each.targets or ()})
    if not targets:
        raise UsageError("NAIVE needs the target style: name it with --to")
    return naive_from_corpus(load_corpus(settings.corpus), targets, settings)


def show(board: Leaderboard | Comparison, cards: Sequence[Scorecard], format: TableFormat) -> None:
    """Print a leaderboard or a comparison; as JSONL, every sentence of every system, with the remarks on stderr."""
    with writing_to("stdout"):
        if format is TableFormat.jsonl:
            for card in cards:
                for row in card.rows():
                    sys.stdout.write(json_line(row))
            tell_remarks(board.leaderboard if isinstance(board, Comparison) else board)
            return
        renderers = {
            TableFormat.text: board.text,
            TableFormat.json: board.json,
            TableFormat.markdown: board.markdown,
            TableFormat.latex: board.latex,
        }
        sys.stdout.write(renderers[format]())


def write_html(
    path: str | None, shown: Leaderboard | Comparison, embeddings: str | None, settings: ScoreSettings
) -> None:
    """Write the HTML report where one is wanted, with the settings that it was made with beside it."""
    if path is None:
        if embeddings is not None:
            raise UsageError("--embeddings are drawn in the report only; name it with --html")
        return
    from restyle.evaluation.report import encoded, write_report

    board = shown.leaderboard if isinstance(shown, Comparison) else shown
    remarks = []
    try:
        vectors = _embeddings(embeddings) if embeddings is not None else encoded(board, seed=settings.seed)
    except (MissingExtra, AssetError) as error:
        vectors, remarks = None, [f"the pictures of styles are left out: {error}"]
        typer.echo(f"restyle: warning: {remarks[0]}", err=True)
    write_report(path, shown, embeddings=vectors, remarks=remarks)
    save_beside(settings, path)
    typer.echo(f"restyle: wrote {path}", err=True)


def tell_remarks(board: Leaderboard) -> None:
    """Say on stderr what a reader must know, where the output has no place for it."""
    for remark in board.remarks:
        typer.echo(f"restyle: warning: {remark}", err=True)


@contextlib.contextmanager
def warnings_told() -> Iterator[None]:
    """Say each warning of the block on stderr, in one line and without the place in our code."""

    def tell(message: Warning | str, *args: Any, **options: Any) -> None:
        typer.echo(f"restyle: warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield


def _embeddings(path: str) -> Embeddings:
    """The vectors of an .npz; InputError when it holds something else."""
    import numpy as np

    from restyle.evaluation.report import Embeddings

    try:
        # Without pickle, an .npz can hold nothing but arrays.
        with np.load(path, allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in arrays.files}
        return Embeddings(held["vectors"], [str(each) for each in held["styles"]], held.get("paraphrases"))
    except KeyError as error:
        raise InputError(f"{path} has no array {error}; vectors and styles are needed") from None
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is no .npz of numbers and names: {error}") from None
