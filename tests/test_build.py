"""A corpus of one's own, from text to folder and back."""

import gzip
import io
import json
import operator
import os
import resource
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from random import Random

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from restyle.corpora import load
from restyle.corpora.build import BuildSettings, build, built_home, built_names, load_built
from restyle.errors import InputError, OutputError, RecordError, SettingsError, UnknownName, UsageError
from restyle.records import read_records

ANY = BuildSettings(language="any")
KEEP_ALL = BuildSettings(language="any", near_duplicate=1.0)
NOUNS = ["rain", "lamp", "car", "harbour", "dog", "river", "letter", "coat", "stranger", "street", "engine", "mirror"]
VERBS = ["watched", "followed", "covered", "forgot", "remembered", "crossed", "emptied", "passed", "found", "lost"]
PLACES = ["behind the station", "under the bridge", "near the market", "in the cellar", "by the sea", "on the stairs"]
ENDS = ["all night", "before dawn", "without a word", "in the end", "for the last time", "like an old song"]


def drawn(count, seed):
    """So many sentences, of which any two have at most two of their five parts in common."""
    random, made = Random(seed), []
    while len(made) < count:
        parts = [random.choice(each) for each in (NOUNS, VERBS, NOUNS, PLACES, ENDS)]
        if all(sum(map(operator.eq, parts, other)) <= 2 for other in made):
            made.append(parts)
    return ["The {} {} the {} {} {}.".format(*parts) for parts in made]


RAIN = drawn(60, seed=1)
FRENCH = [
    "Il pleuvait depuis trois jours sur les quais de la ville.",
    "Elle ne voulait plus jamais lui parler de cette histoire.",
    "Nous avons marché longtemps dans la rue sans rien dire.",
    "Personne ne savait pourquoi le vieux marin avait disparu.",
]


def write(path, text, **options):
    path.write_text(text, **options)
    return path


@pytest.fixture
def noir(tmp_path):
    return write(tmp_path / "noir.txt", "".join(f"{line}\n" for line in RAIN))


def sentences(corpus):
    return {
        text for style in corpus.styles for split in corpus.splits if corpus.has(style, split)
        for text in corpus.sentences(style, split)
    }  # fmt: skip


def by_split(corpus, style="noir"):
    return {split: set(corpus.sentences(style, split)) for split in corpus.splits}


class TestFolder:
    def test_it_is_read_back_as_a_corpus(self, noir):
        corpus, report = build([noir], "noir", settings=ANY)
        assert corpus.styles == ("noir",)
        assert sentences(corpus) == set(RAIN)
        assert report.kept == len(RAIN)
        assert sentences(load_built("noir")) == sentences(load_built(built_home() / "noir")) == set(RAIN)

    def test_it_is_opened_by_name_like_any_other_corpus(self, noir):
        build([noir], "noir", settings=ANY)
        assert built_names() == ("noir",)
        assert sentences(load("noir")) == set(RAIN)

    def test_its_files_hold_the_records_that_the_corpus_gives(self, noir, tmp_path):
        corpus, _ = build([noir], "noir", settings=ANY, out=tmp_path / "out")
        for split in corpus.splits:
            assert list(read_records(tmp_path / "out" / f"{split}.jsonl")) == list(corpus.records("noir", split))
        record = next(corpus.records("noir", "train"))
        assert record["source"] == "noir.txt"
        assert RAIN[record["line"] - 1] == record["text"]

    def test_the_card_says_what_it_was_built_from_and_how(self, noir, tmp_path):
        build([noir], "noir", settings=BuildSettings(language="any", min_words=4), out=tmp_path / "out")
        card = tomllib.loads((tmp_path / "out" / "corpus.toml").read_text())
        assert card["settings"]["min_words"] == 4
        assert card["inputs"][0]["name"] == "noir.txt"
        assert len(card["inputs"][0]["sha256"]) == 64
        assert card["read"] == card["kept"] == sum(card["counts"]["noir"].values())

    def test_building_again_gives_the_same_bytes(self, noir, tmp_path):
        def contents():
            build([noir], "noir", settings=ANY, out=tmp_path / "out")
            return {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

        assert contents() == contents()

    def test_another_place_of_the_same_files_gives_the_same_bytes(self, noir, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        copy = write(tmp_path / "elsewhere" / "noir.txt", noir.read_text())
        for source, out in ((noir, "one"), (copy, "two")):
            build([source], "noir", settings=ANY, out=tmp_path / out)
        assert (tmp_path / "one/corpus.toml").read_bytes() == (tmp_path / "two/corpus.toml").read_bytes()

    def test_a_folder_that_holds_something_else_is_left_alone(self, noir, tmp_path):
        precious = write(tmp_path / "thesis.tex", "the only copy")
        with pytest.raises(OutputError, match="holds no built corpus"):
            build([noir], "noir", settings=ANY, out=tmp_path)
        assert precious.read_text() == "the only copy"

    @pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "yelp"])
    def test_a_name_that_cannot_be_one_is_refused(self, noir, name):
        with pytest.raises(SettingsError):
            build([noir], name, settings=ANY)

    def test_an_unknown_one_is_answered_with_those_that_there_are(self, noir):
        build([noir], "noir", settings=ANY)
        with pytest.raises(UnknownName, match="did you mean noir"):
            load_built("nior")


