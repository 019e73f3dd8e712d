"""Handing out items and taking in answers: each exactly once, whatever is sent twice or lost on the way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from restyle.errors import InputError
from restyle.study._items import Item
from restyle.study._labels import undecided
from restyle.study._lots import is_swapped, lot, turned
from restyle.study._protocol import Protocol
from restyle.study._schema import items, judgements, raters, seats
from restyle.study._store import Store

# A rater is given one of so many that are next in line, so that not everybody meets them in the same order.
_WINDOW = 20
_DAY = 24 * 3600.0


class Gone(InputError):
    """The seat is not the rater's any longer: the item was re-opened, or given to another."""


class Missing(InputError):
    """There is no such item, or no such rater."""


@dataclass(frozen=True)
class Task:
    """What a rater has before them. `swapped`: the page calls the second output A."""

    seat: int
    turn: int
    item: Item
    swapped: bool
    answers: Mapping[str, str] | None = None  # what stood there before it was undone

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs in the order of the page."""
        return self.item.outputs[::-1] if self.swapped else self.item.outputs


@dataclass(frozen=True)
class Progress:
    """How far a rater is; `last` is the seat and turn that can be undone."""

    done: int
    left: int
    last: tuple[int, int] | None


def next_task(store: Store, rater: int) -> Task | None:
    """What the rater judges next: what lies open, a control that is due, or a free seat. None when all is done."""
    with store.writing() as connection:
        _lock_rater(connection, rater)
        open_seat = connection.execute(
            sa.select(seats)
            .where(seats.c.rater == rater, ~seats.c.answered, seats.c.opened.is_not(None))
            .order_by(seats.c.opened.desc(), seats.c.id)
        ).first()
        if open_seat is None:
            open_seat = _claimed(connection, store, rater)
        return None if open_seat is None else _task(connection, store, open_seat)


def answer(
    store: Store, rater: int, seat: int, turn: int, answers: Mapping[str, str], *, seconds: float, version: str
) -> bool:
    """Write a judgement; False when this very one was written before. Raises Gone, or what is wrong with the answers.

    `answers` are those of the page: of a swapped pair, its A is our second.
    """
    with store.writing() as connection:
        _lock_rater(connection, rater)
        row = _locked_seat(connection, seat)
        written = connection.execute(
            sa.select(judgements.c.rater).where(judgements.c.seat == seat, judgements.c.turn == turn)
        ).first()
        if written is not None and written.rater == rater:
            return False
        if row is None or row.rater != rater or row.turn != turn or row.answered:
            raise Gone("this item was given to another person, or re-opened; go on with the next")
        store.protocol.check_answers(answers, "the page")
        _all_answered(store.protocol, answers)
        swapped = is_swapped(store.items[row.item], rater, store.settings.seed)
        judgement = {
            "seat": seat,
            "turn": turn,
            "rater": rater,
            "answers": turned(answers) if swapped else dict(answers),
            "swapped": swapped,
            "seconds": min(max(seconds, 0.0), _DAY),
            "version": version,
            "written": time.time(),
        }
        connection.execute(judgements.insert().values(**judgement))
        connection.execute(seats.update().where(seats.c.id == seat).values(answered=True))
        ask_more(connection, store, row.item)
    return True


def undo(store: Store, rater: int, seat: int, turn: int) -> None:
    """Withdraw the rater's last judgement, and open its item again; nothing when it was withdrawn already."""
    with store.writing() as connection:
        _lock_rater(connection, rater)
        last = _last(connection, rater)
        if last != (seat, turn):
            withdrawn = connection.execute(
                sa.select(judgements.c.id).where(
                    judgements.c.seat == seat,
                    judgements.c.turn == turn,
                    judgements.c.rater == rater,
                    judgements.c.withdrawn.is_not(None),
                )
            ).first()
            if withdrawn:
                return
            raise Gone("only the last answer can be undone")
        _withdraw(connection, judgements.c.seat == seat)
        connection.execute(
            seats.update().where(seats.c.id == seat).values(answered=False, turn=seats.c.turn + 1, opened=time.time())
        )


def progress(store: Store, rater: int) -> Progress:
    """How many items the rater has judged, and how many there still are for them."""
    with store.reading() as connection:
        done = _done(connection, rater)
        held = connection.execute(
            sa.select(sa.func.count())
            .select_from(seats)
            .where(seats.c.rater == rater, ~seats.c.answered, seats.c.opened.is_not(None))
        ).scalar_one()
        free = connection.execute(
            sa.select(sa.func.count(sa.distinct(seats.c.item))).where(*_free_for(store, rater))
        ).scalar_one()
        last = _last(connection, rater)
    left = held + free
    if store.settings.per_rater:
        left = min(left, max(store.settings.per_rater - done, 0))
    return Progress(done, left, last)


def reopen(store: Store, item: str) -> int:
    """Withdraw the judgements of an item and free its seats, for anybody; how many were withdrawn."""
    if item not in store.items or store.items[item].is_control:
        raise Missing(f"there is no item {item!r} to re-open; an export names them, and so does the admin's page")
    with store.writing() as connection:
        # An answer that is being written now is waited for, and withdrawn with the others.
        rows = connection.execute(sa.select(seats.c.id).where(seats.c.item == item).with_for_update()).all()
        count = _withdraw(connection, judgements.c.seat.in_([row.id for row in rows]))
        connection.execute(
            seats.update()
            .where(seats.c.item == item)
            .values(rater=None, answered=False, opened=None, turn=seats.c.turn + 1)
        )
    return count


