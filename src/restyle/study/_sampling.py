"""Which outputs people see: a balanced, blind and shuffled sample, the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from restyle.errors import InputError, UsageError
from restyle.evaluation import Outputs
from restyle.settings import setting
from restyle.study._items import Item, Scores
from restyle.study._protocol import Protocol

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_MARKS = re.compile(r"[^\w\s]|_")


@dataclass(frozen=True)
class SamplingSettings:
    """How the items of a study are drawn."""

    items: int | None = setting(None, "items of each system (or pair); otherwise those of the protocol", minimum=1)
    raters: int | None = setting(None, "people who judge each item; otherwise those of the protocol", minimum=1)
    seed: int = setting(0, "decides the sample, its order, and which of a pair stands first", minimum=0)
    paired: bool = setting(True, "all systems answer the same inputs, which makes differences between them sharper")
    per_rater: int = setting(0, "most items that one person judges; 0 is no limit", minimum=0)
    control_every: int = setting(10, "every person meets a control item after so many others", minimum=2)
    hours: float = setting(2.0, "an item that a person left open so long is given to another", minimum=0.01)


@dataclass(frozen=True)
class _Line:
    """One output of one system, and what it answers."""

    outputs: Outputs
    row: int

    @property
    def input(self) -> str | None:
        return None if self.outputs.inputs is None else self.outputs.inputs[self.row]

    @property
    def text(self) -> str:
        return self.outputs.outputs[self.row]

    @property
    def direction(self) -> tuple[str | None, str | None]:
        style = None if self.outputs.styles is None else self.outputs.styles[self.row]
        target = None if self.outputs.targets is None else self.outputs.targets[self.row]
        return style, target

    @property
    def scores(self) -> Scores:
        columns = self.outputs.columns
        return {name: _plain(column[self.row]) for name, column in columns.items()}


def sample(systems: Sequence[Outputs], protocol: Protocol, settings: SamplingSettings | None = None) -> list[Item]:
    """The items of a study, in the order in which they are handed out.

    Each system (each pair of systems) has as many of each direction as there can be, whichever order the files came
    in. InputError says what there is too little of.
    """
    settings = settings or SamplingSettings()
    _check(systems, protocol)
    generator = random.Random(settings.seed)
    ordered = sorted(systems, key=lambda each: each.system)
    by_key = [_lines(each) for each in ordered]
    wanted = settings.items or protocol.items
    drawn: list[Item]
    if protocol.kind == "pair":
        drawn = [
            item
            for first, second in combinations(range(len(ordered)), 2)
            for item in _pairs(by_key[first], by_key[second], protocol, wanted, generator)
        ]
    elif settings.paired and len(ordered) > 1:
        keys = _drawn(_shared(by_key, ordered), by_key[0], wanted, generator, "inputs that all systems answer")
        drawn = [_single(lines[key], protocol) for lines in by_key for key in keys]
    else:
        drawn = [
            _single(lines[key], protocol)
            for lines in by_key
            for key in _drawn(list(lines), lines, wanted, generator, f"outputs of {_system(lines)}")
        ]
    generator.shuffle(drawn)
    return [replace(item, id=f"{place:05d}") for place, item in enumerate(drawn, start=1)]


def is_copy(text: str, other: str) -> bool:
    """Whether two texts are the same but for case, punctuation and articles.

    App. A.10 names case and punctuation; its data leave out "a man" beside "man" as well, as the folding of SQuAD does.
    """
    return _folded(text) == _folded(other)


def _folded(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", _MARKS.sub("", text.lower())).split())


def _check(systems: Sequence[Outputs], protocol: Protocol) -> None:
    names = [each.system for each in systems]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two systems are called {name!r}; give each its own name")
    if protocol.kind == "pair" and len(systems) < 2:
        raise UsageError(f"the protocol {protocol.name} compares two systems; give the outputs of at least two")
    for each in systems:
        if protocol.shows_input and each.inputs is None:
            raise InputError(f"{each.system} has no inputs, which the protocol {protocol.name} shows; give --inputs")
        if protocol.shows_target and each.targets is None:
            raise InputError(f"{each.system} has no target styles, which {protocol.name} shows; give them with --to")


def _lines(outputs: Outputs) -> dict[int, _Line]:
    """The lines of a system by what they answer; of a question that stands twice, the first."""
    lines: dict[int, _Line] = {}
    for row, key in enumerate(outputs.asked):
        lines.setdefault(int(key), _Line(outputs, row))
    return lines


def _shared(by_key: Sequence[dict[int, _Line]], ordered: Sequence[Outputs]) -> list[int]:
    shared = [key for key in by_key[0] if all(key in lines for lines in by_key)]
    if not shared:
        raise InputError(
            f"{', '.join(each.system for each in ordered)} answer no input in common (a line is known by its input, "
            "references and styles); give outputs of the same inputs, or sample each by itself with --no-paired"
        )
    return shared


def _drawn(keys: Sequence[int], lines: dict[int, _Line], wanted: int, generator: random.Random, what: str) -> list[int]:
    """As many keys of each direction as there can be; where one has too few, the others fill up."""
    if len(keys) < wanted:
        raise InputError(f"there are {len(keys):,} {what}, and {wanted:,} items are wanted; ask for fewer (--items)")
    by_direction: dict[tuple[str, str], list[int]] = {}
    for key in sorted(keys):  # the keys are hashes of content: the order of the files does not matter
        style, target = lines[key].direction
        by_direction.setdefault((style or "", target or ""), []).append(key)
    piles = [by_direction[direction] for direction in sorted(by_direction)]
    for pile in piles:
        generator.shuffle(pile)
    generator.shuffle(piles)  # which direction has one more than the others
    turns = max(map(len, piles))
    return [pile[turn] for turn in range(turns) for pile in piles if turn < len(pile)][:wanted]


def _single(line: _Line, protocol: Protocol) -> Item:
    style, target = line.direction
    copied = line.input is not None and is_copy(line.input, line.text)
    given = dict(protocol.copies) if copied else {}
    return Item("", (line.outputs.system,), (line.text,), line.input, style, target, (line.scores,), given)


def _pairs(
    first: dict[int, _Line], second: dict[int, _Line], protocol: Protocol, wanted: int, generator: random.Random
) -> Iterator[Item]:
    names = f"{_system(first)} and {_system(second)}"
    shared = [key for key in first if key in second]
    if not protocol.same:
        shared = [key for key in shared if first[key].text != second[key].text]
    for key in _drawn(shared, first, wanted, generator, f"different outputs that {names} give to the same inputs"):
        left, right = first[key], second[key]
        style, target = left.direction
        yield Item(
            "",
            (left.outputs.system, right.outputs.system),
            (left.text, right.text),
            left.input,
            style,
            target,
            (left.scores, right.scores),
            dict(protocol.same) if left.text == right.text else {},
        )


def _system(lines: dict[int, _Line]) -> str:
    return next(iter(lines.values())).outputs.system


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def styles_of(systems: Sequence[Outputs], protocol: Protocol) -> list[str]:
    """The styles that a question can take its choices from; InputError when the outputs name too few or too many."""
    found = sorted({style for each in systems for style in (*(each.styles or ()), *(each.targets or ()))})
    if not protocol.complete and not 2 <= len(found) <= 9:
        told = ", ".join(found) or "none"
        raise InputError(
            f"the protocol {protocol.name} asks for one of the styles, and the outputs name {told}; there must be 2 to "
            "9, or give them as --choices QUESTION=ONE,OTHER"
        )
    return found


def choices_from(given: Sequence[str]) -> dict[str, list[str]]:
    """`attribute=female,male` as a question and its choices."""
    found = {}
    for each in given:
        name, mark, values = each.partition("=")
        found[name] = [value.strip() for value in values.split(",") if value.strip()]
        if not mark or len(found[name]) < 2:
            raise UsageError(f"{each!r} names no choices; write QUESTION=ONE,OTHER, as in attribute=female,male")
    return found
