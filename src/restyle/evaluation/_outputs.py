"""What one system wrote, line by line, with all that is known about each line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, UsageError
from restyle.evaluation._formula import is_name
from restyle.metrics import Batch

Column = NDArray[np.float64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Outputs:
    """The outputs of one system; every list that is given is as long as `outputs`."""

    outputs: Sequence[str]
    system: str = "system"
    inputs: Sequence[str] | None = None
    references: Sequence[Sequence[str]] | None = None  # per output, one or more
    targets: Sequence[str] | None = None  # the style that each output should have
    styles: Sequence[str] | None = None  # the style of each input
    predicted: Sequence[str] | None = None  # the style that a judge saw in each output
    ids: Sequence[str] | None = None
    others: Sequence[Mapping[str, object]] | None = None  # what else the record of each output holds
    columns: Mapping[str, Column] = field(default_factory=dict)  # numbers that are known already, such as verdicts
    selected_with: tuple[str, ...] = ()  # the judges that picked these outputs among candidates

    def __post_init__(self) -> None:
        if not self.outputs:
            raise InputError(f"{self.system} has no outputs; at least one sentence is needed")
        for name, column in self._columns():
            if len(column) != len(self):
                raise InputError(f"{len(self):,} outputs, but {len(column):,} {name}; they must pair line by line")
        if not self.system.isprintable():
            raise UsageError(f"the name of the system, {self.system!r}, has characters that cannot be printed")

    def __len__(self) -> int:
        return len(self.outputs)

    def batch(self, rows: Sequence[int] | NDArray[np.intp] | None = None, target: str | None = None) -> Batch:
        """What a metric is given of these lines: all of them, or some, with one target style."""
        if rows is None:
            return Batch(self.outputs, self.inputs, self.references, target)
        return Batch(
            [self.outputs[row] for row in rows],
            None if self.inputs is None else [self.inputs[row] for row in rows],
            None if self.references is None else [self.references[row] for row in rows],
            target,
        )

    def taken(self, rows: NDArray[np.intp]) -> Outputs:
        """Some of the lines, in the order of `rows`."""
        # Any: each list keeps its own kind of item.
        chosen: dict[str, Any] = {
            name: [value[row] for row in rows] for name in _LINES if (value := getattr(self, name)) is not None
        }
        chosen["columns"] = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, **chosen)

    def with_styles_called(self, names: Mapping[str, str]) -> Outputs:
        """The same outputs with other names for their styles, those that a judge or a corpus knows them by."""
        renamed: dict[str, Any] = {
            column: [names.get(style, style) for style in value]
            for column in ("targets", "styles", "predicted")
            if (value := getattr(self, column)) is not None
        }
        return replace(self, **renamed)

    @cached_property
    def asked(self) -> Keys:
        """A number for what each line answers: its input, styles and references, and not its output.

        Without inputs and references, the place of the line is all that can tell.
        """
        places = range(len(self))
        known: tuple[Sequence[object] | None, ...] = (self.inputs, self.references, self.targets, self.styles)
        if self.inputs is None and self.references is None:
            known = (*known, places)
        return _keys(tuple(None if column is None else column[place] for column in known) for place in places)

    @cached_property
    def answered(self) -> Keys:
        """A number for what each line answers together with its output."""
        return self.asked ^ _keys((output,) for output in self.outputs)

    def _columns(self) -> Iterator[tuple[str, Sequence[object] | Column]]:
        for name in _LINES:
            if (value := getattr(self, name)) is not None:
                yield name, value
        for name, column in self.columns.items():
            yield f"numbers in the column {name}", column


_LINES = tuple(each.name for each in fields(Outputs) if each.name not in ("system", "columns", "selected_with"))


def _keys(rows: Iterator[tuple[object, ...]]) -> Keys:
    """A 64-bit hash of each row; the same on every machine and in every session."""
    digests = b"".join(hashlib.blake2b(repr(row).encode(), digest_size=8).digest() for row in rows)
    return np.frombuffer(digests, np.uint64)


def checked_column(name: str, values: Sequence[float | None] | Column) -> Column:
    """A column of numbers, NaN for None; InputError names the first value that is no number or infinite."""
    if not is_name(name):
        raise InputError(f"a column cannot be called {name!r}: letters, digits, _, - and . can be used in a formula")
    try:
        column = np.array([np.nan if value is None else value for value in values], np.float64)
    except (TypeError, ValueError):
        row = next(row for row, value in enumerate(values, start=1) if not isinstance(value, (int, float, np.number)))
        raise InputError(f"column {name}, line {row:,}: {values[row - 1]!r} is not a number") from None
    if np.isinf(column).any():
        row = int(np.isinf(column).argmax()) + 1
        raise InputError(f"column {name}, line {row:,}: the value is infinite; leave it empty when there is none")
    return column
