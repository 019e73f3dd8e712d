"""What the pages of a study send and are told: the description of its interface, which a test holds every answer to."""

from __future__ import annotations

from typing import Annotated

from restyle.errors import MissingExtra
from restyle.study import _handing as handing
from restyle.study._protocol import Example, Question
from restyle.study._store import Store

try:
    from pydantic import BaseModel, ConfigDict, Field
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "pydantic", "study", "serving a study") from error

LARGEST_ID = 2**31 - 1
# A day and more at one item is no time that anybody spent on it.
_LONGEST = 1e6

Seat = Annotated[int, Field(ge=1, le=LARGEST_ID)]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Undo(_Said):
    """Which answer is taken back."""

    seat: Seat
    turn: Annotated[int, Field(ge=0, le=LARGEST_ID)]


class Answer(Undo):
    """One judgement, as the page sends it, once or as often as it must."""

    answers: dict[str, str] = Field(max_length=20)
    seconds: Annotated[float, Field(ge=0, le=_LONGEST, allow_inf_nan=False)]
    version: Annotated[str, Field(max_length=64, pattern="^[0-9a-f]*$")]


class NewRater(_Said):
    """What a new rater is called."""

    name: Annotated[str, Field(min_length=1, max_length=100)]


class Excerpt(_Said):
    """Which of the items are shown."""

    start: Annotated[int, Field(ge=0, le=LARGEST_ID)] = 0
    count: Annotated[int, Field(ge=1, le=200)] = 50


class Refusal(BaseModel):
    """Why a request was refused, in words for a person."""

    detail: str


class Instructions(BaseModel):
    """What raters read before they begin, and the questions of every item."""

    title: str
    instructions: list[str]
    examples: list[Example]
    questions: list[Question]
    version: str

    @classmethod
    def of(cls, store: Store) -> Instructions:
        """Those of a study's protocol."""
        protocol = store.protocol
        return cls(
            title=protocol.title,
            instructions=[" ".join(each.split()) for each in protocol.instructions.strip().split("\n\n")],
            examples=list(protocol.examples),
            questions=list(protocol.questions),
            version=protocol.version,
        )


class Shown(BaseModel):
    """An item as a rater sees it: neither who wrote it nor whether its answer is known."""

    seat: int
    turn: int
    input: str | None
    target: str | None
    outputs: list[str]
    answers: dict[str, str] | None  # what stood there before it was undone


class Progress(BaseModel):
    """How far a rater is, and what can be undone."""

    done: int
    left: int
    last: Undo | None


class Screen(BaseModel):
    """What the page shows now; no item when everything is done."""

    item: Shown | None
    progress: Progress

    @classmethod
    def of(cls, store: Store, rater: int) -> Screen:
        """That of a rater, who holds its item from now on."""
        task, so_far = handing.next_task(store, rater), handing.progress(store, rater)
        last = None if so_far.last is None else Undo(seat=so_far.last[0], turn=so_far.last[1])
        return cls(
            item=None if task is None else _shown(store, task),
            progress=Progress(done=so_far.done, left=so_far.left, last=last),
        )


class Stored(BaseModel):
    """Whether an answer was written now, and not before; and what comes next."""

    stored: bool
    screen: Screen


class Agreed(BaseModel):
    """The agreement on one question so far."""

    question: str
    items: int
    fleiss: float | None
    alpha: float | None


class KnownRater(BaseModel):
    """What whoever runs the study sees of a rater."""

    id: int
    name: str
    active: bool
    votes: int
    seconds: float | None
    with_others: float | None
    controls: float | None
    same_answer: float | None
    remarks: list[str]


class Overview(BaseModel):
    """A study as it runs."""

    name: str
    protocol: str
    version: str
    items: int
    given: int
    controls: int
    judgements: int
    wanted: int
    agreement: list[Agreed]
    raters: list[KnownRater]


class SaidOfItem(BaseModel):
    """One vote."""

    rater: str
    answers: dict[str, str]


class KnownItem(BaseModel):
    """An item with all that is known of it."""

    id: str
    systems: list[str]
    input: str | None
    outputs: list[str]
    given: dict[str, str]
    votes: list[SaidOfItem]
    labels: dict[str, str | float | None]


class ItemsPage(BaseModel):
    """Some of the items."""

    total: int
    items: list[KnownItem]


class NewLink(BaseModel):
    """A token that is shown this once."""

    token: str


class Withdrawn(BaseModel):
    """How many judgements of an item were withdrawn."""

    withdrawn: int


class Stopped(BaseModel):
    """The rater's link is no longer known."""

    stopped: bool


def _shown(store: Store, task: handing.Task) -> Shown:
    protocol, item = store.protocol, task.item
    return Shown(
        seat=task.seat,
        turn=task.turn,
        input=item.input if protocol.shows_input else None,
        target=item.target if protocol.shows_target else None,
        outputs=list(task.outputs),
        answers=None if task.answers is None else dict(task.answers),
    )
