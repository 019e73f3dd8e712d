from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from restyle.corpora import Corpus  # noqa: E402
from restyle.errors import Corrupt, InputError, UnknownName, UsageError  # noqa: E402
from restyle.evaluation import Outputs, ScoreSettings, score_systems  # noqa: E402
from restyle.metrics import Batch, judges  # noqa: E402
from restyle.metrics.fluency import Fluency, FluencyProbability, Perplexity  # noqa: E402
from restyle.metrics.judges import (  # noqa: E402
    Card,
    Judge,
    LinearJudge,
    NetworkJudge,
    bundled_folder,
    judge_of,
    load_judge,
    write_card,
)
from restyle.metrics.ngram_classifier import NgramClassifier  # noqa: E402
from restyle.metrics.similarity_glove import SimGlove, SimGloveRef  # noqa: E402
from restyle.metrics.similarity_minilm import SimInput, SimRef  # noqa: E402
from restyle.metrics.style import LinearStyleAccuracy, StyleAccuracy, StyleProbability  # noqa: E402
from restyle.metrics.training import JudgeSettings, _data, gathered, train_judge  # noqa: E402
from restyle.metrics.training._broken import broken  # noqa: E402
from restyle.metrics.training._measures import mcc, measured, wilson  # noqa: E402
from restyle.metrics.training._train import _first  # noqa: E402

OLD = [f"thou {verb} {who} , and hath no peace" for verb in ("seest", "lovest", "art") for who in ("me", "him", "us")]
NEW = [f"you {verb} {who} , and there is no peace" for verb in ("see", "love", "are") for who in ("me", "him", "us")]


class Fake(Judge):
    """Says of each text what was written down for it, and remembers what it was asked."""

    def __init__(self, labels: tuple[str, ...], said: dict[str, list[float]], **card: object) -> None:
        super().__init__(
            Card(name="fake-report", kind="network", task="style", part="report", labels=labels, **card),  # type: ignore[arg-type]
            Path(),
        )
        self.said, self.asked = said, list[str]()

    def ready(self):
        pass

    def _probabilities(self, texts):
        self.asked += texts
        return np.array([self.said[text] for text in texts])


@pytest.fixture
def fake() -> Fake:
    said = {"Art thou mad?": [0.9, 0.1], "Are you mad?": [0.2, 0.8]}
    return Fake(("shakespeare", "modern"), said, aliases={"original": "shakespeare"})


def save_linear(folder: Path, name: str, labels: tuple[str, ...] = ("shakespeare", "modern"), **card: object) -> Path:
    """A linear judge of the toy sentences, in a folder."""
    texts, numbers = [*OLD, *NEW], [0] * len(OLD) + [1] * len(NEW)
    for extra in range(2, len(labels)):
        texts += [f"{labels[extra]} sings" for _ in range(3)]
        numbers += [extra] * 3
    NgramClassifier.fit(texts, numbers, labels).save(folder / "linear.safetensors")
    made = Card(name=name, kind="linear", task="style", part="report", labels=labels)
    sha256 = judges.sha256_of(made, folder)
    fields = {"name": name, "kind": "linear", "task": "style", "part": "report", "labels": labels, "sha256": sha256}
    write_card(Card(**{**fields, **card}), folder)  # type: ignore[arg-type]
    return folder


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the user's judges; none is bundled."""
    monkeypatch.setenv("RESTYLE_HOME", str(tmp_path))
    monkeypatch.setattr(judges, "bundled_folder", lambda: tmp_path / "none")
    return tmp_path / "judges"


# --- verdicts --------------------------------------------------------------------------------------------------------


def test_acc_is_one_where_the_judge_finds_the_target(fake: Fake) -> None:
    batch = Batch(["Art thou mad?", "Are you mad?"], target="shakespeare")
    assert StyleAccuracy(fake).score(batch).tolist() == [1, 0]
    assert StyleProbability(fake).score(batch).tolist() == [0.9, 0.2]
    assert StyleAccuracy(fake).predict(["Are you mad?"]) == ["modern"]


def test_a_style_may_have_another_name(fake: Fake) -> None:
    assert StyleAccuracy(fake).score(Batch(["Art thou mad?"], target="original")).tolist() == [1]
    assert StyleAccuracy(fake).styles == ("shakespeare", "modern", "original")


