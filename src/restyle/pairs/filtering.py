"""The filter over files: blocks of lines run as a job, whose results are merged in the order of the input.

    kept.tsv.blocks.jsonl.job/   the job, while it runs: a finished block is on the disk
    kept.tsv.blocks.jsonl        the results of all blocks, while they are merged
    kept.tsv                     the survivors; and beside them kept.tsv.settings.toml and kept.tsv.report.json

Killed in the first part, the same call goes on with the next block; killed in the second, it merges again.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.errors import UsageError
from restyle.jobs import JobSettings, run, stream
from restyle.pairs import similarity
from restyle.pairs._duplicates import Seen, keys_of
from restyle.pairs.files import PairFiles
from restyle.pairs.layout import LineFormat
from restyle.pairs.merge import Merge
from restyle.pairs.report import FilterReport
from restyle.pairs.settings import FilterSettings
from restyle.pairs.stages import Filter, Pairs
from restyle.pairs.work import FilterBlocks
from restyle.records import STDIO, Record, format_of, read_records, writing_to
from restyle.settings import save_beside, to_dict


def filter_files(
    files: PairFiles,
    output: str | Path = STDIO,
    settings: FilterSettings | None = None,
    *,
    explain: bool = False,
    jobs: JobSettings | None = None,
    restart: bool = False,
    progress: bool | None = None,
) -> FilterReport:
    """Write the pairs that survive all stages, in the order of the input, and report what survived each.

    Lines stay as they are where the output has the format of the input. The settings and the report are saved beside
    the output. Killed at any point, the same call goes on where it was; into stdout (`-`) it starts over. With
    `explain` every pair is written, as a record that says which stage dropped it and what each measured.

    Of `jobs`, the workers and the executor count; a shard is always one block of `files`.
    """
    output, settings = str(output), settings or FilterSettings()
    if explain:
        settings = replace(settings, full_table=True)
    jobs = replace(jobs or JobSettings(), shard_size=1, on_error="stop")
    blocks = files.blocks()
    first = next(blocks, None)
    scored = first is None or files.names.score in first["columns"]
    found = similarity.resolved(settings.similarity, scored=scored, name=str(files.files[0]))
    format = _format(output, first, explain)
    identity = {**to_dict(settings), **asdict(files), "similarity": found, "format": format, "explain": explain}
    work = partial(
        FilterBlocks, settings, found, files.names, format, explain=explain, run=_fingerprint(identity, files)
    )
    blocks = itertools.chain([first] if first else [], blocks)
    merge = Merge(settings, Filter(settings, found), format, explain=explain)
    if output == STDIO:
        return merge.into(STDIO, stream(work, blocks, settings=jobs))
    save_beside(settings, output)
    results = Path(f"{output}.blocks.jsonl")
    if restart or not _holds(results, work.keywords["run"]):
        bar: dict[str, Any] = {"what": "filtering", "total": files.expected_blocks(), "shown": progress}
        run(work, blocks, results, settings=jobs, identity=identity, restart=restart, **bar)
    report = merge.into(output, read_records(results), progress=progress)
    beside = Path(f"{output}.report.json")
    with writing_to(beside):
        beside.write_text(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        results.unlink()
    return report


def kept(
    texts: Sequence[str],
    paraphrases: Sequence[str],
    settings: FilterSettings | None = None,
    *,
    scores: Sequence[float] | None = None,
) -> NDArray[np.bool_]:
    """Which of some pairs in memory survive all stages, duplicates included.

    >>> kept(["What a day it was !"], ["It was such a day !"], preset("pang-gimpel"))
    array([ True])
    """
    settings = settings or FilterSettings()
    if not len(texts) == len(paraphrases) == len(scores if scores is not None else texts):
        raise UsageError(
            f"{len(texts):,} texts cannot be paired with {len(paraphrases):,} paraphrases and their scores"
        )
    found = similarity.resolved(settings.similarity, scored=scores is not None, name="the call")
    pairs = Pairs(texts, paraphrases, None if scores is None else np.asarray(scores, np.float64))
    verdicts = Filter(settings, found).judge(pairs)
    rows = verdicts.kept
    if settings.duplicates != "keep":
        rows = rows[Seen().fresh(keys_of(verdicts.survivors, settings.duplicates))]
    return np.isin(np.arange(len(pairs)), rows)


def _format(output: str, first: Record | None, explain: bool) -> LineFormat:
    """The format of the lines to write: that of the output's name, on stdout that of the input."""
    if explain:
        if output != STDIO and format_of(output) != "jsonl":
            raise UsageError(f"explanations are written as JSONL; {output} should end in .jsonl")
        return "jsonl"
    if output == STDIO:
        return "tsv" if first is None else first["format"]
    format = format_of(output)
    if format == "csv" or Path(output).suffix == ".parquet":
        raise UsageError(f"{output}: pairs are written as .tsv or .jsonl, plain, .gz or .zst")
    return "jsonl" if format == "jsonl" else "tsv"


def _fingerprint(identity: dict[str, Any], files: PairFiles) -> str:
    """What tells the results of this run from those of any other: the settings, and the files as they are now."""
    state = [os.urandom(16).hex() if str(file) == "-" else _state(Path(file)) for file in files.files]
    return sha256(json.dumps([identity, state], default=str).encode()).hexdigest()


def _state(file: Path) -> tuple[int, int]:
    return file.stat().st_size, file.stat().st_mtime_ns


def _holds(results: Path, run: str) -> bool:
    """Whether all results of this run lie on the disk: it was killed while they were merged."""
    if not results.exists():
        return False
    first = next(read_records(results), None)
    return first is not None and first["run"] == run
