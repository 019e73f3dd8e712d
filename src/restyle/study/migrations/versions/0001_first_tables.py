"""The first tables: studies, items, raters, seats, judgements."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("protocol", sa.JSON, nullable=False),
        sa.Column("settings", sa.JSON, nullable=False),
        sa.Column("admin_hash", sa.String, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("is_control", sa.Boolean, nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
    )
    op.create_table(
        "raters",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("token_hash", sa.String),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.UniqueConstraint("name"),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_table(
        "seats",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("item", sa.String, sa.ForeignKey("items.id"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("rater", sa.Integer, sa.ForeignKey("raters.id")),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("answered", sa.Boolean, nullable=False),
        sa.Column("opened", sa.Float),
        sa.Column("due", sa.Integer),
        sa.UniqueConstraint("item", "number"),
        sa.UniqueConstraint("item", "rater"),
    )
    op.create_index("ix_seats_free", "seats", ["answered", "rater"])
    op.create_index("ix_seats_rater", "seats", ["rater", "answered"])
    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("seat", sa.Integer, sa.ForeignKey("seats.id"), nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("rater", sa.Integer, sa.ForeignKey("raters.id"), nullable=False),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("swapped", sa.Boolean, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("written", sa.Float, nullable=False),
        sa.Column("withdrawn", sa.Float),
        sa.UniqueConstraint("seat", "turn"),
    )
    op.create_index("ix_judgements_rater", "judgements", ["rater", "withdrawn"])
