"""Literature: Dickens against modern prose, tagged and cut into subwords."""

from random import Random

import pytest

from restyle.corpora import Corpus
from restyle.corpora._corpus import Line
from restyle.corpora.build import build_literature, literature
from restyle.errors import UsageError
from restyle.text.bpe import Subwords

WORDS = ["rain", "lamp", "street", "harbour", "night", "river", "letter", "window", "stranger", "garden", "candle"]
WORDS += [
    "walked",
    "waited",
    "forgot",
    "opened",
    "followed",
    "laughed",
    "slowly",
    "again",
    "behind",
    "under",
    "without",
]


def drawn(count, seed):
    random = Random(seed)
    return [f"Mr. Pell {' '.join(random.sample(WORDS, 9))}." for _ in range(count)]


DICKENS = drawn(200, seed=1)
MODERN = drawn(150, seed=2)
SHORT, LONG = "Mr. Pell walked slowly.", "Mr. Pell " + " ".join(WORDS[:12] * 2) + "."


def tagger(sentences):
    return [sentence.replace("Mr. Pell", "-PERSON-") for sentence in sentences]


@pytest.fixture
def sources(monkeypatch):
    """Toy books in the place of the catalogue's; BookCorpus only with a folder."""

    def load(name, path=None):
        sides = {"dickens": [*DICKENS, SHORT, LONG], "midcentury_fiction": MODERN, "modern_plain": MODERN[:10]}
        known = {"books": sides, "bookcorpus": {"bookcorpus": drawn(100, seed=3)}}
        return Corpus.of(name, {style: {"train": lines} for style, lines in known[name].items()})

    monkeypatch.setattr("restyle.corpora.build._supplies.load", load)


def made(**options):
    return build_literature(tagger=tagger, vocabulary=350, **options)


def test_both_sides_are_tagged_and_of_six_to_twenty_five_words(sources):
    corpus, report = made()
    assert corpus.styles == ("dickens", "modern")
    for style in corpus.styles:
        for text in corpus.sentences(style, "train"):
            assert text.startswith("-PERSON- ")
            assert 6 <= len(text.split()) <= 25
    assert (report.dropped["too short"], report.dropped["too long"]) == (1, 1)


def test_what_is_held_out_is_counted_and_never_more_than_a_tenth(sources):
    _, report = made(held_out=12)
    assert report.counts["dickens"] == {"train": 176, "valid": 12, "test": 12}
    _, report = made(held_out=5000)
    assert report.counts["dickens"] == {"train": 160, "valid": 20, "test": 20}


def test_sentences_that_differ_only_in_a_name_share_no_two_splits(sources, monkeypatch):
    twins = [line.replace("Pell", name) for line in DICKENS[:20] for name in ("Pell", "Quill")]
    sides = {"dickens": twins, "modern": MODERN}
    monkeypatch.setattr(
        "restyle.corpora.build._supplies.Supply._lines",
        lambda self, corpus: iter([Line(text, "book.txt", 1) for text in sides[self.style]]),
    )
    corpus, report = build_literature(
        tagger=lambda texts: [text.replace("Mr. Pell", "-PERSON-").replace("Mr. Quill", "-PERSON-") for text in texts],
        vocabulary=350,
    )
    assert report.counts["dickens"]["train"] == 16
    assert sum(report.counts["dickens"].values()) == 20


def test_the_vocabulary_lies_beside_the_corpus_and_keeps_tags_whole(sources, tmp_path):
    made(out=tmp_path / "literature")
    subwords = Subwords.load(tmp_path / "literature" / "bpe.model")
    assert len(subwords) == 350
    assert "-PERSON-" in subwords.pieces("-PERSON- waited again")


def test_too_large_a_vocabulary_is_told_and_nothing_is_left(sources, tmp_path):
    with pytest.raises(UsageError, match="too small"):
        build_literature(tagger=tagger, vocabulary=50_000, out=tmp_path / "literature")
    assert list(tmp_path.iterdir()) == []


def test_bookcorpus_takes_the_place_of_its_substitutes(sources, tmp_path):
    _, report = made()
    assert {entry.note for entry in report.inputs if entry.style == "modern"} == {
        "stands in for the Toronto BookCorpus"
    }
    _, report = made(paths={"bookcorpus": tmp_path})
    assert [entry.name for entry in report.inputs] == ["books/dickens", "bookcorpus/bookcorpus"]


def test_building_again_gives_the_same_bytes(sources, tmp_path):
    def contents():
        made(out=tmp_path / "literature")
        return {path.name: path.read_bytes() for path in (tmp_path / "literature").iterdir()}

    assert contents() == contents()


def test_the_settings_are_the_papers():
    assert (literature.SETTINGS.min_words, literature.SETTINGS.max_words) == (6, 25)
    assert literature.HELD_OUT == 5000


@pytest.mark.models
def test_names_and_places_are_tagged_by_spacy(models):
    tagged = literature.tagged(["Oliver Twist walked from London to the sea."])
    assert tagged == ["-PERSON- walked from -LOCATION- to the sea."]


@pytest.mark.data
def test_it_is_built_from_the_mirror(mirror):
    corpus, report = build_literature(limit=400, vocabulary=600, tagger=list)
    assert corpus.styles == ("dickens", "modern")
    assert report.kept > 500
    assert any("bookcorpus is missing" in note for note in report.notes)
