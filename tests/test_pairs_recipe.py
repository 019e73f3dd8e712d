"""Training pairs are what their recipe says, and give nothing away."""

import pytest

from restyle.corpora import Corpus
from restyle.errors import InputError, OutputError, SettingsError, UnknownName
from restyle.pairs import recipe, sources
from restyle.records import read_records
from restyle.registry import Registry

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

# Shows every word of the questions but "violin", and that Lamp is a name.
CASED = 2 * [
    "So where in it did I put the old Lamp and ladder and kettle beside the harbour now?",
    "In which place is my garden or that ancient hammer then, the window, pocket or engine?",
]
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
    hero = Corpus.of("plays", {"hero": {"test": ["Who goes there in the middle of the night?"], "train": CASED}})
    monkeypatch.setattr(sources, "rows", rows)
    tables = Registry("table")
    tables.add("questions", "nowhere:rows", "toy questions")
    monkeypatch.setattr(recipe, "tables", tables)
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


def test_a_slip_anywhere_in_the_recipe_is_told_before_any_work(built, monkeypatch):
    monkeypatch.setattr(sources, "rows", lambda *_: pytest.fail("the work had begun"))
    last = RECIPE.partition("[[source]]")[2]
    for slip, error, message in [
        (last.replace('"questions"\npairs', '"qestions"\npairs'), UnknownName, "did you mean questions"),
        (last + "filter = { min_shufled = 0.1 }", SettingsError, "did you mean min_shuffled"),
        (last + "filter = { min_shuffled = 2.0 }", SettingsError, "it can be from 0 to 1"),
        (last + 'without_checks = ["number"]', UnknownName, "did you mean numbers"),
    ]:
        with pytest.raises(error, match=message):
            built(f"{RECIPE}\n[[source]]{slip}")


def test_held_out_sentences_that_are_nowhere_are_an_error(built):
    for part, message in [
        ("plays/hero/tset", "no split of plays/hero is called 'tset'; did you mean test"),
        ("plays/*/tset", "no split of plays is called 'tset'; did you mean test"),
        ("plays/heroo/test", "no style of the corpus plays is called 'heroo'; did you mean hero"),
        ("plays", "'plays' names no sentences; it should be corpus/style/split"),
    ]:
        with pytest.raises((SettingsError, UnknownName), match=message):
            built(RECIPE.replace("plays/hero/test", part))


def test_rows_that_hold_no_such_pairs_are_told(built):
    with pytest.raises(
        SettingsError, match="the source 'asked' has pairs = 'rated', but .* hold no 'score', only id, "
    ):
        built(RECIPE.replace('"paraphrases"', '"rated"'))


def test_an_output_that_cannot_be_written_is_told_before_any_work(built, monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "rows", lambda *_: pytest.fail("the work had begun"))
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot write"):
        built(name="file/pairs.jsonl")


def test_an_older_set_stays_until_the_new_one_is_whole(built, monkeypatch, tmp_path):
    built()
    before = (tmp_path / "pairs.jsonl").read_bytes()

    def broken(table, part=None):
        yield from list(rows(table))[:10]
        raise InputError("the table ends here")

    monkeypatch.setattr(sources, "rows", broken)
    with pytest.raises(InputError, match="the table ends here"):
        built()
    assert (tmp_path / "pairs.jsonl").read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} >= {"pairs.jsonl"}
    assert not list(tmp_path.glob("*unfinished*"))


def test_an_unsound_pair_is_counted_unless_its_source_is_spared_the_check(built, monkeypatch):
    row = {"id": "1", "text": "where did they go", "paraphrases": ["to which place went they", "where did he not go"]}
    monkeypatch.setattr(sources, "rows", lambda *_: [row])
    checked = RECIPE.replace("[filter]", 'checks = ["negation", "persons"]\n[filter]').replace("0.6", "1.0")
    [count], _ = built(checked)
    assert (count["offered"], count["unfit"], count["taken"]) == (2, 1, 1)
    [count], _ = built(checked + 'without_checks = ["negation", "persons"]')
    assert (count["offered"], count["unfit"], count["taken"]) == (2, 0, 2)


def test_a_pair_with_a_word_whose_capitals_are_unknown_is_left_out(built):
    [count], pairs = built(RECIPE.replace("[filter]", 'capitals_from = ["plays/hero/train"]\n[filter]'))
    assert pairs
    assert not any("violin" in pair["text"] for pair in pairs)
    assert any("old Lamp" in pair["text"] for pair in pairs)
    assert count["offered"] == count["unfit"] + count["leaking"] + 2 * count["kept"]


def test_a_pair_is_taken_both_ways_when_either_side_will_do(built):
    both = RECIPE.replace("most = 30", "most = 200") + "both_ways = true"
    [count], pairs = built(both)
    assert count["offered"] == 202
    sides = {(pair["text"], pair["paraphrase"]) for pair in pairs}
    assert sides
    assert {(paraphrase, text) for text, paraphrase in sides} == sides


def test_the_twin_takes_as_many_as_the_set(built):
    [count], _ = built(RECIPE.replace("most = 30", "most = 1000"))
    [twin], _ = built(RECIPE.replace("most = 30", "most = 1000"), twin=True)
    assert twin["kept"] > twin["taken"] == count["taken"]


def test_the_recipe_of_the_paper_is_one_that_can_be_built():
    assert len(recipe.read_recipe("recipes/strap/paraphrase_pairs.toml").source) == 11
