"""Systems that learn from a corpus in two styles: `restyle learn --system NAME --corpus CORPUS`.

STRAP learns one style from plain sentences and has flags of its own; each of these is given the same order. A new one
is a function that carries it out, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from restyle.registry import Registry


@dataclass(frozen=True)
class Order:
    """What is to be learned, from what, and where it goes."""

    variant: str  # what stands behind the colon: the M7 of cross-aligned:M7
    corpus: str
    styles: tuple[str, ...]
    output: Path
    values: Mapping[str, Any]  # settings by name
    progress: bool | None
    say: Callable[[str], None]


# Carries an order out and says what came of it, in lines for a person.
Learner = Callable[[Order], list[str]]

learners: Registry[Learner] = Registry("system that learns from a corpus")
learners.add(
    "cross-aligned",
    "restyle.cli._learning_cross_aligned:learn",
    "M0 to M7 of Pang and Gimpel 2019",
    extra="local",
)
