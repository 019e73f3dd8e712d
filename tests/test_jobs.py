"""Jobs in one process and in several: what comes out, what is refused, what is remembered."""

import errno
import gzip
import json
import os
import time
import tracemalloc
from functools import partial
from pathlib import Path

import pytest

from restyle.errors import InputError, JobError, MissingExtra, OutputError, SettingsError, UsageError
from restyle.jobs import JobReport, JobSettings, run, stream
from restyle.jobs import _folder as folder_module
from restyle.records import read_records


def records(count):
    return ({"id": str(number), "text": f"sentence {number}"} for number in range(count))


def shout(batch):
    return [{**record, "text": record["text"].upper()} for record in batch]


def evens(batch):
    return [record for record in batch if int(record["id"]) % 2 == 0]


def twice(batch):
    for record in batch:
        yield {**record, "id": record["id"] + "a"}
        yield {**record, "id": record["id"] + "b"}


def fussy(batch):
    """Changes its batch, then raises on some of the records."""
    for record in batch:
        record["text"] = record["text"].upper()
        if int(record["id"]) % 7 == 3:
            raise ValueError(f"no rhyme for {record['id']}")
    return batch


def hopeless(batch):
    raise RuntimeError("CUDA is not\nthere")


def deadly(batch):
    """Dies as a segfault or the out-of-memory killer would have it: without a word."""
    if any(record["id"] == "13" for record in batch):
        os._exit(42)
    return shout(batch)


def half_deadly(marker, batch):
    """Dies once, for a reason that lies in no record."""
    if any(record["id"] == "13" for record in batch) and not Path(marker).exists():
        Path(marker).touch()
        os._exit(42)
    return [{**record, "batch": len(batch)} for record in batch]


def chatty(batch):
    os.write(1, b"loading weights\n")  # as a library written in C does
    return shout(batch)


def slow_start(batch):
    if batch[0]["id"] == "0":
        time.sleep(1)
    return batch


def nothing(batch):
    return None


def interrupted(stop, batch):
    if any(record["id"] == str(stop) for record in batch):
        raise KeyboardInterrupt
    return shout(batch)


class Model:
    """Notes each time that it is made."""

    def __init__(self, log=None, suffix="!"):
        self.suffix = suffix
        if log:
            with open(log, "a") as made:
                made.write(f"{os.getpid()}\n")

    def __call__(self, batch):
        return [{**record, "text": record["text"] + self.suffix} for record in batch]


class Missing:
    def __init__(self):
        raise MissingExtra("torch", "local", "rewriting")


class Broken:
    def __init__(self):
        raise ValueError("the weights are damaged")


class Stillborn:
    def __init__(self):
        os._exit(3)


def texts(path):
    return [record["text"] for record in read_records(path)]


def small(**settings):
    return JobSettings(**{"shard_size": 5, **settings})


# What comes out


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_same_bytes_come_out_of_any_number_of_workers(tmp_path, workers):
    report = run(fussy, records(60), tmp_path / "out.jsonl", settings=small(workers=workers))
    expected = [f"SENTENCE {number}" for number in range(60) if number % 7 != 3]
    assert texts(tmp_path / "out.jsonl") == expected
    assert [record["id"] for record in read_records(tmp_path / "out.jsonl.poison.jsonl")] == [
        str(number) for number in range(60) if number % 7 == 3
    ]
    assert (report.read, report.written, report.poisoned) == (60, len(expected), 60 - len(expected))
    plain = "".join(json.dumps({"id": text.split()[1], "text": text}) + "\n" for text in expected)
    assert (tmp_path / "out.jsonl").read_text() == plain


def test_work_may_return_fewer_records(tmp_path):
    report = run(evens, records(11), tmp_path / "out.jsonl", settings=small())
    assert texts(tmp_path / "out.jsonl") == [f"sentence {number}" for number in range(0, 11, 2)]
    assert (report.read, report.written, report.poisoned) == (11, 6, 0)


def test_work_may_return_more_records_and_be_a_generator(tmp_path):
    run(twice, records(6), tmp_path / "out.jsonl", settings=small())
    assert [record["id"] for record in read_records(tmp_path / "out.jsonl")][:4] == ["0a", "0b", "1a", "1b"]


