"""The systems of Table 3, learned and written on toy models: what each takes away, and which packs it takes."""

import warnings

import pytest
from test_learning import (  # noqa: F401  (three are fixtures)
    PLAIN,
    SETTINGS,
    WHO,
    _home,
    _no_fetching,
    paraphraser,
    sentences,
    written,
)

import restyle
from restyle.cli import main
from restyle.errors import InputError, UnknownName, UsageError
from restyle.records import read_records, write_records
from restyle.rewriters import Request, load, systems
from restyle.rewriters.records import RewriteSettings, prepared
from restyle.rewriters.strap import Conditioned, NonDiverse, OnBase, Recurrent, Strap, find_pack, find_style

pytest.importorskip("peft")

TEXT = "The captain sold the book after the war."
RECIPE = """
valid = 20
inputs = ["made/plain"]
[[style]]
name = "noir"
sources = ["made/noir"]
[[style]]
name = "pulp"
sources = ["made/pulp"]
[[style]]
name = "other"
sources = ["made/plain"]
"""
LSTM = {
    "base": "lstm", "lstm": {"vocabulary": 400, "width": 64}, "epochs": 12.0,
    "training": {"batch_size": 16, "evaluations": 2, "samples": 1, "learning_rate": 0.01},
}  # fmt: skip


def learn(*files, folder, **given):
    options = SETTINGS | {"run": folder / "run", "output": folder / "pack"} | given
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* are few")
        return restyle.learn(*files, **options)


def pairs_in(folder, number=400):
    every = [{"text": text, "paraphrase": PLAIN[who]} for text in sentences(number) for who in WHO if who in text]
    write_records(folder / "pairs.jsonl", [{"id": str(place), **pair} for place, pair in enumerate(every)])
    return folder / "pairs.jsonl"


# --- one model for several styles ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def multi(paraphraser, tmp_path_factory):  # noqa: F811
    """A pack of two styles of a recipe that has three, and the folder of its run."""
    from restyle.corpora import Corpus
    from restyle.rewriters.strap import _sources

    folder = tmp_path_factory.mktemp("multi")
    noir, pulp = sentences(130, seed=9), [f"Damn, {text[:1].lower()}{text[1:]}" for text in sentences(130, seed=8)]
    corpus = Corpus.of(
        "made",
        {name: {"train": texts[:100], "valid": texts[100:120], "test": texts[120:]}
         for name, texts in (("noir", noir), ("pulp", pulp))} | {"plain": {"test": sentences(12, seed=7)}},
    )  # fmt: skip
    (folder / "styles.toml").write_text(RECIPE)
    with _home(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sources, "load", lambda name: corpus)
        made = learn(
            folder=folder, name="both", kind="multi", styles=("noir", "pulp"), recipe=folder / "styles.toml",
            paraphraser=str(paraphraser),
        )  # fmt: skip
    return made, folder


def test_one_model_learns_several_styles_each_told_by_its_name(multi):
    pack, folder = multi
    assert (pack.card.kind, pack.card.styles) == ("multi", ("noir", "pulp"))
    pairs = list(read_records(folder / "run" / "pairs.jsonl"))
    assert {pair["paraphrase"].partition(": ")[0] for pair in pairs} == {"noir", "pulp"}
    assert [evaluation.on.partition(":")[0] for evaluation in pack.card.evaluations] == ["noir", "pulp"]
    assert len(pack.card.samples) == 10
    assert "learn --name both --recipe styles.toml --kind multi --styles noir --styles pulp" in pack.card.command


def test_its_styles_are_asked_for_by_name_and_are_written_by_one_engine(multi, paraphraser):  # noqa: F811
    pack, _ = multi
    strap = Conditioned(paraphraser=str(paraphraser))
    noir, pulp = (strap.rewrites([TEXT], Request(to=f"{pack.folder}:{style}"))[0].outputs for style in ("noir", "pulp"))
    assert strap.called(f"{pack.folder}:pulp") == "pulp"
    assert noir != pulp, "the input says which style is meant"
    assert len(strap._engines) == 2, "of both styles, and of the paraphraser"
    assert strap.fingerprint(f"{pack.folder}:noir") != strap.fingerprint(f"{pack.folder}:pulp")


def test_an_installed_one_answers_to_the_names_of_its_styles(multi, paraphraser):  # noqa: F811
    from restyle.rewriters.strap._pack import users_folder

    pack, _ = multi
    users_folder().mkdir(parents=True)
    (users_folder() / "both").symlink_to(pack.folder)
    assert Conditioned(paraphraser=str(paraphraser)).styles == ("noir", "pulp")
    assert Conditioned("pulp", paraphraser=str(paraphraser)).called("pulp") == "pulp"
    assert Strap("both:noir", paraphraser=str(paraphraser)).called("both:noir") == "noir"
    assert find_style("both:noir").scores.keys() >= {"ACC", "SIM"}
    with pytest.raises(UnknownName, match="no style of both is called 'nior'; did you mean noir"):
        Strap("both:nior")
    with pytest.raises(UsageError, match="both writes several styles: name one of them, both:noir, both:pulp"):
        Strap("both")
    with pytest.raises(UsageError, match="noir is one of several styles of a pack, and only packs of one style"):
        Strap("both:noir,both:pulp")


