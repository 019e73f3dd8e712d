"""How a job is run; none of these settings but the size of a shard can change what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from restyle.settings import setting

ExecutorName = Literal["local", "ray"]
OnPoison = Literal["isolate", "stop"]


@dataclass(frozen=True)
class JobSettings:
    """Where a job runs, on how many workers, and what becomes of a record that fails."""

    workers: int = setting(1, "how many workers; a single local one runs in this process", minimum=1)
    executor: ExecutorName = setting("local", "processes on this machine, or the actors of a Ray cluster")
    # Small enough that a kill costs little and the bar moves, large enough that a file and an fsync do not show.
    shard_size: int = setting(256, "records given to the work at once; a kill costs each worker one shard", minimum=1)
    on_error: OnPoison = setting("isolate", "set a record that fails aside, or stop at the first")
    give_up_after: int = setting(100, "stop when so many records in a row fail: it is the work then", minimum=1)
    address: str | None = setting(None, "the Ray cluster; by default $RAY_ADDRESS, else one is started here")
    num_gpus: float = setting(0.0, "GPUs of each worker (Ray only)", minimum=0)
