"""The tables of a study. Migrations make them; a test holds the two equal.

A *seat* is the place of one rater at one item: as many are made as people are wanted, so that no item can be given to
more. A judgement is written once and never changed: what is undone or re-opened is marked as withdrawn, and the seat's
`turn` counts on, so that the same answer sent twice is known to be the same.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

# Named by rule, so that a migration on any database can find them.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("protocol", JSON, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("admin_hash", String, nullable=False),
    Column("created", Float, nullable=False),
)

items = Table(
    "items",
    metadata,
    Column("id", String, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("is_control", Boolean, nullable=False),
    Column("content", JSON, nullable=False),
)

raters = Table(
    "raters",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    # Nothing for raters whose answers were imported: they have no link.
    Column("token_hash", String, unique=True),
    Column("active", Boolean, nullable=False),
    Column("created", Float, nullable=False),
)

seats = Table(
    "seats",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("item", String, ForeignKey("items.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("rater", Integer, ForeignKey("raters.id")),
    Column("turn", Integer, nullable=False),
    Column("answered", Boolean, nullable=False),
    # When the rater was first shown the item; nothing for a control item that waits for its turn.
    Column("opened", Float),
    # Of a control item: after how many answers it is shown.
    Column("due", Integer),
    UniqueConstraint("item", "number"),
    UniqueConstraint("item", "rater"),
    Index("ix_seats_free", "answered", "rater"),
    Index("ix_seats_rater", "rater", "answered"),
)

judgements = Table(
    "judgements",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seat", Integer, ForeignKey("seats.id"), nullable=False),
    Column("turn", Integer, nullable=False),
    Column("rater", Integer, ForeignKey("raters.id"), nullable=False),
    Column("answers", JSON, nullable=False),
    Column("swapped", Boolean, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("version", String, nullable=False),
    Column("written", Float, nullable=False),
    Column("withdrawn", Float),
    UniqueConstraint("seat", "turn"),
    Index("ix_judgements_rater", "rater", "withdrawn"),
)
