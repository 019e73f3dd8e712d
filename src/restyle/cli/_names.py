"""What systems are called where two of them have one name, and the folders that their scorecards go into."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from restyle.records import stem_of


def told_apart(systems: Sequence[tuple[str, str]]) -> list[str]:
    """The name of each system, given with its source; those of one name with as much of the path as tells them apart.

    >>> told_apart([("r1/out.jsonl", "out"), ("r2/out.jsonl", "out"), ("best.jsonl", "out"), ("a.jsonl", "a")])
    ['r1/out', 'r2/out', 'out (best)', 'a']
    """
    counted = Counter(name for _, name in systems)
    names = []
    for source, name in systems:
        if counted[name] > 1:
            end = _ends([other for other, same in systems if same == name])[source]
            # A file that names no system lent it its own name, which the end of the path says again.
            name = end if stem_of(source) == name else f"{name} ({end})"
        names.append(name)
    return names


def folder_names(systems: Sequence[str]) -> list[str]:
    """A folder's name for each system; no two are the same, on a disk that ignores case either.

    >>> folder_names(["a/b", "a_b", "c"])
    ['a_b', 'a_b_', 'c']
    """
    names: list[str] = []
    for system in systems:
        name = "".join(mark if mark.isalnum() or mark in "-_.()= " else "_" for mark in system).strip(" .") or "_"
        while name.casefold() in map(str.casefold, names):
            name += "_"
        names.append(name)
    return names


def _ends(sources: Sequence[str]) -> dict[str, str]:
    """The shortest ends of the paths that differ, without the kind of file if they do so without; else whole paths."""
    parts = {source: Path(os.path.abspath(source)).parts for source in sources}
    for depth in range(1, max(map(len, parts.values()))):
        for last in (stem_of, lambda source: Path(source).name):
            ends = {source: "/".join([*parts[source][-depth:-1], last(source)]) for source in parts}
            if len(set(ends.values())) == len(sources):
                return ends
    return {source: source for source in sources}
