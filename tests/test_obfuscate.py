"""Hiding an attribute: words replaced, paraphrases chosen by their leak, and the verb, as a user types it."""

import functools
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn")

from test_privacy import LABELS, TEXTS, own, run_restyle, word_judge  # noqa: F401 - a fixture

from restyle.errors import UnknownName, UsageError
from restyle.records import read_records
from restyle.rewriters import load, systems
from restyle.rewriters._base import Request
from restyle.rewriters.privacy import LeakChooser, Lexical, Paraphrase, RiskRerank, _choosing, _paraphrase
from restyle.rewriters.privacy._paraphrase import _OneStage
from restyle.rewriters.strap._writer import Written


@pytest.fixture
def inner(own):  # noqa: F811
    """Attackers of gender in both sets, which know husband, lovely and salon from wife, solid and steak."""
    word_judge(own, "gender-report", TEXTS[150:], LABELS[150:])
    return word_judge(own, "gender-select", TEXTS[:150], LABELS[:150], part="select")


class Writer:
    """Says a thing in three ways: as it is, without the telling word, and half of it."""

    max_subwords = longest_input = 40

    def __init__(self):
        self.format, self.asked = self, []

    def lengths(self, texts):
        return [len(text.split()) for text in texts]

    def write(self, texts, decoding):
        self.asked += texts
        if any("stop here" in text for text in texts):
            raise KeyboardInterrupt
        return [self._ways(text)[: decoding.candidates] for text in texts]

    def _ways(self, text):
        ways = [f"Well, {text}", text.replace("husband", "partner").replace("wife", "partner"), "the food"]
        return [Written(way, -0.1, True) for way in ways]


@pytest.fixture
def paraphraser(monkeypatch):
    """A paraphraser of which nothing has to be loaded, and choosing without the judge of fluency."""
    writer = Writer()
    stage = _OneStage(writer)
    monkeypatch.setattr(Paraphrase, "__init__", lambda self, **options: None)
    monkeypatch.setattr(Paraphrase, "_opened", lambda self: stage)
    monkeypatch.setattr(Paraphrase, "fingerprint", lambda self, *targets: "paraphrase")
    whole = LeakChooser.__init__
    monkeypatch.setattr(
        LeakChooser, "__init__", lambda self, *given, fluent=False, **options: whole(self, *given, **options)
    )
    return writer


# --- words -----------------------------------------------------------------------------------------------------------


def test_telling_words_go_until_the_guess_is_even(inner):
    lexical = Lexical("drop")
    (made,) = lexical.rewrites(["my husband was at the salon again 7 times"], Request(to="gender"))
    assert "husband" not in made.outputs[0] or "salon" not in made.outputs[0]
    assert made.outputs[0].endswith("again 7 times")
    assert made.selected_with == (inner.card.fingerprint,)
    chooser = LeakChooser("gender")
    before, after = chooser.leaks([made.text, made.outputs[0]])
    assert after < before / 2


def test_a_text_that_gives_nothing_away_stays(inner):
    neutral = "giraffes sleep standing"
    assert Lexical("drop").rewrite([neutral, ""], "gender") == [neutral, ""]


@pytest.mark.parametrize("text", ["husband", "husband salon lovely husband", "HUSBAND!"])
def test_a_text_of_telling_words_alone_keeps_one(inner, text):
    made = Lexical("drop").rewrite(text, "gender")
    assert any(character.isalpha() for character in made)


def test_denials_numbers_and_what_is_kept_stay(inner):
    weights = inner.model
    assert weights.weight("husband") < 0
    request = Request(to="gender", keep=("addresses",))
    text = "never husband@salon.org my husband"
    (made,) = Lexical("drop").rewrites([text], request)
    assert "never" in made.outputs[0]
    assert "husband@salon.org" in made.outputs[0]


def test_a_near_word_takes_the_place_in_the_same_case(inner, monkeypatch):
    monkeypatch.setattr(Lexical, "_nearest", lambda self, word, judge: {"husband": "partner"}.get(word))
    lexical = Lexical("replace")
    assert lexical.rewrite("Husband, my HUSBAND", "gender") == "Partner, my PARTNER"
    # Without a near word it stays where words are only replaced.
    assert lexical.rewrite("the salon", "gender") == "the salon"


