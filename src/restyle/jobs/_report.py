"""What became of a job's records."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from restyle.records import Record


@dataclass
class JobReport:
    """How many records went in, came out and failed, how many an earlier run had done, and the first few reasons."""

    read: int = 0
    written: int = 0
    poisoned: int = 0
    resumed: int = 0
    problems: list[str] = field(default_factory=list)
    poison_file: Path | None = None

    KEPT_PROBLEMS = 5

    def count(self, *, read: int, written: int) -> None:
        """Add the records of one finished shard."""
        self.read += read
        self.written += written

    def poison(self, record: Record) -> None:
        """Count a record that failed, and keep its reason while there are few."""
        self.poisoned += 1
        if len(self.problems) < self.KEPT_PROBLEMS:
            self.problems.append(f"record {record.get('id')!r}: {record['error']}")

    def __str__(self) -> str:
        parts = [f"{self.read:,} records read, {self.written:,} written"]
        if self.resumed:
            parts.append(f"{self.resumed:,} of them were done by an earlier run")
        if self.poisoned:
            where = f", set aside in {self.poison_file}" if self.poison_file else ""
            parts.append(f"{self.poisoned:,} failed{where} (the first: {self.problems[0]})")
        return "; ".join(parts)
