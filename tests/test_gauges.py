"""The gauges of a corpus, the text CNN and the language model that they are made of, and the vocabulary."""

import json
import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from restyle.errors import InputError, UnknownName, UsageError  # noqa: E402
from restyle.metrics import Batch, metrics  # noqa: E402
from restyle.metrics.gauges import CARD_FILE, Gauges, gauges_of  # noqa: E402
from restyle.metrics.gauges_training import train_gauges  # noqa: E402
from restyle.metrics.unsupervised import CnnAccuracy, GruPerplexity  # noqa: E402
from restyle.nets.fitting import FitSettings, fit  # noqa: E402
from restyle.nets.gru_lm import GruLm, GruLmSettings, SentenceLm, shifted  # noqa: E402
from restyle.nets.text_cnn import Filters, TextClassifier, TextCnn, TextCnnSettings  # noqa: E402
from restyle.nets.vocabulary import BEGIN, END, PAD, UNKNOWN, SubwordVocabulary, Words, load_vocabulary  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_torch_thread")

SAID = {"good": ("great", "lovely", "fine"), "bad": ("awful", "cold", "rude")}
CNN = TextCnnSettings(word_dim=8, filters=6, fit=FitSettings(epochs=6, learning_rate=0.01, batch_size=8))
LM = GruLmSettings(word_dim=8, hidden=12, dropout=0.1, fit=FitSettings(epochs=8, learning_rate=0.02, batch_size=8))


def sentences(style, count, seed=0):
    generator = random.Random(f"{style}{seed}")
    nouns = ("food", "place", "soup")
    return [f"the {generator.choice(nouns)} was {generator.choice(SAID[style])} ." for _ in range(count)]


def trained(folder, seed=0):
    texts = [sentences(style, 60) for style in SAID]
    words = Words.learned([text for each in texts for text in each], 50)
    rows = [[words.encode(text) for text in each] for each in texts]
    dev = [[words.encode(text) for text in sentences(style, 20, 1)] for style in SAID]
    cnn, lm = (replace(each, fit=replace(each.fit, seed=seed)) for each in (CNN, LM))
    read = SimpleNamespace(styles=tuple(SAID), vocabulary=words, rows=tuple(rows), dev_rows=tuple(dev))
    return train_gauges(folder, "toy", read, cnn=cnn, lm=lm)


@pytest.fixture(scope="module")
def gauges(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("gauges") / "toy")


class TestVocabulary:
    def test_the_most_frequent_words_come_first_and_rare_ones_not_at_all(self):
        words = Words.learned(["b a a", "a b c"], 50, least=2)
        assert words.encode("a b c") == [4, 5, UNKNOWN]
        assert len(words) == 6
        assert len(Words.learned(["b a a", "a b c"], 2)) == 6

    def test_text_comes_back_as_ordinary_text(self, tmp_path):
        text = "i don't like it, said the chef."
        words = Words.learned([text, text], 50)
        words.save(tmp_path)
        assert load_vocabulary(tmp_path).decode(words.encode(text)) == text

    def test_subwords_spell_every_word_and_come_back(self, tmp_path):
        pytest.importorskip("sentencepiece")
        texts = [f"the -PERSON- in -LOCATION- said that number {n} was very fine ." for n in range(60)]
        learned = SubwordVocabulary.learned(texts, 320)
        learned.save(tmp_path)
        again = load_vocabulary(tmp_path)
        assert len(again) == len(learned) == 320
        assert UNKNOWN not in again.encode("zebra -PERSON- 5")
        assert again.decode(again.encode("The zebra was fine.")) == "the zebra was fine."
        assert len(again.encode("-PERSON-")) <= 2, "a tag is never cut"

    def test_a_folder_without_one_is_refused(self, tmp_path):
        with pytest.raises(InputError, match=r"words.json holds no vocabulary"):
            load_vocabulary(tmp_path)


