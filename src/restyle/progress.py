"""One progress bar with an ETA for all long work: on a terminal it is drawn, in a pipe it is silent."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

Advance = Callable[[int], None]


@contextlib.contextmanager
def progress_bar(
    what: str, total: int | None, *, unit: str = "", shown: bool | None = None, done: int = 0
) -> Iterator[Advance]:
    """A bar on stderr while the block runs; call what it yields with the steps just taken.

    `shown` forces it on or off; by default it shows when stderr is a terminal. `unit="bytes"` counts in MB. `done` is
    where a resumed job starts, left out of the speed that the ETA is made from.
    """
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda steps: None
        return
    # Rich takes a while to import, and most commands never draw a bar.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    count: ProgressColumn = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda steps: bar.update(task, advance=steps)
