"""A protocol: what people are shown, what they are asked, and what is made of their answers. One TOML file each."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from restyle.errors import SettingsError, UnknownName
from restyle.settings import from_dict, read_toml, setting

# Of a pair, the first and the second system; the page calls them A and B, and swaps them at random.
FIRST, SECOND = "first", "second"
# Answered with the digits of a keyboard.
_MOST_CHOICES = 9


@dataclass(frozen=True)
class Choice:
    """One answer: its value in the store, its label on the page, and what it means in the words of the guideline."""

    value: str
    label: str
    means: str = ""


@dataclass(frozen=True)
class Question:
    """One question of an item, with the answers that it can have."""

    name: str
    asks: str
    scale: Literal["nominal", "ordinal"] = setting("nominal", "ordinal: the values are numbers, whose mean has a sense")
    choices: tuple[Choice, ...] = ()
    choices_from: Literal["", "styles"] = setting("", "styles: the choices are the styles of the outputs")

    @property
    def values(self) -> tuple[str, ...]:
        """The values that an answer can have, in the order of the page."""
        return tuple(choice.value for choice in self.choices)

    @property
    def about_pair(self) -> bool:
        """Whether the answer names one of two outputs."""
        return {FIRST, SECOND} <= set(self.values)


@dataclass(frozen=True)
class Example:
    """A worked example of the instructions."""

    outputs: tuple[str, ...]
    answers: dict[str, str]
    why: str
    input: str = ""
    target: str = ""


@dataclass(frozen=True)
class Measure:
    """A number of each item, whose mean over the items is a cell of the table.

    Of a question: its label as a number; 1 or 0 for a label among `values`, of `at_least`, or that `equals` the style
    of the input or the target. Of a `column`: what a judge said of the output. Else the `product` of other measures.
    """

    name: str
    question: str = ""
    values: tuple[str, ...] = ()
    at_least: float | None = None
    equals: Literal["", "style", "target"] = ""
    column: str = ""
    product: tuple[str, ...] = ()
    hidden: bool = setting(False, "only a factor of other measures; not a column of the table")


@dataclass(frozen=True)
class Protocol:
    """How a study is run."""

    name: str
    title: str
    paper: str
    instructions: str
    questions: tuple[Question, ...]
    kind: Literal["single", "pair"] = setting("single", "one output an item, or the outputs of two systems")
    shows_input: bool = setting(True, "the page shows the input")
    shows_target: bool = setting(False, "the page names the style that was asked for")
    items: int = setting(150, "items of each system, or of each pair of systems", minimum=1)
    raters: int = setting(3, "people who judge each item", minimum=1)
    extra_raters: int = setting(0, "more of them, one by one, while no two agree", minimum=0)
    copies: dict[str, str] = setting({}, "the answers to an output that copies its input; it is not shown to anybody")
    same: dict[str, str] = setting({}, "the answers to a pair of equal outputs; without them no such pair is sampled")
    examples: tuple[Example, ...] = ()
    measures: tuple[Measure, ...] = ()

    def __post_init__(self) -> None:
        for check in (_check_questions, _check_answers, _check_measures):
            check(self)

    @property
    def version(self) -> str:
        """Changes with every word that a rater reads; stored beside every judgement."""
        plain = self.to_dict()
        read = [plain[part] for part in ("title", "instructions", "questions", "examples")]
        return hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def complete(self) -> bool:
        """Whether every question has its choices; those of the styles are known with the outputs."""
        return all(question.choices for question in self.questions)

    def question(self, name: str) -> Question:
        """The question of this name; UnknownName suggests the nearest."""
        for question in self.questions:
            if question.name == name:
                return question
        raise UnknownName("question of this protocol", name, [question.name for question in self.questions])

    def with_styles(self, styles: Iterable[str]) -> Protocol:
        """The protocol with the styles as choices where a question takes its choices from them."""
        choices = tuple(Choice(style, style) for style in sorted(set(styles)))
        return replace(
            self,
            questions=tuple(
                replace(each, choices=choices) if each.choices_from and not each.choices else each
                for each in self.questions
            ),
        )

    def with_choices(self, choices: Mapping[str, Iterable[str]]) -> Protocol:
        """The protocol with other choices for the named questions, as `attribute=female,male`."""
        for name in choices:
            self.question(name)
        return replace(
            self,
            questions=tuple(
                replace(each, choices=tuple(Choice(value, value) for value in choices[each.name]))
                if each.name in choices
                else each
                for each in self.questions
            ),
        )

    def check_answers(self, answers: Mapping[str, str], where: str) -> None:
        """SettingsError unless every question has one of its answers; choices that are styles may be left out."""
        for name in answers:
            self.question(name)
        for question in self.questions:
            given = answers.get(question.name)
            if given is None and question.choices_from:
                continue
            if question.choices and given not in question.values:
                raise SettingsError(
                    f"{where}: the answer to {question.name!r} is {given!r}; it can be {' or '.join(question.values)}"
                )

    def to_dict(self) -> dict[str, Any]:
        """The protocol as plain values, which `from_dict` of restyle.settings reads again."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain


