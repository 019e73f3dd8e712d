"""The command that learns a pack again, for its card."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from restyle.rewriters.strap.learning._settings import LearnSettings
from restyle.settings import to_dict


def command_of(
    files: Sequence[str | Path], name: str, recipe: str | Path | None, pairs: str | Path | None, settings: LearnSettings
) -> str:
    """What to type: all that is not as it is without being said. Tables of settings stand in a file (--config).

    >>> command_of(["/home/me/noir.txt"], "noir", None, None, LearnSettings(minutes=20))
    'restyle learn noir.txt --name noir --minutes 20'
    """
    words = ["restyle", "learn", *map(_told, files), "--name", name]
    for flag, file in (("--recipe", recipe), ("--pairs", pairs)):
        words += [flag, _told(file)] if file else []
    usual = to_dict(LearnSettings())
    for key, value in to_dict(settings).items():
        if value != usual.get(key) and not isinstance(value, dict):
            for each in value if isinstance(value, (list, tuple)) else [value]:
                shown = f"{each:g}" if isinstance(each, float) else _told(each)
                words += [f"--{key.replace('_', '-')}", shown]
    return shlex.join(words)


def _told(value: object) -> str:
    """A value as it was given; where on this machine a file lies is nobody's business."""
    return Path(str(value)).name if Path(str(value)).is_absolute() else str(value)
