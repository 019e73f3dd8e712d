"""A scorecard as a folder that a person can read: `scorecard.toml`, `sentences.jsonl`, baselines in folders.

A loaded scorecard gives every number, interval and test again, without any judge.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from restyle.errors import InputError, UnknownName
from restyle.evaluation._formula import parse
from restyle.evaluation._outputs import checked_column
from restyle.evaluation._reading import outputs_of
from restyle.evaluation._scorecard import Scorecard, Statistics
from restyle.metrics import metrics as registry
from restyle.records import Record, read_records, write_records, writing_to
from restyle.settings import read_toml

HEAD, SENTENCES = "scorecard.toml", "sentences.jsonl"


def save(card: Scorecard, folder: str | Path) -> None:
    """Write a scorecard and its baselines; the same card gives the same bytes."""
    folder = Path(folder)
    head = {
        "system": card.system,
        "columns": list(card.columns),
        "counted": list(card.statistics),
        "formulas": [f"{each.name}={each}" if each.name != str(each) else str(each) for each in card.formulas],
        "thresholds": list(card.thresholds),
        "baselines": [each.system for each in card.baselines],
        "selected_with": list(card.outputs.selected_with),
        "notes": list(card.notes),
        "signature": card.signature.to_dict(),
    }
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_records(folder / SENTENCES, (_with_counts(card, row, record) for row, record in enumerate(card.rows())))
    with writing_to(folder):
        (folder / HEAD).write_text(tomli_w.dumps(head), encoding="utf-8")
    for baseline in card.baselines:
        save(baseline, folder / baseline.system)


def load(folder: str | Path) -> Scorecard:
    """Read a scorecard that `save` wrote; InputError when the folder holds none."""
    folder = Path(folder)
    head = read_toml(folder / HEAD)
    try:
        return _read(folder, head)
    except KeyError as error:
        raise InputError(f"{folder / HEAD} does not say {error}; save the scorecard again") from None


def is_saved(path: str | Path) -> bool:
    """Whether a path is a folder with a scorecard in it."""
    return (Path(path) / HEAD).is_file()


def _read(folder: Path, head: dict[str, Any]) -> Scorecard:
    records = list(read_records(folder / SENTENCES, text_column="output"))
    (outputs,) = outputs_of(records, system=head["system"], one_system=True)
    said = head["signature"]
    try:
        columns = {
            name: checked_column(name, [record["scores"][name] for record in records]) for name in head["columns"]
        }
        statistics = {
            name: _statistics(name, [record["counts"][name] for record in records]) for name in head["counted"]
        }
    except KeyError as error:
        raise InputError(f"{folder / SENTENCES} has a sentence without {error}, which {HEAD} names") from None
    return Scorecard(
        outputs=replace(outputs, columns={}, selected_with=tuple(head["selected_with"])),
        columns=columns,
        statistics=statistics,
        facts=said["metrics"],
        options=said["options"],
        version=said["version"],
        formulas=tuple(parse(text) for text in head["formulas"]),
        thresholds=tuple(head["thresholds"]),
        baselines=tuple(load(folder / name) for name in head["baselines"]),
        notes=tuple(head["notes"]),
    )


def _with_counts(card: Scorecard, row: int, record: Record) -> Record:
    if card.statistics:
        record["counts"] = {
            name: [_short(value) for value in each.counts[row]] for name, each in card.statistics.items()
        }
    return record


def _short(value: float) -> float | int:
    """7 for 7.0, as counts mostly are."""
    return int(value) if value == int(value) else float(value)


def _statistics(name: str, counts: list[list[float]]) -> Statistics:
    if name not in registry:
        raise UnknownName(
            "metric (its corpus number is made from counts, which only it can read)", name, registry.names()
        )
    metric: Any = registry[name]()
    return Statistics(np.array(counts, np.float64), metric.corpus)