def test_what_is_only_spelled_alike_is_not_near(inner):
    class Alike:
        def embed(self, texts):
            return np.array([[1.0, 0.0]] * len(texts))

    lexical = Lexical()
    lexical.__dict__["_similarity"] = Alike()
    words, vectors = ["husbandry", "partner", "stone"], np.array([[1.0, 0.0], [0.8, 0.6], [0.1, 0.9]])
    lexical._tables[inner.card.fingerprint] = words, vectors
    assert lexical._nearest("husband", inner) == "partner"
    lexical._tables[inner.card.fingerprint] = words[::2], vectors[::2]
    assert lexical._nearest("husband", inner) is None


def test_near_words_give_nothing_away(inner):
    words, vectors = Lexical()._neutral(inner)
    assert len(words) == len(vectors)
    assert not set(words) & {"husband", "wife", "salon"}
    assert all(abs(inner.model.weight(word)) < 0.05 for word in words)


def test_an_attribute_with_a_typo_is_told(inner):
    for system in (Lexical(), LeakChooser("gendre")):
        with pytest.raises(UnknownName, match="no attribute is called 'gendre'; did you mean gender"):
            system.checked("gendre") if isinstance(system, Lexical) else system.judge  # noqa: B018


def test_systems_are_saved_and_come_back(inner, tmp_path):
    Lexical("drop").save(tmp_path / "lexical")
    again = load(tmp_path / "lexical")
    assert isinstance(again, Lexical) and again.how == "drop"
    RiskRerank(alpha=2.0, pool=3).save(tmp_path / "rerank")
    rerank = load(tmp_path / "rerank")
    assert isinstance(rerank, RiskRerank)
    assert (rerank.alpha, rerank.pool) == (2.0, 3)
    assert rerank.fingerprint("gender") == RiskRerank(alpha=2.0, pool=3).fingerprint("gender")


# --- choosing --------------------------------------------------------------------------------------------------------


def test_more_alpha_gives_less_away(inner):
    text = "my husband had the food"
    ways = ["my partner had the food", "the food", "my husband had food"]
    cheap, dear = (LeakChooser("gender", alpha=alpha).chosen([text], [ways])[0] for alpha in (0.0, 50.0))
    assert (cheap.output, cheap.similarity, cheap.before) == (text, 1.0, cheap.after)
    assert dear.after < cheap.after
    assert dear.similarity < 1


def test_the_closest_that_gets_under_is_given(inner, monkeypatch):
    leaks = {"a": 0.9, "b": 0.5, "c": 0.1, "d": 0.7}
    close = {"a": 1.0, "b": 0.9, "c": 0.4, "d": 0.95}
    monkeypatch.setattr(LeakChooser, "leaks", lambda self, texts: [leaks[text] for text in texts])
    monkeypatch.setattr(LeakChooser, "_similarities", lambda self, old, new: [close[text] for text in new])
    monkeypatch.setattr(_choosing._guard, "shrunk", lambda before, after: False)

    def chosen(limit, pool="bcd"):
        return LeakChooser("gender", max_leak=limit).chosen(["a"], [list(pool)])[0]

    assert (chosen(0.6).output, chosen(0.6).under) == ("b", True)
    assert chosen(0.8).output == "d"
    assert chosen(0.95).output == "a"
    # Where none is, the best compromise, and it says so.
    assert (chosen(0.05).output, chosen(0.05).under) == ("b", False)


def test_a_turned_denial_outweighs_what_it_hides(inner):
    text = "my husband did not pay"
    choice = LeakChooser("gender", alpha=1.0).chosen([text], [["my partner did pay"]])[0]
    assert choice.output == text


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(UsageError, match="alpha is -1"):
        LeakChooser("gender", alpha=-1)
    with pytest.raises(UsageError, match="max_leak is 1.5"):
        LeakChooser("gender", max_leak=1.5)