def test_unknown_keys_are_carried_through(tmp_path):
    given = {"id": "1", "text": "Größe \u2028 😀", "depth": {"a": [1, 2.5, None]}, "style": "modern"}
    run(Model, [given], tmp_path / "out.jsonl", settings=small())
    assert list(read_records(tmp_path / "out.jsonl")) == [{**given, "text": given["text"] + "!"}]


def test_a_class_is_made_once_for_each_worker(tmp_path):
    work = partial(Model, tmp_path / "made.log", suffix="?")
    run(work, records(40), tmp_path / "out.jsonl", settings=small(workers=2))
    made = (tmp_path / "made.log").read_text().split()
    assert 1 <= len(made) <= 2
    assert len(set(made)) == len(made)
    assert str(os.getpid()) not in made
    assert texts(tmp_path / "out.jsonl")[39] == "sentence 39?"


def test_one_local_worker_is_this_process(tmp_path):
    run(partial(Model, tmp_path / "made.log"), records(3), tmp_path / "out.jsonl", settings=small())
    assert (tmp_path / "made.log").read_text().split() == [str(os.getpid())]


def test_no_more_workers_start_than_there_are_shards(tmp_path):
    run(partial(Model, tmp_path / "made.log"), records(4), tmp_path / "out.jsonl", settings=small(workers=3))
    assert len((tmp_path / "made.log").read_text().split()) == 1


def test_the_suffix_of_the_output_chooses_its_format(tmp_path):
    run(shout, records(7), tmp_path / "out.tsv", settings=small())
    assert (tmp_path / "out.tsv").read_text().splitlines()[:2] == ["id\ttext", "0\tSENTENCE 0"]
    run(shout, records(7), tmp_path / "out.jsonl.gz", settings=small())
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).count(b"\n") == 7