def test_an_empty_output_has_no_style_and_is_not_fluent(fake: Fake) -> None:
    for metric in (StyleAccuracy(fake), StyleProbability(fake)):
        assert metric.score(Batch(["", " \x00 ", "Art thou mad?"], target="shakespeare")).tolist()[:2] == [0, 0]
    fluent = Fake(("acceptable", "unacceptable"), {})
    assert Fluency(fluent).score(Batch([""])).tolist() == [0]
    assert FluencyProbability(fluent).score(Batch([""])).tolist() == [0]
    assert fake.verdicts([""]) == [""]


def test_equal_texts_are_judged_once_and_tokenised_ones_are_cleaned(fake: Fake) -> None:
    fake.probabilities(["Art thou mad?", "Art thou mad ?", "Are you mad?", "Art thou mad?"])
    assert fake.asked == ["Art thou mad?", "Are you mad?"]


def test_a_target_that_the_judge_does_not_know_is_named(fake: Fake) -> None:
    with pytest.raises(UnknownName, match="shakespeare"):
        StyleAccuracy(fake).score(Batch(["Are you mad?"], target="shakespear"))
    with pytest.raises(UsageError, match="needs target"):
        StyleAccuracy(fake).score(Batch(["Are you mad?"]))


def test_of_two_labels_the_first_is_given_from_the_threshold_on() -> None:
    said = {"a": [0.7, 0.3], "b": [0.69, 0.31]}
    fluent = Fake(("acceptable", "unacceptable"), said, threshold=0.7)
    assert Fluency(fluent).score(Batch(["a", "b"])).tolist() == [1, 0]
    assert FluencyProbability(fluent).score(Batch(["a", "b"])).tolist() == [0.7, 0.69]


def test_of_many_labels_the_likeliest_is_given() -> None:
    many = Fake(("x", "y", "z"), {"a": [0.3, 0.3, 0.4]})
    assert many.verdicts(["a"]) == ["z"]


def test_fluency_wants_a_judge_of_fluency(fake: Fake) -> None:
    with pytest.raises(UnknownName, match="acceptable"):
        Fluency(fake)


# --- which judge -----------------------------------------------------------------------------------------------------


def test_a_judge_is_found_by_name_by_name_and_set_and_by_folder(own: Path) -> None:
    folder = save_linear(own / "plays-report", "plays-report")
    for named in ("plays-report", "plays", folder):
        assert load_judge(named).card.name == "plays-report"
    with pytest.raises(UnknownName, match="did you mean plays-report"):
        load_judge("play-report")
    with pytest.raises(UnknownName):
        load_judge("plays", part="select")


def test_a_target_is_judged_by_the_judge_of_the_fewest_styles(own: Path) -> None:
    save_linear(own / "a-report", "a-report", ("shakespeare", "modern", "bible"))
    save_linear(own / "b-report", "b-report")
    assert judge_of(["shakespeare"], kind="linear").card.name == "b-report"
    assert judge_of(["shakespeare", "bible"], kind="linear").card.name == "a-report"
    with pytest.raises(UsageError, match="train one"):
        judge_of(["pirate"], kind="linear")
    with pytest.raises(UsageError, match="set select"):
        judge_of(["shakespeare"], kind="linear", part="select")


def test_a_metric_names_its_judge_once_it_is_chosen(own: Path) -> None:
    save_linear(own / "plays-report", "plays-report")
    metric = LinearStyleAccuracy()
    assert not hasattr(metric, "predict")
    assert not hasattr(metric, "styles")
    assert "plays-report#" in metric.signature()["judge"]
    chosen = metric.for_targets(["modern"])
    assert chosen.predict(OLD[:1]) == ["shakespeare"]
    assert chosen.signature()["judge"] == load_judge("plays").card.fingerprint
    batch = Batch([OLD[0], NEW[0]], target="modern")
    assert chosen.score(batch).tolist() == metric.score(batch).tolist() == [0, 1]