def test_an_unacceptable_rewrite_costs_what_it_loses(inner, monkeypatch):
    class Fluency:
        def score(self, batch):
            return np.array([0.1 if "partner" in text else 0.9 for text in batch.outputs])

        def signature(self):
            return {"judge": "fluency-select#1"}

    monkeypatch.setattr(LeakChooser, "_fluency", Fluency())
    monkeypatch.setattr(LeakChooser, "_similarities", lambda self, old, new: [0.9] * len(new))
    monkeypatch.setattr(LeakChooser, "leaks", lambda self, texts: [0.5 * ("husband" in text) for text in texts])
    text, ways = "my husband had the food", ["my partner had the food"]
    assert LeakChooser("gender", alpha=0.6).chosen([text], [ways])[0].output == ways[0]
    strict = LeakChooser("gender", alpha=0.6, fluent=True)
    assert strict.chosen([text], [ways])[0].output == text
    assert strict.fingerprints[-1] == "fluency-select#1"


# --- paraphrases -----------------------------------------------------------------------------------------------------


def test_the_paraphraser_gives_as_many_as_are_wanted(inner, paraphraser):
    made = Paraphrase().rewrite(["my wife had the food there"], "gender", candidates=2)
    assert made == [["Well, my wife had the food there", "my partner had the food there"]]
    (foreign,) = Paraphrase().rewrites(["Добрый день"], Request(to="gender"))
    assert (foreign.outputs, foreign.flags) == (("Добрый день",), ("not English",))


def test_of_many_paraphrases_the_least_telling_is_given(inner, paraphraser):
    text = "my husband had the food there"
    (made,) = RiskRerank(words=False).rewrites([text], Request(to="gender"))
    assert made.outputs[0] == "my partner had the food there"
    assert made.selected_with[0] == inner.card.fingerprint


def test_systems_are_known_by_name():
    assert systems["lexical"] is Lexical
    assert systems["risk-rerank"] is RiskRerank
    assert systems["paraphrase"] is _paraphrase.Paraphrase


# --- the verb --------------------------------------------------------------------------------------------------------


def test_text_in_neutral_text_out(inner, paraphraser, capfd):
    code, out, err = run_restyle(capfd, "obfuscate", "--attribute", "gender", "my husband had the food there")
    assert (code, out) == (0, "my partner had the food there\n")
    assert err.startswith("restyle: leak 0.")
    assert err.endswith("(1 text)\n")


def test_records_say_what_each_gives_away(inner, paraphraser, capfd):
    code, out, _ = run_restyle(
        capfd, "obfuscate", "--attribute", "gender", "--explain", "my husband had the food there", "Добрый день", "12"
    )
    first, foreign, number = map(json.loads, out.splitlines())
    assert code == 0
    assert first["leak_before"] > 0.3 > first["leak_after"]
    assert (first["target"], first["system"], first["attribute"]) == ("neutral", "risk-rerank", "gender")
    assert first["selected_with"][0] == inner.card.fingerprint
    assert (foreign["output"], foreign["flags"]) == ("Добрый день", ["not English"])
    assert (number["output"], number["flags"]) == ("12", ["no words"])


def test_what_is_under_the_limit_is_left_alone_and_what_cannot_be_brought_there_is_told(
    inner, paraphraser, capfd, monkeypatch
):
    monkeypatch.setattr(Lexical, "_nearest", lambda self, word, judge: None)
    text, telling = "giraffes sleep standing", "salon husband lovely salon lovely"
    code, out, err = run_restyle(
        capfd, "obfuscate", "--attribute", "gender", "--max-leak", "0.3", "--explain", text, telling
    )
    alone, still = map(json.loads, out.splitlines())
    assert code == 0
    assert alone["output"] == text and "selected_with" not in alone
    assert text not in paraphraser.asked
    assert still["flags"][-1] == "still leaks"
    assert still["leak_after"] > 0.3
    assert "1 were under it already and left alone" in err
    assert "flagged: still leaks (1)" in err


