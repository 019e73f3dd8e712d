"""How models went while they learned, as pictures: Figures 1 and 2 of Pang and Gimpel 2019.

Sim against the error rate, 1 - Acc     towards the upper left is better
PP against Sim                          towards the lower right is better
METEOR against Sim                      how much the two say the same
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from restyle.errors import MissingExtra
from restyle.pairs.plot import checked_plot
from restyle.records import writing_to

Trajectory = Sequence[Mapping[str, Any]]
_MARKERS = "osD^v<>P"


def save_trajectories(trajectories: Mapping[str, Trajectory], path: str | Path) -> None:
    """Draw a line for each model, a mark for each half epoch, into a .png or .svg; the same numbers, the same bytes."""
    path = checked_plot(path)
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra("matplotlib", "plot", "drawing a plot") from error
    # Not pyplot, which keeps every figure and asks for a screen.
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    errors, fluency, meteor = figure.subplots(1, 3)
    for place, (name, points) in enumerate(trajectories.items()):
        acc, sim, pp, met = (np.array([point[key] for point in points]) for key in ("acc", "sim", "pp", "meteor"))
        style: dict[str, Any] = {"marker": _MARKERS[place % len(_MARKERS)], "markersize": 4, "linewidth": 1}
        errors.plot(1 - acc, sim, label=name, **style)
        fluency.plot(sim, pp, label=name, **style)
        meteor.plot(sim, met, label=name, **(style | {"linewidth": 0}))
    for axes, across, up in (
        (errors, "error rate (1 - Acc)", "Sim"),
        (fluency, "Sim", "PP"),
        (meteor, "Sim", "METEOR with the input"),
    ):
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.grid(alpha=0.3)
    errors.legend(fontsize="small")
    # Without a date and with a salt of its own, an .svg is the same each time.
    with writing_to(path), matplotlib.rc_context({"svg.hashsalt": "restyle"}):
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
