"""Items and votes: what is judged, and what people said of it; and both as one JSONL file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from restyle.errors import InputError
from restyle.records import Record, read_records, write_records
from restyle.study._protocol import Protocol, load_protocol

Scores = Mapping[str, float | None]


@dataclass(frozen=True)
class Item:
    """One thing that people judge: the output of one system, or of two."""

    id: str
    systems: tuple[str, ...]
    outputs: tuple[str, ...]
    input: str | None = None
    style: str | None = None  # of the input
    target: str | None = None
    scores: tuple[Scores, ...] = ()  # of each output: what automatic judges said, where it is known
    given: Mapping[str, str] = field(default_factory=dict)  # answers that nobody was asked for, as of copies
    expected: Mapping[str, str] = field(default_factory=dict)  # of a control item: the right answers

    @property
    def is_control(self) -> bool:
        """Whether it tests the rater, and not a system."""
        return bool(self.expected)

    def score(self, column: str, output: int = 0) -> float | None:
        """What an automatic judge said of one of the outputs; None where it is not known."""
        return self.scores[output].get(column) if output < len(self.scores) else None


@dataclass(frozen=True)
class Vote:
    """What one person answered to one item; of a pair, in terms of the systems and not of the page."""

    item: str
    rater: str
    answers: Mapping[str, str]
    seconds: float = 0.0
    version: str = ""  # of the instructions that were read


@dataclass(frozen=True)
class Judged:
    """A study's items with all their votes; everything that is reported is made of this."""

    protocol: Protocol
    items: Sequence[Item]
    votes: Sequence[Vote]

    @cached_property
    def systems_judged(self) -> list[Item]:
        """The items without controls."""
        return [item for item in self.items if not item.is_control]

    @cached_property
    def of_item(self) -> Mapping[str, list[Vote]]:
        """The votes of each item, in the order in which they came."""
        by_item: dict[str, list[Vote]] = {item.id: [] for item in self.items}
        for vote in self.votes:
            if vote.item not in by_item:
                raise InputError(f"there is a vote on the item {vote.item!r}, which the study does not have")
            by_item[vote.item].append(vote)
        return by_item

    def answers(self, item: Item, question: str) -> list[str]:
        """What the raters of an item answered to one question."""
        return [vote.answers[question] for vote in self.of_item[item.id] if question in vote.answers]

    def without(self, raters: Sequence[str]) -> Judged:
        """The same study without the votes of some raters; InputError names one who never voted."""
        known = {vote.rater for vote in self.votes}
        for rater in raters:
            if rater not in known:
                raise InputError(f"no rater is called {rater!r}; there are: {', '.join(sorted(known))}")
        return replace(self, votes=[vote for vote in self.votes if vote.rater not in raters])

    def save(self, path: str | Path) -> None:
        """Write one record per item, its votes inside."""
        write_records(path, self.records())

    def records(self) -> Iterator[Record]:
        """One record per item: texts, votes, and each question's label with whether all agreed."""
        from restyle.study._labels import label_of, unanimous

        for item in self.items:
            record: Record = {
                "id": item.id,
                "protocol": self.protocol.name,
                "version": self.protocol.version,
                "systems": list(item.systems),
                "outputs": list(item.outputs),
            }
            for key in ("input", "style", "target"):
                if (value := getattr(item, key)) is not None:
                    record[key] = value
            for key in ("scores", "given", "expected"):
                if value := getattr(item, key):
                    record[key] = [dict(each) for each in value] if key == "scores" else dict(value)
            record["votes"] = [
                {"rater": vote.rater, "answers": dict(vote.answers), "seconds": vote.seconds, "version": vote.version}
                for vote in self.of_item[item.id]
            ]
            names = [question.name for question in self.protocol.questions]
            record["labels"] = {name: label_of(self, item, name) for name in names}
            record["unanimous"] = {name: unanimous(self, item, name) for name in names}
            yield record


def read_judged(path: str | Path, protocol: Protocol | None = None) -> Judged:
    """The study that `save` wrote; `protocol` where it was one of your own."""
    items: list[Item] = []
    votes: list[Vote] = []
    names: set[str] = set()
    for record in read_records(path, text_column="id"):
        try:
            items.append(_item(record))
            votes += [_vote(str(record["id"]), vote) for vote in record["votes"]]
            names.add(str(record["protocol"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}: {record['id']!r} is no item of an exported study ({error})") from None
    if len(names) > 1:
        raise InputError(f"{path} holds the studies of several protocols ({', '.join(sorted(names))}); give one")
    if not items:
        raise InputError(f"{path} has no items")
    chosen = protocol or load_protocol(names.pop())
    return Judged(chosen if chosen.complete else _completed(chosen, items, votes), items, votes)


def _completed(protocol: Protocol, items: Sequence[Item], votes: Sequence[Vote]) -> Protocol:
    """The protocol with the choices that were styles: those that were answered, and those of the items."""
    styles = {style for item in items for style in (item.style, item.target) if style}
    asked = [question.name for question in protocol.questions if not question.choices]
    answered = {vote.answers[name] for vote in votes for name in asked if name in vote.answers}
    return protocol.with_styles(answered or styles)


def _item(record: Record) -> Item:
    optional: dict[str, Any] = {key: record.get(key) for key in ("input", "style", "target")}
    return Item(
        id=str(record["id"]),
        systems=tuple(record["systems"]),
        outputs=tuple(record["outputs"]),
        scores=tuple(record.get("scores") or ()),
        given=dict(record.get("given") or {}),
        expected=dict(record.get("expected") or {}),
        **optional,
    )


def _vote(item: str, record: Mapping[str, Any]) -> Vote:
    return Vote(
        item,
        str(record["rater"]),
        dict(record["answers"]),
        float(record.get("seconds", 0)),
        str(record.get("version", "")),
    )
