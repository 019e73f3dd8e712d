"""What a job costs beside a plain loop: time per record of work that does next to nothing.

    python benchmarks/jobs.py --records 100000

The loop promises nothing. A job also hashes its input, saves and syncs every shard, merges them in order and, with two
workers, sends each record to another process and back. Beside a model, which takes milliseconds for each sentence,
these microseconds do not show; two workers pay from some tens of microseconds of work per record.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from restyle.jobs import JobSettings, run
from restyle.records import Record, RecordWriter


def main() -> None:
    """Time each way over the same records and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000, help="how many (default: %(default)s)")
    count = parser.parse_args().records
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.jsonl"
        plain = seconds(lambda: loop(count, output))
        expected = output.read_bytes()
        print(f"{count:,} records\n\n{'':24}{'seconds':>9}{'µs/record':>11}{'overhead':>10}")
        print(f"{'plain loop':24}{plain:9.2f}{plain / count * 1e6:11.1f}")
        for workers in (1, 2):
            for shard_size in (JobSettings.shard_size, 10_000):
                settings = JobSettings(workers=workers, shard_size=shard_size)
                taken = seconds(lambda: run(shout, sentences(count), output, settings=settings))  # noqa: B023
                assert output.read_bytes() == expected
                name = f"run, {workers} × {shard_size:,}"
                over = (taken - plain) / count * 1e6
                print(f"{name:24}{taken:9.2f}{taken / count * 1e6:11.1f}{over:+10.1f}")
        print("\nrun, workers × shard size; the overhead is in µs/record")


def sentences(count: int) -> Iterator[Record]:
    """Records of an ordinary size."""
    return ({"id": str(number), "text": f"Sentence {number} asks if thou art mad, friend."} for number in range(count))


def shout(batch: list[Record]) -> list[Record]:
    """Work that costs next to nothing."""
    return [{**record, "text": record["text"].upper()} for record in batch]


def loop(count: int, output: Path) -> None:
    """The same without a job: nothing to resume, nothing isolated, one process."""
    with RecordWriter(output) as writer:
        for record in sentences(count):
            [result] = shout([record])
            writer.write(result)


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    before = time.perf_counter()
    call()
    return time.perf_counter() - before


if __name__ == "__main__":
    main()
