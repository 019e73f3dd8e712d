from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from safetensors.numpy import save_file  # noqa: E402

from restyle.errors import Corrupt, InputError, OutputError  # noqa: E402
from restyle.lm.adapters import Adapter  # noqa: E402
from restyle.lm.bases import load_base  # noqa: E402
from restyle.nets.pretrained import hushed  # noqa: E402

LAYERS = {"model.layers.0.self_attn.q_proj": (32, 32), "model.layers.1.mlp.up_proj": (64, 32)}  # (out, in)


def adapter_of(rank: int = 4, seed: int = 0, layers: dict[str, tuple[int, int]] = LAYERS) -> Adapter:
    generator = np.random.default_rng(seed)
    return Adapter(
        {
            name: (
                generator.normal(size=(rank, inner)).astype(np.float32),
                generator.normal(size=(outer, rank)).astype(np.float32),
            )
            for name, (outer, inner) in layers.items()
        }
    )


def changes(adapter: Adapter) -> dict[str, np.ndarray]:
    return {name: up @ down for name, (down, up) in adapter.factors.items()}


def peft_model(base: Path, rank: int) -> torch.nn.Module:
    from peft import LoraConfig, get_peft_model

    with hushed():
        return get_peft_model(
            load_base(str(base)).model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear")
        )


@pytest.mark.parametrize(("precision", "share"), [("float16", 1e-3), ("int8", 2e-2)])
def test_what_is_saved_is_loaded(tmp_path: Path, precision: str, share: float) -> None:
    adapter = adapter_of()
    loaded = Adapter.load(adapter.save(tmp_path / "new" / "a.safetensors", precision))  # type: ignore[arg-type]
    assert loaded.factors.keys() == adapter.factors.keys()
    for name, change in changes(adapter).items():
        found = changes(loaded)[name]
        assert found.dtype == np.float32
        assert np.abs(found - change).max() < share * np.abs(change).max()
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["a.safetensors"]


def test_eight_bits_are_half_the_size(tmp_path: Path) -> None:
    adapter = adapter_of(rank=32, layers={"layer": (500, 500)})
    sizes = [adapter.save(tmp_path / which, which).stat().st_size for which in ("float16", "int8")]  # type: ignore[arg-type]
    assert sizes[1] < 0.6 * sizes[0]


def test_the_same_adapter_is_the_same_bytes(tmp_path: Path) -> None:
    files = [adapter_of().save(tmp_path / name).read_bytes() for name in "ab"]
    assert files[0] == files[1]


def test_strength_is_a_share_of_the_change() -> None:
    adapter = adapter_of()
    for name, change in changes(adapter.scaled(0.25)).items():
        assert np.allclose(change, 0.25 * changes(adapter)[name], atol=1e-6)
    assert all(not change.any() for change in changes(adapter.scaled(0)).values())


def test_a_mix_is_the_sum_of_its_shares() -> None:
    first, second = adapter_of(rank=4), adapter_of(rank=2, seed=1, layers={**LAYERS, "more": (8, 8)})
    mixed = changes(first.scaled(0.7) + second.scaled(0.3))
    assert mixed.keys() == {*LAYERS, "more"}
    for name in LAYERS:
        assert np.allclose(mixed[name], 0.7 * changes(first)[name] + 0.3 * changes(second)[name], atol=1e-5)
    assert np.allclose(mixed["more"], 0.3 * changes(second)["more"], atol=1e-5)


def test_merged_it_writes_as_it_was_learned(toy_base: Path) -> None:
    model = peft_model(toy_base, 4)
    generator = torch.Generator().manual_seed(1)
    for name, weights in model.named_parameters():
        if "lora_" in name:
            weights.data = 0.3 * torch.randn(weights.shape, generator=generator)
    merged, untouched = load_base(str(toy_base)).model, load_base(str(toy_base)).model
    Adapter.of(model).merge_into(merged)
    ids = torch.arange(20)[None]
    with torch.no_grad():
        learned, found, before = (each(input_ids=ids).logits for each in (model.eval(), merged, untouched))
    assert torch.allclose(found, learned, atol=1e-4)
    assert not torch.allclose(before, learned, atol=1e-1)


def test_put_into_a_model_it_is_what_the_model_has_learned(toy_base: Path) -> None:
    source, target = peft_model(toy_base, 4), peft_model(toy_base, 4)
    for name, weights in source.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weights)
    adapter = Adapter.of(source)
    adapter.put_into(target)
    again = Adapter.of(target)
    for name, change in changes(adapter).items():
        assert np.array_equal(changes(again)[name], change)
    with pytest.raises(InputError, match="rank 4, and not 8"):
        adapter.put_into(peft_model(toy_base, 8))
    with pytest.raises(InputError, match="another base model"):
        adapter_of().put_into(target)


def test_an_adapter_of_another_base_is_refused(toy_base: Path) -> None:
    model = load_base(str(toy_base)).model
    with pytest.raises(InputError, match=r"another base model: it has no layer transformer\.h\.0 of this shape"):
        adapter_of(layers={"transformer.h.0": (32, 32)}).merge_into(model)
    with pytest.raises(InputError, match="q_proj of this shape"):
        adapter_of(layers={"model.layers.0.self_attn.q_proj": (64, 64)}).merge_into(model)


@pytest.mark.parametrize("kept", [0, 4, 100, -1])
def test_a_truncated_file_is_told_in_one_line(tmp_path: Path, kept: int) -> None:
    file = adapter_of().save(tmp_path / "a.safetensors")
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(Corrupt, match="not a whole safetensors file") as refused:
        Adapter.load(file)
    assert "\n" not in str(refused.value)


def test_a_file_of_something_else_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "a.safetensors"
    file.write_bytes(b"<html>not found</html>" * 20)
    with pytest.raises(Corrupt):
        Adapter.load(file)
    factor = np.ones((2, 8), np.float16)
    for tensors, problem in (
        ({"weight": factor}, "no layer has factors"),
        ({"layer.A": factor}, "one factor of two"),
        ({"layer.A": factor, "layer.B": factor}, "do not fit"),
        ({"layer.A": factor[0], "layer.B": factor}, "do not fit"),
        ({"layer.A": factor, "layer.B": factor.T.astype(np.int8).copy()}, "do not fit"),
        (
            {"layer.A": factor, "layer.B": np.ones((8, 2), np.int8), "layer.B.scales": np.ones((3, 1), np.float16)},
            "do not fit",
        ),
        ({"layer.A": factor * np.float16("nan"), "layer.B": factor.T.copy()}, "no numbers"),
    ):
        save_file(tensors, file)
        with pytest.raises(InputError, match=problem):
            Adapter.load(file)
    with pytest.raises(InputError, match="does not exist"):
        Adapter.load(tmp_path / "nowhere")
    with pytest.raises(Corrupt):
        Adapter.load(tmp_path)


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OutputError, match="the disk is full"):
        adapter_of().save(tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())
