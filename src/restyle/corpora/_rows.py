"""Tables: what is no sentence in a style but a pair, an output, a rating or a count, as streams of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from restyle.records import Record

# The parts of a table, each read afresh at every call.
Rows = Mapping[str, Callable[[], Iterator[Record]]]
