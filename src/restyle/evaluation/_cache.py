"""What slow judges said before, by content: a SQLite file that any number of processes share.

The key is a hash of the judge's signature and of all that it was shown, so a judge that changes is asked again, and the
same output of two systems is judged once. A cache is only a cache: whatever is wrong with its file becomes one warning,
and the scores are computed.
"""

from __future__ import annotations

import contextlib
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from restyle.assets import cache_home

# SQLite's oldest limit on the `?` of one statement is 999.
_KEYS_AT_ONCE = 900
# How long one process waits while another writes.
_SECONDS_TO_WAIT = 30


class JudgementCache:
    """Judgements by key, in a file; made when it is first written to."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else cache_home() / "judgements.sqlite"
        self._usable = True

    def read(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The judgements that are known, by key."""
        wanted = list(keys)
        found: dict[bytes, bytes] = {}
        with self._connection() as connection:
            for start in range(0, len(wanted), _KEYS_AT_ONCE):
                some = wanted[start : start + _KEYS_AT_ONCE]
                marks = ",".join("?" * len(some))
                found.update(connection.execute(f"SELECT key, value FROM judgements WHERE key IN ({marks})", some))
        return found

    def write(self, judgements: Mapping[bytes, bytes]) -> None:
        """Remember judgements; one that another process wrote meanwhile stays, as it is the same."""
        with self._connection() as connection, _writing(connection):
            connection.executemany("INSERT OR IGNORE INTO judgements VALUES (?, ?)", judgements.items())

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The opened file; after any trouble with it, an empty one in memory, so that the work goes on."""
        connection = (self._opened() if self._usable else None) or _in_memory()
        try:
            yield connection
        except sqlite3.Error as error:
            self._give_up(error)
        finally:
            connection.close()

    def _opened(self) -> sqlite3.Connection | None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _connected(self.path)
        except sqlite3.OperationalError as error:  # locked for too long, no permission, disk full
            self._give_up(error)
        except sqlite3.DatabaseError as error:
            return self._made_anew(error)
        except OSError as error:
            self._give_up(error)
        return None

    def _made_anew(self, error: Exception) -> sqlite3.Connection | None:
        """An empty cache in the place of one that is no longer a database."""
        warnings.warn(f"the cache of judgements {self.path} is damaged ({error}); a new one was begun", stacklevel=2)
        try:
            for suffix in ("", "-journal"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            return _connected(self.path)
        except (sqlite3.Error, OSError) as again:
            self._give_up(again)
        return None

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        warnings.warn(f"the cache of judgements {self.path} is not used: {error}", stacklevel=2)


def _connected(path: Path) -> sqlite3.Connection:
    # The plain journal and not WAL: whoever switches to WAL is told "locked" at once instead of being made to wait.
    connection = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT, isolation_level=None)
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'judgements'").fetchone():
            _create(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _create(connection)
    return connection


def _create(connection: sqlite3.Connection) -> None:
    with _writing(connection):
        connection.execute(
            "CREATE TABLE IF NOT EXISTS judgements (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
        )


@contextlib.contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that asks for the right to write first: two that read and then want to write block each other."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