def test_no_records_give_an_empty_output(tmp_path):
    report = run(shout, [], tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == b""
    assert report == JobReport()


def test_a_finished_job_leaves_nothing_but_its_output(tmp_path):
    (tmp_path / "out.jsonl.poison.jsonl").write_text("of an earlier job\n")
    run(shout, records(12), tmp_path / "out.jsonl", settings=small())
    assert os.listdir(tmp_path) == ["out.jsonl"]


def test_what_a_worker_prints_is_kept_from_stdout(tmp_path, capfd):
    run(chatty, records(20), tmp_path / "out.jsonl", settings=small(workers=2))
    captured = capfd.readouterr()
    assert "loading weights" not in captured.out
    assert "loading weights" in captured.err


# Streams


def test_a_stream_comes_in_order_from_any_number_of_workers():
    for workers in (1, 2):
        results = stream(shout, records(33), settings=small(workers=workers))
        assert [record["id"] for record in results] == [str(number) for number in range(33)]


def test_a_stream_is_produced_as_its_input_comes():
    read = []
    given = (read.append(number) or record for number, record in enumerate(records(100)))
    results = stream(shout, given, settings=small(shard_size=1))
    assert next(results)["text"] == "SENTENCE 0"
    assert read == [0]
    results.close()


def test_a_stream_stops_at_a_bad_record_that_no_report_counts():
    with pytest.raises(JobError, match="record '3' failed: ValueError: no rhyme for 3"):
        list(stream(fussy, records(9), settings=small()))


def test_a_stream_counts_a_bad_record_in_its_report():
    report = JobReport()
    assert len(list(stream(fussy, records(9), settings=small(), report=report))) == 8
    assert (report.read, report.written, report.poisoned) == (9, 8, 1)
    assert "1 failed (the first: record '3': ValueError: no rhyme for 3)" in str(report)


def test_an_output_of_a_hyphen_is_stdout(capsys):
    report = run(shout, records(3), "-", format="txt", settings=small())
    assert capsys.readouterr().out == "SENTENCE 0\nSENTENCE 1\nSENTENCE 2\n"
    assert report.written == 3


# Bounds


@pytest.mark.parametrize("workers", [1, 2])
def test_input_is_read_no_further_than_the_workers_need(tmp_path, workers):
    finished = tmp_path / "out.jsonl.job" / "shards"
    leads = []

    def watched():
        for number, record in enumerate(records(100)):
            leads.append(number // 5 - len(list(finished.glob("*.jsonl"))))
            yield record

    run(shout, watched(), tmp_path / "out.jsonl", settings=small(workers=workers))
    assert max(leads) <= workers


def test_a_stream_holds_few_results_back_while_it_waits_for_a_slow_one():
    read = []
    given = (read.append(number) or record for number, record in enumerate(records(2000)))
    results = stream(slow_start, given, settings=small(workers=2))
    assert next(results)["id"] == "0"
    # The first shard and those that may be ahead of it: four for each worker.
    assert len(read) <= 5 * (1 + 4 * 2)
    results.close()


def test_memory_does_not_grow_with_the_number_of_records(tmp_path):
    peaks = {}
    run(shout, records(100), tmp_path / "warm.jsonl")
    for count in (2_000, 16_000):
        tracemalloc.start()
        run(shout, records(count), tmp_path / "out.jsonl", settings=JobSettings(shard_size=100))
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # 14,000 more records of some 100 bytes; their paths, one for each hundred, are all that may be held.
    assert peaks[16_000] < peaks[2_000] + 100_000


# Records that fail


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_record_is_set_aside_with_its_error_and_the_others_go_on(tmp_path, workers):
    report = run(fussy, records(10), tmp_path / "out.jsonl", settings=small(workers=workers, shard_size=10))
    assert len(texts(tmp_path / "out.jsonl")) == 9
    assert list(read_records(tmp_path / "out.jsonl.poison.jsonl")) == [
        {"id": "3", "text": "sentence 3", "error": "ValueError: no rhyme for 3"}
    ]
    assert report.poison_file == tmp_path / "out.jsonl.poison.jsonl"
    assert "10 records read, 9 written; 1 failed, set aside in" in str(report)


def test_a_bad_record_is_found_in_a_shard_without_giving_up_batches(tmp_path):
    sizes = []

    def work(batch):
        sizes.append(len(batch))
        if any(record["id"] == "700" for record in batch):
            raise ValueError("bad")
        return batch

    run(work, records(1000), tmp_path / "out.jsonl", settings=JobSettings(shard_size=1000))
    assert [int(record["id"]) for record in read_records(tmp_path / "out.jsonl")] == [
        number for number in range(1000) if number != 700
    ]
    assert len(sizes) < 70


@pytest.mark.parametrize("workers", [1, 2])
def test_stop_stops_at_a_bad_record_and_keeps_what_is_done(tmp_path, workers):
    settings = small(on_error="stop", workers=workers)
    many = [{"id": str(number), "text": "x"} for number in (*range(700, 770, 7), 3, *range(700, 770, 7))]
    with pytest.raises(JobError, match="^record '3' failed: ValueError: no rhyme for 3; .*isolate"):
        run(fussy, many, tmp_path / "out.jsonl", settings=settings)
    report = run(fussy, many, tmp_path / "out.jsonl", settings=small())
    assert report.resumed >= 5
    assert (report.written, report.poisoned) == (20, 1)


def test_a_record_that_kills_its_worker_is_set_aside(tmp_path):
    report = run(deadly, records(30), tmp_path / "out.jsonl", settings=small(workers=2, shard_size=10))
    assert texts(tmp_path / "out.jsonl") == [f"SENTENCE {number}" for number in range(30) if number != 13]
    assert report.problems == ["record '13': its worker process ended with exit code 42"]


def test_a_worker_that_dies_for_another_reason_costs_no_record_and_cuts_no_batch(tmp_path):
    work = partial(half_deadly, tmp_path / "died")
    report = run(work, records(30), tmp_path / "out.jsonl", settings=small(workers=2, shard_size=10))
    assert (tmp_path / "died").exists()
    assert [record["batch"] for record in read_records(tmp_path / "out.jsonl")] == [10] * 30
    assert report.poisoned == 0


def test_a_job_gives_up_when_every_record_fails(tmp_path):
    with pytest.raises(JobError, match="20 records in a row failed, the last '19': RuntimeError: CUDA is not there;"):
        run(hopeless, records(60), tmp_path / "out.jsonl", settings=small(give_up_after=20))


def test_a_job_does_not_give_up_over_bad_records_between_good_ones(tmp_path):
    report = run(fussy, records(60), tmp_path / "out.jsonl", settings=small(give_up_after=2))
    assert report.poisoned == 9


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (Missing, MissingExtra, r"^rewriting needs torch: pip install 'restyle\[local\]'$"),
        (Broken, JobError, "^the work could not be set up: ValueError: the weights are damaged$"),
        (nothing, JobError, "^the work test_jobs:nothing returned NoneType; a list of records was expected$"),
    ],
)
def test_an_error_that_no_record_is_to_blame_for_ends_the_job(tmp_path, workers, work, error, message):
    with pytest.raises(error, match=message):
        run(work, records(20), tmp_path / "out.jsonl", settings=small(workers=workers))
    assert os.listdir(tmp_path) == []


