"""`restyle similarity`: whether two sentences mean the same, by the model of Wieting et al. 2019; and training one."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from restyle.cli._records import ColumnsOption, EncodingOption
from restyle.cli._settings import with_settings
from restyle.cli._streams import Streams, with_streams
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.errors import InputError, UsageError
from restyle.nets.wieting_settings import TrainSettings
from restyle.records import Record, read_records

if TYPE_CHECKING:
    from restyle.nets.wieting import Wieting

app = typer.Typer(
    help="Which sentences mean the same: score pairs, or train the model on pairs of your own.", no_args_is_help=True
)

# The key that `score` adds to a record: the name of the metric.
SCORE = "sim-wieting"

OtherColumnOption = Annotated[str, typer.Option(help="The field that holds the sentence to compare with.")]
OthersColumnOption = Annotated[
    str, typer.Option(help="The field that holds the other sentence or, in JSONL, a list of others.")
]


@app.command("score")
@with_streams
def score(
    streams: Streams,
    other_column: OtherColumnOption = "other",
    model: Annotated[
        str | None, typer.Option(help="A folder that `train` made; by default the bundled model.", show_default=False)
    ] = None,
) -> None:
    """Score how near in meaning two sentences are: near 1 the same, near 0 nothing in common.

    Two sentences are given as arguments, many pairs as a file: it comes back as JSONL with each score under
    `sim-wieting`. Into a file, an interrupted run goes on with the same command.

    \b
    restyle similarity score "Are you crazy?" "Art thou mad?"
    restyle similarity score -i pairs.tsv --columns text,other -o scored.jsonl
    """
    if streams.texts and streams.source is None:
        if len(streams.texts) != 2:
            raise UsageError(f"{len(streams.texts)} sentences were given; it takes two, or a file of pairs (--input)")
        left, right = streams.texts
        typer.echo(f"{_model(model).similarity([left], [right])[0]:.4f}")
        return
    identity = {"model": _model(model).fingerprint, "other_column": other_column}
    streams.run(partial(Scorer, model, other_column), what="scoring pairs", identity=identity, text=None)


@app.command("train")
@with_settings(TrainSettings)
def train(
    out: Annotated[str, typer.Option("--out", "-o", help="The folder to make.", show_default=False)],
    settings: TrainSettings,
    files: Annotated[
        list[str] | None,
        typer.Argument(help="Pairs as .jsonl, .tsv or .csv; by default those of known corpora.", show_default=False),
    ] = None,
    text_column: Annotated[str, typer.Option(help="The field that holds one sentence.")] = "text",
    other_column: OthersColumnOption = "other",
    columns: ColumnsOption = None,
    encoding: EncodingOption = "utf-8",
    format: FormatOption = TableFormat.text,
) -> None:
    """Train a similarity model, on pairs of your own or (without files) on the corpora that made the bundled one.

    Interrupted or killed, the same command goes on. `found` is how often a held-out sentence finds its paraphrase
    among all others.

    \b
    restyle similarity train --out sim
    restyle similarity train pairs.tsv.gz --columns text,other --out sim --vocabulary 8000
    """
    from restyle.nets.wieting_pairs import SOURCES, gathered
    from restyle.nets.wieting_training import train as trained

    named = columns.split(",") if columns else None
    read = partial(read_records, text_column=text_column, columns=named, encoding=encoding)
    groups = (_group(record, other_column) for file in files or () for record in read(file))
    data = ", ".join(Path(file).name for file in files) if files else ", ".join(SOURCES)
    model = trained(groups if files else gathered(), out, settings, data=data)
    show([{"epoch": number, **facts} for number, facts in enumerate(model.card["epochs"], 1)], format)
    typer.echo(f"restyle: the model is in {out}", err=True)


class Scorer:
    """Adds the similarity to records that hold pairs; the model is loaded once on each worker."""

    def __init__(self, model: str | None, other_column: str) -> None:
        self._model, self._other = _model(model), other_column

    def __call__(self, records: list[Record]) -> list[Record]:
        """The records, each with its score; InputError names one that holds no pair."""
        others = [_other(record, self._other) for record in records]
        scores = self._model.similarity([record["text"] for record in records], others)
        return [{**record, SCORE: round(float(value), 6)} for record, value in zip(records, scores, strict=True)]


def _other(record: Record, column: str) -> str:
    """The second sentence of a pair."""
    other = record.get(column)
    if not isinstance(other, str):
        held = ", ".join(key for key in record if key != "id")
        raise InputError(f"the record {record['id']!r} has no text under {column!r} (--other-column), only {held}")
    return other


def _group(record: Record, column: str) -> list[str]:
    """The sentences of a record, which say the same."""
    others = record.get(column)
    if isinstance(others, list) and all(isinstance(other, str) for other in others):
        return [record["text"], *others]
    return [record["text"], _other(record, column)]


def _model(folder: str | None) -> Wieting:
    from restyle.nets.wieting import Wieting, bundled

    return bundled() if folder is None else Wieting.load(folder)