def test_flags_are_those_of_the_rewrite_that_was_chosen(inner, paraphraser, capfd, monkeypatch):
    ways = [Written("my husband never paid there", -0.1, True), Written("my partner paid there", -0.1, True)]
    monkeypatch.setattr(Writer, "_ways", lambda self, text: ways)
    command = ["obfuscate", "--attribute", "gender", "--explain", "my husband paid 7 there"]
    _, out, _ = run_restyle(capfd, *command)
    record = json.loads(out)
    assert (record["output"], record["flags"]) == ("my partner paid there", ["lost: 7"])
    monkeypatch.setattr(Writer, "_ways", lambda self, text: ways[:1])
    _, out, _ = run_restyle(capfd, *command, "--system", "paraphrase")
    assert json.loads(out)["flags"] == ["negation changed", "lost: 7"]


def test_names_can_get_tags(inner, paraphraser, capfd):
    code, out, _ = run_restyle(
        capfd, "obfuscate", "--attribute", "gender", "--system", "copy", "--mask", "addresses", "ask @ann there"
    )
    assert (code, out) == (0, "ask -HANDLE- there\n")
    code, _, err = run_restyle(capfd, "obfuscate", "--attribute", "gender", "--mask", "nams", "x")
    assert code == 2
    assert "did you mean names" in err


def test_what_cannot_be_meant_is_told_in_a_line(inner, paraphraser, capfd):
    assert run_restyle(capfd, "obfuscate", "x") == (
        2, "", "restyle: no attribute was given; name what is to be hidden: --attribute gender\n",
    )  # fmt: skip
    code, _, err = run_restyle(capfd, "obfuscate", "--attribute", "gendre", "x")
    assert (code, err) == (2, "restyle: no attribute is called 'gendre'; did you mean gender?\n")
    code, _, err = run_restyle(capfd, "obfuscate", "--attribute", "gender", "--system", "lexcal", "x")
    assert (code, err) == (2, "restyle: no system or pack is called 'lexcal'; did you mean lexical?\n")


def test_a_document_keeps_its_layout(inner, paraphraser, capfd, tmp_path):
    (tmp_path / "in.md").write_text("# A title\n\nMy husband had the food there.\n\n    code husband\n")
    code, _, _ = run_restyle(
        capfd, "obfuscate", "--attribute", "gender", "--document", "-i", tmp_path / "in.md", "-o", tmp_path / "out.md"
    )
    assert code == 0
    assert "My partner had the food there." in (tmp_path / "out.md").read_text()
    assert "code husband" in (tmp_path / "out.md").read_text()


def test_an_interrupted_run_goes_on(inner, paraphraser, capfd, tmp_path, monkeypatch):
    lines = [f"my husband had the food there {number}" for number in range(20)]
    (tmp_path / "in.txt").write_text("\n".join([*lines[:12], "stop here", *lines[12:]]) + "\n")
    command = ["obfuscate", "--attribute", "gender", "-i", tmp_path / "in.txt", "-o", tmp_path / "out.jsonl",
               "--shard-size", "4"]  # fmt: skip
    code, _, _ = run_restyle(capfd, *command)
    assert code == 130
    done = len(paraphraser.asked)
    monkeypatch.setattr(Writer, "write", lambda self, texts, decoding: (
        self.asked.extend(texts), [self._ways(text)[: decoding.candidates] for text in texts])[1])  # fmt: skip
    code, _, _ = run_restyle(capfd, *command)
    assert code == 0
    assert not any(text in paraphraser.asked[done:] for text in lines[:12])
    assert len(list(read_records(tmp_path / "out.jsonl", text_column="output"))) == 21
    assert 'attribute = "gender"' in (tmp_path / "out.jsonl.settings.toml").read_text()


def test_a_system_of_words_waits_for_no_network_to_be_imported():
    said = "import sys, restyle.cli.obfuscate; print(*{'torch', 'transformers', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_the_work_can_be_sent_to_another_process(inner):
    from restyle.rewriters.privacy.records import ObfuscateRecords, ObfuscateSettings, opened

    settings = ObfuscateSettings(attribute="gender", system="lexical")
    work = functools.partial(ObfuscateRecords, opened(settings), settings)
    records = [{"id": "1", "text": "my husband loved the salon"}, {"id": "2", "text": "a lovely steak", "mine": 3}]
    here = work()(records)
    there = pickle.loads(pickle.dumps(work))()(records)
    assert there == here
    assert here[1]["mine"] == 3
