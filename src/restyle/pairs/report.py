"""What the filter did: survivors after each stage and what each cost, as in the paper's Table 8."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from restyle.records import Record

KEPT_PROBLEMS = 5


@dataclass
class FilterReport:
    """Counts over all pairs: read, dropped by each stage in its order, kept; and the stages' time on the processor."""

    stages: tuple[str, ...] = ()
    read: int = 0
    kept: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    samples: list[dict[str, Any]] = field(default_factory=list)
    # The first survivors that duplicates were looked for among, where there was no room for all.
    remembered: int | None = None

    def add(self, result: Record, sampled: int) -> None:
        """Take in what a worker says of one block, but for the survivors, of which some may be duplicates."""
        self.read += result["read"]
        self.skipped += result["skipped"]
        self.problems = (self.problems + result["problems"])[:KEPT_PROBLEMS]
        self.dropped.update(dict(zip(self.stages, result["dropped"], strict=False)))
        for stage, spent in result["seconds"].items():
            self.seconds[stage] += spent
        self.sample(result["samples"], sampled)

    def sample(self, found: Iterable[dict[str, Any]], count: int) -> None:
        """Keep, of each stage's samples, those that drew the smallest numbers."""
        by_stage: dict[str, list[dict[str, Any]]] = {}
        for sample in (*self.samples, *found):
            by_stage.setdefault(sample["stage"], []).append(sample)
        self.samples = [
            sample
            for stage in self.stages
            for sample in heapq.nsmallest(count, by_stage.get(stage, []), key=lambda sample: sample["draw"])
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Table 8: one row for what was read, then one for each stage with what survived it."""
        rows = [{"stage": "read", "survivors": self.read, "dropped": 0, "seconds": round(self.seconds["read"], 3)}]
        left = self.read
        for stage in self.stages:
            left -= self.dropped[stage]
            row = {"stage": stage, "survivors": left, "dropped": self.dropped[stage]}
            rows.append({**row, "seconds": round(self.seconds[stage], 3)})
        return rows

    def shown_samples(self) -> list[dict[str, Any]]:
        """The sampled pairs as rows of a table: the stage that dropped each, what it measured, and where it stands."""
        return [
            {
                "dropped by": sample["stage"],
                "value": sample["values"].get(sample["stage"]),
                "where": sample["where"],
                "pair": sample["pair"],
            }
            for sample in self.samples
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        samples = [{key: value for key, value in sample.items() if key != "draw"} for sample in self.samples]
        report = {"read": self.read, "kept": self.kept, "skipped": self.skipped, "problems": self.problems}
        return {**report, "remembered": self.remembered, "stages": self.rows(), "samples": samples}

    def __str__(self) -> str:
        parts = [f"{self.read:,} pairs read, {self.kept:,} kept"]
        if self.skipped:
            parts.append(f"{self.skipped:,} bad lines skipped (the first: {self.problems[0]})")
        if self.remembered is not None:
            parts.append(f"duplicates were looked for only among the first {self.remembered:,} survivors")
        return "; ".join(parts)