def test_a_network_beside_a_linear_judge_gives_the_product(own: Path) -> None:
    linear = load_judge(save_linear(own / "plays-linear-report", "plays-linear-report"))
    card = Card("plays-report", "network", "style", "report", linear.card.labels, beside=linear.card.fingerprint)
    judge = NetworkJudge(card, own)
    judge.__dict__["_network"] = Fake(linear.card.labels, {"thou art mad": [0.25, 0.75]})
    alone = linear.probabilities(["thou art mad"])[0] * [0.25, 0.75]
    assert judge.probabilities(["thou art mad"])[0] == pytest.approx(alone / alone.sum(), abs=1e-5)
    assert card.fingerprint.endswith(f"*{linear.card.fingerprint}")


def test_a_network_beside_another_linear_judge_than_it_was_measured_with_is_refused(own: Path) -> None:
    save_linear(own / "plays-linear-report", "plays-linear-report")
    card = Card("x", "network", "style", "report", ("shakespeare", "modern"), beside="plays-linear-report#00000000")
    with pytest.raises(Corrupt, match="measured beside"):
        _ = NetworkJudge(card, own)._linear


def test_weights_that_are_not_those_of_the_card_are_refused(own: Path) -> None:
    save_linear(own / "plays-report", "plays-report", sha256="0" * 64)
    with pytest.raises(Corrupt, match="train the judge again"):
        load_judge("plays")


def test_a_card_is_written_and_read_back(tmp_path: Path) -> None:
    card = Card(
        "plays-report",
        "linear",
        "style",
        "report",
        ("a", "b"),
        {"x": "a"},
        0.6,
        results={"test": measured([0, 1], [0, 0], 2)},
    )
    write_card(card, tmp_path)
    assert judges.read_card(tmp_path) == card


# --- the linear judge ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [("shakespeare", "modern"), ("shakespeare", "modern", "bible")])
def test_a_linear_judge_comes_back_with_the_same_probabilities(tmp_path: Path, labels: tuple[str, ...]) -> None:
    texts, numbers = [*OLD, *NEW, *["in the beginning"] * 3], [0] * len(OLD) + [1] * len(NEW) + [len(labels) - 1] * 3
    model = NgramClassifier.fit(texts, numbers, labels)
    model.save(tmp_path / "linear.safetensors")
    back = NgramClassifier.load(tmp_path / "linear.safetensors", labels)
    assert back.probabilities(texts).tolist() == model.probabilities(texts).tolist()
    assert (back.probabilities([*OLD, *NEW]).argmax(1) == numbers[: len(OLD) + len(NEW)]).all()
    assert np.allclose(back.probabilities(["", *texts]).sum(1), 1)


def test_the_heaviest_words_of_a_label_are_its_own(tmp_path: Path) -> None:
    judge = load_judge(save_linear(tmp_path, "plays-report"))
    assert isinstance(judge, LinearJudge)
    words = {label: [word for word, _ in judge.model.top(label, 9)] for label in judge.card.labels}
    assert "thou" in words["shakespeare"]
    assert "you" in words["modern"]
    assert not set(words["shakespeare"]) & set(words["modern"])
    with pytest.raises(UsageError, match="no label"):
        judge.model.top("bible")


def test_a_linear_file_for_other_labels_is_refused(tmp_path: Path) -> None:
    save_linear(tmp_path, "plays-report")
    with pytest.raises(InputError, match="names 3"):
        NgramClassifier.load(tmp_path / "linear.safetensors", ("a", "b", "c"))


# --- training --------------------------------------------------------------------------------------------------------


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """Sixty sentences a style to train on, of which some are also in the test."""
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy"]
    lines = {
        style: [start.format(f"{ten}-{number}") for ten in tens for number in numbers]
        for style, start in (("old", "Thou hast {} cows in thy field"), ("new", "You have {} cows in your field"))
    }
    made = Corpus.of("farm", {style: {"train": all_, "test": all_[::9]} for style, all_ in lines.items()})
    monkeypatch.setattr(_data, "load", lambda name: made)
    return made


def test_the_two_sets_share_no_sentence_and_leak_no_test(corpus: Corpus) -> None:
    sources = _data.sources_of(["farm"])
    select, report = (gathered(sources, part, share=0.4, limit=None, seed=0) for part in ("select", "report"))
    for label in ("old", "new"):
        chosen, reported = set(select.train.texts[label]), set(report.train.texts[label])
        held = {text for data in (select, report) for part in (data.valid, data.test) for text in part.texts[label]}
        assert chosen and reported
        assert not chosen & reported
        assert not (chosen | reported) & held


