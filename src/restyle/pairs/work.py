"""What a worker does with a block: parse its lines, judge the pairs, and answer with the survivors and the counts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from restyle.pairs._duplicates import keys_of
from restyle.pairs.explanation import explained, values_of
from restyle.pairs.layout import ColumnNames, Layout, LineFormat
from restyle.pairs.settings import FilterSettings
from restyle.pairs.similarity import COLUMN, OFF, similarity_by
from restyle.pairs.stages import Filter, Pairs, Verdicts
from restyle.records import Record, json_line

# A sample is for reading.
_SHOWN_CHARACTERS = 500


def layout_of(block: Record, names: ColumnNames) -> Layout:
    """The layout that a block's lines have."""
    return Layout(block["format"], tuple(block["columns"]), names)


def lines_of(record: Record) -> list[str]:
    """The lines of a block, or of the result of one."""
    return record["text"].split("\n") if record["numbers"] else []


class FilterBlocks:
    """Filters block after block; `explain` answers with a record for every pair, in place of the survivors' lines.

    `run` names the run in every result, so that results that lie on the disk can be told from those of another run.
    """

    def __init__(
        self,
        settings: FilterSettings,
        similarity: str,
        names: ColumnNames,
        format: LineFormat,
        *,
        explain: bool = False,
        run: str = "",
    ) -> None:
        self._settings, self._names, self._format, self._explain, self._run = settings, names, format, explain, run
        self._filter = Filter(settings, similarity)
        if similarity not in (COLUMN, OFF):
            similarity_by(similarity)  # loaded now, so that a model that cannot be had is told of before any work

    def __call__(self, blocks: list[Record]) -> list[Record]:
        """A result for each block."""
        return [self._result(block) for block in blocks]

    def _result(self, block: Record) -> Record:
        begun = time.process_time()
        lines = lines_of(block)
        layout = layout_of(block, self._names)
        pairs = layout.pairs(lines)
        reading = time.process_time() - begun
        verdicts = self._filter.judge(pairs, ask_all=self._explain)
        kept = verdicts.kept
        numbers: list[int] = block["numbers"]
        if self._explain:
            written = [json_line(record).removesuffix("\n") for record in explained(pairs, verdicts, numbers)]
        else:
            written = [layout.rendered(lines[row], numbers[row], self._format) for row in kept]
            numbers = [numbers[row] for row in kept]
        return {
            "id": block["id"],
            "text": "\n".join(written),
            "run": self._run,
            "file": block["file"],
            "header": block["header"],
            "numbers": numbers,
            "survivors": kept.tolist() if self._explain else None,  # their places among the explanations
            "keys": self._keys(verdicts.survivors),
            "read": len(lines),
            "dropped": np.bincount(verdicts.first_failed, minlength=len(verdicts.stages) + 1)[:-1].tolist(),
            "seconds": {"read": reading, **verdicts.seconds},
            "samples": self._samples(block, pairs, verdicts),
            "skipped": block["skipped"],
            "problems": block["problems"],
        }

    def _keys(self, survivors: Pairs) -> list[int]:
        kind = self._settings.duplicates
        return [] if kind == "keep" else keys_of(survivors, kind).tolist()

    def _samples(self, block: Record, pairs: Pairs, verdicts: Verdicts) -> list[dict[str, Any]]:
        """Of each stage's dropped pairs the few that drew the smallest numbers.

        Drawn by the block's place, so that the smallest over all blocks are the same whoever worked on which.
        """
        count = self._settings.sample_dropped
        if not count:
            return []
        draws = np.random.default_rng([self._settings.seed, block["block"]]).random(len(pairs))
        samples = []
        for place, stage in enumerate(verdicts.stages):
            dropped = np.flatnonzero(verdicts.first_failed == place)
            for row in dropped[np.argsort(draws[dropped])[:count]]:
                sample = {"draw": draws[row], "stage": stage.name, "where": f"{block['file']}:{block['numbers'][row]}"}
                pair = shown(f"{pairs.texts[row]}\t{pairs.paraphrases[row]}")
                samples.append({**sample, "pair": pair, "values": values_of(verdicts, row)})
        return samples


def shown(line: str) -> str:
    """A line for people to read: tabs made visible, cut where nobody would read on."""
    return line[:_SHOWN_CHARACTERS].replace("\t", " ⇥ ")
