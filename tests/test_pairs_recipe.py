"""Training pairs are what their recipe says, and give nothing away."""

import pytest

from restyle.corpora import Corpus
from restyle.errors import InputError, SettingsError, UnknownName
from restyle.pairs import recipe
from restyle.records import read_records

RECIPE = """
seed = 1
preset = "loose"
valid_share = 0.3
held_out = ["plays/hero/test"]

[filter]
similarity = "off"
language = "off"
max_unigram_overlap = 0.6

[twin]
max_unigram_overlap = 1.0
max_trigram_overlap = 1.0

[[source]]
name = "asked"
register = "questions"
table = "questions"
pairs = "paraphrases"
most = 30
lower_case = true
ending = "?"
"""

NOUNS = ["lamp", "ladder", "kettle", "violin", "hammer", "garden", "harbour", "window", "pocket", "engine"]


def rows(table, part=None):
    """Fifty questions with a diverse paraphrase and a near copy, one of them a test sentence."""
    for i in range(50):
        noun, other = NOUNS[i % 10], NOUNS[i // 10]
        text = f"where did i put the old {noun} beside the {other}"
        yield {
            "id": f"q/{i}",
            "text": text,
            "paraphrases": [f"in which place is my {other} and that ancient {noun} now", text + " then"],
        }
    yield {
        "id": "q/test",
        "text": "who goes there in the middle of the night",
        "paraphrases": ["what man walks so late"],
    }


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A function that builds a recipe from toy corpora, and gives the rows of its report and its pairs."""
    hero = Corpus.of("plays", {"hero": {"test": ["Who goes there in the middle of the night?"]}})
    monkeypatch.setattr(recipe, "rows", rows)
    monkeypatch.setattr(recipe, "load", lambda name: hero)

    def build(text=RECIPE, name="pairs.jsonl", **options):
        (tmp_path / "recipe.toml").write_text(text)
        counts = recipe.build(tmp_path / "recipe.toml", tmp_path / name, **options)
        return counts, list(read_records(tmp_path / name))

    return build


def test_the_report_accounts_for_every_pair(built):
    [count], pairs = built()
    assert count["offered"] == 101
    assert count["leaking"] == 1
    assert count["kept"] == 50
    assert count["taken"] == len(pairs) == 30


def test_near_copies_are_left_to_the_twin(built):
    _, pairs = built()
    assert not any(pair["paraphrase"].endswith("then?") for pair in pairs)
    [count], twin = built(name="twin.jsonl", twin=True)
    assert count["kept"] == 100
    assert any(pair["paraphrase"].endswith("then?") for pair in twin)


def test_a_test_sentence_is_on_neither_side(built):
    _, pairs = built()
    assert not any("middle of the night" in pair["text"] for pair in pairs)


def test_lost_capitals_and_marks_are_put_back(built):
    _, pairs = built()
    assert all(pair["text"].startswith("Where did I put") and pair["text"].endswith("?") for pair in pairs)


def test_the_same_recipe_makes_the_same_bytes_and_another_seed_other_pairs(built, tmp_path):
    built()
    first = (tmp_path / "pairs.jsonl").read_bytes()
    built()
    assert (tmp_path / "pairs.jsonl").read_bytes() == first
    built(RECIPE.replace("seed = 1", "seed = 2"))
    assert (tmp_path / "pairs.jsonl").read_bytes() != first


def test_pairs_with_one_paraphrase_are_in_one_split(built):
    _, pairs = built()
    assert {pair["split"] for pair in pairs} == {"train", "valid"}
    split = {}
    for pair in pairs:
        assert split.setdefault(pair["paraphrase"], pair["split"]) == pair["split"]


def test_the_recipe_is_saved_beside_the_pairs(built, tmp_path):
    built()
    assert 'preset = "loose"' in (tmp_path / "pairs.jsonl.settings.toml").read_text()


def test_a_recipe_with_a_typo_or_without_sources_is_refused(built):
    with pytest.raises(SettingsError, match="no setting is called 'sed'; did you mean seed"):
        built(RECIPE.replace("seed", "sed"))
    with pytest.raises(SettingsError, match="no setting is called 'mosst'; did you mean most"):
        built(RECIPE.replace("most", "mosst"))
    with pytest.raises(UnknownName, match="no filter preset is called 'lose'; did you mean loose"):
        built(RECIPE.replace('"loose"', '"lose"'))
    with pytest.raises(InputError, match="names no source"):
        built(RECIPE.partition("[[source]]")[0])