def test_a_worker_that_dies_while_it_is_made_ends_the_job(tmp_path):
    with pytest.raises(JobError, match="^the work could not be set up: its worker process ended with exit code 3"):
        run(Stillborn, records(20), tmp_path / "out.jsonl", settings=small(workers=2))


def test_the_traceback_of_a_worker_is_the_cause_of_the_error(tmp_path):
    with pytest.raises(JobError) as caught:
        run(Broken, records(20), tmp_path / "out.jsonl", settings=small(workers=2))
    assert 'raise ValueError("the weights are damaged")' in str(caught.value.__cause__)


def test_work_that_cannot_be_sent_to_processes_is_refused(tmp_path):
    with pytest.raises(UsageError, match="define it at the top of a module, or use one worker"):
        run(lambda batch: batch, records(2), tmp_path / "out.jsonl", settings=small(workers=2))


def test_a_record_that_is_not_json_is_named(tmp_path):
    with pytest.raises(InputError, match="^record 'a' cannot be written as JSON"):
        run(shout, [{"id": "a", "text": object()}], tmp_path / "out.jsonl")


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"shard_size": 0}, {"executor": "spark"}])
def test_settings_out_of_bounds_are_refused(tmp_path, wrong):
    with pytest.raises(SettingsError):
        run(shout, records(2), tmp_path / "out.jsonl", settings=JobSettings(**wrong))


def test_gpus_are_refused_where_they_would_be_ignored(tmp_path):
    with pytest.raises(UsageError, match="executor='ray'"):
        run(shout, records(2), tmp_path / "out.jsonl", settings=JobSettings(num_gpus=1))


def test_a_ray_cluster_that_does_not_answer_is_named(tmp_path):
    pytest.importorskip("ray")
    settings = JobSettings(executor="ray", address="127.0.0.1:1")
    with pytest.raises(JobError, match=r"^no Ray cluster at 127.0.0.1:1: .*refused; start one with: ray start --head$"):
        run(shout, records(1), tmp_path / "out.jsonl", settings=settings)


# Going on


def begin(output, count=30, stop=20, **settings):
    """A job that was interrupted at the record `stop`."""
    with pytest.raises(KeyboardInterrupt):
        run(partial(interrupted, stop), records(count), output, settings=small(**settings), identity={"seed": 1})


def test_ctrl_c_says_that_the_job_can_go_on(tmp_path):
    with pytest.raises(KeyboardInterrupt, match="the same command goes on where this one was"):
        run(partial(interrupted, 20), records(30), tmp_path / "out.jsonl", settings=small())


