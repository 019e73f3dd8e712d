"""Any base is true of GPT-2 too: learned positions, weights the other way round, one mark for begin and end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("ctranslate2")

from restyle.errors import AssetError, InputError, UsageError  # noqa: E402
from restyle.lm.bases import load_base  # noqa: E402
from restyle.lm.decoding import Decoding, Engine, Prompt, open_engine  # noqa: E402
from restyle.lm.decoding import _conversion as conversion  # noqa: E402
from restyle.lm.decoding import _ctranslate2 as fast  # noqa: E402
from restyle.lm.training import Pairs, TuneSettings, tune  # noqa: E402
from restyle.lm.training._batches import collate  # noqa: E402
from restyle.lm.training._loss import output_loss  # noqa: E402
from restyle.nets import pretrained  # noqa: E402
from restyle.nets.pretrained import hushed  # noqa: E402

WORDS = ["cat", "dog", "man", "book", "rain", "house", "king", "fool"]
SAID = [f"The {who} saw the {what}." for who in WORDS for what in WORDS]
ASKED = [f"Who saw the {what}? The {who}!" for who in WORDS for what in WORDS]
TRAIN, DEV = Pairs(SAID[:56], ASKED[:56]), Pairs(SAID[56:], ASKED[56:])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks of a few dimensions lose more to waiting for a second thread than it takes off them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A toy has too few dimensions for eight bits to be true to it."""
    monkeypatch.setattr(fast, "compute_type", lambda: "float32")
    monkeypatch.setattr(conversion, "compute_type", lambda: "float32")