def test_a_limit_takes_so_many_of_each_source_and_the_seed_decides_which(corpus: Corpus) -> None:
    sources = _data.sources_of(["farm"])
    drawn = [gathered(sources, "report", share=0.2, limit=5, seed=seed).train for seed in (0, 0, 1)]
    assert drawn[0].counts() == {"old": 5, "new": 5}
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("named", "error", "says"),
    [
        (["farm/young"], UnknownName, "young"),
        (["farm=old"], UsageError, "name the style"),
        (["farm/old"], UsageError, "at least two labels"),
    ],
)
def test_a_source_that_cannot_be_meant_is_refused(corpus: Corpus, named, error, says) -> None:
    with pytest.raises(error, match=says):
        _data.sources_of(named)


def test_training_writes_a_judge_with_its_card(corpus: Corpus, own: Path) -> None:
    settings = JudgeSettings(name="farm", corpora=("farm",), kind="linear", seed=3)
    card = train_judge(settings, own / settings.full_name)
    assert card.results["test"].accuracy == 1
    judge = load_judge("farm-linear-report")
    assert judge.card == card
    assert judge.verdicts(["Thou hast no cows"]) == ["old"]
    assert card.sha256 in (own / "farm-linear-report" / "README.md").read_text()


def test_a_judge_can_be_measured_on_a_draw_of_its_test_and_the_card_says_of_how_many(corpus: Corpus, own: Path) -> None:
    settings = JudgeSettings(name="farm", corpora=("farm",), kind="linear", measured=6)
    made = [train_judge(settings, own / folder) for folder in ("first", "second")]
    assert made[0] == made[1]
    result = made[0].results["test"]
    assert (result.sentences, result.drawn_from) == (6, 14)
    assert "## test: 6 sentences, drawn from 14" in (own / "first" / "README.md").read_text()
    assert "--measured 6" in made[0].command
    whole = train_judge(JudgeSettings(name="farm", corpora=("farm",), kind="linear", measured=14), own / "third")
    assert (whole.results["test"].sentences, whole.results["test"].drawn_from) == (14, 0)


def test_the_card_holds_the_command_that_makes_it_again(corpus: Corpus) -> None:
    settings = JudgeSettings(
        name="farm",
        corpora=("farm/old=x", "farm/new"),
        part="select",
        limit=9,
        network={"layers": 2},
        aliases={"o": "x"},
    )
    assert settings.command() == (
        "restyle judge train farm --corpus farm/old=x --corpus farm/new --limit 9 --set select --alias o=x "
        "--with network.layers=2"
    )


def test_the_same_seed_gives_the_same_linear_bytes(corpus: Corpus, tmp_path: Path) -> None:
    settings = JudgeSettings(name="farm", corpora=("farm",), kind="linear")
    hashes = {train_judge(settings, tmp_path / name).sha256 for name in ("a", "b")}
    assert len(hashes) == 1


def test_a_name_that_cannot_name_a_folder_is_refused() -> None:
    with pytest.raises(UsageError, match="letters, digits"):
        JudgeSettings(name="../x", corpora=("farm",))


def test_broken_sentences_are_other_sentences_and_the_same_every_time() -> None:
    texts = ["The lamp went out, and nobody in the house dared to move.", "I saw her at the fair with two dogs."] * 40
    made = broken(texts, seed=1)
    assert len(made) > 70
    assert not set(made) & set(texts)
    assert all(text[0].isupper() for text in made)
    assert made == broken(texts, seed=1) != broken(texts, seed=2)


def test_what_is_too_short_to_be_broken_is_left_out() -> None:
    assert broken(["Come here.", "", "Yes"]) == []


