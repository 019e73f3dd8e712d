"""Attacks on labelled texts: what they find, what is refused, and the words of Figure 3."""

import random
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn")

from restyle.errors import InputError, MissingExtra, UnknownName, UsageError
from restyle.metrics import Batch, judges
from restyle.metrics.judges import Card, WordJudge, load_judge, sha256_of, write_card
from restyle.metrics.leakage import Leak, attacker, attributes, entropy, leak
from restyle.metrics.privacy import (
    AuditSettings,
    Rewritten,
    audited,
    checked_labels,
    read_labelled,
    read_rewritten,
    save_plot,
    word_shares,
)
from restyle.nets.word_weights import WordWeights, tokens_of

TELLING = {"female": ["husband", "lovely", "salon"], "male": ["wife", "solid", "steak"]}
PLAIN = ["the", "a", "was", "we", "went", "to", "food", "place", "and", "had", "nice", "service", "again", "today"]


def texts_of(number, seed=0):
    """Texts and labels: plain words, with one or two that one side writes in four of five texts."""
    drawn = random.Random(seed)
    texts, labels = [], []
    for place in range(number):
        label = ("female", "male")[place % 2]
        words = drawn.choices(PLAIN, k=6)
        if drawn.random() < 0.8:
            words[drawn.randrange(6)] = drawn.choice(TELLING[label])
        texts.append(" ".join(words) + f" {place}")
        labels.append(label)
    return tuple(texts), tuple(labels)


TEXTS, LABELS = texts_of(300)
SWAP = {ours: theirs for pair in zip(*TELLING.values(), strict=True) for ours, theirs in (pair, pair[::-1])}


def rewritten(system, change):
    outputs = tuple(" ".join(change(word) for word in text.split()) for text in TEXTS)
    return Rewritten(system, TEXTS, outputs, LABELS)


ORIGINALS = Rewritten("mine", TEXTS, TEXTS, LABELS)
DROPPED = rewritten("drop", lambda word: "" if word in SWAP else word)
SWAPPED = rewritten("swap", lambda word: SWAP.get(word, word))


@pytest.fixture
def own(monkeypatch, tmp_path):
    """The folder of the user's judges; none is bundled."""
    monkeypatch.setenv("RESTYLE_HOME", str(tmp_path))
    monkeypatch.setattr(judges, "bundled_folder", lambda: tmp_path / "none")
    return tmp_path / "judges"


def run_restyle(capfd, *arguments):
    """Exit code, stdout and stderr of a call."""
    from restyle.cli import main

    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code, *capfd.readouterr()


def word_judge(folder, name, texts, labels, part="report"):
    numbers = [("female", "male").index(label) for label in labels]
    weights = WordWeights.fit([tokens_of(text) for text in texts], numbers, ["female", "male"]).having_seen(texts)
    weights.save(folder / name / "words.safetensors")
    card = Card(name, "words", "attribute", part, ("female", "male"), l2=weights.l2)
    write_card(replace(card, sha256=sha256_of(card, folder / name)), folder / name)
    judges._loaded.cache_clear()  # a judge may take the place of one of its name
    return load_judge(folder / name)


# --- leak ------------------------------------------------------------------------------------------------------------


