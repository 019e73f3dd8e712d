"""Votes from elsewhere into a store: each once, however often it is imported."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from restyle.errors import InputError
from restyle.study._handing import ask_more
from restyle.study._items import Judged, Vote
from restyle.study._schema import judgements, raters, seats
from restyle.study._store import Store, create_study, new_rater


@dataclass(frozen=True)
class Imported:
    """What became of the votes."""

    written: int
    known: int  # the rater had judged the item before


def add_votes(store: Store, votes: Sequence[Vote]) -> Imported:
    """Write votes: at free seats, and where more people judged an item than were wanted, at seats of their own."""
    written = 0
    with store.writing() as connection:
        people: dict[str, int] = {row.name: row.id for row in connection.execute(sa.select(raters.c.id, raters.c.name))}
        for vote in votes:
            store.protocol.check_answers(vote.answers, f"the vote of {vote.rater} on {vote.item}")
            if vote.rater not in people:
                people[vote.rater] = new_rater(connection, vote.rater, None)
            seat = _seat(connection, store, vote.item, people[vote.rater])
            if seat is not None:
                _write(connection, store, vote, seat, people[vote.rater])
                written += 1
    return Imported(written, len(votes) - written)


def study_of(where: str, judged: Judged) -> tuple[Store, str]:
    """A new store with the items and votes of a study that was exported, or run elsewhere; and the admin's token."""
    store, token = create_study(
        where,
        judged.protocol,
        judged.systems_judged,
        control_items=[item for item in judged.items if item.is_control],
    )
    add_votes(store, judged.votes)
    return store, token


def check_same_items(store: Store, judged: Judged) -> None:
    """InputError unless every item of an exported study stands in the store with the same texts."""
    for item in judged.items:
        kept = store.items.get(item.id)
        if kept is None or (kept.input, kept.systems, kept.outputs) != (item.input, item.systems, item.outputs):
            raise InputError(f"the item {item.id} is another in this store; an export goes into its own, or a new one")


def _seat(connection: Connection, store: Store, item: str, rater: int) -> Any:
    """The seat at which the rater's vote is written; None when it stands there already."""
    mine = connection.execute(sa.select(seats).where(seats.c.item == item, seats.c.rater == rater)).first()
    if mine is not None:
        return None if mine.answered else mine
    free = connection.execute(
        sa.select(seats)
        .where(seats.c.item == item, seats.c.rater.is_(None), ~seats.c.answered)
        .order_by(seats.c.number)
        .with_for_update()
    ).first()
    if free is not None:
        return free
    # A control has one seat a rater, numbered by the rater, as those of raters with a link are.
    last = connection.execute(sa.select(sa.func.max(seats.c.number)).where(seats.c.item == item)).scalar()
    number = rater if store.items[item].is_control else (-1 if last is None else last) + 1
    due = 0 if store.items[item].is_control else None
    row = {"item": item, "number": number, "turn": 0, "answered": False, "due": due}
    return connection.execute(seats.insert().values(**row).returning(*seats.c)).one()


def _write(connection: Connection, store: Store, vote: Vote, seat: Any, rater: int) -> None:
    now, turn = time.time(), seat.turn + 1
    connection.execute(
        seats.update().where(seats.c.id == seat.id).values(rater=rater, answered=True, opened=now, turn=turn)
    )
    connection.execute(
        judgements.insert().values(
            seat=seat.id,
            turn=turn,
            rater=rater,
            answers=dict(vote.answers),
            swapped=False,  # its answers are in terms of the systems already
            seconds=vote.seconds,
            version=vote.version,
            written=now,
        )
    )
    ask_more(connection, store, vote.item)