def test_broken_sentences_join_those_that_they_were_made_from(corpus: Corpus, monkeypatch) -> None:
    sentences = {
        style: {"train": [f"{style} {n} of the {n + 1} cows sleep here" for n in range(40)], "test": ["x y"]}
        for style in ("good", "bad")
    }
    monkeypatch.setattr(_data, "load", lambda name: corpus if name == "farm" else Corpus.of("grammar", sentences))
    data = gathered(
        _data.sources_of(["grammar/good=acceptable", "grammar/bad=unacceptable"]),
        "report",
        share=0.2,
        limit=None,
        seed=0,
    )
    farm = _data.sources_of(["farm/new"], least=1)
    more = _data.with_broken(data, farm, "report", share=0.2, limit=10, seed=0)
    added = {label: more.train.texts[label][len(texts) :] for label, texts in data.train.texts.items()}
    assert len(added["acceptable"]) == 10
    assert 8 <= len(added["unacceptable"]) <= 10
    assert not set(added["acceptable"]) & set(added["unacceptable"])
    assert (more.valid, more.test) == (data.valid, data.test)


def test_sentences_are_broken_for_fluency_only() -> None:
    with pytest.raises(UsageError, match="--task fluency"):
        JudgeSettings(name="farm", corpora=("farm",), broken=("farm/new",))


def test_a_judge_goes_on_from_one_of_the_same_labels_only(own: Path) -> None:
    save_linear(own / "plays-report", "plays-report")
    with pytest.raises(UsageError, match="cannot be gone on from"):
        _first("plays", ("shakespeare", "bible"))
    assert _first("plays", ("shakespeare", "modern")).card.name == "plays-report"


# --- what a result is worth ------------------------------------------------------------------------------------------


def test_correlation_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import confusion_matrix, matthews_corrcoef

    draw = np.random.default_rng(0)
    for labels in (2, 4):
        true, said = draw.integers(labels, size=50), draw.integers(labels, size=50)
        assert mcc(confusion_matrix(true, said)) == pytest.approx(matthews_corrcoef(true, said))
    assert mcc(np.array([[3, 0], [5, 0]])) == 0


def test_the_interval_is_wilsons() -> None:
    """Newcombe 1998, Table I: 81 of 263."""
    assert [round(end, 4) for end in wilson(81, 263)] == [0.2553, 0.3662]


def test_the_perplexity_of_a_corpus_is_not_the_mean_of_its_sentences() -> None:
    counts = np.array([[2.0, 1.0], [3.0, 9.0], [0.0, 0.0]])
    metric = Perplexity("any")
    assert metric.corpus(counts.sum(0)) == pytest.approx(np.exp(0.5))
    assert np.isnan(metric.of_counts(counts)[2])


# --- meaning ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "glove.txt"
    path.write_text("cat 1 0\ndog 0.8 0.6\nsleeps 0 1\n", encoding="utf-8")
    return path


def test_sim_glove_is_the_cosine_of_idf_weighted_vectors(vectors: Path) -> None:
    """Pang and Gimpel Sec. 3.2, by hand: of two inputs one holds dog, both hold sleeps, and none Cat."""
    batch = Batch(["Cat sleeps", "dog"], inputs=["dog sleeps", "sleeps"])
    cat, dog, sleeps = np.log(3 / 1), np.log(3 / 1), np.log(3 / 2)
    ours, theirs = np.array([cat, sleeps]), np.array([0.8 * dog, 0.6 * dog + sleeps])
    expected = ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)
    assert SimGlove(vectors).score(batch) == pytest.approx([expected, 0.6])


def test_what_a_system_writes_elsewhere_changes_no_sim_glove(vectors: Path) -> None:
    inputs = ["dog sleeps", "cat sleeps"]
    one, other = (SimGlove(vectors).score(Batch(["cat sleeps", text], inputs=inputs)) for text in ("cat", "dog dog"))
    assert one[0] == other[0]
    assert SimGlove(vectors).score(Batch(["dog"], inputs=["dog"])).tolist() == [pytest.approx(1)]


def test_a_model_in_a_folder_is_signed_by_its_weights(tmp_path: Path) -> None:
    for metric, key in ((SimInput, "encoder"), (Perplexity, "model")):
        said = []
        for weights in (b"1", b"2"):
            (tmp_path / "mine").mkdir(exist_ok=True)
            (tmp_path / "mine" / "model.safetensors").write_bytes(weights)
            said.append(metric(str(tmp_path / "mine")).signature()[key])
        assert said[0] != said[1]
        assert all(each.startswith("mine#") for each in said)
    assert SimInput().signature()["encoder"].startswith("minilm-l6#")
    assert Perplexity("gpt2").signature()["model"] == "gpt2"


