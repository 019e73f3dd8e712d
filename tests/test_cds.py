"""CDS from what can be had of its eleven sources."""

import pytest

from restyle.corpora import Corpus, check_leaks
from restyle.corpora._content import folded
from restyle.corpora._corpus import Line
from restyle.corpora.build import build_cds, cds
from restyle.corpora.build._supplies import Supply
from restyle.errors import OnRequest, UnknownName
from restyle.records import read_records

SAMPLE = {
    "joyce": {
        "train": ["Stately he came down the stairs with the bowl.", "He blessed the tower gravely and thrice."],
        "test": ["The sea was green as a bowl of waters that morning.", "He was alone."],
    },
    "lyrics": {
        "train": ["Baby I never let you go again.", "He was alone!"],
        "test": ["Dancing alone until the break of dawn"],
    },
}
BOOKS = {
    "joyce": {
        "train": [
            "And the sea was green as a bowl of waters that morning, he said.",
            "A cat walked stiffly round the table.",
        ],
        "valid": ["Chrysostomos smiled at the gold points."],
    },
    "fiction": {"train": ["It was a truth that nobody in the county had ever denied."]},
}


class Unlent(Corpus):
    def lines(self, style, split):
        raise OnRequest("lyrics may not be passed on: ask their owner")


@pytest.fixture
def sources(monkeypatch):
    """Toy corpora in the place of the catalogue's, one of them on request."""

    def load(name, path=None):
        if name == "lyrics" and path is None:
            return Unlent("lyrics", {("lyrics", "train"): list})
        known = {
            "cds": SAMPLE,
            "books": BOOKS,
            "lyrics": {"lyrics": {"train": ["Sing it once more for the road tonight"]}},
        }
        return Corpus.of(name, known[name])

    monkeypatch.setattr("restyle.corpora.build.cds.load", load)
    monkeypatch.setattr("restyle.corpora.build._supplies.load", load)
    monkeypatch.setattr(cds, "OPEN", (Supply("joyce", "books", "joyce", stands_in_for="Finnegans Wake"),))
    monkeypatch.setattr(cds, "ON_REQUEST", (Supply("lyrics", "lyrics", "lyrics"),))
    monkeypatch.setattr(cds, "SUBSTITUTES", (Supply("coha_1810", "books", "fiction", stands_in_for="COHA"),))


def texts(corpus, style, *splits):
    return {text for split in splits if corpus.has(style, split) for text in corpus.sentences(style, split)}


def test_the_test_split_is_the_published_one_whole(sources):
    corpus, _ = build_cds()
    for style, splits in SAMPLE.items():
        assert corpus.sentences(style, "test") == splits["test"]


def test_no_training_sentence_gives_a_test_sentence_away(sources):
    corpus, report = build_cds()
    assert texts(corpus, "joyce", "train", "valid") == {
        *SAMPLE["joyce"]["train"],
        "A cat walked stiffly round the table.",
        "Chrysostomos smiled at the gold points.",
    }
    assert texts(corpus, "lyrics", "train", "valid") == {"Baby I never let you go again."}
    assert report.dropped == {"set aside": 2}


def test_what_is_missing_is_named_with_how_to_get_it(sources):
    _, report = build_cds()
    assert [note for note in report.notes if note.startswith("lyrics: lyrics/lyrics is missing; ") and "ask" in note]


def test_a_folder_of_ones_own_serves_what_is_on_request(sources, tmp_path):
    corpus, report = build_cds(paths={"lyrics": tmp_path})
    assert "Sing it once more for the road tonight" in texts(corpus, "lyrics", "train", "valid")
    assert not [note for note in report.notes if "is missing" in note]


def test_a_path_for_something_else_is_refused(sources, tmp_path):
    with pytest.raises(UnknownName, match="did you mean lyrics"):
        build_cds(paths={"lyric": tmp_path})


def test_a_substitute_is_labelled_as_one_and_can_be_done_without(sources):
    corpus, report = build_cds()
    assert "coha_1810" in corpus.styles
    assert {entry.name: entry.note for entry in report.inputs}["books/fiction"] == "stands in for COHA"
    corpus, _ = build_cds(substitutes=False)
    assert "coha_1810" not in corpus.styles


def test_the_report_compares_each_style_with_the_papers(sources):
    _, report = build_cds()
    assert any(note.startswith("lyrics: ") and note.endswith("4,588,522 in the paper") for note in report.notes)


def test_a_limit_bounds_what_is_read_of_each_source(sources):
    corpus, _ = build_cds(limit=1)
    assert "Chrysostomos smiled at the gold points." not in texts(corpus, "joyce", "train", "valid")


def test_a_record_names_the_book_that_it_is_from(sources, tmp_path, monkeypatch):
    line = Line("A cat walked stiffly round the table.", "books/joyce/ulysses.txt", 7)
    monkeypatch.setattr(Supply, "_lines", lambda self, corpus: iter([line]))
    build_cds(out=tmp_path / "cds")
    records = [record for split in ("train", "valid") for record in read_records(tmp_path / "cds" / f"{split}.jsonl")]
    assert ("books/joyce/ulysses.txt", 7) in [(record["source"], record["line"]) for record in records]


def test_the_eleven_styles_of_the_paper_have_a_source_each():
    served = {supply.style for supply in (*cds.OPEN, *cds.ON_REQUEST)}
    assert served == set(cds.PAPER_TRAIN)
    assert sum(cds.PAPER_TRAIN.values()) == 14_018_731  # Table 14


@pytest.mark.data
def test_it_is_built_from_the_mirror(mirror):
    corpus, report = build_cds(limit=300, substitutes=False)
    assert set(corpus.styles) == set(cds.PAPER_TRAIN)
    for style in corpus.styles:
        assert report.counts[style]["test"] == 500  # lines 501 to 1,000 of the published sample
    train = [text for style in corpus.styles for split in ("train", "valid") for text in texts(corpus, style, split)]
    held_out = [text for style in corpus.styles for text in corpus.sentences(style, "test")]
    assert check_leaks(train, held_out) == []
    assert not set(map(folded, train)) & set(map(folded, held_out))