def test_leak_is_how_far_a_guess_is_from_knowing_nothing():
    guesses = np.array([[0.5, 0.5], [0.2, 0.8], [0.8, 0.2], [0.0, 1.0]])
    assert leak(guesses).tolist() == pytest.approx([0, 0.6, 0.6, 1])
    assert entropy(guesses).tolist() == pytest.approx([1, 0.7219, 0.7219, 0], abs=1e-4)
    thirds = np.array([[1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
    assert leak(thirds).tolist() == pytest.approx([0, 1])
    assert entropy(thirds).tolist() == pytest.approx([1, 0])


def test_the_metric_is_the_leak_under_the_evaluator(own):
    judge = word_judge(own, "gender-report", TEXTS, LABELS)
    found = Leak("gender").score(Batch(["my husband", "", "giraffe"]))
    assert found[0] == pytest.approx(float(leak(judge.probabilities(["my husband"]))[0]))
    assert found[0] > 0.5
    assert found[1] == 0
    assert Leak(judge).signature() == {"metric": "leak", "judge": judge.card.fingerprint}


def test_attributes_are_those_with_an_attacker_in_both_sets(own):
    word_judge(own, "gender-report", TEXTS, LABELS)
    assert attributes() == ()
    word_judge(own, "gender-select", TEXTS, LABELS, part="select")
    assert attributes() == ("gender",)
    assert isinstance(attacker("gender", "select"), WordJudge)
    with pytest.raises(UnknownName, match="no attribute is called 'gendre'; did you mean gender"):
        attacker("gendre", "select")


def test_the_bundled_attackers_are_there_and_small():
    assert {"gender", "politics"} <= set(attributes())
    for name in ("gender", "politics"):
        inner, evaluator = (attacker(name, part) for part in ("select", "report"))
        assert inner.card.results["test"].low > 0.69
        assert not np.isin(inner.model.known, evaluator.model.known).mean() > 0.001
        assert (inner.folder / "words.safetensors").stat().st_size < 400_000


# --- attacks ---------------------------------------------------------------------------------------------------------


def test_an_attacker_finds_what_is_there_and_names_the_words():
    found = audited([ORIGINALS])
    (attack,) = found.attacks
    assert (attack.system, attack.trained, attack.texts, attack.flipped) == ("originals", "static", 300, None)
    assert 0.8 < attack.low < attack.accuracy < attack.high < 1
    assert attack.advantage == pytest.approx(attack.accuracy - 0.5)
    assert {word for word, _ in found.words["female"][:3]} == set(TELLING["female"])


def test_a_system_that_drops_the_words_leaves_nothing_to_an_attacker_who_adapts():
    by = {(each.system, each.trained): each for each in audited([DROPPED]).attacks}
    assert by["drop", "static"].leak < by["originals", "static"].leak / 2
    assert by["drop", "retrained"].low < 0.5 < by["drop", "retrained"].high


def test_a_system_that_swaps_the_class_is_seen():
    by = {(each.system, each.trained): each for each in audited([SWAPPED]).attacks}
    assert by["swap", "static"].accuracy < 0.25
    assert by["swap", "static"].flipped > 0.7
    # Always wrong knows as much as always right, and the one who adapts is right.
    assert by["swap", "static"].advantage > 0.25
    assert by["swap", "retrained"].accuracy == pytest.approx(by["originals", "static"].accuracy, abs=0.03)


def test_nothing_is_guessed_by_one_who_learned_from_it():
    # Each text has a word of its own beside the plain ones, and stands there three times: learned by heart it would
    # always be found, and otherwise only by chance.
    texts = tuple(f"the food was w{place}" for place in range(60)) * 3
    labels = tuple(random.Random(5).choices(("a", "b"), k=60)) * 3
    (attack,) = audited([Rewritten("x", texts, texts, labels)]).attacks
    assert attack.accuracy < 0.6


def test_attackers_may_learn_from_other_texts():
    texts, labels = texts_of(600, seed=1)
    more = Rewritten("mine", texts, texts, labels)
    found = audited([DROPPED], train=[more])
    assert found.attacks[0].accuracy > 0.8
    assert any("600 other texts" in note for note in found.notes)
    assert any("no other texts are written by drop" in note for note in found.notes)
    swapped = tuple(" ".join(SWAP.get(word, word) for word in text.split()) for text in texts)
    adapted = audited([SWAPPED], train=[Rewritten("swap", texts, swapped, labels)])
    assert adapted.attacks[-1].trained == "retrained"
    assert adapted.attacks[-1].accuracy > 0.8


def test_a_second_kind_of_attacker_learns_too(monkeypatch):
    pytest.importorskip("torch")
    from restyle.nets import classifier_training, encoder

    asked = []

    class Network:
        def probabilities(self, texts):
            asked.append(list(texts))
            return np.tile([0.25, 0.75], (len(texts), 1))

    monkeypatch.setattr(encoder.EncoderClassifier, "new", lambda labels, settings, **more: Network())
    monkeypatch.setattr(classifier_training, "fit", lambda network, examples, training, folder, **more: [])
    emptied = replace(DROPPED, outputs=("", *DROPPED.outputs[1:]))
    by = {
        (each.system, each.trained): each for each in audited([emptied], AuditSettings(attackers=("network",))).attacks
    }
    assert by["originals", "static"].accuracy == 0.5
    assert by["drop", "retrained"].leak == pytest.approx(0.5 * 299 / 300)
    assert all(texts for texts in asked)


def test_unequal_labels_weigh_the_same():
    few = [place for place in range(300) if LABELS[place] == "female" or place < 60]
    texts, labels = tuple(TEXTS[place] for place in few), tuple(LABELS[place] for place in few)
    found = audited([Rewritten("x", texts, texts, labels)], AuditSettings(folds=3))
    assert any("the labels are unequal (female 150, male 30)" in note for note in found.notes)
    assert 0.6 < found.attacks[0].accuracy < 1


# --- what is refused -------------------------------------------------------------------------------------------------


def test_one_label_is_refused():
    with pytest.raises(InputError, match=r"all texts have one label \(female\)"):
        checked_labels(["female"] * 50, 5)


def test_too_few_of_a_label_are_refused():
    with pytest.raises(InputError, match="too few texts to tell anything: male 5"):
        checked_labels(["female"] * 495 + ["male"] * 5, 20)


@pytest.mark.parametrize("typo", ["femal", "Female", "femlae"])
def test_a_label_with_a_typo_is_told(typo):
    with pytest.raises(InputError, match=f"the label '{typo}' stands at 3 texts only; did you mean female"):
        checked_labels(["female"] * 100 + ["male"] * 100 + [typo] * 3, 2)
    assert checked_labels(["female"] * 100 + ["male"] * 90, 2) == ["female", "male"]


def test_an_evaluator_that_chose_the_outputs_is_refused(own):
    judge = word_judge(own, "gender-report", *texts_of(300, seed=7))
    chosen = replace(DROPPED, selected_with=(judge.card.fingerprint,))
    with pytest.raises(UsageError, match="gender-report is the attacker inside the system, which cannot evaluate it"):
        audited([chosen], AuditSettings(evaluator="gender-report"))


def test_an_evaluator_of_the_same_data_as_the_inner_attacker_is_refused(own):
    texts, labels = texts_of(300, seed=7)
    inner = word_judge(own, "gender-select", texts, labels, part="select")
    word_judge(own, "gender-report", texts[150:], labels[150:])
    chosen = replace(DROPPED, selected_with=(inner.card.fingerprint, "of-another-machine#12345678"))
    with pytest.raises(
        UsageError, match="100% of what gender-report has learned from are texts from which gender-select"
    ):
        audited([chosen], AuditSettings(evaluator="gender-report"))
    other, others = texts_of(300, seed=8)
    word_judge(own, "other-report", other, others)
    assert audited([chosen], AuditSettings(evaluator="other-report")).attacks[0].attacker == "other-report"


def test_an_audit_of_what_the_inner_attacker_learned_from_is_refused(own):
    inner = word_judge(own, "gender-select", TEXTS, LABELS, part="select")
    with pytest.raises(UsageError, match="100% of the texts of this audit are texts from which gender-select"):
        audited([replace(DROPPED, selected_with=(inner.card.fingerprint,))])


def test_systems_that_answer_other_texts_are_refused():
    other = replace(DROPPED, inputs=TEXTS[::-1])
    with pytest.raises(InputError, match="answers other texts"):
        audited([SWAPPED, other])
    with pytest.raises(UnknownName, match="attacker"):
        AuditSettings(attackers=("wrods",))


def test_an_evaluator_of_other_labels_is_refused(own):
    word_judge(own, "gender-report", TEXTS, LABELS)
    texts = replace(ORIGINALS, labels=tuple(label[:1] for label in LABELS))
    with pytest.raises(UsageError, match="tells female, male apart, and these texts are f, m"):
        audited([texts], AuditSettings(evaluator="gender-report"))


# --- files -----------------------------------------------------------------------------------------------------------


def test_texts_are_read_with_their_labels(tmp_path):
    (tmp_path / "mine.tsv").write_text("text\tgender\nOne.\tfemale\nTwo.\tmale\n")
    assert [(row["text"], row["gender"]) for row in read_labelled(tmp_path / "mine.tsv", "gender")] == [
        ("One.", "female"), ("Two.", "male"),
    ]  # fmt: skip
    with pytest.raises(UnknownName, match="'gendre'; did you mean gender"):
        read_labelled(tmp_path / "mine.tsv", "gendre")
    (tmp_path / "gap.tsv").write_text("text\tgender\nOne.\tfemale\nTwo.\t\n")
    with pytest.raises(InputError, match="text 2 .*it has no gender"):
        read_labelled(tmp_path / "gap.tsv", "gender")
    (tmp_path / "none.tsv").write_text("text\tgender\n")
    with pytest.raises(InputError, match="holds no texts"):
        read_labelled(tmp_path / "none.tsv", "gender")


def test_rewrites_are_read_by_system(tmp_path):
    line = '{"id": "1", "input": "a", "output": "b", "system": "%s", "sex": 1, "selected_with": ["g#1"]}\n'
    (tmp_path / "out.jsonl").write_text(line % "x" + line % "y")
    found = read_rewritten(tmp_path / "out.jsonl", "sex")
    assert [(each.system, each.inputs, each.outputs, each.labels, each.selected_with) for each in found] == [
        ("x", ("a",), ("b",), ("1",), ("g#1",)), ("y", ("a",), ("b",), ("1",), ("g#1",)),
    ]  # fmt: skip


# --- figure 3 --------------------------------------------------------------------------------------------------------


def test_tokens_fall_into_the_bins_of_figure_3():
    words = {"a": -0.9, "b": -0.3, "c": -0.2, "d": -0.1, "e": 0.0, "f": 0.1, "g": 0.2, "h": 0.3, "i": 0.4}
    weights = WordWeights(("female", "male"), tuple(words), np.array([list(words.values())]), np.zeros(1))
    (found,) = word_shares({"x": ["a b c d", "e f g h", "i j"]}, weights)
    # The upper end belongs to a bin, and a word without a weight is neutral.
    assert found.shares == pytest.approx((0.2, 0.2, 0.3, 0.2, 0.1))
    assert (found.tokens, found.neutral) == (10, found.shares[2])
    with pytest.raises(InputError, match="x wrote no words"):
        word_shares({"x": [""]}, weights)


def test_figure_3_is_drawn_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib")
    weights = WordWeights(("female", "male"), ("a",), np.array([[-0.9]]), np.zeros(1))
    shares = word_shares({"x": ["a b"], "y": ["b b"]}, weights)
    for name in ("one.svg", "two.svg"):
        save_plot(shares, ("female", "male"), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    with pytest.raises(UsageError, match="neither"):
        save_plot(shares, ("female", "male"), tmp_path / "one.gif")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    weights = WordWeights(("female", "male"), ("a",), np.array([[-0.9]]), np.zeros(1))
    with pytest.raises(MissingExtra, match=r"restyle\[plot\]"):
        save_plot(word_shares({"x": ["a"]}, weights), ("female", "male"), tmp_path / "x.png")
