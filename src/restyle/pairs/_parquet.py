"""Parquet files of pairs, row by row, as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from restyle.errors import InputError, MissingExtra

_ROWS_AT_ONCE = 4096


def json_lines(file: str | Path) -> Iterator[tuple[int, str]]:
    """The rows of a Parquet file, numbered from 1; InputError when it is none."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "parquet", "reading Parquet") from error
    number = 0
    try:
        with parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield number, json.dumps(row, ensure_ascii=False, default=str)
    except FileNotFoundError:
        raise InputError(f"{file} does not exist") from None
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(
            f"{file} cannot be read as Parquet, after row {number}: {' '.join(str(error).split())}"
        ) from None
