"""Every exception restyle raises on purpose.

    RestyleError                 the run failed                                   exit 1
    ├── UsageError               what was asked cannot be done as asked           exit 2
    │   ├── UnknownName          no such style, metric, corpus, setting …
    │   └── SettingsError        a setting has a value that it cannot have
    ├── InputError               a file that was read is not what it should be
    │   └── RecordError          … at this line
    ├── OutputError              a file could not be written
    ├── MissingExtra             an optional dependency is not installed
    ├── AssetError               a corpus or a model could not be had
    │   ├── Unreachable          its origin did not answer
    │   ├── Corrupt              what arrived is not what the catalogue names
    │   └── OnRequest            its licence wants you to ask for it
    └── JobError                 a job could not start or could not finish

A message is one line: what was wrong, what was given, what is allowed, what to do next.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RestyleError(Exception):
    """The base of them all; the command line prints it as one line."""

    exit_code = 1


class UsageError(RestyleError):
    """What was asked cannot be done as asked."""

    exit_code = 2


class UnknownName(UsageError):
    """A name that nothing carries, with the nearest ones that exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        super().__init__(f"no {kind} is called {name!r}{suggestion(name, self.known)}")


class SettingsError(UsageError):
    """A setting has a value that it cannot have."""


class InputError(RestyleError):
    """A file that was read is not what it should be."""


class RecordError(InputError):
    """One line of a file is not a record."""

    def __init__(self, source: str, line: int, problem: str) -> None:
        self.source, self.line, self.problem = source, line, problem
        super().__init__(f"{source}, line {line}: {problem}")


class OutputError(RestyleError):
    """A file could not be written."""


class MissingExtra(RestyleError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(f"{purpose} needs {package}: pip install 'restyle[{extra}]'")


class AssetError(RestyleError):
    """A corpus or a model could not be had."""


class Unreachable(AssetError):
    """The origin of an asset did not answer."""


class Corrupt(AssetError):
    """What arrived is not what the catalogue names."""


class OnRequest(AssetError):
    """The licence of an asset wants you to ask its owner for it."""


class JobError(RestyleError):
    """A job could not start or could not finish."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """The tail of an unknown-name message: the nearest names, else all that there are.

    >>> suggestion("shakespear", ["bible", "shakespeare"])
    '; did you mean shakespeare?'
    """
    known = sorted(known)
    folded = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(folded[match] for match in close)}?"
    return f"; there are: {', '.join(known)}" if known else "; there are none"
