import pytest

from restyle.errors import InputError, MissingExtra, UnknownName, UsageError
from restyle.rewriters import load, systems
from restyle.rewriters.copy import Copy
from restyle.rewriters.naive import Naive
from restyle.rewriters.retrieve import Retrieve

STYLES = {
    "pirate": ["Hoist the sails, ye dogs!", "The treasure lies beneath the palm.", "Where be the rum?"],
    "clerk": ["The form must be filed in triplicate.", "Please take a number.", "Where is your receipt?"],
}


def made():
    return [Copy(), Naive(STYLES), Retrieve(STYLES)]


@pytest.mark.parametrize("system", made(), ids=lambda system: system.name)
class TestTheContract:
    def test_a_string_for_a_string_and_a_list_for_a_list_in_order(self, system):
        texts = ["Where is the rum?", "File the form.", "", "🙂"]
        many = system.rewrite(texts, "pirate", seed=3)
        assert many == [system.rewrite(text, "pirate", seed=3) for text in texts]
        assert all(isinstance(text, str) for text in many)
        assert system.rewrite([], "pirate") == []

    def test_as_many_candidates_as_asked_the_best_first(self, system):
        several = system.rewrite(["Where is the rum?"], "clerk", candidates=5, seed=1)
        assert [len(candidates) for candidates in several] == [5]
        assert several[0][0] == system.rewrite("Where is the rum?", "clerk", seed=1)

    def test_the_same_seed_gives_the_same_words_whatever_the_order(self, system):
        texts = [f"sentence number {i}" for i in range(20)]
        forwards = system.rewrite(texts, "pirate", seed=5)
        assert system.rewrite(texts[::-1], "pirate", seed=5) == forwards[::-1]
        assert system.rewrite(texts, "pirate", seed=5, batch_size=3) == forwards

    def test_what_is_saved_comes_back_the_same(self, system, tmp_path):
        system.save(tmp_path / "saved")
        again = load(tmp_path / "saved")
        assert type(again) is type(system)
        assert again.styles == system.styles
        assert again.rewrite(["Where is it?"], "clerk", seed=9) == system.rewrite(["Where is it?"], "clerk", seed=9)

    def test_wrong_options_are_refused(self, system):
        with pytest.raises(UsageError, match="candidates is 0; it can be 1 or more"):
            system.rewrite("x", "pirate", candidates=0)
        with pytest.raises(UsageError, match="nucleus is 2"):
            system.rewrite("x", "pirate", nucleus=2)

    def test_the_registry_knows_it(self, system):
        assert systems[system.name] is type(system)


def test_copy_changes_nothing():
    assert Copy().rewrite("As it is.", "anything") == "As it is."


def test_naive_copies_with_its_probability_and_draws_from_the_style_otherwise():
    texts = [f"sentence number {i}" for i in range(2000)]
    rewritten = Naive(STYLES, copy_probability=0.3).rewrite(texts, "pirate")
    copied = sum(text == before for text, before in zip(rewritten, texts, strict=True))
    # Two thousand coins of 0.3: outside this range once in ten thousand seeds.
    assert 520 < copied < 680
    assert set(rewritten) - set(texts) == set(STYLES["pirate"])


def test_another_seed_tosses_other_coins():
    texts = [f"sentence number {i}" for i in range(50)]
    assert Naive(STYLES).rewrite(texts, "clerk", seed=1) != Naive(STYLES).rewrite(texts, "clerk", seed=2)


def test_retrieval_finds_the_sentence_that_says_most_of_the_same():
    system = Retrieve(STYLES)
    assert system.rewrite("where is the rum", "pirate") == "Where be the rum?"
    assert system.rewrite("where is the rum", "clerk") == "Where is your receipt?"


def test_a_style_with_fewer_sentences_than_candidates_repeats_its_last():
    found = Retrieve({"one": ["The only sentence."]}).rewrite("x", "one", candidates=3)
    assert found == ["The only sentence."] * 3


def test_a_style_that_it_does_not_know_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="no style is called 'pirat'; did you mean pirate"):
        Naive(STYLES).rewrite("x", "pirat")


def test_a_style_without_sentences_is_refused():
    with pytest.raises(InputError, match="the style 'empty' has no sentences"):
        Naive({"empty": []})
    with pytest.raises(InputError, match="no style was given"):
        Retrieve({})


def test_a_folder_that_holds_no_rewriter_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"system.toml does not exist"):
        load(tmp_path)
    (tmp_path / "system.toml").write_text('system = "strip"\n')
    with pytest.raises(UnknownName, match="no system is called 'strip'"):
        load(tmp_path)


def test_without_scikit_learn_the_rest_still_works(monkeypatch):
    import sys

    monkeypatch.delitem(sys.modules, "restyle.rewriters.retrieve")
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(MissingExtra, match=r"pip install 'restyle\[judge\]'"):
        systems["retrieve"]
    assert systems["copy"]().rewrite("x", "y") == "x"