def test_a_style_that_no_such_pack_writes_says_how_to_learn_one(multi):
    with pytest.raises(UsageError, match="no pack of several styles writes bible: learn one .*--kind multi"):
        Conditioned("bible")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "multi"}, "several styles are learned from a recipe alone"),
        ({"styles": ("noir",)}, "--styles is for --kind multi"),
    ],
)
def test_what_cannot_be_meant_is_told_before_any_work(given, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        learn(written(tmp_path / "noir.txt"), folder=tmp_path, name="both", **given)


# --- a paraphraser that is not diverse -------------------------------------------------------------------------------


def test_a_paraphraser_that_is_not_here_says_how_it_is_learned(multi):
    pack, _ = multi
    with pytest.raises(UsageError, match="no paraphraser is called 'nondiverse'.*pairs build .* --twin .*--name nond"):
        NonDiverse(f"{pack.folder}:noir")


def test_a_style_of_another_paraphraser_is_refused(multi, paraphraser, tmp_path):  # noqa: F811
    pack, _ = multi
    other = learn(
        folder=tmp_path, name="alike", kind="paraphraser", pairs=pairs_in(tmp_path), base=pack.card.base, rank=2
    )
    with pytest.raises(
        UsageError, match="noir was learned with the paraphraser toy, and strap-nondiverse needs a style"
    ):
        NonDiverse(f"{pack.folder}:noir", paraphraser=str(other.folder))
    made = NonDiverse(f"{pack.folder}:noir", paraphraser=str(paraphraser))
    assert made.rewrite(TEXT)


# --- models that were never pretrained, and all weights ---------------------------------------------------------------


@pytest.fixture(scope="module")
def lstm(tmp_path_factory):
    """A paraphraser that is an LSTM."""
    folder = tmp_path_factory.mktemp("lstm")
    with _home(folder):
        return learn(folder=folder, name="lstm", kind="paraphraser", pairs=pairs_in(folder), **LSTM)


def test_an_lstm_learns_from_the_pairs_alone(lstm):
    assert (lstm.card.base, lstm.model) == ("lstm", lstm.folder / "model")
    assert not lstm.adapter.exists()
    assert lstm.card.dev_loss < 1.0  # of a vocabulary of 400: chance is 6
    assert {path.suffix for path in lstm.model.iterdir()} == {".json", ".safetensors"}


def test_both_stages_of_strap_lstm_are_lstms(lstm, tmp_path, capfd):
    given = {key: value for key, value in LSTM.items() if key != "base"} | {"paraphraser": str(lstm.folder)}
    style = learn(written(tmp_path / "noir.txt"), folder=tmp_path, name="noir", **given)
    assert style.card.base == "lstm"
    command = ["rewrite", "--system", "strap-lstm", "--to", str(style.folder), "--paraphraser", str(lstm.folder), TEXT]
    with pytest.raises(SystemExit) as stop:
        main(command)
    assert stop.value.code == 0
    assert capfd.readouterr().out.strip()
    with pytest.raises(UsageError, match="noir is a whole model and no adapter: strength can be nothing but 1"):
        Recurrent(str(style.folder), paraphraser=str(lstm.folder)).rewrite(TEXT, strength=0.5)


def test_strap_lstm_takes_no_other_packs_and_a_damaged_model_is_refused(multi, lstm, tmp_path):
    import shutil

    pack, _ = multi
    with pytest.raises(
        UsageError, match=r"noir was learned on .*, and strap-lstm takes packs of the base lstm: .*--base"
    ):
        Recurrent(f"{pack.folder}:noir")
    folder = shutil.copytree(lstm.folder, tmp_path / "damaged")
    weights = folder / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(restyle.errors.Corrupt, match=r"model.safetensors does not have the sha256"):
        find_pack(folder, "paraphraser")
    weights.unlink()
    with pytest.raises(InputError, match=r"holds no model.safetensors: it is no whole pack"):
        find_pack(folder, "paraphraser")


def test_all_weights_of_a_base_can_be_tuned_instead_of_an_adapter(paraphraser, tmp_path):  # noqa: F811
    given = {"rank": 0, "training": SETTINGS["training"] | {"learning_rate": 0.001}}
    style = learn(written(tmp_path / "noir.txt"), folder=tmp_path, name="noir", paraphraser=str(paraphraser), **given)
    assert style.model is not None
    assert style.card.settings["rank"] == 0
    assert Strap(str(style.folder), paraphraser=str(paraphraser)).rewrite(TEXT)


# --- other bases -----------------------------------------------------------------------------------------------------


def test_a_system_is_named_for_the_base_of_its_packs(multi, paraphraser, tmp_path):  # noqa: F811
    pack, _ = multi
    base, to = pack.card.base.rpartition("/")[2], f"{pack.folder}:noir"
    made = prepared(RewriteSettings(to=(to,), system=f"strap-{base}", paraphraser=str(paraphraser)))
    assert made.name == f"strap-{base}"
    made.save(tmp_path / "saved")
    assert load(tmp_path / "saved").name == made.name
    with pytest.raises(UnknownName, match="no system is called 'strap-mutli'; did you mean strap-multi"):
        prepared(RewriteSettings(to=(to,), system="strap-mutli"))
    with pytest.raises(UsageError, match="strap-BASE stands for the systems strap-gpt2"):
        OnBase()
    assert systems["strap-lstm"] is Recurrent
