"""Jobs that are killed: this file runs itself as the program that is."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from restyle.errors import JobError
from restyle.jobs import JobSettings, run
from restyle.records import RecordWriter, read_records

COUNT = 1200
WRITTEN = COUNT - COUNT // 10 - COUNT // 100
SETTINGS = {"shard_size": 10}


def records():
    return ({"id": str(number), "text": f"sentence {number}"} for number in range(COUNT))


def work(batch):
    """Takes its time, fails on some records, and notes who did it."""
    time.sleep(float(os.environ.get("PAUSE", 0)))
    if folder := os.environ.get("PIDS"):
        Path(folder, str(os.getpid())).touch()
    for record in batch:
        if int(record["id"]) % 100 == 42:
            raise ValueError(f"no rhyme for {record['id']}")
    return [{**record, "text": record["text"].upper()} for record in batch if int(record["id"]) % 10]


def main(output, workers, moment=""):
    if moment == "die while merging":
        RecordWriter.__exit__ = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    try:
        report = run(work, records(), output, settings=JobSettings(workers=int(workers), **SETTINGS))
        sys.stdout.write(f"{report}\n")
    except KeyboardInterrupt as error:
        sys.exit(str(error))


@contextlib.contextmanager
def program(output, workers, *moment, pause=0.01, **environment):
    """The job as a process of its own, killed at the end of the block if it still runs."""
    command = [sys.executable, __file__, str(output), str(workers), *moment]
    # A group of its own, so that a Ctrl-C reaches it as it would from a terminal: its workers too.
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PAUSE": str(pause), **environment},
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(output):
    return len(list(Path(f"{output}.job", "shards").glob("*.jsonl")))


def wait_until(condition, process=None, seconds=30):
    for _ in range(int(seconds / 0.002)):
        if condition():
            return
        assert process is None or process.poll() is None, process.stdout.read()
        time.sleep(0.002)
    raise AssertionError("it never came")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a run that nothing happens to writes: the output and the poison file."""
    output = tmp_path_factory.mktemp("undisturbed") / "out.jsonl"
    run(work, records(), output, settings=JobSettings(**SETTINGS))
    return output.read_bytes(), Path(f"{output}.poison.jsonl").read_bytes()


def test_a_job_that_is_killed_ten_times_gives_the_same_bytes(tmp_path, undisturbed):
    output = tmp_path / "out.jsonl"
    chance = random.Random(7)
    for _ in range(10):
        done = finished(output)
        more = chance.randrange(5)
        with program(output, chance.choice([1, 2])) as process:
            wait_until(lambda: finished(output) >= done + more, process)  # noqa: B023
            time.sleep(chance.uniform(0, 0.03))
            assert process.poll() is None, "it was done before it could be killed"
            process.kill()
        assert not output.exists()
        assert finished(output) >= done
    with program(output, 2, pause=0) as process:
        said = process.communicate()[0]
    assert process.returncode == 0, said
    assert f"{COUNT:,} records read, {WRITTEN:,} written; " in said
    assert "of them were done by an earlier run" in said
    assert (output.read_bytes(), Path(f"{output}.poison.jsonl").read_bytes()) == undisturbed
    assert sorted(os.listdir(tmp_path)) == ["out.jsonl", "out.jsonl.poison.jsonl"]


def test_a_job_that_is_killed_while_it_merges_merges_again(tmp_path, undisturbed):
    output = tmp_path / "out.jsonl"
    with program(output, 1, "die while merging", pause=0) as process:
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not output.exists()
    with program(output, 1, pause=0) as process:
        assert f"{COUNT:,} of them were done by an earlier run" in process.communicate()[0]
    assert (output.read_bytes(), Path(f"{output}.poison.jsonl").read_bytes()) == undisturbed


def test_the_workers_of_a_job_that_is_killed_go_too(tmp_path):
    pids = tmp_path / "pids"
    pids.mkdir()
    with program(tmp_path / "out.jsonl", 2, PIDS=str(pids)) as process:
        wait_until(lambda: len(os.listdir(pids)) == 2, process)
        process.kill()
    workers = [int(pid) for pid in os.listdir(pids)]
    wait_until(lambda: not any(map(alive, workers)))


def alive(pid):
    """Whether a process runs; a zombie, which nobody has fetched yet, does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_a_job_that_goes_on(tmp_path, undisturbed, workers):
    output = tmp_path / "out.jsonl"
    with program(output, workers) as process:
        wait_until(lambda: finished(output) >= 5, process)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate()[0]
    assert said == "interrupted; the same command goes on where this one was\n"
    assert finished(output) >= 5
    with program(output, workers, pause=0) as process:
        process.communicate()
    assert output.read_bytes() == undisturbed[0]


def test_ctrl_c_is_nothing_to_the_workers(tmp_path, undisturbed):
    output, pids = tmp_path / "out.jsonl", tmp_path / "pids"
    pids.mkdir()
    with program(output, 2, PIDS=str(pids)) as process:
        wait_until(lambda: len(os.listdir(pids)) == 2, process)
        for pid in os.listdir(pids):
            os.kill(int(pid), signal.SIGINT)
        said = process.communicate()[0]
    assert said.startswith(f"{COUNT:,} records read"), said
    assert output.read_bytes() == undisturbed[0]


def test_a_second_process_at_the_same_job_is_refused(tmp_path, undisturbed):
    output = tmp_path / "out.jsonl"
    with program(output, 2) as process:
        wait_until(lambda: finished(output) >= 1, process)
        with pytest.raises(JobError, match="^another process is writing .*out.jsonl: wait"):
            run(work, records(), output, settings=JobSettings(**SETTINGS))
        with pytest.raises(JobError, match="^another process is writing .*out.jsonl: wait"):
            run(work, records(), output, settings=JobSettings(**SETTINGS), restart=True)
        process.communicate()
    assert process.returncode == 0
    assert output.read_bytes() == undisturbed[0]


def test_a_killed_job_does_not_leave_its_lock(tmp_path):
    output = tmp_path / "out.jsonl"
    with program(output, 1) as process:
        wait_until(lambda: finished(output) >= 1, process)
        process.kill()
    settings = JobSettings(**SETTINGS)
    assert run(work, records(), output, settings=settings, restart=True).written == WRITTEN
    assert sum(1 for _ in read_records(output)) == WRITTEN


if __name__ == "__main__":
    main(*sys.argv[1:])
