"""Fifty people judge at once while the server is killed ten times: what is stored, and how long they wait.

    python benchmarks/study.py
    python benchmarks/study.py --store postgresql://me@127.0.0.1/empty

Each annotator is a client on loopback that does what a browser does: fetch an item, think, answer, and send again
whatever got no response. On top of that, by lot: double clicks (the same answer twice at once), the back button (the
item is fetched again before it is answered), undo, and connections that are cut before the response. The server is a
process of its own, killed with SIGKILL and started again while answers are on their way.

In the end the store is held against what the annotators remember: every judgement exactly once, with the value that
they gave last, no item judged by more people than were asked for, and none twice by the same. The times are of requests
that got a response; what waits for a server that is just starting is counted by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import platform
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import sqlalchemy as sa

from restyle.study import Item, SamplingSettings, load_protocol
from restyle.study._schema import judgements, raters, seats
from restyle.study._store import Store, create_study

# By lot, for each answer.
DOUBLE_CLICK, BACK, UNDO, CUT = 0.10, 0.05, 0.05, 0.10


def main() -> None:
    """Run the study, check the store, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=50, help="(default: %(default)s)")
    parser.add_argument("--each", type=int, default=100, help="items of each annotator (default: %(default)s)")
    parser.add_argument("--raters", type=int, default=4, help="people an item (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=10, help="how often the server is killed (default: %(default)s)")
    parser.add_argument("--pause", type=float, default=4.0, help="the longest pause in seconds (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--store", help="an empty PostgreSQL database; otherwise a SQLite file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.store or str(Path(folder) / "study.sqlite")
        tokens = begun(place, options)
        crowd = Crowd(options, place)
        seconds = asyncio.run(crowd.judge(tokens))
        check(place, crowd, options)
    figures(crowd, options, seconds, "PostgreSQL" if options.store else "SQLite")


def begun(place: str, options: argparse.Namespace) -> list[str]:
    """A study with a tenth more seats than are needed, and a link for each annotator."""
    wanted = options.annotators * options.each
    count = max(wanted * 11 // (10 * options.raters), options.each + 1)
    items = [Item(f"{row:05d}", ("system",), (f"Output {row}.",), f"Input {row}.") for row in range(1, count + 1)]
    settings = SamplingSettings(raters=options.raters, per_rater=options.each, seed=options.seed)
    # A draw would ask for more people; here as many as are asked for must come out.
    store, _ = create_study(place, replace(load_protocol("strap"), extra_raters=0), items, settings)
    tokens = [store.add_rater(f"annotator {number}") for number in range(options.annotators)]
    store.close()
    return tokens


@dataclass
class Crowd:
    """All annotators, the server that they talk to, and what happened."""

    options: argparse.Namespace
    place: str
    times: dict[str, list[float]] = field(default_factory=dict)
    happened: Counter[str] = field(default_factory=Counter)
    remembered: dict[tuple[str, int], str] = field(default_factory=dict)  # (annotator, seat): the value given last
    waits: list[float] = field(default_factory=list)  # for a request that had to be sent again
    done: int = 0

    async def judge(self, tokens: list[str]) -> float:
        """Let everybody judge everything; how long it took."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.server = self.started()
        killer = asyncio.create_task(self.kill())
        before = time.perf_counter()
        try:
            await asyncio.gather(*(Annotator(self, number, token).judge() for number, token in enumerate(tokens)))
            seconds = time.perf_counter() - before
            await killer
        finally:
            killer.cancel()
            self.server.kill()
            self.server.wait()
        return seconds

    def started(self) -> subprocess.Popen[bytes]:
        """A server on the same port."""
        command = ["study", "serve", "--store", self.place, "--port", str(self.port)]
        return subprocess.Popen([sys.executable, "-m", "restyle", *command], stderr=subprocess.DEVNULL)

    async def kill(self) -> None:
        """Kill the server at evenly spread moments of the work, and start it again."""
        wanted = self.options.annotators * self.options.each
        for number in range(1, self.options.kills + 1):
            while self.done < wanted * number / (self.options.kills + 1):
                await asyncio.sleep(0.01)
            self.server.send_signal(signal.SIGKILL)
            self.server.wait()
            self.happened["servers killed"] += 1
            self.server = self.started()


class Annotator:
    """One person in front of one page."""

    def __init__(self, crowd: Crowd, number: int, token: str) -> None:
        self.crowd, self.name = crowd, f"annotator {number}"
        self.lot = random.Random(f"{crowd.options.seed}-{number}")
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.client: httpx.AsyncClient

    async def judge(self) -> None:
        """From the first item to the last."""
        async with self.opened() as self.client:
            await asyncio.sleep(self.lot.uniform(0, self.crowd.options.pause))
            version = (await self.ask("GET", "/api/study"))["version"]
            screen = await self.ask("POST", "/api/next")
            while screen["item"] is not None:
                if self.lot.random() < BACK:
                    self.crowd.happened["back buttons"] += 1
                    again = await self.ask("POST", "/api/next")
                    assert again["item"]["seat"] == screen["item"]["seat"], "another item after the back button"
                await asyncio.sleep(self.lot.uniform(0, self.crowd.options.pause))
                screen = await self.answer(screen["item"], version)

    async def answer(self, item: dict[str, Any], version: str) -> dict[str, Any]:
        """Answer an item, with whatever goes wrong on the way; the next screen."""
        value = self.lot.choice("012")
        body = {
            "seat": item["seat"], "turn": item["turn"], "answers": {"paraphrase": value}, "seconds": 1.5,
            "version": version,
        }  # fmt: skip
        if self.lot.random() < CUT:
            self.crowd.happened["connections cut"] += 1
            await self.cut(body)
        clicks = 1 + (self.lot.random() < DOUBLE_CLICK)
        self.crowd.happened["double clicks"] += clicks - 1
        said = await asyncio.gather(*(self.ask("POST", "/api/answers", body) for _ in range(clicks)))
        assert sum(each["stored"] for each in said) <= 1, "a double click was stored twice"
        self.remember(item["seat"], value)
        screen: dict[str, Any] = said[-1]["screen"]
        if self.lot.random() < UNDO:
            self.crowd.happened["answers undone"] += 1
            self.crowd.remembered.pop((self.name, item["seat"]))
            self.crowd.done -= 1
            screen = await self.ask("POST", "/api/undo", {"seat": item["seat"], "turn": item["turn"]})
            assert screen["item"]["answers"] == {"paraphrase": value}, "undo brought back another answer"
        return screen

    def remember(self, seat: int, value: str) -> None:
        """What this person believes to have said."""
        self.crowd.remembered[self.name, seat] = value
        self.crowd.done += 1

    async def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send until there is a response, as the page does."""
        content = None if method == "GET" else json.dumps(body or {})
        first = time.perf_counter()
        for attempt in itertools.count():
            before = time.perf_counter()
            try:
                answer = await self.client.request(method, path, content=content, headers=self.headers)
            except httpx.TransportError:
                self.crowd.happened["requests without response"] += 1
                await asyncio.sleep(min(0.05 * 2**attempt, 1.0) * self.lot.uniform(0.5, 1.5))
                continue
            now = time.perf_counter()
            self.crowd.times.setdefault(path, []).append(now - before)
            if attempt:
                self.crowd.waits.append(now - first)
            if answer.status_code == 200:
                told: dict[str, Any] = answer.json()
                return told
            raise AssertionError(f"{path} answered {answer.status_code}: {answer.text[:200]}")
        raise AssertionError("unreachable")

    async def cut(self, body: dict[str, Any]) -> None:
        """Send an answer, and hang up before the response: at once, or when it may just have been stored."""
        payload = json.dumps(body).encode()
        lines = [
            "POST /api/answers HTTP/1.1", f"Host: 127.0.0.1:{self.crowd.port}", f"Content-Length: {len(payload)}",
            *(f"{name}: {value}" for name, value in self.headers.items()), "", "",
        ]  # fmt: skip
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", self.crowd.port)
            writer.write("\r\n".join(lines).encode() + payload)
            await writer.drain()
            await asyncio.sleep(self.lot.choice((0, 0.002, 0.02)))
            writer.transport.abort()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[httpx.AsyncClient]:
        """A browser's connections."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.crowd.port}", timeout=15) as client:
            yield client


def check(place: str, crowd: Crowd, options: argparse.Namespace) -> None:
    """Stop with what is wrong, unless the store holds just what the annotators remember."""
    store = Store(place)
    query = (
        sa.select(raters.c.name, judgements.c.seat, judgements.c.answers, seats.c.item)
        .join_from(judgements, seats, judgements.c.seat == seats.c.id)
        .join(raters, judgements.c.rater == raters.c.id)
        .where(judgements.c.withdrawn.is_(None))
    )
    with store.reading() as connection:
        rows = connection.execute(query).all()
        withdrawn = connection.execute(
            sa.select(sa.func.count()).select_from(judgements).where(judgements.c.withdrawn.is_not(None))
        ).scalar_one()
    store.close()
    stored = {(row.name, row.seat): row.answers["paraphrase"] for row in rows}
    people = Counter(row.item for row in rows)
    assert len(rows) == len(stored) == options.annotators * options.each, f"{len(rows):,} judgements stand"
    assert stored == crowd.remembered, "the store holds another answer than was given"
    assert len({(row.name, row.item) for row in rows}) == len(rows), "somebody judged an item twice"
    assert max(people.values()) <= options.raters, "an item was given to more people than were asked for"
    assert withdrawn == crowd.happened["answers undone"], "an undone answer was lost or doubled"


def figures(crowd: Crowd, options: argparse.Namespace, seconds: float, kind: str) -> None:
    """Print what happened, and how long people waited."""
    times = {**crowd.times, "all": [each for path in crowd.times.values() for each in path]}
    print(f"{machine()}; {kind}; seed {options.seed}")
    print(
        f"{options.annotators} annotators, {options.each} items each, pauses up to {options.pause} s: {seconds:.0f} s"
    )
    print(f"{crowd.done:,} judgements, each stored exactly once; no item judged by more than {options.raters}")
    print("; ".join(f"{count:,} {what}" for what, count in sorted(crowd.happened.items())))
    print(f"\n{'request':<14}{'count':>8}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'max ms':>9}")
    for path, taken in times.items():
        p50, p95, p99, most = (1000 * np.percentile(taken, each) for each in (50, 95, 99, 100))
        print(f"{path:<14}{len(taken):>8,}{p50:>9.1f}{p95:>9.1f}{p99:>9.1f}{most:>9.1f}")
    if crowd.waits:
        print(f"\nlongest wait across a kill, sent again until answered: {max(crowd.waits):.1f} s")


def machine() -> str:
    """What this ran on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        return f"{model}, {cores} cores"
    return f"{platform.machine()}, {cores} cores"


if __name__ == "__main__":
    main()
