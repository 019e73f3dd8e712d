"""Where a study lies: a SQLite file, or a PostgreSQL database by its URL. One study a store."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from restyle.errors import InputError, MissingExtra, UnknownName, UsageError
from restyle.settings import from_dict
from restyle.study._items import Item, Judged, Vote
from restyle.study._lots import lot
from restyle.study._protocol import Protocol
from restyle.study._sampling import SamplingSettings

try:
    import sqlalchemy as sa
    from sqlalchemy.engine import Connection

    from restyle.study._database import closed_on_error, migrate, opened, shown, understood
    from restyle.study._schema import items, judgements, raters, seats, studies
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "sqlalchemy", "study", "a study") from error

_NAME_LENGTH = 100


class Store:
    """An opened store; every method is one transaction."""

    def __init__(self, where: str | Path) -> None:
        """Open a store that `create_study` made, and bring its tables to this version."""
        self.where = str(where)
        if "://" not in self.where and not Path(self.where).is_file():
            raise InputError(f"there is no study in {self.where}; begin one with: restyle study new")
        self.engine = opened(self.where)
        # SQLite has one writer. Those of this process wait here in a row, rather than each asking the file again.
        self._turn = threading.Lock() if self.engine.dialect.name == "sqlite" else contextlib.nullcontext()
        self._open = threading.local()  # the transaction that this thread is in
        with understood(self.where), closed_on_error(self.engine), self.writing() as connection:
            migrate(connection)
            if connection.execute(sa.select(studies.c.id)).first() is None:
                raise InputError(f"there is no study in {shown(self.where)}; begin one with: restyle study new")

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: committed at its end, or not at all. One inside another is part of it."""
        if (outer := getattr(self._open, "connection", None)) is not None:
            yield outer
            return
        with self._turn, self.engine.begin() as connection:
            self._open.connection = connection
            try:
                yield connection
            finally:
                self._open.connection = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that only reads, and waits for nobody; inside one that writes, it sees what was written."""
        if (outer := getattr(self._open, "connection", None)) is not None:
            yield outer
            return
        with self.engine.connect().execution_options(only_reads=True) as connection:
            yield connection

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    @property
    def shown(self) -> str:
        """Where it is, without the password."""
        return shown(self.where)

    @cached_property
    def _study(self) -> Mapping[str, Any]:
        with self.reading() as connection:
            return dict(connection.execute(sa.select(studies)).mappings().one())

    @property
    def name(self) -> str:
        """What the study is called."""
        return str(self._study["name"])

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol as it was when the study began."""
        return from_dict(Protocol, self._study["protocol"], where=self.where)

    @cached_property
    def settings(self) -> SamplingSettings:
        """How the items were drawn, and how they are handed out."""
        return from_dict(SamplingSettings, self._study["settings"], where=self.where)

    @property
    def raters_wanted(self) -> int:
        """How many people judge each item."""
        return self.settings.raters or self.protocol.raters

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """Every item by its id, in the order in which they are handed out; they never change."""
        with self.reading() as connection:
            rows = connection.execute(sa.select(items.c.id, items.c.content).order_by(items.c.place)).all()
        return {row.id: item_of(row.id, row.content) for row in rows}

    def add_rater(self, name: str) -> str:
        """A new rater's token, which is shown this once and stored hashed; UsageError when the name is taken."""
        token = secrets.token_urlsafe(18)
        with self.writing() as connection:
            rater = new_rater(connection, name, hashed(token))
            self._reserve_controls(connection, rater)
        return token

    def rater(self, token: str) -> int | None:
        """The rater who has this token; None when nobody has, or not any longer."""
        query = sa.select(raters.c.id).where(raters.c.token_hash == hashed(token), raters.c.active)
        with self.reading() as connection:
            return connection.execute(query).scalar()

    def renew_rater(self, name: str) -> str:
        """Another token for a rater whose link was lost; the old one is not known any longer."""
        token = secrets.token_urlsafe(18)
        with self.writing() as connection:
            known = connection.execute(sa.select(raters.c.name)).scalars().all()
            if name not in known:
                raise UnknownName("rater", name, known)
            changed = raters.update().where(raters.c.name == name).values(token_hash=hashed(token), active=True)
            connection.execute(changed)
        return token

    def is_admin(self, token: str) -> bool:
        """Whether this is the token of whoever runs the study."""
        with self.reading() as connection:
            kept = connection.execute(sa.select(studies.c.admin_hash)).scalar_one()
        return secrets.compare_digest(hashed(token), str(kept))

    def renew_admin(self) -> str:
        """Another token for whoever runs the study; the old one is not known any longer."""
        token = secrets.token_urlsafe(24)
        with self.writing() as connection:
            connection.execute(studies.update().values(admin_hash=hashed(token)))
        return token

    def raters(self) -> dict[str, int]:
        """Every rater by name."""
        with self.reading() as connection:
            return {row.name: row.id for row in connection.execute(sa.select(raters.c.id, raters.c.name))}

    def wanted(self) -> dict[str, int]:
        """The items that still want people, and how many beside those who have one open."""
        free = sa.select(seats.c.item, sa.func.count().label("count")).group_by(seats.c.item)
        free = free.where(~seats.c.answered, seats.c.due.is_(None), seats.c.rater.is_(None))
        with self.reading() as connection:
            return {row.item: int(row[1]) for row in connection.execute(free)}

    def judged(self) -> Judged:
        """The items and all votes that stand."""
        query = (
            sa.select(seats.c.item, raters.c.name, judgements.c.answers, judgements.c.seconds, judgements.c.version)
            .join_from(judgements, seats, judgements.c.seat == seats.c.id)
            .join(raters, judgements.c.rater == raters.c.id)
            .where(judgements.c.withdrawn.is_(None))
            .order_by(judgements.c.id)
        )
        with self.reading() as connection:
            votes = [
                Vote(row.item, row.name, row.answers, row.seconds, row.version) for row in connection.execute(query)
            ]
        return Judged(self.protocol, list(self.items.values()), votes)

    def _reserve_controls(self, connection: Connection, rater: int) -> None:
        """A seat at every control item, each due somewhere in its own stretch of answers, in the rater's order."""
        every, seed = self.settings.control_every, self.settings.seed
        ids = sorted(
            (item.id for item in self.items.values() if item.is_control), key=lambda item: lot(seed, rater, item)
        )
        for place, item in enumerate(ids):
            due = place * every + lot(seed, rater, item, "due") % every
            connection.execute(
                seats.insert().values(item=item, number=rater, rater=rater, turn=0, answered=False, due=due)
            )


