"""Learning to hide an attribute on a toy base: all stages, going on, another objective, and what is refused."""

import functools

import pytest

pytest.importorskip("peft")

from test_learning import WHO, paraphraser, sentences  # noqa: F401 - a fixture
from test_privacy import own, word_judge  # noqa: F401 - a fixture

from restyle.corpora import Corpus
from restyle.errors import InputError, SettingsError, UsageError
from restyle.metrics.training._data import Source
from restyle.records import read_records
from restyle.rewriters.privacy import _course
from restyle.rewriters.privacy._course import learn_to_hide
from restyle.rewriters.privacy._training import PrivacyLearnSettings

SOME = {"attribute": "gender", "corpora": ("toy/female", "toy/male"), "min_similarity": -1.0, "epochs": 1.0, "rank": 2,
        "test": 10, "training": {"batch_size": 16, "evaluations": 2, "samples": 0, "learning_rate": 0.005}}  # fmt: skip


def whose(text):
    return "female" if text.startswith(tuple(WHO[:3])) else "male"


@pytest.fixture
def learned(own, paraphraser, tmp_path, monkeypatch):  # noqa: F811
    """Learn to hide who did it into a folder of the test; what is given stands over the settings."""
    texts = sentences(400, seed=3)
    by_label = {label: [text for text in texts if whose(text) == label] for label in ("female", "male")}
    corpus = Corpus.of(
        "toy",
        {label: {"train": some[24:], "valid": some[12:24], "test": some[:12]} for label, some in by_label.items()},
    )
    monkeypatch.setattr(
        _course, "sources_of", lambda named: [Source(corpus, label, label) for label in ("female", "male")]
    )
    # Whatever a toy says is long enough.
    monkeypatch.setattr(
        _course, "LearnSettings", functools.partial(_course.LearnSettings, min_length=0.01, max_length=50.0)
    )
    # Of all sentences that there are: none is in what the others learn from.
    rest = [text for text in sentences(1500, seed=4) if text not in set(texts)]
    for part, some in (("select", rest[:150]), ("report", rest[150:300])):
        word_judge(own, f"gender-{part}", some, [whose(text) for text in some], part=part)

    def learned(**given):
        from restyle.cli._learning import scored

        said = []
        settings = PrivacyLearnSettings(**(SOME | {"paraphraser": str(paraphraser)} | given))
        pack = learn_to_hide("hidden", settings, tmp_path / "pack", scored, run=tmp_path / "run", say=said.append)
        return pack, said

    return learned


def test_a_pack_that_hides_is_learned_stage_by_stage_and_goes_on(learned, tmp_path):
    pack, said = learned(objective="risk", alpha=2.0)
    card = pack.card
    assert card.summary == "hides gender: risk, alpha 2 (re-implementation with inferred objective)"
    assert set(card.evaluations[0].scores) == {"LEAK", "SIM"}
    assert card.settings["inner attacker"].startswith("gender-select#")
    assert {line.split()[0] for line in said if line.endswith("…")} >= {
        "texts.jsonl", "paraphrases.jsonl", "pairs.jsonl", "draft", "outputs.jsonl", "evaluation.json", "pack",
    }  # fmt: skip
    outputs = list(read_records(tmp_path / "run" / "outputs.jsonl", text_column="output"))
    assert {record["label"] for record in outputs} == {"female", "male"}
    assert all(record["system"] == "hidden" for record in outputs)
    # The same call finds all that is done, and gives the same bytes.
    weights = (pack.folder / "adapter.safetensors").read_bytes()
    again, said = learned(objective="risk", alpha=2.0)
    assert all("made of the same before" in line for line in said)
    assert (again.folder / "adapter.safetensors").read_bytes() == weights
    # Another objective begins where it differs.
    other, said = learned(objective="adv", strength=0.5)
    assert [line.split()[0] for line in said if line.endswith("…")][0] == "draft"
    assert other.card.settings["objective"] == "adv, lambda 0.5"
    assert (other.folder / "adapter.safetensors").read_bytes() != weights


def test_what_cannot_be_learned_is_told(learned, tmp_path):
    with pytest.raises(UsageError, match="no attribute was given"):
        PrivacyLearnSettings()
    with pytest.raises(UsageError, match="name texts of each label"):
        PrivacyLearnSettings(attribute="gender", corpora=("congress/democrat",))
    with pytest.raises(SettingsError, match="something must be left for the evaluator"):
        PrivacyLearnSettings(**(SOME | {"share": 1.0}))
    (tmp_path / "pack").mkdir()
    with pytest.raises(UsageError, match="holds something that is no pack"):
        learned()


def test_an_evaluator_of_what_the_system_learns_from_is_refused(learned, own):  # noqa: F811
    texts = sentences(400, seed=3)[50:]
    word_judge(own, "gender-report", texts, [whose(text) for text in texts])
    with pytest.raises(UsageError, match="of what the system would learn from are texts from which gender-report"):
        learned()
    word_judge(own, "gender-select", texts, [whose(text) for text in texts], part="select")
    with pytest.raises(UsageError, match="100% of what gender-report has learned from are texts"):
        learned()


def test_labels_that_the_attacker_does_not_know_are_told(learned, monkeypatch):
    corpus = Corpus.of("toy", {name: {"train": sentences(120, at)} for at, name in enumerate("ab")})
    monkeypatch.setattr(_course, "sources_of", lambda named: [Source(corpus, name, name) for name in "ab"])
    with pytest.raises(InputError, match="the texts are of a, b, and gender-select knows female, male"):
        learned()
