from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from restyle.errors import AssetError, InputError, UsageError  # noqa: E402
from restyle.nets.by_length import by_length  # noqa: E402
from restyle.nets.classifier_training import (  # noqa: E402
    CHECKPOINT_FILE,
    Examples,
    TrainingSettings,
    _weights,
    batches_of,
    fit,
)
from restyle.nets.device import fastest_type  # noqa: E402
from restyle.nets.embedding import Embedder  # noqa: E402
from restyle.nets.encoder import EncoderClassifier, NetworkSettings, padded  # noqa: E402
from restyle.nets.perplexity import SentenceModel  # noqa: E402
from restyle.nets.pretrained import load_pretrained, load_tokenizer  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks of a few dimensions lose more to waiting for a second thread than it takes off them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


SAID = "thou art mad hath thy you are has your the king fool dog cat runs sings . , !"
WORDS = SAID.split(" ")
OLD = ["thou art mad .", "thy king hath the fool .", "thou hath the dog !", "the fool hath thy cat ."]
NEW = ["you are mad .", "your king has the fool .", "you has the dog !", "the fool has your cat ."]
TEXTS = [*OLD, *NEW]
LABELS = [0] * len(OLD) + [1] * len(NEW)


def make_base(folder: Path, kind: str) -> Path:
    """A pretrained network of a few dimensions, as a folder that transformers reads."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "<s>", "</s>"]
    raw = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*marks, *WORDS])}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    names = (
        {"cls_token": "[CLS]", "sep_token": "[SEP]"} if kind == "bert" else {"bos_token": "<s>", "eos_token": "</s>"}
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]", **names
    ).save_pretrained(folder)
    size = {"vocab_size": len(marks) + len(WORDS), "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 3}
    size["initializer_range"] = 0.3  # at its usual 0.02 a network this small hardly tells its words apart
    torch.manual_seed(0)
    if kind == "bert":
        config = transformers.BertConfig(**size, num_attention_heads=2, max_position_embeddings=64)
        model = transformers.BertForMaskedLM(config)
    else:
        config = transformers.LlamaConfig(**size, num_attention_heads=2, max_position_embeddings=64)
        model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {kind: str(make_base(tmp_path_factory.mktemp(kind), kind)) for kind in ("bert", "llama")}


@pytest.fixture(params=["bert", "llama"])
def settings(request: pytest.FixtureRequest, bases: dict[str, str]) -> NetworkSettings:
    return NetworkSettings(base=bases[request.param], rank=4, max_tokens=16)


def new(settings: NetworkSettings, seed: int = 0) -> EncoderClassifier:
    return EncoderClassifier.new(["shakespeare", "modern"], settings, seed=seed)


def trained(settings: NetworkSettings, folder: Path, **options: float) -> EncoderClassifier:
    network = new(settings)
    fit(network, Examples(TEXTS, LABELS), training(**options), folder)
    return network


def training(**options: float) -> TrainingSettings:
    return TrainingSettings(**{"epochs": 40, "batch_size": 4, "learning_rate": 2e-2, "dropout": 0.0, **options})  # type: ignore[arg-type]


def test_a_trained_classifier_tells_its_training_sentences_apart(settings: NetworkSettings, tmp_path: Path) -> None:
    probabilities = trained(settings, tmp_path).probabilities(TEXTS)
    assert probabilities.argmax(1).tolist() == LABELS
    assert np.allclose(probabilities.sum(1), 1, atol=1e-4)


def test_a_saved_classifier_comes_back_with_the_same_verdicts(settings: NetworkSettings, tmp_path: Path) -> None:
    network = trained(settings, tmp_path)
    network.save(tmp_path)
    back = EncoderClassifier.load(tmp_path, network.labels, settings)
    assert np.allclose(back.probabilities(TEXTS), network.probabilities(TEXTS), atol=0.03)


def test_a_probability_depends_neither_on_the_batch_nor_on_the_threads(settings: NetworkSettings) -> None:
    network = new(settings)
    texts = [" ".join(WORDS[at : at + 1 + at % 7]) for at in range(12)] * 5
    together = network.probabilities(texts)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            alone = np.concatenate([network.probabilities([text]) for text in texts])
            assert alone.tolist() == together.tolist()
            assert network.probabilities(texts, batch_tokens=7).tolist() == together.tolist()
    finally:
        torch.set_num_threads(before)


def test_padding_changes_nothing_in_training(settings: NetworkSettings) -> None:
    network = new(settings)
    rows = network.tokenizer(["thou art mad .", "the king ."], 16)
    with torch.no_grad():
        side_by_side = network(*padded(rows))
        alone = torch.cat([network(torch.tensor([row])) for row in rows])
    assert torch.allclose(side_by_side, alone, atol=1e-5)


def test_a_long_line_is_cut_and_an_empty_one_judged(settings: NetworkSettings) -> None:
    network = new(settings)
    long = "the king " * 2500
    assert max(map(len, network.tokenizer([long], 16))) == 16
    assert network.probabilities([long, ""]).shape == (2, 2)
    assert network.probabilities([]).shape == (0, 2)


def test_fewer_layers_can_be_kept(bases: dict[str, str]) -> None:
    for base in bases.values():
        whole, cut = load_pretrained(base), load_pretrained(base, layers=1)
        assert sum(p.numel() for p in cut.body.parameters()) < sum(p.numel() for p in whole.body.parameters())
        assert cut.body(input_ids=torch.tensor([[3, 4]])).last_hidden_state.shape == (1, 2, 16)


def test_the_same_seed_gives_the_same_weights(settings: NetworkSettings, tmp_path: Path) -> None:
    one, other = (trained(settings, tmp_path / name, epochs=2).trained() for name in ("a", "b"))
    assert all(torch.equal(value, other[name]) for name, value in one.items())


def test_another_seed_gives_other_weights(settings: NetworkSettings) -> None:
    assert not torch.equal(new(settings, 0).head.weight, new(settings, 1).head.weight)


def test_a_killed_training_ends_with_the_weights_of_one_that_was_not(bases: dict[str, str], tmp_path: Path) -> None:
    """SIGKILL after the fifth step, with a checkpoint after every step."""
    script = tmp_path / "train.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import os, signal, sys
            from pathlib import Path
            import restyle.nets.classifier_training as training
            from restyle.nets.encoder import EncoderClassifier, NetworkSettings

            kill = int(sys.argv[2])
            written = training._Run.save_if_due
            def save(run):
                written(run)
                if run.step == kill:
                    os.kill(os.getpid(), signal.SIGKILL)
            training._Run.save_if_due = save
            network = EncoderClassifier.new(["a", "b"], NetworkSettings(base={bases["bert"]!r}, rank=4), seed=3)
            settings = training.TrainingSettings(epochs=4, batch_size=4, seed=3, checkpoint_seconds=0)
            qualities = training.fit(network, training.Examples({TEXTS!r}, {LABELS!r}), settings, Path(sys.argv[1]),
                                     quality=lambda network: float(network.head.weight.sum()))
            print(qualities)
            network.save(sys.argv[1])
            """
        )
    )

    def run(folder: str, kill: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(script), str(tmp_path / folder), str(kill)],
            capture_output=True,
            text=True,
            check=False,
        )

    whole = run("whole", 0)
    assert whole.returncode == 0, whole.stderr
    assert run("killed", 5).returncode == -9
    assert (tmp_path / "killed" / CHECKPOINT_FILE).is_file()
    resumed = run("killed", 0)
    assert resumed.stdout == whole.stdout
    assert not (tmp_path / "killed" / CHECKPOINT_FILE).exists()
    one, other = ((tmp_path / name / "adapter.safetensors").read_bytes() for name in ("whole", "killed"))
    assert one == other


