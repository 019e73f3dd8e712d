"""`restyle learn`: a style from plain sentences, or a paraphraser from pairs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from restyle.cli._learners import Order, learners
from restyle.cli._settings import Chosen, nested, with_settings
from restyle.cli.score import warnings_told
from restyle.errors import UsageError
from restyle.jobs import JobSettings
from restyle.jobs.stages import leads
from restyle.rewriters.strap import Pack, packs
from restyle.rewriters.strap.learning import LearnSettings

_FLAGS = (
    "kind", "styles", "base", "paraphraser", "start", "minutes", "epochs", "rank", "precision", "most",
    "min_similarity", "test", "judge", "engine", "seed", "summary", "licence",
)  # fmt: skip
# Those of them that other systems have too.
_SHARED = ("epochs", "seed", "styles")


@with_settings(LearnSettings, only=_FLAGS, with_base=True)
@with_settings(JobSettings, "jobs", only=("workers", "executor", "address", "num_gpus"), config=False)
def learn(
    files: Annotated[
        list[str] | None, typer.Argument(help="Texts in the style: files, or folders of them.", show_default=False)
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What to call it: letters, digits, hyphens.")] = "",
    *,
    settings: Chosen[LearnSettings],
    system: Annotated[
        str | None,
        typer.Option(
            help="Instead of strap, a system that learns from a corpus: cross-aligned:M0 to cross-aligned:M7."
        ),
    ] = None,
    corpus: Annotated[str | None, typer.Option(help="For --system: a corpus of two styles, or more.")] = None,
    stop: Annotated[
        str | None,
        typer.Option(help="For --system: gm, acc=0.8 or sim=0.8; when to end, and which checkpoint is chosen."),
    ] = None,
    with_: Annotated[
        list[str] | None, typer.Option("--with", help="For --system: NAME=VALUE, one of its settings; several.")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(help="Instead of texts: a TOML file of styles, of which --name is one.")
    ] = None,
    pairs: Annotated[
        str | None, typer.Option(help="For --kind paraphraser: its pairs (`restyle pairs build`).")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="The folder of the pack; without it, among your packs.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(help="The folder of what is unfinished; in the cache, when not given.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Take the place of a pack of this name.")] = False,
    jobs: JobSettings,
) -> None:
    """Learn a style from plain sentences, and say what the result is worth.

    The sentences are cleaned, paraphrased into no style, and a small adapter learns the way back. What it writes of
    held-out sentences is judged; numbers, samples and settings stand on the pack's card. 200 sentences are enough to
    begin with, 1,000 and more are better. A run that was interrupted goes on when the same command is given again; one
    of which nothing has changed is done at once.

    \b
    restyle learn noir.txt --name noir --minutes 60
    restyle learn letters/ --name letters --licence "my own" --judge linear
    restyle learn --recipe recipes/strap/styles.toml --name shakespeare
    restyle learn --kind multi --recipe recipes/strap/styles.toml --styles bible --styles joyce --name both
    restyle learn --kind paraphraser --pairs pairs.jsonl --name mine
    accelerate launch -m restyle learn letters/ --name letters
    restyle learn --system cross-aligned:M7 --corpus yelp --stop gm -o runs/m7
    restyle learn --system cross-aligned:M0 --corpus books --styles dickens --styles joyce --epochs 6 -o runs/m0
    """
    if system is not None and system != "strap":
        refused = {"texts": files, "--name": name, "--recipe": recipe, "--pairs": pairs, "--run": run}
        given = {"corpus": corpus, "stop": stop, "output": output, "with_": with_}
        lines = _of_a_corpus(system, given, [what for what, value in refused.items() if value], settings)
        _say(*lines, to_stderr=False)
        return
    for flag, value in (("--corpus", corpus), ("--stop", stop), ("--with", with_)):
        if value:
            raise UsageError(f"{flag} is for systems that learn from a corpus: name one with --system")
    from restyle.cli._learning import learn as learned

    with warnings_told():
        pack = learned(
            *(files or []),
            name=name,
            recipe=recipe,
            pairs=pairs,
            output=output,
            run=run,
            overwrite=overwrite,
            settings=settings(),
            jobs=jobs,
            progress=None,
            say=lambda line: _say(f"restyle: {line}"),
        )
    _say(_told(pack, settings().paraphraser, named=output is None), to_stderr=False)


def _say(*lines: str, to_stderr: bool = True) -> None:
    """Say it once, however many processes learn together."""
    if leads():
        for line in lines:
            typer.echo(line, err=to_stderr)


def _of_a_corpus(
    system: str, given: Mapping[str, Any], refused: Sequence[str], settings: Chosen[LearnSettings]
) -> list[str]:
    """Have a system learn from a corpus; UsageError when it was given what is STRAP's alone."""
    name, _, variant = system.partition(":")
    learner = learners[name]
    # What was typed counts, not what differs: the defaults of STRAP are not those of other systems.
    named, checked = settings.named(), settings()
    if others := [*refused, *(f"--{key.replace('_', '-')}" for key in named if key not in _SHARED)]:
        raise UsageError(f"{', '.join(others)}: not for --system {system}; its settings are given --with NAME=VALUE")
    for flag in ("corpus", "output"):
        if not given[flag]:
            raise UsageError(f"--system {system} learns from a corpus into a folder: name it with --{flag}")
    if "epochs" in named and not checked.epochs.is_integer():
        raise UsageError(f"--epochs {checked.epochs:g}: {system} goes through its corpus a whole number of times")
    numbers = {key: int(getattr(checked, key)) for key in ("epochs", "seed") if key in named}
    values = numbers | nested(given["with_"] or [], "--with")
    return learner(
        Order(
            variant=variant,
            corpus=given["corpus"],
            styles=checked.styles,
            output=Path(given["output"]),
            values=values | ({"stop": given["stop"]} if given["stop"] else {}),
            progress=None,
            say=lambda line: _say(f"restyle: {line}"),
        )
    )


def _told(pack: Pack, paraphraser: str, *, named: bool) -> str:
    """What the pack is worth, where it is, and what to type next."""
    card = pack.card
    lines = []
    for evaluation in card.evaluations:
        scores = [
            f"{name} {100 * score.value:.1f} ({100 * score.low:.1f} to {100 * score.high:.1f})"
            for name, score in evaluation.scores.items()
        ]
        lines.append(f"{card.name}, on {evaluation.sentences:,} {evaluation.on}: {'; '.join(scores)}")
    lines += [f"  {sample.input}  ->  {sample.output}" for sample in card.samples[:3]]
    lines.append(f"written to {pack.folder}; its README.md is the card")
    called = card.name if named else str(pack.folder)
    if card.styles:
        called = f"{called}:{card.styles[0]}"
    if card.kind != "paraphraser":
        # One that is not installed under its name must be named again.
        by = "" if card.paraphraser in packs("paraphraser") else f" --paraphraser {shlex.quote(paraphraser)}"
        lines.append(f'now: restyle rewrite --to {shlex.quote(called)}{by} "It is raining, and my rent is due."')
    else:
        lines.append(f"now: restyle learn TEXTS --name NAME --paraphraser {shlex.quote(called)}")
    return "\n".join(lines)
