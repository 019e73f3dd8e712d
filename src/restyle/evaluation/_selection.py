"""Choosing a checkpoint without references, and when to stop (Pang and Gimpel 2019, Sec. 3.3, Tables 2 and 7).

    gm          the checkpoint whose GM is highest; training ends when it gets no higher
    acc=0.8     the one whose Acc is nearest to 0.8; training ends when Acc has fallen past it
    sim=0.8     the one whose Sim is nearest to 0.8; training ends when Sim has risen past it

Acc is highest early and falls, and Sim rises (Table 1), so either is crossed once but for noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from restyle.errors import InputError, UsageError

Point = Mapping[str, Any]
# In Table 7 what stands for a fixed Acc lies within 0.019 of it, for a fixed Sim within 0.008; the rest is marked n/a.
_NEAR = 0.02
_MEASURES = ("acc", "sim")


class Choice(NamedTuple):
    """The point that was chosen, and why."""

    point: Point
    why: str
    near: bool = True  # whether it lies at the level that was asked for


@dataclass(frozen=True)
class Rule:
    """How a checkpoint is chosen."""

    measure: Literal["gm", "acc", "sim"] = "gm"
    level: float = math.nan

    @classmethod
    def parse(cls, text: str) -> Rule:
        """`gm`, `acc=0.8` or `sim=0.8`; UsageError when it is neither."""
        name, _, level = text.strip().partition("=")
        if name == "gm" and not level:
            return cls()
        try:
            number = float(level)
        except ValueError:
            number = math.nan
        if name not in _MEASURES or not 0 < number < 1:
            raise UsageError(f"{text!r} chooses nothing; write gm, acc=0.8 or sim=0.8, with a level between 0 and 1")
        return cls("acc" if name == "acc" else "sim", number)

    def __str__(self) -> str:
        return self.measure if self.measure == "gm" else f"{self.measure}={self.level:g}"

    def chosen(self, points: Sequence[Point]) -> Choice:
        """The point that is chosen of a trajectory; InputError when there is none."""
        known = [point for point in points if math.isfinite(point["gm"])]
        if not known:
            raise InputError("nothing was measured yet: there is no checkpoint to choose from")
        if self.measure == "gm":
            best = max(known, key=lambda point: point["gm"])
            if best["gm"] > 0:
                return Choice(best, f"its GM, {best['gm']:.2f}, is the highest of {len(known)}")
            # The cube root of a product is 0 wherever one factor is: say which, and take the least bad.
            best = max(known, key=lambda point: point["acc"] * point["sim"])
            return Choice(
                best,
                f"GM is 0 at all {len(known)} points (Acc, Sim or PP lies outside its thresholds): its Acc times Sim, "
                f"{best['acc'] * best['sim']:.3f}, is the highest",
                near=False,
            )
        nearest = min(known, key=lambda point: (abs(point[self.measure] - self.level), -point["gm"]))
        apart = abs(nearest[self.measure] - self.level)
        said = f"its {self.measure.capitalize()}, {nearest[self.measure]:.3f}, is the nearest to {self.level:g}"
        if apart > _NEAR:
            reached = [point[self.measure] for point in known]
            return Choice(
                nearest,
                f"{said}, but the model never reaches it ({min(reached):.3f} to {max(reached):.3f})",
                near=False,
            )
        return Choice(nearest, f"{said} of {len(known)}")

    def ended(self, points: Sequence[Point], patience: int) -> bool:
        """Whether more training would not change the choice: for `patience` points the rule has been past its best."""
        if len(points) <= patience:
            return False
        late = points[-patience:]
        if self.measure == "gm":
            before = max(point["gm"] for point in points[:-patience])
            return before > 0 and all(point["gm"] <= before for point in late)
        if self.measure == "acc":
            was_above = any(point["acc"] >= self.level for point in points[:-patience])
            return was_above and all(point["acc"] < self.level for point in late)
        return all(point["sim"] > self.level for point in late)