def test_a_checkpoint_of_another_training_is_refused(bases: dict[str, str], tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"x": torch.zeros(1)}, tmp_path / CHECKPOINT_FILE, {"steps": "7", "step": "1", "qualities": "[]"})
    with pytest.raises(UsageError, match="another training"):
        trained(NetworkSettings(base=bases["bert"], rank=4), tmp_path)


def test_the_weights_of_the_best_epoch_are_kept(bases: dict[str, str], tmp_path: Path) -> None:
    network = new(NetworkSettings(base=bases["bert"], rank=4))
    seen: list[torch.Tensor] = []

    def quality(network: EncoderClassifier) -> float:
        seen.append(network.head.weight.detach().clone())
        return [0.1, 0.9, 0.5][len(seen) - 1]

    assert fit(network, Examples(TEXTS, LABELS), training(epochs=3), tmp_path, quality=quality) == [0.1, 0.9, 0.5]
    assert torch.equal(network.head.weight, seen[1])


def test_weights_of_another_shape_are_refused(bases: dict[str, str], tmp_path: Path) -> None:
    new(NetworkSettings(base=bases["bert"], rank=4)).save(tmp_path)
    with pytest.raises(InputError, match="are not those of"):
        EncoderClassifier.load(tmp_path, ["a", "b"], NetworkSettings(base=bases["llama"], rank=4))
    with pytest.raises(InputError, match="holds no"):
        EncoderClassifier.load(tmp_path / "nowhere", ["a", "b"], NetworkSettings(base=bases["bert"], rank=4))


