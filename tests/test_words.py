"""A model with fewer words: the same model for all that can be said with those that are left."""

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tokenizers import Tokenizer, decoders, models, normalizers, trainers  # noqa: E402

from restyle.lm.bases import load_base  # noqa: E402
from restyle.lm.decoding import Decoding, Prompt, _conversion, _ctranslate2, open_engine  # noqa: E402
from restyle.nets.words import cut  # noqa: E402

ENGLISH = ["the cat sat on the mat", "the old man sat there", "what will the cat do"] * 5
OTHER = ["die Katze saß auf der Matte", "der alte Mann saß da", "猫はマットの上に座った"] * 5
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def tokenizer(texts, size, more=()):
    """Byte-pair encoding as Gemma has it: a sign for a space, and bytes for what is in no word."""
    raw = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    raw.normalizer = normalizers.Replace(" ", "▁")
    raw.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    marks = ["<pad>", "<eos>", "<bos>", "<unk>", *more]
    raw.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=size, special_tokens=[*marks, *BYTES, "\n"], show_progress=False),
    )
    # Bytes are no marks: what a text looks like is not to be taken for one.
    known = json.loads(raw.to_str())
    known["added_tokens"] = [each for each in known["added_tokens"] if each["content"] in marks]
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(known)), pad_token="<pad>", eos_token="<eos>",
        bos_token="<bos>", unk_token="<unk>",
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole():
    """A small Gemma of two languages, and its tokenizer."""
    subwords = tokenizer(ENGLISH + OTHER, 420, more=["<unused>"])
    config = transformers.Gemma3TextConfig(
        vocab_size=len(subwords), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=8, query_pre_attn_scalar=8, sliding_window=32, max_position_embeddings=128,
        initializer_range=0.4,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return transformers.Gemma3ForCausalLM(config).eval(), subwords


@pytest.fixture(scope="module")
def smaller(whole):
    return cut(*whole, tokenizer(ENGLISH, 400))


def words_of(subwords, text):
    return subwords.convert_ids_to_tokens(subwords(text, add_special_tokens=False)["input_ids"])


def test_what_is_english_is_cut_up_as_before_and_all_else_is_spelled(whole, smaller):
    _, before = whole
    _, after = smaller
    assert len(after) < len(before)
    for text in ENGLISH:
        assert words_of(after, text) == words_of(before, text)
    for text in [*OTHER, "🙂 the\tcat\nsat"]:
        assert after.decode(after(text, add_special_tokens=False)["input_ids"]) == text
    assert "<unused>" not in after.get_vocab()
    assert set(BYTES) <= set(after.get_vocab())


def test_the_logits_of_what_is_left_are_those_of_the_whole_model(whole, smaller):
    (model, before), (less, after) = whole, smaller
    numbers = before.convert_tokens_to_ids(after.convert_ids_to_tokens(range(len(after))))
    assert numbers == sorted(numbers)
    for text in ENGLISH[:3]:
        ids = [torch.tensor([subwords(text, add_special_tokens=False)["input_ids"]]) for subwords in (before, after)]
        with torch.inference_mode():
            there, here = model(ids[0]).logits[..., numbers], less(ids[1]).logits
        torch.testing.assert_close(there, here, rtol=0, atol=1e-5)  # a product of another shape rounds otherwise
    assert less.config.vocab_size == len(after)
    assert less.get_output_embeddings().weight is less.get_input_embeddings().weight, "tied as before"
    assert (less.config.eos_token_id, less.config.bos_token_id) == (after.eos_token_id, after.bos_token_id)


def test_it_is_cut_to_the_same_bytes_and_every_engine_writes_with_it(whole, smaller, tmp_path, monkeypatch):
    for module in (_conversion, _ctranslate2):  # a toy has too few dimensions for eight bits to be true to it
        monkeypatch.setattr(module, "compute_type", lambda: "float32")
    for number, (model, subwords) in enumerate((smaller, cut(*whole, tokenizer(ENGLISH, 400)))):
        model.save_pretrained(tmp_path / str(number))
        subwords.save_pretrained(tmp_path / str(number))
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / number).iterdir()} for number in ("0", "1"))
    assert first == second
    base = load_base(str(tmp_path / "0"))
    assert words_of(base.tokenizer, ENGLISH[0]) == words_of(smaller[1], ENGLISH[0]), "transformers makes no other of it"
    prompts = [Prompt(tuple(ids), 6) for ids in base.format(50).prompts(ENGLISH[:3])]
    written = [
        open_engine(str(tmp_path / "0"), engine=engine).generate(prompts, Decoding())
        for engine in ("torch", "ctranslate2")
    ]
    assert [[each.ids for each in some] for some in written[0]] == [[each.ids for each in some] for some in written[1]]


@pytest.mark.models
def test_gemma_is_a_base_of_english_words(models):
    if not (models / "gemma3-270m").is_dir():
        pytest.skip("gemma3-270m was not fetched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESTYLE_ACCEPT_TERMS", "gemma3-270m")
        base = load_base("gemma3-270m")
    assert len(base.tokenizer) < 50_000
    assert words_of(base.tokenizer, "Are you crazy?") == ["Are", "▁you", "▁crazy", "?"]