class TestTextCnn:
    def test_filters_are_convolutions(self):
        torch.manual_seed(0)
        filters = Filters(5, (1, 3), 4)
        rows = torch.randn(2, 6, 5)
        answers, place = [], 0
        for width in filters.widths:
            kernel = filters.weight[:, place * 4 : (place + width) * 4].view(5, width, 4).permute(2, 0, 1)
            answers.append(torch.nn.functional.conv1d(rows.transpose(1, 2), kernel).amax(2))
            place += width
        assert torch.allclose(filters(rows), (torch.cat(answers, 1) + filters.bias).relu(), atol=1e-6)

    def test_what_is_shorter_than_a_filter_is_followed_by_zeros(self):
        filters = Filters(5, (3, 4, 5), 2)
        short = torch.randn(1, 2, 5)
        assert torch.equal(filters(short), filters(torch.cat([short, torch.zeros(1, 3, 5)], dim=1)))

    def test_a_sentence_is_judged_the_same_alone_and_among_others(self, gauges):
        texts = ["the food was great .", "soup .", "the place was awful and awful and awful ."]
        together = gauges.classifier.probabilities(texts)
        assert np.array_equal(together, np.concatenate([gauges.classifier.probabilities([text]) for text in texts]))

    def test_weights_of_another_network_are_refused(self, gauges, tmp_path):
        with pytest.raises(InputError, match="does not hold the weights that its settings describe"):
            TextClassifier.load(gauges.folder / "classifier.safetensors", gauges.vocabulary, 2, replace(CNN, filters=7))

    def test_no_sentences_have_no_probabilities(self, gauges):
        assert gauges.classifier.probabilities([]).shape == (0, 2)
        assert TextCnn(10, 2, CNN).embedding.weight[PAD].abs().sum() == 0


class TestLanguageModel:
    def test_what_it_reads_and_what_it_should_answer_are_one_apart(self):
        before, after = shifted([[7, 8], [9]])
        assert before.tolist() == [[BEGIN, 7, 8], [BEGIN, 9, PAD]]
        assert after.tolist() == [[7, 8, END], [9, END, PAD]]

    def test_its_surprise_is_the_log_of_its_probabilities(self):
        torch.manual_seed(0)
        model = SentenceLm(GruLm(9, replace(LM, dropout=0.5)))
        ids = torch.tensor([[BEGIN, 5, 6]])
        logs = model.network.out(model.network(ids)).log_softmax(2)[0]
        by_hand = -(logs[0, 5] + logs[1, 6] + logs[2, END]).item()
        nats, words = model.surprise([[5, 6]])[0]
        assert (nats, words) == (pytest.approx(by_hand, abs=1e-4), 3)
        assert model.perplexity([[5, 6]]) == pytest.approx(np.exp(by_hand / 3), rel=1e-4)

    def test_it_learns_its_style(self, gauges):
        good, bad = gauges.style_lms
        rows = [gauges.vocabulary.encode(text) for text in sentences("good", 20, 2)]
        assert good.perplexity(rows) < gauges.lm.perplexity(rows) < bad.perplexity(rows)


class TestFitting:
    def test_the_best_epoch_is_kept_and_it_ends_when_it_gets_no_better(self):
        network = torch.nn.Linear(1, 1, bias=False)
        qualities = iter([1.0, 3.0, 2.0, 2.5, 9.0])
        seen = []

        def quality():
            seen.append(network.weight.item())
            return next(qualities)

        given = fit(
            network, lambda epoch: iter([[1.0]]), lambda batch: (network(torch.tensor([batch])) - 5).square().sum(),
            quality,
            FitSettings(epochs=9, patience=1, learning_rate=0.1), what="fitting",
        )  # fmt: skip
        assert given == [1.0, 3.0, 2.0, 2.5]
        assert network.weight.item() == seen[1]

    def test_a_loss_that_is_no_number_ends_it(self):
        network = torch.nn.Linear(1, 1)
        with pytest.raises(InputError, match="fitting: the loss is no number any more; lower the learning rate"):
            fit(
                network, lambda epoch: iter([[float("nan")]]), lambda batch: network(torch.tensor([batch])).sum(),
                lambda: 0.0, FitSettings(epochs=1), what="fitting",
            )  # fmt: skip


