"""Jobs on Ray: a real cluster of two nodes on this machine."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from restyle.errors import MissingExtra
from restyle.jobs import JobReport, JobSettings, run, stream
from restyle.records import read_records

RAY = {"executor": "ray", "workers": 2, "shard_size": 10}


def records(count):
    return [{"id": str(number), "text": f"sentence {number}"} for number in range(count)]


def fussy(batch):
    for record in batch:
        if int(record["id"]) % 20 == 7:
            raise ValueError(f"no rhyme for {record['id']}")
    return [{**record, "text": record["text"].upper()} for record in batch]


def deadly(batch):
    if any(record["id"] == "13" for record in batch):
        os._exit(42)
    return fussy(batch)


class Model:
    """Notes each time that it is made, and on which node of the cluster."""

    def __init__(self, log):
        import ray

        with open(log, "a") as made:
            made.write(f"{os.getpid()} {ray.get_runtime_context().get_node_id()}\n")

    def __call__(self, batch):
        return fussy(batch)


class Broken:
    def __init__(self):
        raise MissingExtra("torch", "local", "rewriting")


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one CPU each, so that two workers need both."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    here = {"num_cpus": 1, "node_ip_address": "127.0.0.1"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # The nodes import the work by its name, as this process does.
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        # A driver told to join a cluster on the loopback looks for it at the machine's outer address.
        patch.setattr("ray._private.services.get_node_ip_address", lambda *_: "127.0.0.1")
        cluster = Cluster(initialize_head=True, head_node_args={**here, "include_dashboard": False})
        cluster.add_node(**here)
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.ray
def test_ray_gives_the_same_bytes_as_one_process(tmp_path, cluster):
    for name, settings in (("one", JobSettings(shard_size=10)), ("ray", JobSettings(**RAY))):
        report = run(fussy, records(200), tmp_path / f"{name}.jsonl", settings=settings)
        assert (report.read, report.written, report.poisoned) == (200, 190, 10)
    for end in ("jsonl", "jsonl.poison.jsonl"):
        assert (tmp_path / f"one.{end}").read_bytes() == (tmp_path / f"ray.{end}").read_bytes()


@pytest.mark.ray
def test_ray_makes_the_work_once_on_each_node(tmp_path, cluster):
    run(partial(Model, tmp_path / "made.log"), records(200), tmp_path / "out.jsonl", settings=JobSettings(**RAY))
    made = [line.split() for line in (tmp_path / "made.log").read_text().splitlines()]
    assert len({pid for pid, _ in made}) == len({node for _, node in made}) == len(made) == 2


@pytest.mark.ray
def test_a_record_that_kills_its_ray_actor_is_set_aside(tmp_path, cluster):
    report = run(deadly, records(40), tmp_path / "out.jsonl", settings=JobSettings(**RAY))
    assert [record["id"] for record in read_records(tmp_path / "out.jsonl.poison.jsonl")] == ["7", "13", "27"]
    assert report.problems[1] == "record '13': its Ray actor died (ActorDiedError)"
    assert report.written == 37


@pytest.mark.ray
def test_an_error_while_the_work_is_made_on_ray_ends_the_job(tmp_path, cluster):
    with pytest.raises(MissingExtra, match="^rewriting needs torch"):
        run(Broken, records(40), tmp_path / "out.jsonl", settings=JobSettings(**RAY))
    assert os.listdir(tmp_path) == []


@pytest.mark.ray
def test_a_job_begun_on_ray_goes_on_in_one_process(tmp_path, cluster):
    def cut_short():
        yield from records(50)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(fussy, cut_short(), tmp_path / "out.jsonl", settings=JobSettings(**RAY))
    report = run(fussy, records(50), tmp_path / "out.jsonl", settings=JobSettings(shard_size=10))
    assert report.resumed >= 20
    assert report.written == 47


@pytest.mark.ray
def test_a_stream_from_ray_is_in_order(cluster):
    report = JobReport()
    results = stream(fussy, records(100), settings=JobSettings(**RAY), report=report)
    assert [int(record["id"]) for record in results] == [number for number in range(100) if number % 20 != 7]
    assert report.poisoned == 5


@pytest.mark.ray
def test_a_job_starts_a_cluster_of_its_own_where_there_is_none(tmp_path):
    script = (
        "import sys; from test_jobs_ray import *\n"
        "print(run(fussy, records(20), sys.argv[1], settings=JobSettings(**RAY)))"
    )
    environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "out.jsonl")],
        cwd=Path(__file__).parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("20 records read, 19 written; 1 failed"), done.stderr


def test_ray_that_is_not_installed_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"^running a job on Ray needs ray: pip install 'restyle\[ray\]'$"):
        run(fussy, records(1), tmp_path / "out.jsonl", settings=JobSettings(**RAY))
