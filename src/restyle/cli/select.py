"""`restyle select`: which checkpoint of a training, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from restyle.cli._names import told_apart
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.errors import InputError, UsageError
from restyle.records import finite

_MEASURES = ("acc", "sim", "meteor", "pp", "gm")


def select(
    runs: Annotated[list[str], typer.Argument(help="The folder of a training, or of several; several folders.")],
    by: Annotated[str, typer.Option(help="gm, acc=0.8 or sim=0.8: what the checkpoint is chosen by.")] = "gm",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Of one training, write the model there, and leave the run's own."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(help="Draw the trajectories: a .png or .svg (Pang & Gimpel, Figures 1 and 2).")
    ] = None,
    format: FormatOption = TableFormat.text,
) -> None:
    """Choose the checkpoint of a training without references, and say why it is that one.

    The checkpoint of one training becomes the model in its folder, or in that of -o. Of several trainings nothing is
    written: they are put side by side, as in Table 7 of the paper at a fixed Acc or Sim.

    \b
    restyle select runs/m7
    restyle select runs/m7 --by acc=0.8 -o m7-at-0.8
    restyle select runs --by sim=0.8 --plot trajectories.png
    """
    from restyle.evaluation import Rule
    from restyle.evaluation.trajectories import save_trajectories
    from restyle.rewriters.cross_aligned import choose, trajectory_of

    folders = list(dict.fromkeys(folder.absolute() for run in runs for folder in _runs(Path(run))))
    rule = Rule.parse(by)
    if output is not None and len(folders) > 1:
        raise UsageError(f"{len(folders)} trainings were given, and -o is for the model of one")
    names = told_apart([(str(folder), folder.name) for folder in folders])
    trajectories = {name: trajectory_of(folder) for name, folder in zip(names, folders, strict=True)}
    if plot is not None:
        save_trajectories(trajectories, plot)
    choices = {name: rule.chosen(points) for name, points in trajectories.items()}
    if len(folders) == 1:
        (choice,) = choices.values()
        choose(folders[0], choice, Path(output) if output else None)
    rows: list[dict[str, Any]] = [
        {
            "model": name,
            "epoch": choice.point["epoch"],
            **{measure: finite(choice.point[measure]) for measure in _MEASURES},
            "reached": choice.near,
            "why": choice.why,
        }
        for name, choice in choices.items()
    ]
    show(rows, format)


def _runs(folder: Path) -> Iterator[Path]:
    """The trainings in a folder: itself, or those beneath it."""
    from restyle.rewriters.cross_aligned import is_run

    if is_run(folder):
        yield folder
        return
    beneath = sorted(each for each in folder.iterdir() if is_run(each)) if folder.is_dir() else []
    if not beneath:
        raise InputError(f"{folder} holds no training: a folder that restyle learn --system made was expected")
    yield from beneath
