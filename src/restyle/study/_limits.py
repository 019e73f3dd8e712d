"""How often somebody may ask: a bucket of tokens each, refilled at a steady pace."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# Full buckets are forgotten when there are more than this, so that strangers cannot fill the memory.
_MOST_BUCKETS = 10_000


class Limit:
    """`burst` requests at once, and `per_second` in the long run, for each key."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, float(burst), clock
        self._buckets: dict[str, tuple[float, float]] = {}  # key: what is left, and when that was so
        self._lock = threading.Lock()

    def take(self, key: str) -> float:
        """Take one; 0 where there was one, else the seconds until there will be."""
        with self._lock:
            left = self._left(key)
            if left < 1:
                return (1 - left) / self._per_second
            self._buckets[key] = (left - 1, self._clock())
            self._forget_full()
            return 0.0

    def wait(self, key: str) -> float:
        """The seconds until there will be one, without taking it."""
        with self._lock:
            return max(0.0, (1 - self._left(key)) / self._per_second)

    def _left(self, key: str) -> float:
        left, then = self._buckets.get(key, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - then) * self._per_second)

    def _forget_full(self) -> None:
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets = {key: kept for key, kept in self._buckets.items() if self._left(key) < self._burst}
