"""Shards: a stream of records, cut into numbered pieces that each travel, succeed and are saved as one."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from restyle.errors import InputError
from restyle.records import Record, json_line


@dataclass(frozen=True)
class Shard:
    """Some neighbouring records as lines of JSON, and their place among all shards.

    Lines, not dicts: what is hashed is what every executor sends, and a record that the work changed before it failed
    is as it was for the second try.
    """

    index: int
    lines: list[bytes]

    @property
    def digest(self) -> str:
        """The hash by which a resumed job knows that the input is still the same."""
        return hashlib.sha256(b"".join(self.lines)).hexdigest()


@dataclass(frozen=True)
class FinishedShard:
    """What came of a shard: the lines of the records that the work returned, and of those that it failed on."""

    shard: Shard
    outputs: list[bytes]
    poison: list[bytes]


def cut(records: Iterable[Record], size: int) -> Iterator[Shard]:
    """Cut a stream of records into shards of `size`; never more than one shard is held."""
    lines = map(_line, records)
    for index in itertools.count():
        shard = list(itertools.islice(lines, size))
        if not shard:
            return
        yield Shard(index, shard)


def _line(record: Record) -> bytes:
    try:
        return json_line(record).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"record {record.get('id')!r} cannot be written as JSON: {error}") from None
