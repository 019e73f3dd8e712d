"""The LSTM: one network, whether a sentence is computed at once or word by word, alone or beside others."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from conftest import TOY_SENTENCES  # noqa: E402

from restyle.lm.bases import load_base  # noqa: E402
from restyle.lm.decoding import Decoding, Prompt, open_engine  # noqa: E402
from restyle.lm.training._batches import collate  # noqa: E402
from restyle.nets.lstm import LstmSettings, write_untrained  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An untrained one."""
    folder = tmp_path_factory.mktemp("lstm")
    write_untrained(TOY_SENTENCES, LstmSettings(vocabulary=320, width=16), 0, folder)
    return folder


@pytest.fixture(scope="module")
def base(folder):
    return load_base(str(folder))


@pytest.fixture(scope="module")
def examples(base):
    return base.format(50).examples(TOY_SENTENCES[:4], TOY_SENTENCES[1:5])


def test_a_sentence_is_the_same_word_by_word(base, examples):
    for example in examples:
        ids = torch.tensor([example.ids])  # (1, T)
        before = example.prompt - 1
        with torch.inference_mode():
            whole, cache = base.model(ids).logits[:, before:], base.model.new_cache()
            base.model(ids[:, :before], past_key_values=cache)
            steps = [
                base.model(ids[:, at : at + 1], past_key_values=cache).logits for at in range(before, len(example.ids))
            ]
        torch.testing.assert_close(torch.cat(steps, 1), whole, rtol=0, atol=1e-6)


def test_a_sentence_is_the_same_beside_others(base, examples):
    with torch.inference_mode():
        together = base.model(**collate(examples)).logits
        for row, example in enumerate(examples):
            alone = base.model(torch.tensor([example.ids])).logits[0, example.prompt - 1 :]
            beside = together[row, example.prompt - 1 : len(example.ids)]
            torch.testing.assert_close(beside, alone, rtol=0, atol=1e-6)


def test_the_output_hangs_on_the_input_and_on_nothing_that_follows(base, examples):
    ids = torch.tensor([examples[0].ids])
    start = examples[0].prompt
    other, later = ids.clone(), ids.clone()
    other[0, 1], later[0, -1] = ids[0, 2], ids[0, -2]
    with torch.inference_mode():
        logits, changed, after = (base.model(each).logits[0, start - 1 :] for each in (ids, other, later))
    assert not torch.allclose(logits[0], changed[0])
    torch.testing.assert_close(logits[:-1], after[:-1])


def test_the_same_seed_gives_the_same_bytes(folder, tmp_path):
    write_untrained(TOY_SENTENCES, LstmSettings(vocabulary=320, width=16), 0, tmp_path)
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / file.name).read_bytes()


@pytest.mark.parametrize("decoding", [Decoding(), Decoding(nucleus=0.9, candidates=2), Decoding(candidates=3)])
def test_it_is_written_greedily_by_chance_and_by_beams(folder, decoding):
    engine = open_engine(str(folder), engine="torch")
    prompts = [Prompt(tuple(ids), 8, str(ids)) for ids in engine.format(50).prompts(TOY_SENTENCES)]
    found = engine.generate(prompts, decoding)
    assert [len(each) for each in found] == [decoding.candidates] * len(prompts)
    assert found[1:2] == engine.generate(prompts[1:2], decoding), "alone as in a crowd"