def test_sim_glove_is_signed_by_what_its_vectors_are(vectors: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / vectors.name
    other.parent.mkdir()
    other.write_text(vectors.read_text(encoding="utf-8").upper(), encoding="utf-8")
    one, two = (SimGlove(path).signature()["vectors"] for path in (vectors, other))
    assert one != two
    assert one.startswith(f"{vectors.name}#")
    assert SimGlove().signature()["vectors"] == "spacy-md"


def test_sim_glove_takes_the_best_of_several_references(vectors: Path) -> None:
    batch = Batch(["dog", "cat"], references=[["sleeps", "cat"], ["cat"]])
    assert SimGloveRef(vectors, idf_from=["cat dog", "sleeps", "none"]).score(batch) == pytest.approx([0.8, 1])


def test_a_sentence_without_a_known_word_is_like_none(vectors: Path) -> None:
    assert SimGlove(vectors).score(Batch(["", "xyz", "cat"], inputs=["cat", "cat", ""])).tolist() == [0, 0, 0]


def test_the_idf_is_in_the_signature(vectors: Path) -> None:
    named = {SimGlove(vectors, idf_from=texts).signature()["idf"] for texts in (None, ["cat"], ["dog"])}
    assert len(named) == 3


def test_a_file_of_vectors_that_is_none_is_refused_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("cat 1 0\ndog 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        SimGlove(path).score(Batch(["cat"], inputs=["dog"]))
    with pytest.raises(InputError, match="no file of word vectors"):
        SimGlove(tmp_path / "none.txt").score(Batch(["cat"], inputs=["dog"]))


def test_an_output_without_reference_is_named(vectors: Path) -> None:
    with pytest.raises(InputError, match="sentence 2 has no reference"):
        SimGloveRef(vectors).score(Batch(["cat", "dog"], references=[["cat"], []]))


class Lengths:
    """Takes two texts for the more alike the nearer their lengths are."""

    def cosines(self, ours, theirs):
        return np.array([1 / (1 + abs(len(our) - len(their))) for our, their in zip(ours, theirs, strict=True)])


def test_sim_takes_the_best_of_several_references_and_nothing_is_like_the_empty(monkeypatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("restyle.nets.embedding.embedder", lambda name: Lengths())
    batch = Batch(["four", "", "same"], references=[["x", "abc"], ["x"], ["same"]], inputs=["fours", "x", ""])
    assert SimRef().score(batch).tolist() == [0.5, 0, 1]
    assert SimInput().score(batch).tolist() == [0.5, 0, 0]


# --- in a scorecard --------------------------------------------------------------------------------------------------


def scored(**options: object):
    outputs = Outputs(
        [OLD[0], NEW[0], NEW[1]], targets=["shakespeare", "modern", "shakespeare"], **options.pop("about", {})
    )  # type: ignore[arg-type]
    (card,) = score_systems([outputs], ScoreSettings(resamples=0, **options), metrics=["acc-linear"])  # type: ignore[arg-type]
    return card


def test_a_scorecard_takes_the_judge_of_its_targets_and_says_which(own: Path) -> None:
    save_linear(own / "plays-linear-report", "plays-linear-report")
    card = scored()
    assert card.columns["acc-linear"].tolist() == [1, 1, 0]
    assert card.outputs.predicted == ["shakespeare", "modern", "modern"]
    assert load_judge("plays-linear").card.fingerprint in card.signature.long()


def test_targets_of_two_judges_are_judged_by_either(own: Path) -> None:
    save_linear(own / "a-linear-report", "a-linear-report", ("shakespeare", "plain"))
    save_linear(own / "b-linear-report", "b-linear-report", ("verse", "modern"))
    save_linear(own / "c-linear-report", "c-linear-report", ("bible", "prose"))
    metric = LinearStyleAccuracy()
    both = metric.for_targets(["shakespeare", "modern"])
    names = [judge.partition("#")[0] for judge in both.signature()["judge"].split("+")]
    assert names == ["a-linear-report", "b-linear-report"]
    assert both.signature()["precision"] == "float64"
    assert both.score(Batch(["thou"], target="modern")).shape == (1,)
    with pytest.raises(UsageError, match=r"knows modem; did you mean modern\? \(or train one: restyle judge train\)"):
        metric.for_targets(["shakespeare", "modem"])
    with pytest.raises(UsageError, match="knows pirate; there are: bible, modern, plain, prose, shakespeare, verse"):
        metric.for_targets(["shakespeare", "pirate"])


def test_a_judge_of_the_set_select_is_marked_however_it_was_named(own: Path) -> None:
    save_linear(own / "plays-linear-select", "plays-linear-select", part="select")
    (card,) = score_systems(
        [Outputs(["thou"], targets=["shakespeare"])],
        ScoreSettings(metrics=("acc-linear=plays-linear-select",), resamples=0, baselines=False),
    )
    assert card.signature.options["judges"] == "select"
    assert any(note.startswith("acc-linear: judged by the set select") for note in card.notes)


def test_outputs_that_were_selected_with_the_judge_are_marked(own: Path) -> None:
    save_linear(own / "plays-linear-report", "plays-linear-report")
    for called in ("plays-linear-report", load_judge("plays-linear").card.fingerprint, "acc-linear"):
        card = scored(about={"selected_with": (called,)})
        assert card.signature.options["selected-with"] == "acc-linear"
        assert any("report with a judge that had no part in choosing" in note for note in card.notes)
    assert "selected-with" not in scored(about={"selected_with": ("plays-linear-select",)}).signature.options


def test_a_judge_that_picked_is_found_behind_another_name_and_beside_another_judge(own: Path) -> None:
    save_linear(own / "plays-linear-report", "plays-linear-report")
    save_linear(own / "books-linear-report", "books-linear-report", ("verse", "prose"))
    linear = load_judge("plays-linear").card.fingerprint
    # A network was multiplied with the linear judge, which now reports.
    card = scored(about={"selected_with": (f"plays-select#12345678*{linear}",)})
    assert card.signature.options["selected-with"] == "acc-linear"
    # Targets of two judges are judged by either, and both are named.
    outputs = Outputs([OLD[0], NEW[0]], targets=["shakespeare", "verse"], selected_with=(linear,))
    (both,) = score_systems([outputs], ScoreSettings(resamples=0), metrics=["acc-linear"])
    assert both.signature.options["selected-with"] == "acc-linear"


def test_a_metric_is_asked_for_with_its_judge(own: Path) -> None:
    save_linear(own / "plays-linear-report", "plays-linear-report")
    save_linear(own / "stage-linear-report", "stage-linear-report")
    outputs = Outputs([OLD[0]], targets=["shakespeare"])
    (card,) = score_systems([outputs], ScoreSettings(resamples=0), metrics=["acc-linear=stage-linear"])
    assert card.facts["acc-linear"]["judge"] == load_judge("stage-linear-report").card.fingerprint
    for asked, says in (
        ("bleu=x", "takes no model"),
        ("acc-linear=", "empty"),
        ("acc-linear=stagy", "there are: plays"),
    ):
        with pytest.raises(UsageError, match=says):
            score_systems([outputs], ScoreSettings(resamples=0), metrics=[asked])


def test_a_similarity_that_picked_is_marked_where_it_reports() -> None:
    from restyle.metrics.similarity import SimWieting

    made_by = SimWieting().signature()["model"]
    outputs = Outputs(["Art thou mad?"], inputs=["Are you mad?"], selected_with=(made_by,))
    (card,) = score_systems([outputs], ScoreSettings(resamples=0, baselines=False), metrics=["sim-wieting"])
    assert card.signature.options["selected-with"] == "sim-wieting"


def test_the_set_for_choosing_is_marked_where_it_reports(own: Path) -> None:
    save_linear(own / "plays-linear-report", "plays-linear-report")
    with pytest.raises(UsageError, match="set select"):
        scored(judges="select")
    save_linear(own / "plays-linear-select", "plays-linear-select", part="select")
    card = scored(judges="select")
    assert card.signature.options["judges"] == "select"
    assert any("set select" in note for note in card.notes)


def test_a_default_metric_that_cannot_be_had_is_left_out_and_named(own: Path) -> None:
    outputs = Outputs(["Arr, matey"], inputs=["Well, my friend"], targets=["pirate"])
    (card,) = score_systems([outputs], ScoreSettings(resamples=0, baselines=False))
    assert "acc" not in card.columns
    assert "copy-rate" in card.columns
    assert any(
        note.startswith("acc is left out: no network judge of the set report knows pirate") for note in card.notes
    )


def test_equal_texts_are_asked_about_once_by_metrics_that_share_a_judge(fake: Fake) -> None:
    batch = Batch(["Art thou mad?"], target="shakespeare")
    StyleAccuracy(fake).score(batch)
    StyleProbability(fake).score(batch)
    assert StyleAccuracy(fake).predict(batch.outputs) == ["shakespeare"]
    assert fake.asked == ["Art thou mad?"]


# --- the command line ------------------------------------------------------------------------------------------------


def run(*arguments: str):
    from typer.testing import CliRunner

    from restyle.cli.judge import app

    return CliRunner().invoke(app, list(arguments))


def test_judges_are_listed_and_described(own: Path) -> None:
    save_linear(own / "plays-report", "plays-report", results={"test": measured([0, 1, 1], [0, 1, 0], 2)})
    assert "plays-report" in run("ls").output
    described = run("info", "plays-report").output
    assert "0.667" in described
    assert "thou" in described


def test_a_judge_is_trained_from_the_command_line(corpus: Corpus, own: Path) -> None:
    result = run("train", "farm", "--corpus", "farm", "--kind", "linear", "--alias", "ancient=old")
    assert result.exit_code == 0, result.output
    assert load_judge("farm-linear").card.aliases == {"ancient": "old"}


def test_models_of_similarity_are_no_classifiers(own: Path) -> None:
    (own / "sim-wieting").mkdir(parents=True)
    (own / "sim-wieting" / "judge.toml").write_text('kind = "wieting"\n')
    assert judges.cards() == {}


def test_with_sets_only_what_there_is(corpus: Corpus, own: Path) -> None:
    for wrong in ("layers=2", "body.layers=2", "network.layers"):
        assert isinstance(run("train", "farm", "--corpus", "farm", "--with", wrong).exception, UsageError)
    assert isinstance(run("train", "farm", "--corpus", "farm", "--with", "network.layer=2").exception, UsageError)


# --- the judges that ship --------------------------------------------------------------------------------------------


def test_the_page_of_judges_says_what_the_cards_say(monkeypatch) -> None:
    docs = Path(__file__).parent.parent / "docs"
    monkeypatch.syspath_prepend(docs)
    import generate

    assert (docs / "judges.md").read_text(encoding="utf-8") == generate.judges()


@pytest.mark.parametrize("folder", sorted(bundled_folder().glob("*-re*")) + sorted(bundled_folder().glob("*-se*")))
def test_every_judge_that_ships_has_the_weights_and_the_readme_of_its_card(folder: Path) -> None:
    from restyle.metrics.judges import read_card, sha256_of
    from restyle.metrics.training._readme import readme

    card = read_card(folder)
    assert (card.name, sha256_of(card, folder)) == (folder.name, card.sha256)
    assert (folder / "README.md").read_text(encoding="utf-8") == readme(card)
    for result in card.results.values():
        right, number = sum(row[place] for place, row in enumerate(result.confusion)), sum(map(sum, result.confusion))
        assert (round(right / number, 4), number) == (result.accuracy, result.sentences)
        assert (result.low, result.high) == tuple(round(end, 4) for end in wilson(right, number))


def test_every_judge_that_reports_has_one_that_chooses_by_other_sentences_of_the_same_kind() -> None:
    from restyle.metrics.judges import read_card

    shipped = {folder.name: read_card(folder) for folder in bundled_folder().glob("*-*") if "sim-" not in folder.name}
    for name, card in shipped.items():
        other = shipped[name.replace("-report", "-select")]
        assert {card.part, other.part} <= {"report", "select"}
        assert (other.labels, other.corpora, other.seed) == (card.labels, card.corpora, card.seed)
        shares = [re.search(r"--share (\S+)", each.command) for each in (card, other)]
        assert len({share[1] if share else "" for share in shares}) == 1