class TestSplits:
    def test_a_sentence_never_changes_its_split_when_the_corpus_grows(self, tmp_path, noir):
        before = by_split(build([noir], "noir", settings=KEEP_ALL)[0])
        more = write(tmp_path / "more.txt", "".join(f"{line} Again.\n" for line in drawn(80, seed=2)))
        after = by_split(build([more, noir], "noir", settings=KEEP_ALL)[0])
        assert all(before[split] <= after[split] for split in before)
        assert sum(map(len, after.values())) == 140

    def test_case_and_punctuation_do_not_carry_a_sentence_into_another_split(self, tmp_path):
        listed = write(tmp_path / "a.txt", "\n".join(RAIN))
        shouted = write(tmp_path / "b.txt", "\n".join(line.upper().replace(".", "!!") for line in RAIN))
        plain = by_split(build([listed], "noir", settings=ANY)[0])
        loud = by_split(build([shouted], "noir", settings=ANY)[0])
        assert {split: {text.lower().strip(".!") for text in held} for split, held in plain.items()} == {
            split: {text.lower().strip(".!") for text in held} for split, held in loud.items()
        }

    def test_the_shares_are_about_those_asked_for(self, tmp_path):
        many = write(
            tmp_path / "many.txt", "".join(f"Lamp number {n} went out at {n * 7} past.\n" for n in range(4000))
        )
        choice = BuildSettings(language="any", valid_share=0.2, test_share=0.1, near_duplicate=1.0)
        _, report = build([many], "noir", settings=choice)
        assert report.counts["noir"]["valid"] == pytest.approx(800, abs=80)
        assert report.counts["noir"]["test"] == pytest.approx(400, abs=60)

    def test_no_two_splits_share_a_sentence_or_nearly_one(self, tmp_path):
        variants = [f"{line} Again." for line in RAIN] + [line.upper() for line in RAIN]
        book = write(tmp_path / "noir.txt", "\n".join([*RAIN, *variants]))
        corpus, report = build(
            [book], "noir", settings=BuildSettings(language="any", layout="lines", near_duplicate=0.6)
        )
        assert report.dropped == {"duplicate": 60, "near duplicate": 60}
        assert sentences(corpus) == set(RAIN)

    def test_the_report_shows_what_a_duplicate_repeats(self, tmp_path):
        book = write(tmp_path / "noir.txt", f"{RAIN[0]}\n{RAIN[1]}\n{RAIN[0].upper()}\n")
        _, report = build([book], "noir", settings=ANY)
        example = report.examples["duplicate"][0]
        assert (example.text, example.like, example.line) == (RAIN[0].upper(), RAIN[0], 3)

    def test_the_same_words_in_two_styles_are_kept_in_both_and_in_one_split(self, tmp_path):
        table = write(tmp_path / "t.tsv", "text\tstyle\n" + "".join(f"{line}\t{s}\n" for line in RAIN for s in "ab"))
        corpus, report = build([table], "noir", settings=ANY)
        assert report.kept == 120
        assert by_split(corpus, "a") == by_split(corpus, "b")


class TestInputs:
    def test_a_table_names_the_style_of_each_line(self, tmp_path):
        rows = [("noir", RAIN[0]), ("law", "The party of the first part shall pay.")]
        table = write(tmp_path / "t.csv", "kind,sentence\n" + "".join(f'{kind},"{text}"\n' for kind, text in rows))
        choice = BuildSettings(language="any", style_column="kind", text_column="sentence")
        assert build([table], "mixed", settings=choice)[0].styles == ("noir", "law")

    def test_jsonl_may_hold_whole_documents(self, tmp_path):
        page = (
            "The rain came down on the quay. He lit a cigarette and waited.\n\nCHAPTER II\n\nShe did not come at all."
        )
        book = write(tmp_path / "b.jsonl", json.dumps({"text": page, "style": "noir"}) + "\n")
        corpus, report = build([book], "noir", settings=ANY)
        assert len(sentences(corpus)) == 3
        assert report.dropped == {"heading": 1}

    def test_a_folder_stands_for_the_texts_in_it(self, tmp_path):
        (tmp_path / "books" / "noir").mkdir(parents=True)
        (tmp_path / "books" / "law").mkdir()
        write(tmp_path / "books" / "noir" / "a.txt", "\n".join(RAIN[:30]))
        write(tmp_path / "books" / "law" / "b.md", "# Title\n\nThe party of the first part *shall* pay.\n")
        write(tmp_path / "books" / "cover.jpg", "not read")
        write(tmp_path / "books" / ".hidden.txt", "Nor is this file read.")
        corpus, report = build(
            [tmp_path / "books"], "mixed", settings=BuildSettings(language="any", style_from="folder")
        )
        assert set(corpus.styles) == {"noir", "law"}
        assert [entry.name for entry in report.inputs] == ["books/law/b.md", "books/noir/a.txt"]

    def test_the_style_may_come_from_the_file(self, tmp_path, noir):
        other = write(tmp_path / "law.txt.gz", "")
        other.write_bytes(gzip.compress(b"The party of the first part shall pay.\n"))
        corpus, _ = build([noir, other], "x", settings=BuildSettings(language="any", style_from="file"))
        assert set(corpus.styles) == {"noir", "law"}

    @pytest.mark.parametrize("pack", [lambda data: data, gzip.compress, zstandard.compress], ids=["", "gz", "zst"])
    def test_compressed_files_are_read(self, tmp_path, pack):
        suffix = {gzip.compress: ".gz", zstandard.compress: ".zst"}.get(pack, "")
        book = tmp_path / f"noir.txt{suffix}"
        book.write_bytes(pack("\n".join(RAIN).encode()))
        assert sentences(build([book], "noir", settings=ANY)[0]) == set(RAIN)

    @pytest.mark.parametrize(
        "text", ["\n".join(RAIN), "".join(json.dumps({"text": line}) + "\n" for line in RAIN)], ids=["text", "jsonl"]
    )
    def test_stdin_is_read(self, monkeypatch, text):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        corpus, report = build(["-"], "noir", settings=ANY)
        assert sentences(corpus) == set(RAIN)
        assert report.inputs[0].name == "stdin"

    def test_a_pipe_is_read(self, tmp_path, noir):
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(noir.read_bytes()))
        writer.start()
        assert sentences(build([tmp_path / "pipe"], "noir", settings=ANY)[0]) == set(RAIN)
        writer.join()

    def test_the_scratch_files_are_gone_in_the_end(self, noir, tmp_path):
        build([noir], "noir", settings=ANY, out=tmp_path / "here" / "out")
        assert [path.name for path in (tmp_path / "here").iterdir()] == ["out"]


