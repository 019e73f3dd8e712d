"""The catalogue, its files in the mirror, and the page of docs/ that is made from it."""

import hashlib
import http.server
import json
import threading
from pathlib import Path

import pytest

from restyle.cli import main
from restyle.corpora import (
    CatalogueEntry,
    CatalogueFile,
    Files,
    catalogue,
    corpora,
    load,
    parts_of,
    rows,
    styles,
    tables,
)
from restyle.corpora._overview import counted
from restyle.errors import Corrupt, InputError, OnRequest, OutputError, Unreachable

DOCS = Path(__file__).parents[1] / "docs" / "data.md"
HERE = [name for name, entry in catalogue().items() if not entry.on_request]

# As the mirror's own README has them.
LINES = {
    "shakespeare/train.modern.txt": 18_395,
    "shakespeare/train.shakespeare.txt": 18_395,
    "shakespeare/valid.modern.txt": 1_218,
    "shakespeare/test.shakespeare.txt": 1_462,
    "shakespeare/plays36.txt.gz": 50_532,
    "cds/samples/": 11_000,
    "cds/strap_outputs.jsonl.gz": 5_500,
    "systems/shakespeare.outputs.tsv": 2_924 * 12,
    "systems/yelp.outputs.tsv": 1_000 * 30,
    "systems/strap_judged/reference/": 2_924 * 6,
    "yelp/train.0.txt.gz": 73_051,
    "yelp/train.1.txt.gz": 112_078,
    "cola/in_domain_train.tsv": 8_551,
    "cola/in_domain_dev.tsv": 527,
    "cola/out_of_domain_dev.tsv": 516,
    "human/strap_mturk.tsv": 2_091,
    "paraphrase/quora.train.tsv.gz": 57_408,
    "paraphrase/twitter_url.train.tsv.gz": 86_515,
    "paraphrase/flickr8k.tsv.gz": 8_092,
    "paraphrase/bible_verses.tsv.gz": 31_102,
    "paraphrase/pan/pan-train.labels": 10_000,
    "paraphrase/pan/pan-test.labels": 3_000,
    "sts/stsb-train.csv": 5_749,
    "sts/stsb-dev.csv": 1_500,
    "sts/stsb-test.csv": 1_379,
    "privacy/yelp_gender.dev.tsv": 4_000,
    "privacy/yelp_sentiment.test.tsv": 4_000,
    "privacy/congress_D.tsv.gz": 45_000,
    "privacy/congress_R.tsv.gz": 45_000,
    "privacy/twitteraae_vocab.txt": 191_874,
    "styles/switchboard.txt.gz": 192_390,
    "styles/tweets.txt": 45_000,
    "styles/formality_pt16/": 7_977,
    "styles/politeness": 10_956,
    "human/li2018": 9_595,
}


# --- what the catalogue says


@pytest.mark.parametrize("entry", catalogue().values(), ids=lambda entry: entry.name)
def test_every_corpus_says_whose_it_is_and_how_to_get_it(entry):
    assert all((entry.title, entry.use, entry.licence, entry.redistribution, entry.citation))
    assert entry.origin.startswith(("https://", "http://"))
    assert entry.ask or all(file.url for file in entry.files)
    assert not entry.on_request or entry.layout


def test_every_corpus_can_be_opened_and_everything_that_can_be_opened_is_in_the_catalogue():
    assert {*corpora.names(), *tables.names()} == set(catalogue())


def test_the_catalogue_and_the_loaders_agree_on_the_styles():
    assert {entry.name: load(entry.name).styles for entry in corpora} == {
        entry.name: catalogue()[entry.name].styles for entry in corpora
    }


def test_no_file_belongs_to_two_corpora_and_every_hash_is_one():
    files = [file for entry in catalogue().values() for file in entry.files]
    assert len({file.path for file in files}) == len(files)
    assert all(len(file.sha256) == 64 and int(file.sha256, 16) for file in files)


def test_an_address_names_a_fixed_version():
    urls = [file.url for entry in catalogue().values() for file in entry.files if file.url]
    assert urls
    # A branch would serve other bytes one day.
    assert all(len(url.split("/")[5]) == 40 for url in urls if "githubusercontent" in url)


def test_every_book_says_where_it_is_from():
    assert all(
        file.style and file.author and file.title and file.origin and file.licence
        for file in catalogue()["books"].files
    )


def test_a_style_names_the_corpora_that_hold_it():
    found = {style.name: style.corpora for style in styles}
    assert found["shakespeare"] == ("shakespeare", "plays36", "cds")
    assert all(style.summary for style in styles)


