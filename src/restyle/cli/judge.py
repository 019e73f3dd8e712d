"""`restyle judge`: the judges there are, what they are worth, and training one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from restyle.cli._settings import assigned, nested
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.errors import UsageError

app = typer.Typer(help="Judges of style and fluency: which there are, and training one.", no_args_is_help=True)


@app.command("ls")
def ls(format: FormatOption = TableFormat.text) -> None:
    """List the judges: yours, and those that come with restyle.

    \b
    restyle judge ls --format markdown
    """
    from restyle.metrics.judges import cards

    rows = [
        {
            "judge": card.name,
            "task": card.task,
            "set": card.part,
            "kind": card.kind,
            "labels": ", ".join(card.labels),
            "accuracy": result.accuracy if (result := card.results.get("test")) else None,
            "mcc": result.mcc if result else None,
        }
        for card in cards().values()
    ]
    show(rows, format)


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(help="A judge, as `restyle judge ls` names it, or its folder.")],
    words: Annotated[int, typer.Option(help="Of a linear one or an attacker, so many of the heaviest words.")] = 10,
    format: FormatOption = TableFormat.text,
) -> None:
    """Say what a judge is made of and how often it is right; of a linear one, by which words it tells.

    \b
    restyle judge info shakespeare-report
    restyle judge info shakespeare-linear-report --words 20
    """
    from restyle.metrics.judges import LinearJudge, WordJudge, load_judge
    from restyle.settings import to_dict

    judge = load_judge(name)
    facts: dict[str, Any] = to_dict(judge.card)
    results = facts.pop("results")
    for split, result in results.items():
        facts[f"{split} accuracy"] = (
            f"{result['accuracy']:.3f} ({result['low']:.3f} to {result['high']:.3f}) of {result['sentences']:,}"
        )
        facts[f"{split} MCC"] = f"{result['mcc']:.3f}"
        facts[f"{split} confusion"] = "; ".join(" ".join(map(str, row)) for row in result["confusion"])
    if isinstance(judge, (LinearJudge, WordJudge)):
        for label in judge.card.labels:
            facts[f"words of {label}"] = "  ".join(word for word, _ in judge.model.top(label, words))
    show([{"what": key, "is": _told(value)} for key, value in facts.items() if value not in ("", {}, [])], format)


@app.command("train")
def train(
    name: Annotated[str | None, typer.Argument(help="How the judge is called; its set is added.")] = None,
    corpus: Annotated[
        list[str] | None, typer.Option("--corpus", help="CORPUS, CORPUS/STYLE or CORPUS/STYLE=LABEL; several.")
    ] = None,
    settings: Annotated[Path | None, typer.Option("--settings", help="A TOML file with any of the settings.")] = None,
    kind: Annotated[str | None, typer.Option(help="network, linear, or words (an attacker).")] = None,
    task: Annotated[str | None, typer.Option(help="style, fluency, or attribute.")] = None,
    part: Annotated[str | None, typer.Option("--set", help="select, or report.")] = None,
    share: Annotated[float | None, typer.Option(help="Share of the sentences that the set select gets.")] = None,
    limit: Annotated[int | None, typer.Option(help="Training sentences of each source at most.")] = None,
    seed: Annotated[int | None, typer.Option(help="Decides sentences, head, batches and dropout.")] = None,
    broken: Annotated[
        list[str] | None,
        typer.Option(help="CORPUS/STYLE: its sentences are acceptable, and broken ones are not; several."),
    ] = None,
    broken_limit: Annotated[int | None, typer.Option(help="Sentences of each of those at most.")] = None,
    measured: Annotated[
        int | None, typer.Option(help="Measure on so many sentences of valid and of test at most; else on all.")
    ] = None,
    beside: Annotated[str | None, typer.Option(help="A linear judge whose probabilities are multiplied in.")] = None,
    start: Annotated[str | None, typer.Option(help="The folder of a network judge to go on from.")] = None,
    alias: Annotated[list[str] | None, typer.Option(help="Another name of a label: NAME=LABEL; several.")] = None,
    counts: Annotated[
        list[str] | None,
        typer.Option("--counts", help="LABEL=TABLE/COLUMN: learn words from counts of them, not sentences; several."),
    ] = None,
    l2: Annotated[float | None, typer.Option(help="The penalty on the weights of words.")] = None,
    with_: Annotated[
        list[str] | None, typer.Option("--with", help="network.KEY=VALUE or training.KEY=VALUE; several.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder of the judge; without it, the cache.")
    ] = None,
) -> None:
    """Train a judge on the training sentences of corpora, and print the folder that it is in.

    A run that was cut off goes on when the same command is given again.

    \b
    restyle judge train plays --corpus shakespeare
    restyle judge train noir --corpus noir/noir --corpus books/modern_plain=plain --with training.epochs=3
    restyle judge train plays --corpus shakespeare --with network.base=roberta-large
    restyle judge train politics --corpus congress --kind words --task attribute --set select
    """
    from restyle.assets import cache_home
    from restyle.metrics.training import JudgeSettings, train_judge
    from restyle.settings import resolve

    flags: dict[str, Any] = {
        "name": name,
        "corpora": corpus,
        "kind": kind,
        "task": task,
        "part": part,
        "share": share,
        "limit": limit,
        "seed": seed,
        "broken": broken,
        "broken_limit": broken_limit,
        "measured": measured,
        "beside": beside,
        "start": start,
        "aliases": assigned(alias, "--alias") if alias else None,
        "counts": assigned(counts, "--counts") if counts else None,
        "l2": l2,
    }
    chosen = _tables_of(with_)
    resolved = resolve(JudgeSettings, settings, {**flags, **chosen})
    folder = output or cache_home() / "judges" / resolved.full_name
    card = train_judge(resolved, folder)
    test = card.results["test"]
    typer.echo(f"restyle: accuracy {test.accuracy:.3f} ({test.low:.3f} to {test.high:.3f})", err=True)
    typer.echo(folder)


@app.command("gauges")
def gauges(
    corpus: Annotated[str, typer.Argument(help="A corpus of two styles, or more.")],
    styles: Annotated[list[str] | None, typer.Option(help="The two styles that are meant, one by one.")] = None,
    name: Annotated[str | None, typer.Option(help="What they are called; as the corpus, when not given.")] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", help="NAME=VALUE, a setting of `learn --system cross-aligned`; several."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder of the gauges; without it, the cache.")
    ] = None,
) -> None:
    """Train what measures a transfer between two styles: a text CNN (acc-cnn) and a GRU language model (pp).

    They learn from the training sentences of the corpus, as in Pang & Gimpel 2019, Sec. 3.2. A run that was cut off
    goes on with the networks that are there when the same command is given again.

    \b
    restyle judge gauges yelp
    restyle judge gauges books --styles dickens --styles midcentury_fiction --with sentences=20000
    """
    from restyle.assets import cache_home
    from restyle.corpora import load
    from restyle.metrics.gauges_training import train_gauges
    from restyle.rewriters.cross_aligned import CrossAlignedSettings, read_sides
    from restyle.settings import from_dict

    settings = from_dict(CrossAlignedSettings, nested(with_ or [], "--with"), where="--with")
    opened = load(corpus)
    folder = output or cache_home() / "gauges" / (name or opened.name)
    train_gauges(
        folder,
        opened.name,
        read_sides(opened, styles or (), settings),
        cnn=settings.cnn,
        lm=settings.lm,
        shown=None,
        say=lambda line: typer.echo(f"restyle: {line}", err=True),
    )
    typer.echo(folder)


def _tables_of(given: list[str] | None) -> dict[str, Any]:
    """`network.layers=12` as a table of a TOML file would say it."""
    for key, value in assigned(given or [], "--with").items():
        table, _, name = key.partition(".")
        if table not in ("network", "training") or not name:
            raise UsageError(f"--with {key}={value} sets nothing; write network.KEY=VALUE or training.KEY=VALUE")
    return nested(given or [], "--with")


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