class TestBadInput:
    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            (b"", "noir.txt is empty"),
            (b"\n\n\r\n  \n", "noir.txt is empty"),
            (b"Yes.\n", "of 1 pieces were dropped: too short 1"),
            (b"\x00\x01\x02\xff" * 100, "binary"),
            ("The rain came down.".encode("utf-16"), "UTF-16"),
            (b"The caf\xe9 was closed that night.\n", "--encoding"),
        ],
        ids=["empty", "blank", "all dropped", "binary", "utf-16", "latin-1"],
    )
    def test_it_is_answered_in_one_line_and_nothing_is_written(self, tmp_path, content, complaint):
        book = tmp_path / "noir.txt"
        book.write_bytes(content)
        with pytest.raises(InputError, match=complaint) as caught:
            build([book], "noir", settings=ANY)
        assert "\n" not in str(caught.value)
        assert not list(built_home().iterdir())

    def test_one_line_is_enough(self, tmp_path):
        corpus, report = build([write(tmp_path / "noir.txt", RAIN[0])], "noir", settings=ANY)
        assert sentences(corpus) == {RAIN[0]}
        assert "noir has no sentence in" in report.notes[0]

    def test_the_encoding_can_be_told(self, tmp_path):
        book = tmp_path / "noir.txt"
        book.write_bytes("The café was closed that night.\n".encode("cp1252"))
        choice = BuildSettings(language="any", encoding="cp1252")
        assert sentences(build([book], "noir", settings=choice)[0]) == {"The café was closed that night."}

    def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(self, tmp_path, noir):
        odd = tmp_path / "odd" / "noir.txt"
        odd.parent.mkdir()
        odd.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(RAIN).encode() + b"\r\n")
        assert sentences(build([odd], "noir", settings=ANY)[0]) == set(RAIN)

    def test_a_line_of_ten_megabytes_is_dropped_and_the_rest_is_kept(self, tmp_path):
        book = write(tmp_path / "noir.txt", f"{RAIN[0]}\n{'abc ' * 2_500_000}\n{RAIN[1]}\n")
        corpus, report = build([book], "noir", settings=BuildSettings(language="any", layout="lines"))
        assert sentences(corpus) == set(RAIN[:2])
        assert report.dropped == {"too long": 1}
        assert len(report.examples["too long"][0].text) < 200

    def test_a_book_in_one_line_is_cut_into_its_sentences(self, tmp_path):
        assert sentences(build([write(tmp_path / "noir.txt", " ".join(RAIN))], "noir", settings=ANY)[0]) == set(RAIN)

    @pytest.mark.parametrize(
        "text",
        ["I love this so much 😭😭 ok", "شربت القهوة في المقهى القديم", "ירד גשם על הרציף הישן", "吾輩は猫である。"],
    )
    def test_emoji_and_every_script_are_kept_as_they_are(self, tmp_path, text):
        assert sentences(build([write(tmp_path / "x.txt", text, encoding="utf-8")], "x", settings=ANY)[0]) == {text}

    def test_a_ragged_table_stops_with_its_line(self, tmp_path):
        table = write(tmp_path / "t.tsv", f"text\tstyle\n{RAIN[0]}\tnoir\n{RAIN[1]}\n")
        with pytest.raises(RecordError, match="line 3"):
            build([table], "noir", settings=ANY)

    def test_a_ragged_line_can_be_skipped_and_is_counted(self, tmp_path):
        table = write(tmp_path / "t.tsv", f"text\tstyle\n{RAIN[0]}\tnoir\n{RAIN[1]}\n{RAIN[2]}\tnoir\n")
        _, report = build([table], "noir", settings=BuildSettings(language="any", on_error="skip"))
        assert (report.read, report.kept, report.dropped) == (3, 2, {"unreadable": 1})
        assert "line 3" in report.examples["unreadable"][0].text

    @pytest.mark.parametrize(
        ("inputs", "error"), [(["nowhere.txt"], InputError), ([], UsageError), (["empty"], InputError)]
    )
    def test_an_input_that_is_not_there_is_named(self, tmp_path, monkeypatch, inputs, error):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "empty").mkdir()
        with pytest.raises(error):
            build(inputs, "noir", settings=ANY)

    def test_a_place_that_cannot_be_written_is_named(self, tmp_path, noir):
        with pytest.raises(OutputError, match="cannot write"):
            build([noir], "noir", settings=ANY, out=noir / "below a file")

    def test_a_full_disk_leaves_the_corpus_that_was_there(self, tmp_path, noir):
        build([noir], "noir", settings=ANY, out=tmp_path / "out")
        before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
        big = write(tmp_path / "big.txt", "".join(f"Lamp number {n} went out at {n * 7} past.\n" for n in range(5000)))
        code = (
            "import sys; from restyle.corpora.build import build, BuildSettings\n"
            "build(sys.argv[1:2], 'noir', settings=BuildSettings(language='any'), out=sys.argv[2])"
        )

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

        command = [sys.executable, "-c", code, str(big), str(tmp_path / "out")]
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=small_files, check=False)
        assert "OutputError: cannot write" in done.stderr
        assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
        assert sorted(path.name for path in tmp_path.iterdir()) == ["big.txt", "noir.txt", "out"]


