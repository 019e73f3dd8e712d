"""What every test stands on: a home of its own, no network, and the mirror of the corpora where there is one."""

from __future__ import annotations

import os
import secrets
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

MIRROR = os.environ.get("RESTYLE_DATA")
MODELS = Path(os.environ.get("RESTYLE_HOME") or Path.home() / ".cache" / "restyle") / "models"
# What the toy language model's subwords were learned from.
TOY_SENTENCES = (
    "The cat sat on the mat, and the dog looked at it.",
    "Where are you going with that book?",
    "I do not know what he said to her.",
    "She was tired; they went home early.",
    "Never give the old man your money!",
    "What will you do when the rain comes?",
)

# Ray writes the token of its clusters into the home, and each test here has a home of its own.
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
# Started in the background, a shell has us ignore Ctrl-C, and so would every program that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # pip is a process of its own: models are fetched with it


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
    # What a model is unpacked to takes half a minute to make, and is the same for all tests.
    unpacked = MODELS.parent / "unpacked"
    unpacked.mkdir(exist_ok=True)
    (home / "unpacked").symlink_to(unpacked)
    monkeypatch.setenv("RESTYLE_HOME", str(home))
    return MODELS


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """Networks of a few dimensions lose more to waiting for a second thread than it takes off them."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def toy_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal language model of two layers and 320 subwords, untrained, as a folder that transformers reads.

    Its subwords are bytes and pieces of a few words, so it takes any text. It tells its prompts apart, writes many
    different subwords, and ends about half of its sentences within twenty.
    """
    transformers = pytest.importorskip("transformers")
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<begin>", "<end>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    raw.train_from_iterator(TOY_SENTENCES, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<begin>", eos_token="<end>", pad_token="<end>"
    )
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        initializer_range=0.3,  # at its usual 0.02 a network this small hardly tells its words apart
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight[tokenizer.eos_token_id] *= 5  # or it would hardly ever end
    folder = tmp_path_factory.mktemp("toy-base")
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder
