"""Opening what a study lies in: a store, an export, or judgements that were published."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from restyle.errors import UsageError
from restyle.study import Judged, load_protocol, read_judged

if TYPE_CHECKING:
    from restyle.study._store import Store

STORE = "study.sqlite"
HOST, PORT = "127.0.0.1", 8765
URL = f"http://{HOST}:{PORT}"
StoreOption = Annotated[
    str, typer.Option("--store", envvar="RESTYLE_STUDY", help="A SQLite file, or a postgresql:// URL.")
]
UrlOption = Annotated[str, typer.Option(help="Where the pages are reached, for the links.")]
FileArgument = Annotated[str | None, typer.Argument(help="A study that `export` wrote; otherwise the store's.")]
PublishedOption = Annotated[
    str | None, typer.Option(help="Judgements that were published: strap-mturk, li2018-yelp.", show_default=False)
]
ProtocolOption = Annotated[
    str | None, typer.Option(help="The protocol of an export, where it was your own .toml.", show_default=False)
]


@contextlib.contextmanager
def opened(where: str) -> Iterator[Store]:
    """A store that is let go of at the end."""
    from restyle.study._store import Store

    store = Store(where)
    try:
        yield store
    finally:
        store.close()


def admin_link(url: str, token: str) -> str:
    """A line with the link of whoever runs the study."""
    return f"admin\t{url.rstrip('/')}/admin#{token}"


def judged_of(file: str | None, store: str, published: str | None, protocol: str | None = None) -> Judged:
    """The items and votes of an export, of published judgements, or else of the store."""
    if file is not None and published is not None:
        raise UsageError("both an export and --published were given; choose one")
    if file is not None:
        return read_judged(file, load_protocol(protocol) if protocol else None)
    if protocol is not None:
        raise UsageError("--protocol goes with an export; a store and published judgements know theirs")
    if published is not None:
        from restyle.study._published import published as read_published

        return read_published(published)
    with opened(store) as study:
        return study.judged()
