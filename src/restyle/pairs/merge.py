"""The results of all blocks put together: survivors in the order of the input, duplicates out, counts added up.

Duplicates are found here, where the survivors pass in the order of the input, so that which of them stays does not
depend on who worked on which block.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Iterable, Sequence

import numpy as np

from restyle.pairs._duplicates import Seen
from restyle.pairs.layout import LineFormat
from restyle.pairs.report import FilterReport
from restyle.pairs.settings import FilterSettings
from restyle.pairs.stages import Filter
from restyle.pairs.work import lines_of, shown
from restyle.progress import progress_bar
from restyle.records import Record, RecordWriter, json_line


class Merge:
    """Puts the results of all blocks together, in the order of the input."""

    def __init__(self, settings: FilterSettings, filter: Filter, format: LineFormat, *, explain: bool) -> None:
        self._format, self._explain, self._sampled = format, explain, settings.sample_dropped
        self._seen = None if settings.duplicates == "keep" else Seen()
        self._draws = random.Random(settings.seed)
        stages = [stage.name for stage in filter.stages]
        self._report = FilterReport(tuple(stages if self._seen is None else [*stages, "duplicates"]))

    def into(self, output: str, results: Iterable[Record], *, progress: bool | None = False) -> FilterReport:
        """Write the survivors of all results, and return the report."""
        with RecordWriter(output, format="txt") as writer, progress_bar("merging", None, shown=progress) as advance:
            for place, result in enumerate(results):
                advance(1)
                if place == 0 and result["header"] is not None and self._format == "tsv":
                    writer.write({"text": result["header"]})
                for line in self._survivors(result):
                    writer.write({"text": line})
        if self._seen and self._seen.overflowed:
            self._report.remembered = self._seen.remembered
        return self._report

    def _survivors(self, result: Record) -> list[str]:
        """The lines to write of one block."""
        self._report.add(result, self._sampled)
        lines = lines_of(result)
        # Among explanations the survivors stand here and there; else they are all that there is.
        places = result["survivors"] if self._explain else range(len(lines))
        repeated = self._repeated(result["keys"], places)
        self._report.kept += len(places) - len(repeated)
        if not repeated:
            return lines
        self._report.dropped["duplicates"] += len(repeated)
        self._sample([(result["numbers"][place], lines[place]) for place in sorted(repeated)], result["file"])
        if not self._explain:
            return [line for place, line in enumerate(lines) if place not in repeated]
        for place in repeated:
            record = {**json.loads(lines[place]), "kept": False, "dropped_by": "duplicates"}
            lines[place] = json_line(record).removesuffix("\n")
        return lines

    def _repeated(self, keys: list[int], places: Sequence[int]) -> set[int]:
        """The places of the survivors that repeat an earlier one."""
        if self._seen is None:
            return set()
        begun = time.process_time()
        fresh = self._seen.fresh(np.array(keys, np.uint64))
        self._report.seconds["duplicates"] += time.process_time() - begun
        return set(itertools.compress(places, ~fresh))

    def _sample(self, repeated: list[tuple[int, str]], file: str) -> None:
        if not self._sampled:
            return
        found = []
        for number, line in repeated:
            sample = {"draw": self._draws.random(), "stage": "duplicates", "where": f"{file}:{number}"}
            found.append({**sample, "pair": shown(line), "values": {}})
        self._report.sample(found, self._sampled)