def stop_rater(store: Store, rater: int) -> None:
    """Take a rater's link away and free what lies open before them; what they judged stays."""
    with store.writing() as connection:
        if not connection.execute(raters.update().where(raters.c.id == rater).values(active=False)).rowcount:
            raise Missing(f"there is no rater of the number {rater}")
        connection.execute(
            seats.update()
            .where(seats.c.rater == rater, ~seats.c.answered, seats.c.due.is_(None))
            .values(rater=None, opened=None, turn=seats.c.turn + 1)
        )


def _claimed(connection: Connection, store: Store, rater: int) -> Any:
    """A seat that is the rater's from now on, its row; None when there is none for them."""
    done = _done(connection, rater)
    if store.settings.per_rater and done >= store.settings.per_rater:
        return None
    due = connection.execute(
        sa.select(seats)
        .where(seats.c.rater == rater, ~seats.c.answered, seats.c.due <= done)
        .order_by(seats.c.due)
        .limit(1)
    ).first()
    candidates = connection.execute(
        sa.select(seats)
        .join(items, seats.c.item == items.c.id)
        .where(*_free_for(store, rater))
        .order_by(items.c.place, seats.c.number)
        .limit(_WINDOW)
    ).all()
    if due is not None and candidates:
        # A control without another item behind it would tell nothing of what matters.
        candidates = [due]
    for row in sorted(candidates, key=lambda row: lot(store.settings.seed, rater, row.item)):
        taken = connection.execute(
            seats.update()
            .where(seats.c.id == row.id, seats.c.turn == row.turn, ~seats.c.answered)
            .values(rater=rater, opened=time.time(), turn=seats.c.turn + 1)
            .returning(*seats.c)
        ).first()
        if taken is not None:  # nobody was quicker, as can be on PostgreSQL
            return taken
    return _claimed(connection, store, rater) if candidates else None


def _free_for(store: Store, rater: int) -> list[Any]:
    """Seats that nobody has, or that were left open for too long, at items that this rater has no seat at."""
    mine = seats.alias()
    abandoned = seats.c.opened < time.time() - 3600 * store.settings.hours
    return [
        ~seats.c.answered,
        seats.c.due.is_(None),
        sa.or_(seats.c.rater.is_(None), abandoned),
        ~sa.exists().where(mine.c.item == seats.c.item, mine.c.rater == rater),
    ]


def ask_more(connection: Connection, store: Store, item: str) -> None:
    """One seat more at an item on which all have voted and no answer leads (App. A.10), up to the protocol's number."""
    extra = store.protocol.extra_raters
    if not extra or store.items[item].is_control:
        return
    # Two last votes at once would each see the other missing.
    connection.execute(sa.select(items.c.id).where(items.c.id == item).with_for_update())
    rows = connection.execute(sa.select(seats.c.number, seats.c.answered).where(seats.c.item == item)).all()
    if not all(row.answered for row in rows) or len(rows) >= store.raters_wanted + extra:
        return
    votes = connection.execute(
        sa.select(judgements.c.answers)
        .join(seats, judgements.c.seat == seats.c.id)
        .where(seats.c.item == item, judgements.c.withdrawn.is_(None))
    ).scalars()
    if undecided(store.protocol.questions, list(votes)):
        number = max(row.number for row in rows) + 1
        connection.execute(seats.insert().values(item=item, number=number, turn=0, answered=False))


def _task(connection: Connection, store: Store, row: Any) -> Task:
    before = connection.execute(
        sa.select(judgements.c.answers)
        .where(judgements.c.seat == row.id, judgements.c.turn == row.turn - 1, judgements.c.rater == row.rater)
        .where(judgements.c.withdrawn.is_not(None))
    ).scalar()
    swapped = is_swapped(store.items[row.item], row.rater, store.settings.seed)
    shown = turned(before) if before and swapped else before
    return Task(row.id, row.turn, store.items[row.item], swapped, shown)


def _all_answered(protocol: Protocol, answers: Mapping[str, str]) -> None:
    for question in protocol.questions:
        if question.name not in answers:
            raise InputError(f"the page: the question {question.name!r} has no answer")


def _lock_rater(connection: Connection, rater: int) -> None:
    """Two tabs of one rater wait for each other (SQLite has one writer anyway)."""
    connection.execute(sa.select(raters.c.id).where(raters.c.id == rater).with_for_update())


def _locked_seat(connection: Connection, seat: int) -> Any:
    return connection.execute(sa.select(seats).where(seats.c.id == seat).with_for_update()).first()


def _done(connection: Connection, rater: int) -> int:
    query = sa.select(sa.func.count()).select_from(judgements)
    return int(
        connection.execute(query.where(judgements.c.rater == rater, judgements.c.withdrawn.is_(None))).scalar_one()
    )


def _last(connection: Connection, rater: int) -> tuple[int, int] | None:
    row = connection.execute(
        sa.select(judgements.c.seat, judgements.c.turn)
        .where(judgements.c.rater == rater, judgements.c.withdrawn.is_(None))
        .order_by(judgements.c.id.desc())
        .limit(1)
    ).first()
    return None if row is None else (row.seat, row.turn)


def _withdraw(connection: Connection, which: Any) -> int:
    return connection.execute(
        judgements.update().where(which, judgements.c.withdrawn.is_(None)).values(withdrawn=time.time())
    ).rowcount
