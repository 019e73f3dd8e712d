"""A lazy table of names: which systems, metrics, corpora and commands exist, without importing any of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from restyle.errors import MissingExtra, UnknownName

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One name: where its object lives (`"module:attribute"`), what it is, and which extra it needs."""

    name: str
    target: str
    summary: str
    extra: str | None = None


class Registry(Generic[T]):
    """Names of one kind of thing, each loaded on first use.

    >>> shapes: Registry[type] = Registry("shape")
    >>> shapes.add("fraction", "fractions:Fraction", "an exact ratio")
    >>> shapes["fraction"]
    <class 'fractions.Fraction'>
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, target: str, summary: str, *, extra: str | None = None) -> None:
        """Name a thing by where it lives; nothing is imported until it is asked for."""
        if name in self._entries:
            raise ValueError(f"the {self.kind} {name!r} is registered twice")
        self._entries[name] = Entry(name, target, summary, extra)

    def entry(self, name: str) -> Entry:
        """What is known of a name without importing it; UnknownName suggests the nearest."""
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownName(self.kind, name, self._entries) from None

    def __getitem__(self, name: str) -> T:
        entry = self.entry(name)
        module, _, attribute = entry.target.partition(":")
        try:
            return cast(T, getattr(importlib.import_module(module), attribute))
        except ModuleNotFoundError as error:
            if entry.extra and error.name and not error.name.startswith("restyle"):
                raise MissingExtra(error.name, entry.extra, f"the {self.kind} {name!r}") from error
            raise

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(sorted(self._entries.values(), key=lambda entry: entry.name))

    def __len__(self) -> int:
        return len(self._entries)

    def in_order(self) -> tuple[Entry, ...]:
        """All entries in the order in which they were added; iteration sorts them."""
        return tuple(self._entries.values())

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._entries))