class TestGauges:
    def test_they_tell_the_styles_apart_and_say_how_well(self, gauges):
        assert gauges.card.accuracy == 1.0
        assert gauges.card.perplexity < 5
        assert gauges.correct(["the soup was great .", "the soup was cold .", ""], "good").tolist() == [1, 0, 0]

    def test_the_same_seed_gives_the_same_bytes_and_another_others(self, tmp_path):
        hashes = [trained(tmp_path / str(place), seed).card.sha256 for place, seed in enumerate((0, 0, 1))]
        assert hashes[0] == hashes[1] != hashes[2]

    def test_those_that_are_there_are_left_as_they_are(self, tmp_path):
        trained(tmp_path / "g")
        file = tmp_path / "g" / "lm.safetensors"
        before = file.stat().st_mtime_ns
        assert trained(tmp_path / "g").card == Gauges(tmp_path / "g").card
        assert file.stat().st_mtime_ns == before

    def test_what_was_cut_off_goes_on_with_the_networks_that_are_there(self, tmp_path):
        whole = trained(tmp_path / "whole").card
        trained(tmp_path / "cut")
        card = tmp_path / "cut" / CARD_FILE
        card.write_text(card.read_text().replace(f'sha256 = "{whole.sha256}"', 'sha256 = ""'))
        (tmp_path / "cut" / "lm-1.safetensors").unlink()
        assert trained(tmp_path / "cut").card == whole

    def test_metrics_find_the_gauges_of_their_target(self, gauges, monkeypatch, tmp_path):
        monkeypatch.setenv("RESTYLE_HOME", str(tmp_path))
        with pytest.raises(
            UsageError, match=r"the style 'good' has no gauges \(none\); train them with restyle judge gauges"
        ):
            gauges_of("good")
        (tmp_path / "gauges").mkdir()
        (tmp_path / "gauges" / "toy").symlink_to(gauges.folder)
        acc = metrics["acc-cnn"]()
        assert acc.score(Batch(["the soup was great ."], target="good")).tolist() == [1.0]
        assert acc.signature() == {"metric": "acc-cnn", "gauges": f"toy#{gauges.card.sha256[:8]}"}
        with pytest.raises(UnknownName, match="no gauges is called 'tony'; did you mean toy"):
            CnnAccuracy("tony").score(Batch(["x"], target="good"))

    def test_the_perplexity_of_a_corpus_is_made_of_sums(self, gauges):
        pp = GruPerplexity(gauges)
        batch = Batch(["the soup was great .", "", "great great great"], target="good")
        counts = pp.statistics(batch)
        assert counts[1].tolist() == [0, 0]
        each = pp.score(batch)
        assert np.isnan(each[1]) and each[0] < each[2]
        assert pp.corpus(counts.sum(0)) == pytest.approx(np.exp(counts[:, 0].sum() / counts[:, 1].sum()))

    def test_gauges_of_another_version_are_refused(self, gauges, tmp_path):
        (tmp_path / CARD_FILE).write_text((gauges.folder / CARD_FILE).read_text().replace("version = 1", "version = 9"))
        with pytest.raises(UsageError, match="are of version 9, and this restyle reads version 1"):
            Gauges(tmp_path)
        (tmp_path / "words.json").write_text(json.dumps({"style": "yelp"}))
        with pytest.raises(InputError, match="holds no vocabulary"):
            load_vocabulary(tmp_path)

    def test_a_style_that_they_do_not_know_is_refused(self, gauges):
        with pytest.raises(UnknownName, match="no style of the gauges of toy is called 'goood'; did you mean good"):
            gauges.correct(["x"], "goood")
