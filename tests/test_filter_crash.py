"""Filters that are killed: this file runs itself as the program that is."""

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from restyle.errors import OutputError
from restyle.jobs import JobSettings
from restyle.pairs import PairFiles, filter_files, filtering, preset
from restyle.pairs.merge import Merge

SETTINGS = preset("loose", {"similarity": "column", "language": "off", "sample_dropped": 5})
BLOCK_SIZE = 6000


def main(pairs, output, workers, moment=""):
    if moment == "die while merging":
        written = Merge._survivors

        def survivors(self, result):
            if self._report.read > 3000:
                os.kill(os.getpid(), signal.SIGKILL)
            return written(self, result)

        Merge._survivors = survivors
    if moment.startswith("no more than"):
        # The write fails in the middle of a file, as on a full disk, which only root could make.
        most = int(moment.split()[-1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    if moment == "merge only":
        del filtering.run
    try:
        files, jobs = PairFiles([pairs], block_size=BLOCK_SIZE), JobSettings(workers=int(workers))
        sys.stdout.write(f"{filter_files(files, output, SETTINGS, jobs=jobs)}\n")
    except (KeyboardInterrupt, OutputError) as error:
        sys.stdout.write(f"{error}\n")


@contextlib.contextmanager
def program(*arguments):
    """The filter as a process of its own, killed at the end of the block if it still runs."""
    with subprocess.Popen(
        [sys.executable, __file__, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that a Ctrl-C reaches its workers too, as it would from a terminal
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(output):
    return len(list(Path(f"{output}.blocks.jsonl.job", "shards").glob("*.jsonl")))


def wait_until(condition, process):
    for _ in range(30_000):
        if condition():
            return
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.001)
    raise AssertionError("it never came")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    chance = random.Random(0)
    words = [f"w{number}" for number in range(300)]
    lines = []
    for _ in range(6000):
        text, other = (" ".join(chance.choices(words, k=chance.randrange(3, 20))) for _ in "ab")
        lines.append(f"{text}\t{other}\t{chance.random():.3f}\n")
        if chance.random() < 0.1:
            lines.append(chance.choice(lines))
    file = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    file.write_text("".join(lines))
    return file


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, pairs):
    """What a run that nothing happens to writes."""
    output = tmp_path_factory.mktemp("undisturbed") / "kept.tsv"
    report = filter_files(PairFiles([str(pairs)], block_size=BLOCK_SIZE), output, SETTINGS)
    assert 1000 < report.kept < report.read
    return output.read_bytes(), str(report)


def assert_finished(tmp_path, said, undisturbed):
    assert (tmp_path / "kept.tsv").read_bytes() == undisturbed[0]
    assert said.strip() == undisturbed[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "kept.tsv", "kept.tsv.report.json", "kept.tsv.settings.toml"
    ]  # fmt: skip


@pytest.mark.parametrize("workers", [1, 2])
def test_a_filter_that_is_killed_again_and_again_gives_the_same_bytes(tmp_path, pairs, undisturbed, workers):
    output, chance = tmp_path / "kept.tsv", random.Random(workers)
    for _ in range(2):
        more = finished(output) + chance.randrange(1, 20)
        with program(pairs, output, workers) as process:
            wait_until(lambda: finished(output) >= more, process)  # noqa: B023
            process.kill()
        assert not output.exists()
        assert finished(output) >= more
    with program(pairs, output, workers) as process:
        said = process.communicate()[0]
    assert_finished(tmp_path, said, undisturbed)


def test_a_filter_that_is_killed_while_it_merges_only_merges_again(tmp_path, pairs, undisturbed):
    output = tmp_path / "kept.tsv"
    with program(pairs, output, 1, "die while merging") as process:
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not output.exists()
    for leftover in tmp_path.glob(".kept.tsv.*"):  # what a killed process could not take away
        leftover.unlink()
    with program(pairs, output, 1, "merge only") as process:
        said = process.communicate()[0]
    assert_finished(tmp_path, said, undisturbed)


def test_results_of_an_input_that_changed_are_not_merged(tmp_path, pairs):
    output, own = tmp_path / "kept.tsv", tmp_path / "own.tsv"
    own.write_bytes(pairs.read_bytes())
    with program(own, output, 1, "die while merging") as process:
        process.communicate()
    first = "one two three four\tfive six seven eight\t0.9\n"
    own.write_text(first + pairs.read_text())
    with program(own, output, 1) as process:
        process.communicate()
    assert output.read_text().startswith(first)


@pytest.mark.parametrize("most", [2_000, 30_000], ids=["among the blocks", "in the merge"])
def test_a_filter_that_can_write_no_more_says_so_and_goes_on_where_it_was(tmp_path, pairs, undisturbed, most):
    output = tmp_path / "kept.tsv"
    with program(pairs, output, 1, f"no more than {most}") as process:
        said = process.communicate()[0]
    assert said.startswith(f"cannot write {output}")
    assert "ulimit -f" in said
    assert said.count("\n") == 1
    assert not output.exists()
    with program(pairs, output, 1) as process:
        said = process.communicate()[0]
    assert_finished(tmp_path, said, undisturbed)


def test_ctrl_c_leaves_a_filter_that_goes_on(tmp_path, pairs, undisturbed):
    output = tmp_path / "kept.tsv"
    with program(pairs, output, 2) as process:
        wait_until(lambda: finished(output) >= 3, process)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate()[0]
    assert said == "interrupted; the same command goes on where this one was\n"
    with program(pairs, output, 2) as process:
        said = process.communicate()[0]
    assert_finished(tmp_path, said, undisturbed)


if __name__ == "__main__":
    main(*sys.argv[1:])
