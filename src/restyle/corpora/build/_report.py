"""What became of every piece of the input: kept in which split, or dropped for which reason, with examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from restyle.corpora._corpus import SPLITS
from restyle.corpora.build._rules import REASONS

# Long enough to see what it is.
_EXAMPLE_CHARACTERS = 160


@dataclass(frozen=True)
class Example:
    """A dropped piece, where it stood, and for a duplicate the sentence that it repeats."""

    text: str
    source: str
    line: int
    like: str = ""


@dataclass
class InputReport:
    """One source: its name and hash, how it was laid out, and how many pieces came out of it."""

    name: str
    style: str
    layout: str
    pieces: int = 0
    sha256: str | None = None
    note: str | None = None


@dataclass
class BuildReport:
    """The account of a build; `read` is always the sum of what was kept and what was dropped.

    >>> report = BuildReport("noir")
    >>> report.keep("noir", "train")
    >>> report.drop("heading", Example("CHAPTER I", "noir.txt", 1))
    >>> report.read, report.kept, report.dropped
    (2, 1, {'heading': 1})
    """

    name: str
    folder: Path | None = None
    inputs: list[InputReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    most_examples: int = 5
    examples: dict[str, list[Example]] = field(default_factory=dict)
    _kept: Counter[tuple[str, str]] = field(default_factory=Counter)
    _dropped: Counter[str] = field(default_factory=Counter)

    def keep(self, style: str, split: str) -> None:
        """Count a sentence that is in the corpus."""
        self._kept[style, split] += 1

    def drop(self, reason: str, example: Example | None = None, *, count: int = 1) -> None:
        """Count pieces that are not, and keep the first few of each reason to be looked at."""
        self._dropped[reason] += count
        shown = self.examples.setdefault(reason, [])
        if example and len(shown) < self.most_examples:
            shown.append(_shortened(example))

    @property
    def read(self) -> int:
        """All pieces that came out of the inputs."""
        return self.kept + sum(self._dropped.values())

    @property
    def kept(self) -> int:
        """The sentences of the corpus."""
        return self._kept.total()

    @property
    def dropped(self) -> dict[str, int]:
        """How many pieces were dropped for each reason, in the order in which the reasons are tried."""
        return {reason: self._dropped[reason] for reason in REASONS if self._dropped[reason]}

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many sentences each style has in each split."""
        styles = dict.fromkeys(style for style, _ in self._kept)
        return {style: {split: self._kept[style, split] for split in SPLITS} for style in styles}

    def rows(self) -> list[dict[str, Any]]:
        """The account as a table: one row per fate of a piece, with its count and its share."""
        by_split = {split: sum(counts[split] for counts in self.counts.values()) for split in SPLITS}
        fates = {f"kept: {split}": count for split, count in by_split.items()}
        fates |= {f"dropped: {reason}": count for reason, count in self.dropped.items()}
        fates["all"] = self.read
        return [
            {"fate": fate, "pieces": count, "share": f"{count / max(1, self.read):.1%}"}
            for fate, count in fates.items()
        ]

    def lines(self) -> Iterator[str]:
        """What the table leaves out, for people: styles, inputs, examples of what was dropped, and the folder."""
        for style, counts in self.counts.items():
            yield f"style {style}: " + ", ".join(f"{split} {count:,}" for split, count in counts.items())
        for entry in self.inputs:
            note = f" ({entry.note})" if entry.note else ""
            yield f"input {entry.name}{note}: {entry.pieces:,} pieces, read as {entry.layout}"
        for reason in self.dropped:
            for example in self.examples.get(reason, []):
                like = f"  like: {example.like}" if example.like else ""
                yield f"dropped, {reason}: {example.text}  [{example.source}, line {example.line}]{like}"
        if self.folder:
            yield f"written to {self.folder}"

    def as_dict(self) -> dict[str, Any]:
        """The whole account as plain values, for JSON."""
        return {
            "name": self.name,
            "folder": str(self.folder) if self.folder else None,
            "read": self.read,
            "kept": self.kept,
            "dropped": self.dropped,
            "counts": self.counts,
            "inputs": [vars(each) for each in self.inputs],
            "notes": self.notes,
            "examples": {
                reason: [{key: value for key, value in vars(example).items() if value} for example in examples]
                for reason, examples in self.examples.items()
                if examples
            },
        }


def _shortened(example: Example) -> Example:
    def short(text: str) -> str:
        text = " ".join(text[: 4 * _EXAMPLE_CHARACTERS].split())
        return text if len(text) <= _EXAMPLE_CHARACTERS else text[: _EXAMPLE_CHARACTERS - 1] + "…"

    return Example(short(example.text), example.source, example.line, short(example.like))
