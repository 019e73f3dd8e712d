"""How similar and how diverse a set of pairs is, by its sources: the three columns of the paper's Table 16."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from restyle.errors import InputError
from restyle.jobs import JobSettings, stream
from restyle.metrics import metrics
from restyle.pairs import similarity
from restyle.pairs.files import PairFiles
from restyle.pairs.layout import ColumnNames
from restyle.pairs.report import KEPT_PROBLEMS
from restyle.pairs.similarity import AUTO, COLUMN, DEFAULT_METRIC, OFF, similarity_by
from restyle.pairs.work import layout_of, lines_of
from restyle.records import Record
from restyle.text import overlap

MEASURES = ("similarity", "unigram_f1", "kendall_tau")
# A column with more names than this is not one of sources.
MAX_SOURCES = 10_000


@dataclass
class SourceQuality:
    """What the pairs of one source measure; a pair for which a measure is not defined is left out of its mean."""

    source: str
    pairs: int = 0
    sums: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, part: Record) -> None:
        """Take in the sums over some more pairs."""
        self.pairs += part["pairs"]
        for measure in MEASURES:
            self.sums[measure] += part["sums"][measure]
            self.counts[measure] += part["counts"][measure]

    def mean(self, measure: str) -> float | None:
        """The mean of a measure over the pairs that have it; None where none has."""
        return self.sums[measure] / self.counts[measure] if self.counts[measure] else None

    def row(self) -> dict[str, Any]:
        """A row of Table 16, and how many pairs have no tau: fewer than two shared words have no order."""
        means = {measure: self.mean(measure) for measure in MEASURES}
        return {"source": self.source, "pairs": self.pairs, **means, "no_tau": self.pairs - self.counts["kendall_tau"]}


@dataclass
class PairQuality:
    """Table 16 of some files: each source, all pairs together, and the lines that were no pairs."""

    sources: list[SourceQuality]
    overall: SourceQuality
    skipped: int = 0
    problems: list[str] = field(default_factory=list)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each source, and the last for all pairs."""
        return [quality.row() for quality in (*self.sources, self.overall)]


def pair_quality(files: PairFiles, *, similarity_from: str = AUTO, jobs: JobSettings | None = None) -> PairQuality:
    """Similarity, unigram F1 and Kendall's tau of the pairs, by what the `source` column says, or else by file.

    `similarity_from` is as in the filter, but that `auto` goes without where there is neither a score column nor the
    model. Raises InputError when there is no pair at all.
    """
    blocks = files.blocks()
    first = next(blocks, None)
    if first is None:
        raise InputError("there is not one pair in what was given")
    scored = files.names.score in first["columns"]
    if similarity_from == AUTO and not scored and DEFAULT_METRIC not in metrics:
        similarity_from = OFF
    found = similarity.resolved(similarity_from, scored=scored, name=first["file"])
    work = partial(MeasureBlocks, found, files.names)
    jobs = replace(jobs or JobSettings(), shard_size=1, on_error="stop")
    sources: dict[str, SourceQuality] = {}
    quality = PairQuality([], SourceQuality("overall"))
    for result in stream(work, itertools.chain([first], blocks), settings=jobs):
        quality.skipped += result["skipped"]
        quality.problems = (quality.problems + result["problems"])[:KEPT_PROBLEMS]
        for part in result["parts"]:
            sources.setdefault(part["source"], SourceQuality(part["source"])).add(part)
            quality.overall.add(part)
        if len(sources) > MAX_SOURCES:
            raise InputError(
                f"the column {files.names.source!r} names more than {MAX_SOURCES:,} sources; is it one of sentences? "
                "Name another with --source-column"
            )
    quality.sources = [sources[name] for name in sorted(sources)]
    return quality


class MeasureBlocks:
    """Measures the pairs of block after block, and answers with their sums by source."""

    def __init__(self, similarity: str, names: ColumnNames) -> None:
        self._names = names
        self._scored = similarity == COLUMN
        self._similarity = None if similarity in (COLUMN, OFF) else similarity_by(similarity)

    def __call__(self, blocks: list[Record]) -> list[Record]:
        """A result for each block."""
        kept = ("id", "skipped", "problems")
        return [{**{key: block[key] for key in kept}, "parts": list(self._parts(block))} for block in blocks]

    def _parts(self, block: Record) -> Iterator[Record]:
        layout, lines = layout_of(block, self._names), lines_of(block)
        pairs = layout.pairs(lines)
        columns = {
            "similarity": np.full(len(pairs), np.nan),
            "unigram_f1": overlap.unigram_f1(*pairs.words),
            "kendall_tau": overlap.kendall_tau(*pairs.words),
        }
        if self._scored and pairs.scores is not None:
            columns["similarity"] = pairs.scores
        elif self._similarity:
            columns["similarity"] = self._similarity(pairs.texts, pairs.paraphrases)
        rows_of: dict[str, list[int]] = defaultdict(list)
        named = self._names.source in layout.columns
        for row, line in enumerate(lines):
            source = layout.fields(line).get(self._names.source) if named else None
            rows_of[block["file"] if source is None else str(source)].append(row)
        for source, rows in rows_of.items():
            yield {
                "source": source,
                "pairs": len(rows),
                "sums": {name: float(np.nansum(column[rows])) for name, column in columns.items()},
                "counts": {name: int(np.isfinite(column[rows]).sum()) for name, column in columns.items()},
            }