def test_the_page_of_the_docs_holds_the_catalogue_as_it_is(capfd):
    with pytest.raises(SystemExit):
        main(["corpora", "ls", "--long", "--format", "markdown"])
    table = capfd.readouterr().out
    assert table in DOCS.read_text(encoding="utf-8"), "run: restyle corpora ls --long --format markdown"


# --- files that are not there, or not as they should be

DATA = b"It was late.\nNobody came.\n" * 5000


class Origin(http.server.BaseHTTPRequestHandler):
    """Serves DATA; every answer breaks off after `cut` bytes."""

    cut = len(DATA)

    def do_GET(self):
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(DATA) - start))
        self.end_headers()
        self.wfile.write(DATA[start : start + self.cut])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def origin():
    handler = type("Handler", (Origin,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        handler.url = f"http://127.0.0.1:{server.server_address[1]}/toy.txt"
        yield handler
        server.shutdown()


def toy(url=None):
    file = CatalogueFile("toy/toy.txt", 10_000, len(DATA), hashlib.sha256(DATA).hexdigest(), url)
    facts = dict.fromkeys(("title", "use", "licence", "redistribution", "citation"), "toy")
    return CatalogueEntry("toy", origin="https://example.org", ask="ask the toymaker", files=(file,), **facts)


def test_a_file_is_fetched_when_it_is_first_read_even_if_the_origin_breaks_off_twice(origin):
    origin.cut = 60_000
    files = Files(toy(origin.url))
    assert files.whereabouts() == "to fetch"
    for _ in range(2):
        with pytest.raises(Unreachable, match="run the same command to go on"):
            files.path("toy/toy.txt")
    assert sum(1 for _ in files.lines("toy/toy.txt")) == files.count_lines("toy/toy.txt") == 10_000
    assert files.whereabouts() == "here"


def test_an_origin_that_does_not_answer_is_told_with_what_to_do(origin):
    nowhere = "http://127.0.0.1:1/toy.txt"
    with pytest.raises(Unreachable, match="127.0.0.1:1/toy.txt cannot be reached .* set RESTYLE_DATA"):
        Files(toy(nowhere)).path("toy/toy.txt")


def test_a_file_without_an_address_says_where_it_can_be_had():
    with pytest.raises(OnRequest, match=r"see https://example\.org; ask the toymaker; then set RESTYLE_DATA"):
        Files(toy()).path("toy/toy.txt")


def test_a_file_of_the_mirror_with_other_contents_is_refused(tmp_path, monkeypatch):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy.txt").write_text("something else\n")
    monkeypatch.setenv("RESTYLE_DATA", str(tmp_path))
    with pytest.raises(Corrupt, match="is not the file that the catalogue names"):
        next(Files(toy()).lines("toy/toy.txt"))


def test_a_cache_that_cannot_be_written_is_told(origin, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RESTYLE_HOME", str(tmp_path / "file" / "cache"))
    with pytest.raises(OutputError, match="cannot write"):
        Files(toy(origin.url)).path("toy/toy.txt")


def test_a_folder_of_the_users_own_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        Files(toy(), tmp_path / "absent").path("toy/toy.txt")


# --- the mirror


@pytest.mark.data
def test_the_lines_of_the_mirror_are_those_of_the_catalogue_and_of_its_readme(mirror):
    counts = {row["part"]: row["count"] for row in counted(HERE)}
    assert counts == {file.path: file.lines for name in HERE for file in catalogue()[name].files}
    totals = {part: sum(count for path, count in counts.items() if path.startswith(part)) for part in LINES}
    assert totals == LINES


@pytest.mark.data
def test_stats_without_a_name_count_every_corpus_and_sum_up_large_folders(mirror, capfd):
    with pytest.raises(SystemExit):
        main(["corpora", "stats", "--format", "jsonl"])
    counts = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {row["corpus"] for row in counts} == set(HERE)
    assert {"corpus": "cds", "part": "cds/samples/", "split": "", "of": "lines", "count": 11_000} in counts


@pytest.mark.data
def test_no_two_sentences_of_a_corpus_share_an_id(mirror):
    for name in ("cds", "cola", "yelp-gender", "politeness"):
        corpus = load(name)
        ids = [
            record["id"]
            for style in corpus.styles
            for split in corpus.splits
            if corpus.has(style, split)
            for record in corpus.records(style, split, raw=True)
        ]
        assert len(set(ids)) == len(ids)
    books = load("books")
    ids = [record["id"] for split in books.splits for record in books.records("recipes", split, raw=True)]
    assert len(set(ids)) == len(ids)


@pytest.mark.data
def test_sentences_of_the_plays_are_ordinary_text(mirror):
    modern = load("shakespeare").sentences("modern", "test")
    assert not [text for text in modern if "``" in text or " ," in text or " n't" in text]


@pytest.mark.data
@pytest.mark.parametrize(("name", "split"), [("shakespeare", "test"), ("shakespeare", "valid"), ("yelp", "test")])
def test_every_test_sentence_has_its_references(mirror, name, split):
    corpus = load(name)
    for style in corpus.styles:
        references = corpus.references(style, split)
        assert len(references) == len(corpus.sentences(style, split))
        assert all(references)


@pytest.mark.data
def test_all_versions_of_a_verse_are_in_the_same_split(mirror):
    bible = load("bible")
    trained = {line.key for line in bible.lines("KJVPCE", "train")}
    tested = {line.key for version in ("BBE", "Tyndale") for line in bible.lines(version, "test")}
    assert len(tested) > 1_500
    assert not trained & tested


@pytest.mark.data
def test_the_published_outputs_answer_the_first_halves_of_the_samples(mirror):
    cds = Files(catalogue()["cds"])
    from restyle.corpora.cds import SAMPLES

    samples = {style: cds.texts(f"cds/samples/{name}.txt") for style, name in SAMPLES.items()}
    found = list(rows("strap-cds"))
    assert len(found) == 5_500
    assert max(row["index"] for row in found) == 499
    same = [" ".join(samples[row["style"]][row["index"]].split()) == " ".join(row["text"].split()) for row in found]
    assert sum(same) / len(same) > 0.99


@pytest.mark.data
def test_two_runs_of_one_system_are_told_apart_by_their_origin(mirror):
    runs = {(row["system"], row["origin"]) for row in rows("systems", "shakespeare")}
    assert {origin for system, origin in runs if system == "DLSM"} == {"strap2020", "he2020repo"}
    assert {origin for system, origin in runs if system == "UNMT"} == {"strap2020", "he2020repo"}


@pytest.mark.data
@pytest.mark.parametrize(
    ("system", "accuracy", "similarity", "fluency", "joint"),
    [("unmt", 70.5, 37.5, 49.6, 14.6), ("dlsm", 71.1, 43.5, 49.4, 16.3)],  # STRAP, Table 1
)
def test_the_published_verdicts_give_the_published_numbers(mirror, system, accuracy, similarity, fluency, joint):
    scores = [row["scores"] for row in rows("strap-judged", system)]

    def mean(values):
        return round(100 * sum(values) / len(scores), 1)

    assert mean(each["accuracy"] for each in scores) == accuracy
    assert mean(each["sim_ref"] for each in scores) == similarity
    assert mean(each["fluency"] for each in scores) == fluency
    assert mean(each["accuracy"] * each["sim_ref"] * each["fluency"] for each in scores) == joint


@pytest.mark.data
def test_the_judges_take_references_for_the_target_style_and_copies_for_the_source(mirror):
    accuracy = {
        system: sum(row["scores"]["accuracy"] for row in rows("strap-judged", system)) / 2924
        for system in ("reference", "copy")
    }
    assert accuracy["reference"] > 0.9  # STRAP, Table 1: 90.4
    assert accuracy["copy"] < 0.1  # STRAP, Table 1: 9.6


@pytest.mark.data
@pytest.mark.parametrize("name", [entry.name for entry in tables if not catalogue()[entry.name].on_request])
def test_every_part_of_every_table_gives_rows_with_ids_that_are_their_own(mirror, name):
    for part, read in parts_of(name).items():
        ids = [row["id"] for row, _ in zip(read(), range(5000), strict=False)]
        assert ids
        assert len(set(ids)) == len(ids), part


@pytest.mark.data
def test_a_row_goes_through_json_unchanged(mirror):
    for entry in tables:
        if not catalogue()[entry.name].on_request:
            row = next(rows(entry.name))
            assert json.loads(json.dumps(row)) == row


@pytest.mark.data
def test_a_damaged_copy_of_the_mirror_is_noticed(mirror, tmp_path, monkeypatch):
    file = catalogue()["cola"].file("cola/in_domain_dev.tsv")
    damaged = (mirror / file.path).read_bytes().replace(b"1", b"0", 1)
    (tmp_path / "cola").mkdir()
    (tmp_path / file.path).write_bytes(damaged)
    monkeypatch.setenv("RESTYLE_DATA", str(tmp_path))
    with pytest.raises(Corrupt):
        load("cola").sentences("acceptable", "valid")
