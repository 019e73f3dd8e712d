"""Reading pairs: many files of many formats become blocks of a few thousand lines, each line looked at and numbered.

A block is one record of a job. One record a pair would spend more on its JSON than the filter spends on the pair.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from restyle.errors import InputError, RecordError, UsageError
from restyle.pairs.layout import ColumnNames, Layout, layout_of_json, layout_of_table
from restyle.records import STDIO, OnError, ReadingReport, Record, format_of, read_records

_COMPRESSED = (".gz", ".zst")
NumberedLine = tuple[int, str]


@dataclass(frozen=True)
class PairFiles:
    """Files of pairs: TSV (.tsv, .txt) or JSONL, plain, .gz or .zst, or Parquet; `-` is stdin.

    A table has a header line that names its columns, or ParaNMT's: text, paraphrase and perhaps a score; `columns`
    names others. With `on_error="skip"` a line that holds no pair is counted and passed over; else it is a RecordError.
    """

    files: Sequence[str | Path]
    names: ColumnNames = field(default_factory=ColumnNames)
    columns: tuple[str, ...] | None = None
    encoding: str = "utf-8"
    on_error: OnError = "stop"
    # Characters: some 8,000 pairs, a tenth of a second of work. More would show in the memory, less in the speed.
    block_size: int = 1 << 20

    def __post_init__(self) -> None:
        if isinstance(self.files, str | Path):
            raise UsageError(f"one file was given where a list of them is expected: [{str(self.files)!r}]")
        if not self.files:
            raise UsageError("no file of pairs was given; name one or more, or - for stdin")
        if self.on_error not in ("stop", "skip"):
            raise UsageError(f"on_error is {self.on_error!r}; it can be stop or skip")
        for file in self.files:
            if format_of(file) == "csv":
                raise UsageError(f"{file}: pairs are read from .tsv, .jsonl and .parquet, not from CSV")

    def blocks(self) -> Iterator[Record]:
        """The lines of all files in blocks of `block_size` characters; all files must have the same columns."""
        places = itertools.count()
        report = ReadingReport()
        before: tuple[Layout, str] | None = None
        for file in self.files:
            name = "stdin" if str(file) == STDIO else str(file)
            found = self._opened(file, name, report)
            if found is None:
                continue
            layout, lines = found
            if before and before[0].columns != layout.columns:
                raise InputError(
                    f"{name} has the columns {', '.join(layout.columns)}, but {before[1]} has "
                    f"{', '.join(before[0].columns)}: filter them one at a time, or name the columns with --columns"
                )
            before = layout, name
            for block in _cut(lines, self.block_size):
                yield _block(next(places), name, layout, block, report)
        if report.skipped and before is None:
            raise InputError(f"no line holds a pair, {report.skipped:,} are bad (the first: {report.problems[0]})")
        if report.skipped and before:  # after the last pair
            yield _block(next(places), before[1], before[0], [], report)

    def expected_blocks(self) -> int | None:
        """About how many blocks there are; None where no size tells."""
        sizes = 0
        for file in map(Path, self.files):
            if str(file) == STDIO or file.suffix in (*_COMPRESSED, ".parquet") or not file.is_file():
                return None
            sizes += file.stat().st_size
        return sizes // self.block_size + len(self.files)

    def _opened(
        self, file: str | Path, name: str, report: ReadingReport
    ) -> tuple[Layout, Iterator[NumberedLine]] | None:
        """The layout of a file and the lines that hold a pair; None when it has no lines."""
        lines = self._lines(file, report)
        for number, line in lines:
            try:
                layout = self._layout(file, name, line)
            except ValueError as problem:
                self._reject(name, number, problem, report)
                continue
            rest = lines if layout.header is not None else itertools.chain([(number, line)], lines)
            return layout, self._checked(rest, layout, name, report)
        return None

    def _lines(self, file: str | Path, report: ReadingReport) -> Iterator[NumberedLine]:
        """The lines that are text at all and not empty; what is not is told or counted."""
        if Path(file).suffix == ".parquet":
            from restyle.pairs._parquet import json_lines

            yield from json_lines(file)
            return
        for record in read_records(file, format="txt", encoding=self.encoding, on_error=self.on_error, report=report):
            if record["text"]:
                yield int(record["id"]), record["text"]

    def _layout(self, file: str | Path, name: str, first: str) -> Layout:
        as_json = first.lstrip().startswith("{") if str(file) == STDIO else format_of(file) == "jsonl"
        if as_json or Path(file).suffix == ".parquet":
            return layout_of_json(first, self.names)
        return layout_of_table(first, self.names, self.columns, name)

    def _checked(
        self, lines: Iterator[NumberedLine], layout: Layout, name: str, report: ReadingReport
    ) -> Iterator[NumberedLine]:
        for number, line in lines:
            try:
                layout.parse(line)
            except ValueError as problem:
                self._reject(name, number, problem, report)
            else:
                yield number, line

    def _reject(self, name: str, number: int, problem: ValueError, report: ReadingReport) -> None:
        error = RecordError(name, number, str(problem))
        if self.on_error == "stop":
            raise error from None
        report.skip(error)


def _cut(lines: Iterator[NumberedLine], size: int) -> Iterator[list[NumberedLine]]:
    """Neighbouring lines, so many that they have so many characters."""
    block: list[NumberedLine] = []
    characters = 0
    for line in lines:
        block.append(line)
        characters += len(line[1])
        if characters >= size:
            yield block
            block, characters = [], 0
    if block:
        yield block


def _block(place: int, name: str, layout: Layout, lines: list[NumberedLine], report: ReadingReport) -> Record:
    """The record of a block; what was skipped since the last one travels with it, and `report` starts anew."""
    block: Record = {
        "id": f"{name}:{lines[0][0] if lines else 'end'}",
        "text": "\n".join(line for _, line in lines),
        "block": place,
        "file": name,
        "format": layout.format,
        "columns": list(layout.columns),
        "header": layout.header,
        "numbers": [number for number, _ in lines],
        "skipped": report.skipped,
        "problems": report.problems,
    }
    report.skipped, report.problems = 0, []
    return block