@pytest.fixture(scope="module")
def gpt2(toy_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of two layers."""
    folder = tmp_path_factory.mktemp("toy-gpt2")
    config = transformers.GPT2Config(
        vocab_size=320, n_embd=32, n_layer=2, n_head=4, n_positions=128, bos_token_id=1, eos_token_id=1,
        initializer_range=0.2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]), hushed():
        torch.manual_seed(0)
        transformers.GPT2LMHeadModel(config).save_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(toy_base)
        tokenizer.bos_token = "<end>"
        tokenizer.save_pretrained(folder)
    return folder


def settings_of(base: Path, **changes: object) -> TuneSettings:
    chosen = {"base": str(base), "rank": 8, "epochs": 12, "batch_size": 8, "learning_rate": 5e-3, "evaluations": 2}
    return TuneSettings(**(chosen | {"samples": 1} | changes))  # type: ignore[arg-type]


def written(engine: Engine, texts: list[str]) -> list[str]:
    format_ = engine.format(50)
    prompts = [Prompt(tuple(ids), 20, text) for text, ids in zip(texts, format_.prompts(texts), strict=True)]
    return [format_.text(each.ids) for (each,) in engine.generate(prompts, Decoding())]


def test_gpt2_learns_and_every_engine_writes_what_it_learned(gpt2: Path, tmp_path: Path, whole_numbers: None) -> None:
    tuned = tune(TRAIN, DEV, tmp_path, settings_of(gpt2))
    assert tuned.adapter is not None
    # Square ones among them, whose shape does not say which way round they are.
    assert "transformer.h.0.attn.c_proj" in tuned.adapter.factors
    base = load_base(str(gpt2))
    before = loss_of(base)
    tuned.adapter.merge_into(base.model)
    assert loss_of(base) == pytest.approx(tuned.dev_loss, rel=0.03)
    assert tuned.dev_loss < before - 2
    texts = [engine_text(gpt2, tuned.adapter, name) for name in ("torch", "ctranslate2")]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 2


def loss_of(base, max_subwords: int = 50) -> float:
    found = [each for each in base.format(max_subwords).examples(DEV.inputs, DEV.outputs) if each is not None]
    with torch.no_grad():
        return float(output_loss(base.model, collate(found)))


def engine_text(base: Path, adapter, name: str) -> list[str]:
    return written(open_engine(str(base), lambda: adapter, identity="a", engine=name), list(DEV.inputs))


def test_gpt2_begins_without_its_one_mark(gpt2: Path) -> None:
    base = load_base(str(gpt2))
    (found,) = base.format(50).examples(["The cat."], ["Cat!"])
    assert found is not None
    assert found.ids.count(1) == 1
    assert found.ids[-1] == 1


def test_the_papers_segments_end_in_a_plain_gpt2(gpt2: Path, tmp_path: Path, whole_numbers: None) -> None:
    settings = settings_of(gpt2, rank=0, segments=True, max_subwords=20, learning_rate=2e-3)
    said: list[str] = []
    tuned = tune(TRAIN, DEV, tmp_path, settings, log=said.append)
    base = load_base(str(tuned.folder))
    assert sorted(base.model.state_dict()) == sorted(load_base(str(gpt2)).model.state_dict())
    assert loss_of(base, 20) == pytest.approx(tuned.dev_loss, rel=0.03)
    (prompt,) = base.format(50).prompts(["The cat."])
    (ids,) = base.tokenizer(["The cat."], add_special_tokens=False)["input_ids"]
    assert prompt[:20] == [1] * (20 - len(ids)) + ids
    assert len(prompt) == 21
    texts = [
        written(open_engine(str(tuned.folder), engine=name), list(DEV.inputs)) for name in ("torch", "ctranslate2")
    ]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 2
    # The samples that were shown while it was learned are what it writes now.
    assert said[-1] == f"    {DEV.inputs[0]}  ->  {texts[0][0]}"


def test_a_segment_is_learned_from_all_its_positions(gpt2: Path) -> None:
    from restyle.lm.segments import with_segments, without_segments

    base = with_segments(load_base(str(gpt2)), 5)
    positions = base.model.transformer.wpe
    places = torch.arange(20)
    plain = positions.table.weight[:20].clone()
    assert torch.equal(positions(places), plain)
    positions(places).sum().backward()
    assert positions.segments.grad[:, 0].tolist() == [5, 15]
    torch.nn.init.normal_(positions.segments)
    before = positions(places)
    without_segments(base.model)
    assert torch.equal(base.model.transformer.wpe(places), before)
    assert torch.allclose((before - plain)[:5], positions.segments[0].expand(5, -1), atol=1e-6)
    assert torch.allclose((before - plain)[5:], positions.segments[1].expand(15, -1), atol=1e-6)


def test_segments_are_refused_where_they_do_not_fit(gpt2: Path, toy_base: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="set rank to 0, not 8"):
        settings_of(gpt2, segments=True)
    with pytest.raises(UsageError, match="for GPT-2 bases"):
        tune(TRAIN, DEV, tmp_path, settings_of(toy_base, segments=True, rank=0))
    with pytest.raises(UsageError, match="128 positions"):
        tune(TRAIN, DEV, tmp_path, settings_of(gpt2, segments=True, rank=0, max_subwords=64))


def test_a_base_that_is_nowhere_is_told_in_one_line(tmp_path: Path) -> None:
    for name in (str(tmp_path / "nowhere"), "../nowhere/at all", str(tmp_path)):
        with pytest.raises(AssetError) as refused:
            load_base(name)
        assert "\n" not in str(refused.value)


def test_a_hub_that_cannot_be_reached_is_told_in_one_line(tmp_path: Path) -> None:
    ask = (
        "import time\n"
        "time.sleep = lambda seconds: None\n"  # the hub is asked again and again, ever later
        "from restyle.errors import AssetError\n"
        "from restyle.lm.bases import load_base\n"
        "try:\n    load_base('nobody/no-such-model')\n"
        "except AssetError as error:\n    print(error)\n"
    )
    # Nothing listens there.
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HTTP_PROXY": "", "HTTPS_PROXY": "", "NO_PROXY": "*"}
    environment = os.environ | nowhere | {"HF_HOME": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    assert "nobody/no-such-model" in line


def test_a_tokenizer_without_an_end_cannot_be_taught_to_stop(toy_base: Path, tmp_path: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(toy_base)
    tokenizer.eos_token = None
    from restyle.lm.subwords import TransformersSubwords

    with pytest.raises(InputError, match="no mark for the end"):
        TransformersSubwords(tokenizer)


def test_an_architecture_that_the_fast_engine_does_not_know_is_written_by_torch(toy_base: Path, tmp_path: Path) -> None:
    config = transformers.GPTNeoConfig(
        vocab_size=320, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]],
        max_position_embeddings=128, bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    with hushed():
        transformers.AutoTokenizer.from_pretrained(toy_base).save_pretrained(tmp_path)
        transformers.GPTNeoForCausalLM(config).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match="use the engine torch"):
        open_engine(str(tmp_path), engine="ctranslate2")
    engine = open_engine(str(tmp_path))
    assert len(written(engine, ["The cat."])) == 1
    assert engine.name.startswith("torch ")


def test_a_gguf_is_unpacked_without_a_word_in_a_pipe(
    toy_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real = transformers.AutoModelForCausalLM.from_pretrained
    read_tokenizer = transformers.AutoTokenizer.from_pretrained

    def from_pretrained(folder: Path, gguf_file: str, **options: object) -> object:
        from tqdm.auto import tqdm  # as transformers does, whatever its switch for bars says

        assert gguf_file == "toy.gguf"
        return [real(toy_base, **options) for _ in tqdm([0], desc="de-quantizing")][0]

    monkeypatch.setattr(pretrained.AutoModelForCausalLM, "from_pretrained", from_pretrained)
    monkeypatch.setattr(
        pretrained.AutoTokenizer, "from_pretrained", lambda folder, gguf_file=None: read_tokenizer(toy_base)
    )
    (tmp_path / "toy.gguf").write_bytes(b"weights")
    unpacked = pretrained._unpacked("toy", tmp_path / "toy.gguf")
    assert capfd.readouterr() == ("", "")
    (again,) = unpacked.glob("*.safetensors")
    assert again.stat().st_size > 0
