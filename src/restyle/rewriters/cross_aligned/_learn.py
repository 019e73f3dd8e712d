"""From a corpus to a trained model in a folder: the gauges first, then the training, then the point that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from accelerate import PartialState

from restyle.corpora import Corpus
from restyle.errors import InputError
from restyle.metrics.gauges import Gauges
from restyle.metrics.gauges_training import train_gauges
from restyle.nets.device import denormals_flushed
from restyle.nets.vocabulary import load_vocabulary
from restyle.nets.weights import load_weights
from restyle.records import writing_to
from restyle.rewriters._base import write_system_file
from restyle.rewriters.cross_aligned._data import Sides, paraphrases, read_sides
from restyle.rewriters.cross_aligned._model import Transfer
from restyle.rewriters.cross_aligned._rewriter import VERSION, CrossAligned, read_model_file
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings
from restyle.rewriters.cross_aligned._training import (
    TRAJECTORY_FILE,
    Measured,
    Point,
    Training,
    point_file,
    read_trajectory,
)
from restyle.settings import from_dict, to_dict

# The folder of the gauges, beside that of the run: models of one corpus are measured by the same.
_GAUGES = "gauges"


class Chosen(Protocol):
    """A point of a trajectory, and why it is the one."""

    @property
    def point(self) -> Point:
        """Which."""
        ...

    @property
    def why(self) -> str:
        """Why."""
        ...


class Watch(NamedTuple):
    """Who measures a training and decides on it; another room knows how."""

    measured: Callable[[Gauges, Sides], Measured]
    ended: Callable[[Sequence[Point]], bool]
    chosen: Callable[[Sequence[Point]], Chosen]


def learn(
    corpus: Corpus,
    styles: Sequence[str],
    settings: CrossAlignedSettings,
    folder: Path,
    watch: Watch,
    *,
    shown: bool | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> CrossAligned:
    """Learn to transfer between two styles of a corpus; what was begun in the folder goes on.

    The gauges and the two language models of Eq. 6 are trained first (line 1 of Algorithm 1), once for all models that
    share their folder. The model that is chosen of the trajectory is left in the folder, as a rewriter that `load`
    reads.
    """
    sides = read_sides(corpus, styles, settings)
    say(
        f"{settings.model} on {corpus.name}: {len(sides.rows[0]):,} sentences {sides.styles[0]}, "
        f"{len(sides.rows[1]):,} {sides.styles[1]}, {len(sides.vocabulary):,} words"
    )
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    of_gauges = Path(settings.gauges) if settings.gauges else folder.parent / _GAUGES
    with denormals_flushed():
        # Under `accelerate launch` one process writes, and the others read what it wrote.
        with PartialState(cpu=not torch.cuda.is_available()).main_process_first():
            gauges = train_gauges(of_gauges, corpus.name, sides, settings.cnn, settings.lm, shown=shown, say=say)
        pairs = paraphrases(sides.vocabulary, settings) if settings.has("para") else []
        training = Training(sides, pairs, gauges.style_lms, settings, folder)
        if training.across.is_main_process:
            _begin(folder, sides, settings)  # so that a point can be chosen while it still learns
        training.go(watch.measured(gauges, sides), watch.ended, shown=shown, say=say)
    with training.across.main_process_first():
        if not training.across.is_main_process:
            return CrossAligned.load(folder)
        return choose(folder, watch.chosen(training.trajectory))


def choose(folder: Path, choice: Chosen, output: Path | None = None) -> CrossAligned:
    """Make a point of a run's trajectory the model in its folder, or write it to another.

    InputError when its weights are gone, UsageError when the run is of another version.
    """
    values = read_model_file(folder)
    settings = from_dict(CrossAlignedSettings, values["settings"], where=str(folder))
    vocabulary = load_vocabulary(folder)
    model = Transfer(len(vocabulary), settings)
    file = point_file(folder, choice.point["step"])
    if not file.is_file():
        raise InputError(f"{folder} holds no weights of step {choice.point['step']}: {file.name} is gone")
    load_weights(model, file)
    chosen = {name: value for name, value in choice.point.items() if name != "losses"} | {"why": choice.why}
    made = CrossAligned(model, vocabulary, values["styles"], settings, chosen)
    made.save(output or folder)
    return made


def is_run(folder: Path) -> bool:
    """Whether a folder holds a training, finished or not."""
    return (folder / TRAJECTORY_FILE).is_file()


def trajectory_of(folder: Path) -> list[dict[str, Any]]:
    """The measures of a run; InputError when the folder holds none."""
    points = read_trajectory(folder)
    if not points:
        raise InputError(f"{folder} holds no trajectory: it is no run of restyle learn, or nothing was measured yet")
    return points


def _begin(folder: Path, sides: Sides, settings: CrossAlignedSettings) -> None:
    values: Mapping[str, Any] = {
        "system": CrossAligned.name,
        "version": VERSION,
        "styles": list(sides.styles),
        "settings": to_dict(settings),
    }
    write_system_file(folder, dict(values))
    sides.vocabulary.save(folder)
