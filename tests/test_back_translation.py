"""Into another language and back: by a stand-in for Apertium, by tiny models, by the real one where it is."""

import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from restyle.errors import InputError, RestyleError, UnknownName, UsageError
from restyle.rewriters import back_translation as module
from restyle.rewriters import load, systems
from restyle.rewriters.back_translation import BackTranslation

# Says in each direction which pair it was asked for, before what it was given.
FAKE = """#!/bin/sh
if [ "$1" = "-l" ]; then printf '  eng-spa\\n  spa-eng\\n  eng-cat\\n  cat-eng\\n'; exit; fi
[ "$1" = "-u" ] || exit 3
sed "s/^\\(.\\)/[$2] \\1/"
"""


@pytest.fixture(autouse=True)
def _nothing_remembered():
    module._apertium.cache_clear()
    module._models.cache_clear()


@pytest.fixture
def apertium(monkeypatch, tmp_path):
    program = tmp_path / "bin" / "apertium"
    program.parent.mkdir()
    program.write_text(FAKE)
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{program.parent}:/bin:/usr/bin")
    return program


def test_a_text_goes_there_and_back(apertium):
    assert BackTranslation("spa").rewrite(["Rain.", "", "Two  words"], "gender") == [
        "[spa-eng] [eng-spa] Rain.", "", "[spa-eng] [eng-spa] Two words",
    ]  # fmt: skip


def test_several_pivots_are_several_candidates_or_one_way_after_another(apertium):
    made = BackTranslation("spa,cat,spa+cat").rewrite("Rain.", "gender", candidates=4)
    assert made[:2] == ["[spa-eng] [eng-spa] Rain.", "[cat-eng] [eng-cat] Rain."]
    assert made[2] == made[3] == "[cat-eng] [eng-cat] [spa-eng] [eng-spa] Rain."


def test_what_is_missing_is_told_in_one_line_with_its_packages(apertium, monkeypatch, tmp_path):
    apertium.write_text("#!/bin/sh\nprintf '  eng-spa\\n  spa-eng\\n'\n")
    with pytest.raises(RestyleError) as told:
        BackTranslation("cat").rewrite("Rain.", "gender")
    assert str(told.value) == (
        "back-translation through cat needs the Debian package apertium-eng-cat: "
        "apt-get install apertium apertium-eng-spa apertium-eng-cat"
    )
    module._apertium.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RestyleError, match="spa needs the Debian package apertium: apt-get install"):
        BackTranslation("spa").rewrite("Rain.", "gender")


def test_a_program_that_fails_or_loses_a_text_is_told(apertium):
    apertium.write_text("#!/bin/sh\n[ \"$1\" = -l ] && printf '  eng-spa\\n  spa-eng\\n' && exit\necho one\n")
    with pytest.raises(RestyleError, match="gave 1 texts for 2"):
        BackTranslation().rewrite(["Rain.", "Snow."], "gender")
    apertium.write_text(
        "#!/bin/sh\n[ \"$1\" = -l ] && printf '  eng-spa\\n  spa-eng\\n' && exit\necho no >&2; exit 1\n"
    )
    with pytest.raises(RestyleError, match="apertium eng-spa failed: no"):
        BackTranslation().rewrite(["Rain."], "gender")


def test_routes_that_cannot_be_read_are_refused():
    with pytest.raises(UsageError, match="languages were expected"):
        BackTranslation("spa,,cat")
    with pytest.raises(UnknownName, match="'spanish'"):
        BackTranslation("spanish").rewrite("Rain.", "gender")
    with pytest.raises(UsageError, match="there and back"):
        BackTranslation("deu", models={"deu": ("one",)})


def test_it_is_saved_and_comes_back(tmp_path):
    BackTranslation("spa+deu", models={"deu": ("there", "back")}).save(tmp_path / "saved")
    again = load(tmp_path / "saved")
    assert isinstance(again, BackTranslation)
    assert (again.pivots, again.models) == ("spa+deu", {"deu": ("there", "back")})
    assert systems["back-translation"] is BackTranslation


@pytest.mark.skipif(
    shutil.which("apertium") is None
    or "eng-spa" not in subprocess.run(["apertium", "-l"], capture_output=True, text=True).stdout,
    reason="Apertium is not installed",
)
def test_the_real_program_keeps_texts_apart():
    texts = ["The dog sleeps", "I have three houses.", "She lives in Paris"]
    made = BackTranslation("spa").rewrite(texts, "gender")
    assert len(made) == 3
    assert "dog" in made[0] and "house" in made[1] and "Paris" in made[2]


# --- models ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained Marian model of a few dimensions, as a folder that transformers reads."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = ["<pad>", "</s>", "<unk>", "rain", "snow", "fell", "lluvia", "nieve"]
    raw = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    config = transformers.MarianConfig(
        vocab_size=8, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=160,
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, forced_eos_token_id=1, init_std=0.5,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.MarianMTModel(config)
    model.generation_config.max_length = 12
    folder = tmp_path_factory.mktemp("marian")
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def test_models_translate_there_and_back(marian):
    writer = BackTranslation("deu", models={"deu": (str(marian), str(marian))})
    texts = ["rain fell", "snow", ""]
    made = writer.rewrite(texts, "gender")
    assert made == writer.rewrite(texts, "gender")
    assert made[2] == ""
    # Alone as in a batch.
    assert writer.rewrite("snow", "gender") == made[1]
    there = module._models(str(marian), str(marian)).translate(["rain fell"], "eng", "deu")
    assert set(there[0].split()) <= {"rain", "snow", "fell", "lluvia", "nieve", "<unk>"}


def test_a_folder_without_a_model_is_told(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(InputError, match="no model that translates"):
        BackTranslation("deu", models={"deu": (str(tmp_path), str(tmp_path))}).rewrite("rain", "gender")
