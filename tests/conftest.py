"""What every test stands on: a home of its own, no network, and the mirror of the corpora where there is one."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

MIRROR = os.environ.get("RESTYLE_DATA")
MODELS = Path(os.environ.get("RESTYLE_HOME") or Path.home() / ".cache" / "restyle") / "models"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests never read or write the real cache, and see no mirror unless they ask for it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("RESTYLE_HOME", str(home))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("RESTYLE_DATA", raising=False)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches for another machine fails."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test reached for the network: {address}")
        real(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The local mirror of the corpora, for tests marked `data`; skips where there is none."""
    if not MIRROR:
        pytest.skip("RESTYLE_DATA names no mirror of the corpora")
    monkeypatch.setenv("RESTYLE_DATA", str(Path(MIRROR).resolve()))
    return Path(MIRROR).resolve()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The models that wheels carry, for tests marked `models`; skips where none were fetched (`make test` does)."""
    if not MODELS.is_dir():
        pytest.skip("no models were fetched into the cache")
    home = tmp_path / "home-with-models"
    home.mkdir()
    (home / "models").symlink_to(MODELS)
    monkeypatch.setenv("RESTYLE_HOME", str(home))
    return MODELS
