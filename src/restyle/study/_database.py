"""The database beneath a store: a SQLite file or PostgreSQL, its tables kept current, its complaints in one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import resources
from typing import Any

from restyle.errors import InputError, MissingExtra, OutputError, UsageError

try:
    import sqlalchemy as sa
    from sqlalchemy.engine import Connection, Engine
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "sqlalchemy", "study", "a study") from error

# How long one writer waits for another, in seconds.
_PATIENCE = 30


def opened(where: str) -> Engine:
    """The engine of a SQLite file, or of a postgresql:// URL; UsageError for any other."""
    if "://" not in where:
        engine = sa.create_engine(f"sqlite:///{where}", connect_args={"timeout": _PATIENCE, "check_same_thread": False})
        sa.event.listen(engine, "connect", _set_up_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    if not where.startswith(("postgresql://", "postgresql+psycopg://")):
        scheme = where.partition("://")[0]
        raise UsageError(f"a store is a file or a postgresql:// URL, and not {scheme}://")
    try:
        url = "postgresql+psycopg://" + where.partition("://")[2]
        return sa.create_engine(url, pool_size=20, max_overflow=20, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingExtra("psycopg", "postgres", "a study in PostgreSQL") from error


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # SQLAlchemy says when a transaction begins, and not Python's driver
    # WAL: readers and the writer do not wait for each other. FULL: what was committed survives a power cut.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes its turn at once: one that reads first, and then wants to write, may be refused.
    only_reads = connection.get_execution_options().get("only_reads")
    connection.exec_driver_sql("BEGIN" if only_reads else "BEGIN IMMEDIATE")


def migrate(connection: Connection) -> None:
    """Make the tables, or bring them to this version."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    with resources.as_file(resources.files("restyle.study") / "migrations") as folder:
        config.set_main_option("script_location", str(folder))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


@contextlib.contextmanager
def closed_on_error(engine: Engine) -> Iterator[None]:
    """Let go of a database that could not be used."""
    try:
        yield
    except BaseException:
        engine.dispose()
        raise


@contextlib.contextmanager
def understood(where: str) -> Iterator[None]:
    """Turn what a database complains of into one line."""
    try:
        yield
    except sa.exc.OperationalError as error:
        raise OutputError(f"the store {shown(where)} cannot be opened: {str(error.orig).splitlines()[0]}") from None
    except sa.exc.DatabaseError as error:
        raise InputError(f"{shown(where)} is no store of a study: {str(error.orig).splitlines()[0]}") from None


def shown(where: str) -> str:
    """A URL without its password."""
    return sa.engine.make_url(where).render_as_string(hide_password=True) if "://" in where else where