def test_other_arguments_of_the_work_are_another_job_unless_the_caller_says_what_counts(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(partial(interrupted, 20), records(30), tmp_path / "out.jsonl", settings=small())
    with pytest.raises(JobError, match=r"arguments=\['20'\], and now it is arguments=\['-1'\]"):
        run(partial(interrupted, -1), records(30), tmp_path / "out.jsonl", settings=small())


def test_an_interrupted_job_goes_on_with_another_number_of_workers(tmp_path):
    begin(tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    report = run(
        partial(interrupted, -1), records(30), tmp_path / "out.jsonl", settings=small(workers=2), identity={"seed": 1}
    )
    assert (report.read, report.written, report.resumed) == (30, 30, 20)
    assert "20 of them were done by an earlier run" in str(report)
    assert texts(tmp_path / "out.jsonl") == [f"SENTENCE {number}" for number in range(30)]


@pytest.mark.parametrize(
    ("settings", "identity", "named"),
    [
        (small(), {"seed": 2}, "seed=1, and now it is seed=2"),
        (small(shard_size=6), {"seed": 1}, "shard_size=5, and now it is shard_size=6"),
        (small(), {}, "seed=1, and now it is seed=None"),
    ],
)
def test_another_job_does_not_go_on_from_this_one(tmp_path, settings, identity, named):
    begin(tmp_path / "out.jsonl")
    with pytest.raises(JobError, match=f"unfinished job with {named}: .*restart"):
        run(partial(interrupted, -1), records(30), tmp_path / "out.jsonl", settings=settings, identity=identity)
    report = run(
        partial(interrupted, -1),
        records(30),
        tmp_path / "out.jsonl",
        settings=settings,
        identity=identity,
        restart=True,
    )
    assert (report.written, report.resumed) == (30, 0)


def test_other_work_does_not_go_on_from_this_one(tmp_path):
    begin(tmp_path / "out.jsonl")
    with pytest.raises(JobError, match="work='test_jobs:interrupted', and now it is work='test_jobs:shout'"):
        run(shout, records(30), tmp_path / "out.jsonl", settings=small(), identity={"seed": 1})


def test_a_changed_input_is_refused(tmp_path):
    begin(tmp_path / "out.jsonl")
    changed = [{**record, "text": "other"} if record["id"] == "7" else record for record in records(30)]
    with pytest.raises(JobError, match="input has changed since .* between the records '5' and '9'.*restart"):
        run(partial(interrupted, -1), changed, tmp_path / "out.jsonl", settings=small(), identity={"seed": 1})


def test_a_shorter_input_is_refused(tmp_path):
    begin(tmp_path / "out.jsonl")
    with pytest.raises(JobError, match="input is shorter than when"):
        run(partial(interrupted, -1), records(10), tmp_path / "out.jsonl", settings=small(), identity={"seed": 1})


def test_a_job_that_came_to_nothing_stands_in_nobodys_way(tmp_path):
    begin(tmp_path / "out.jsonl", stop=0)
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_one_line_and_loses_nothing_that_was_done(tmp_path, monkeypatch):
    real = folder_module.os.fsync
    syncs = []

    def full(descriptor):
        syncs.append(descriptor)
        if len(syncs) > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(folder_module.os, "fsync", full)
    with pytest.raises(OutputError, match="the disk is full; free some space and run the same command again"):
        run(shout, records(30), tmp_path / "out.jsonl", settings=small())
    monkeypatch.undo()
    report = run(shout, records(30), tmp_path / "out.jsonl", settings=small())
    assert (report.written, report.resumed) == (30, 15)


def test_an_output_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "folder", tmp_path / "file" / "out.jsonl"):
        with pytest.raises(OutputError, match="^cannot write"):
            run(hopeless, records(2), output)


def test_results_that_the_format_cannot_carry_are_kept_and_can_be_written_in_another(tmp_path):
    tabs = [{"id": "1", "text": "a\tb"}]
    with pytest.raises(OutputError, match=r"holds a tab .* mv (\S+) (\S+), then run again with the output (\S+)$"):
        run(shout, tabs, tmp_path / "out.tsv")
    (tmp_path / "out.tsv.job").rename(tmp_path / "out.jsonl.job")
    assert run(shout, tabs, tmp_path / "out.jsonl").resumed == 1


def test_the_progress_of_a_resumed_job_starts_where_it_was(tmp_path, monkeypatch):
    from contextlib import contextmanager

    import restyle.jobs._run as run_module

    begin(tmp_path / "out.jsonl")
    steps = []

    @contextmanager
    def bar(what, total, *, shown, done):
        steps.append((what, total, done))
        yield steps.append

    monkeypatch.setattr(run_module, "progress_bar", bar)
    run(
        partial(interrupted, -1),
        records(30),
        tmp_path / "out.jsonl",
        settings=small(),
        identity={"seed": 1},
        what="rewriting",
        total=30,
    )
    assert steps == [("rewriting", 30, 20), 5, 5]