def protocol_names() -> list[str]:
    """The protocols that come with restyle."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))


def protocol_text(name: str) -> str:
    """The TOML of a protocol that comes with restyle; UnknownName suggests the nearest."""
    if name not in protocol_names():
        raise UnknownName("protocol (give a .toml for one of your own)", name, protocol_names())
    text: str = (_folder() / f"{name}.toml").read_text(encoding="utf-8")
    return text


def load_protocol(name: str | Path) -> Protocol:
    """A protocol by name, or from a TOML file of your own; UnknownName suggests the nearest name."""
    if str(name).endswith(".toml"):
        return from_dict(Protocol, read_toml(name), where=str(name))
    return from_dict(Protocol, tomllib.loads(protocol_text(str(name))), where=f"the protocol {name}")


def _folder() -> Any:  # Any: a Traversable, which importlib.resources keeps in different places by Python version
    return resources.files("restyle.study") / "protocols"


def _check_questions(protocol: Protocol) -> None:
    if not protocol.questions:
        raise SettingsError(f"the protocol {protocol.name} asks nothing; give it [[questions]]")
    names = [question.name for question in protocol.questions]
    if len(set(names)) < len(names):
        raise SettingsError(f"the protocol {protocol.name} has two questions of one name: {', '.join(names)}")
    for question in protocol.questions:
        where = f"the question {question.name!r} of the protocol {protocol.name}"
        if not question.choices and not question.choices_from:
            raise SettingsError(f"{where} has no choices")
        if len(question.choices) > _MOST_CHOICES or len(set(question.values)) < len(question.values):
            raise SettingsError(f"{where} can have {_MOST_CHOICES} choices at most, each with its own value")
        if question.scale == "ordinal" and not all(map(_is_number, question.values)):
            raise SettingsError(f"{where} is ordinal: every value must be a number, as 1 or 5")
        if question.about_pair and protocol.kind != "pair":
            raise SettingsError(f"{where} is about two outputs, but the protocol shows one; set kind to pair")


def _check_answers(protocol: Protocol) -> None:
    shown = 2 if protocol.kind == "pair" else 1
    for number, example in enumerate(protocol.examples, start=1):
        where = f"example {number} of the protocol {protocol.name}"
        protocol.check_answers(example.answers, where)
        if len(example.outputs) != shown:
            raise SettingsError(f"{where} has {len(example.outputs)} outputs; an item of this protocol shows {shown}")
    for name, answers in (("copies", protocol.copies), ("same", protocol.same)):
        if answers:
            protocol.check_answers(answers, f"{name} of the protocol {protocol.name}")


def _check_measures(protocol: Protocol) -> None:
    known: list[str] = []
    for measure in protocol.measures:
        if measure.question:
            protocol.question(measure.question)
        for factor in measure.product:
            if factor not in known:
                raise UnknownName(f"measure before {measure.name} in the protocol {protocol.name}", factor, known)
        if sum(map(bool, (measure.question, measure.column, measure.product))) != 1:
            raise SettingsError(
                f"the measure {measure.name} of the protocol {protocol.name} needs one of question, column and product"
            )
        known.append(measure.name)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