def test_a_network_that_is_nowhere_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(AssetError) as caught:
        load_pretrained(str(tmp_path / "no-such-model"))
    assert "\n" not in str(caught.value)
    assert "no-such-model" in str(caught.value)


def test_what_is_trained_and_what_turns_positions_stays_in_float32(bases: dict[str, str]) -> None:
    network = new(NetworkSettings(base=bases["llama"], rank=4)).made_fast()
    assert {value.dtype for value in network.trained().values()} == {torch.float32}
    assert {value.dtype for value in network.buffers()} == {torch.float32}
    frozen = {value.dtype for name, value in network.named_parameters() if name not in network.trained()}
    assert frozen == {fastest_type()}


def test_labels_of_few_sentences_weigh_as_much_as_those_of_many() -> None:
    weights = _weights([0, 0, 0, 1], 2)
    assert weights.tolist() == pytest.approx([2 / 3, 2])
    assert _weights([0, 1], 3).isfinite().all()


def test_every_sentence_is_in_one_batch_of_an_epoch() -> None:
    lengths = [5, 3, 9, 1, 1, 7, 2]
    batches = list(batches_of(lengths, 3, np.random.default_rng(0)))
    assert sorted(place for batch in batches for place in batch) == list(range(7))
    assert all(len(batch) <= 3 for batch in batches)


def test_nothing_to_train_on_is_wrong_use(bases: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to train on"):
        fit(new(NetworkSettings(base=bases["bert"])), Examples([], []), TrainingSettings(), tmp_path)


def test_equal_rows_are_run_once_and_come_back_in_order() -> None:
    ran: list[list[int]] = []

    def run(ids: torch.Tensor) -> torch.Tensor:
        ran.extend(ids.tolist())
        return ids.sum(1, keepdim=True).float()

    rows = [[1, 2], [3], [1, 2], [4, 4, 4], [3]]
    assert by_length(rows, run).tolist() == [[3], [3], [3], [12], [3]]
    assert len(ran) == 3


def test_marks_of_beginning_and_end_are_those_of_the_network(bases: dict[str, str]) -> None:
    assert load_tokenizer(bases["bert"])(["thou"], 16)[0][::2] == [2, 3]
    assert load_tokenizer(bases["llama"])(["thou"], 16)[0][::2] == [4, 5]


def test_a_sentence_is_one_with_itself(bases: dict[str, str]) -> None:
    cosines = Embedder(bases["bert"]).cosines(["thou art mad", "the dog"], ["thou art mad", "cat runs"])
    assert cosines[0] == 1
    assert -1 <= cosines[1] < 1


def test_a_vector_has_length_one_wherever_it_stands(bases: dict[str, str]) -> None:
    vectors = Embedder(bases["bert"]).vectors(["thou art mad", "the dog", "thou art mad"])
    assert vectors.shape == (3, 16)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_surprise_is_that_of_the_plain_model(bases: dict[str, str]) -> None:
    texts = ["thou art mad .", "the dog"]
    model = transformers.AutoModelForCausalLM.from_pretrained(bases["llama"])
    found = SentenceModel(bases["llama"]).surprise(texts)
    for (surprise, tokens), row in zip(found, load_tokenizer(bases["llama"])(texts, 16), strict=True):
        ids = torch.tensor([row])
        assert tokens == len(row) - 1
        assert surprise == pytest.approx(model(input_ids=ids, labels=ids).loss.item() * tokens, rel=0.02)
