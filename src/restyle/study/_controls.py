"""Control items: their answers are known, and tell who reads what they judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from restyle.errors import InputError, RecordError
from restyle.records import Record, opened_text
from restyle.study._items import Item
from restyle.study._protocol import Protocol


def read_controls(path: str | Path, protocol: Protocol) -> list[Item]:
    """The control items of a JSONL file; RecordError names a line that is none."""
    records = []
    with opened_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise RecordError(str(path), number, f"not JSON: {error}") from None
            if not isinstance(record, dict):
                raise RecordError(str(path), number, f"a JSON object was expected, not {type(record).__name__}")
            records.append(record)
    if not records:
        raise InputError(f"{path} has no control items; give one JSON object a line")
    return controls(records, protocol)


def controls(records: Sequence[Record], protocol: Protocol) -> list[Item]:
    """Control items from records with `outputs` (or `output`), `answers`, and `input`; everybody is shown each once."""
    made = []
    for number, record in enumerate(records, start=1):
        where = f"control {number}"
        outputs = record.get("outputs") or [record.get("output")]
        shown = 2 if protocol.kind == "pair" else 1
        if not isinstance(outputs, list) or len(outputs) != shown or not all(isinstance(text, str) for text in outputs):
            raise InputError(f"{where} needs {shown} output{'s' * (shown - 1)}, under 'output' or in a list 'outputs'")
        answers = record.get("answers")
        if not isinstance(answers, dict) or not answers:
            raise InputError(f"{where} has no 'answers': the right one to each question that tells a careful rater")
        for name, value in answers.items():
            if value not in protocol.question(name).values:
                raise InputError(f"{where}: {value!r} is no answer to {name!r}")
        texts: dict[str, Any] = {key: record.get(key) for key in ("input", "style", "target")}
        item = Item(f"c{number:04d}", ("control",) * shown, tuple(outputs), expected=answers, **texts)
        made.append(item)
    return made