LINES = st.lists(
    st.one_of(
        st.sampled_from([*RAIN[:4], RAIN[0].upper(), "CHAPTER II", "12", "", "Yes.", "[Illustration]", "CONTENTS"]),
        st.text(st.characters(codec="utf-8", exclude_characters="\0\n"), max_size=60),
        st.integers(30, 60).map(lambda words: "word " * words),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None)
@given(LINES, st.sampled_from(["auto", "lines", "paragraphs", "wrapped"]))
def test_every_piece_is_kept_once_or_dropped_for_one_reason(tmp_path_factory, lines, layout):
    home = tmp_path_factory.mktemp("build")
    book = home / "noir.txt"
    # A sentence that is kept in any case, since a corpus without one is refused.
    book.write_bytes("\n".join([RAIN[5], "", *lines]).encode())
    choice = BuildSettings(language="any", layout=layout)
    _, report = build([book], "noir", settings=choice, out=home / "out", examples=1000)
    written = sum(1 for split in ("train", "valid", "test") for _ in read_records(home / "out" / f"{split}.jsonl"))
    assert report.read == report.kept + sum(report.dropped.values()) == sum(entry.pieces for entry in report.inputs)
    assert written == report.kept
    assert {reason: len(shown) for reason, shown in report.examples.items() if shown} == report.dropped


class TestLanguages:
    def test_without_the_model_it_is_said_that_nobody_looked(self, noir):
        _, report = build([noir], "noir")
        assert "other languages were not looked for" in report.notes[0]

    @pytest.mark.models
    @pytest.mark.parametrize("language", ["auto", "en"])
    def test_a_sentence_in_another_language_is_dropped(self, models, tmp_path, language):
        foreign = FRENCH[0]
        book = write(tmp_path / "noir.txt", "\n".join([*RAIN, foreign]))
        corpus, report = build([book], "noir", settings=BuildSettings(language=language))
        assert foreign not in sentences(corpus)
        assert report.dropped == {"wrong language": 1}

    @pytest.mark.models
    def test_dialect_is_not_taken_for_a_foreign_language(self, models, tmp_path):
        dialect = "An' on the auld quay the rain cam doun o' night."
        book = write(tmp_path / "noir.txt", "\n".join([*RAIN, dialect]))
        assert dialect in sentences(build([book], "noir")[0])

    @pytest.mark.models
    def test_a_french_corpus_is_a_french_corpus(self, models, tmp_path):
        corpus, _ = build([write(tmp_path / "noir.txt", "\n".join([*FRENCH, RAIN[0]]))], "noir")
        assert sentences(corpus) == set(FRENCH)


def test_a_published_split_stays_whole_and_nothing_like_it_is_trained_on(tmp_path):
    from restyle.corpora._corpus import Line
    from restyle.corpora.build._folder import new_folder
    from restyle.corpora.build._pipeline import write_splits
    from restyle.corpora.build._report import BuildReport
    from restyle.corpora.build._sources import Source

    def source(texts, **options):
        return Source("s", "noir", lambda report: [Line(text, "s", 1) for text in texts], ready=True, **options)

    published = [RAIN[0], "Yes.", RAIN[0]]
    material = [RAIN[0].lower(), RAIN[0] + " Again.", RAIN[7]]
    report = BuildReport("noir")
    choice = BuildSettings(language="any", near_duplicate=0.6, valid_share=0, test_share=0)
    with new_folder(tmp_path / "out") as folder:
        write_splits([source(published, split="test"), source(material)], folder, report, choice)
    texts = {
        split: [r["text"] for r in read_records(tmp_path / "out" / f"{split}.jsonl")] for split in ("train", "test")
    }
    assert texts == {"test": published, "train": [RAIN[7]]}
    assert report.dropped == {"set aside": 2}


@pytest.mark.data
def test_a_book_of_the_mirror_is_built_in_seconds_and_in_little_memory(mirror, tmp_path):
    book = Path(mirror) / "books/dickens/charles-dickens_a-christmas-carol.txt.gz"
    _, report = build([book], "carol", settings=ANY)
    assert report.inputs[0].layout == "paragraphs"
    assert report.kept == pytest.approx(1450, abs=120)
    assert report.read == report.kept + sum(report.dropped.values())


@pytest.mark.data
def test_verse_of_the_mirror_is_taken_line_by_line(mirror):
    book = Path(mirror) / "books/romantic_poetry/william-blake_poems.txt.gz"
    _, report = build([book], "blake", settings=ANY)
    assert report.inputs[0].layout == "lines"
    assert report.kept == pytest.approx(960, abs=60)