def create_study(
    where: str | Path,
    protocol: Protocol,
    drawn: Sequence[Item],
    settings: SamplingSettings | None = None,
    *,
    name: str = "",
    control_items: Sequence[Item] = (),
) -> tuple[Store, str]:
    """Begin a study in a new file or an empty database: the store, and the admin's token, which is shown this once.

    Items whose answers are known (copies of their input) are stored and not shown. UsageError when there is a study.
    """
    settings = settings or SamplingSettings()
    if "://" not in str(where) and Path(where).exists():
        raise UsageError(f"{where} exists already; name another --store, or remove it")
    token = secrets.token_urlsafe(24)
    engine = opened(str(where))
    study = {
        "name": name or protocol.title,
        "protocol": protocol.to_dict(),
        "settings": _plain(settings),
        "admin_hash": hashed(token),
        "created": time.time(),
    }
    everything = [*drawn, *control_items]
    free_seats = [
        {"item": item.id, "number": number, "turn": 0, "answered": False}
        for item in drawn
        if not item.given
        for number in range(settings.raters or protocol.raters)
    ]
    rows = [
        {"id": item.id, "place": place, "is_control": item.is_control, "content": _content(item)}
        for place, item in enumerate(everything)
    ]
    with understood(str(where)), closed_on_error(engine), engine.begin() as connection:
        migrate(connection)
        if connection.execute(sa.select(studies.c.id)).first() is not None:
            raise UsageError(f"there is a study in {shown(str(where))} already; a store holds one")
        connection.execute(studies.insert().values(**study))
        connection.execute(items.insert(), rows)
        if free_seats:
            connection.execute(seats.insert(), free_seats)
    engine.dispose()
    return Store(where), token


def new_rater(connection: Connection, name: str, token_hash: str | None) -> int:
    """The id of a rater of a new name."""
    if not name.strip() or not name.isprintable() or len(name) > _NAME_LENGTH:
        raise UsageError(f"{name!r} cannot name a rater: 1 to {_NAME_LENGTH} printable characters can")
    if connection.execute(sa.select(raters.c.id).where(raters.c.name == name)).first():
        raise UsageError(f"there is a rater called {name!r} already; give another name")
    row = {"name": name, "token_hash": token_hash, "active": True, "created": time.time()}
    return int(connection.execute(raters.insert().values(**row).returning(raters.c.id)).scalar_one())


def hashed(token: str) -> str:
    """What is stored of a token. It is long and random, so that a plain hash keeps it secret."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def item_of(name: str, content: Mapping[str, Any]) -> Item:
    """An item as it was stored."""
    made: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}
    return Item(name, **made)


def _content(item: Item) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(item).items() if key != "id"}


def _plain(settings: SamplingSettings) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(settings).items() if value is not None}
