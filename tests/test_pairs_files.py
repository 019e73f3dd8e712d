"""Reading pairs: every format to the same pairs, and every bad line told with its file and number."""

import gzip
import io
import json
import sys

import pytest
import zstandard

from restyle.errors import InputError, RecordError, UsageError
from restyle.pairs import ColumnNames, PairFiles
from restyle.pairs.layout import MAX_LINE
from restyle.pairs.work import layout_of, lines_of

PAIRS = [("Are you mad?", "Art thou mad?", 0.75), ("Go home.", "Get thee hence.", 0.5)]
TSV = "".join(f"{text}\t{paraphrase}\t{score}\n" for text, paraphrase, score in PAIRS)
JSONL = "".join(json.dumps({"text": a, "paraphrase": b, "score": c}) + "\n" for a, b, c in PAIRS)


def written(path, content):
    content = content.encode() if isinstance(content, str) else content
    if path.suffix == ".gz":
        content = gzip.compress(content)
    elif path.suffix == ".zst":
        content = zstandard.compress(content)
    path.write_bytes(content)
    return str(path)


def read(*files, **options):
    """All pairs of some files, the numbers of their lines, and what was skipped."""
    pairs, numbers, problems = [], [], []
    names = options.setdefault("names", ColumnNames())
    for block in PairFiles(files, **options).blocks():
        columns = layout_of(block, names).pairs(lines_of(block))
        scores = [None] * len(columns) if columns.scores is None else columns.scores.tolist()
        pairs += zip(columns.texts, columns.paraphrases, scores, strict=True)
        numbers += block["numbers"]
        problems += block["problems"]
    return pairs, numbers, problems


class TestFormats:
    @pytest.mark.parametrize("name", ["p.tsv", "p.txt", "p.tsv.gz", "p.txt.zst"])
    def test_tables_as_paranmt_has_them(self, tmp_path, name):
        assert read(written(tmp_path / name, TSV)) == (PAIRS, [1, 2], [])

    @pytest.mark.parametrize("name", ["p.jsonl", "p.jsonl.gz", "p.jsonl.zst"])
    def test_jsonl(self, tmp_path, name):
        assert read(written(tmp_path / name, JSONL))[0] == PAIRS

    def test_parquet(self, tmp_path):
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = {name: [pair[place] for pair in PAIRS] for place, name in enumerate(("text", "paraphrase", "score"))}
        parquet.write_table(pyarrow.table(columns), tmp_path / "p.parquet")
        assert read(str(tmp_path / "p.parquet")) == (PAIRS, [1, 2], [])

    @pytest.mark.parametrize("content", [TSV, JSONL])
    def test_stdin_is_told_from_its_first_line(self, monkeypatch, content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
        assert read("-")[0] == PAIRS

    def test_a_table_of_two_columns_has_no_scores(self, tmp_path):
        assert read(written(tmp_path / "p.tsv", "a b\tc d\n"))[0] == [("a b", "c d", None)]

    def test_a_header_line_names_the_columns_in_any_order(self, tmp_path):
        file = written(tmp_path / "p.tsv", "id\tparaphrase\ttext\n7\tArt thou mad?\tAre you mad?\n")
        assert read(file) == ([("Are you mad?", "Art thou mad?", None)], [2], [])

    def test_columns_names_those_of_a_table_without_a_header(self, tmp_path):
        file = written(tmp_path / "p.tsv", "7\tone\ttwo\t0.5\n")
        assert read(file, columns=("id", "text", "paraphrase", "score"))[0] == [("one", "two", 0.5)]

    def test_other_names_of_the_sides(self, tmp_path):
        file = written(tmp_path / "p.jsonl", '{"input": "one", "output": "two", "sim": 0.5}\n')
        assert read(file, names=ColumnNames("input", "output", "sim"))[0] == [("one", "two", 0.5)]

    def test_blocks_are_cut_by_size_and_nothing_falls_between_them(self, tmp_path):
        file = written(tmp_path / "p.tsv", "".join(f"text {n}\tother {n}\n" for n in range(1, 1001)))
        blocks = list(PairFiles([file], block_size=500).blocks())
        assert len(blocks) > 20
        assert [number for block in blocks for number in block["numbers"]] == list(range(1, 1001))
        assert max(len(block["text"]) for block in blocks) < 600
        assert [block["block"] for block in blocks] == list(range(len(blocks)))

    def test_several_files_follow_each_other(self, tmp_path):
        files = [written(tmp_path / "a.tsv", TSV), written(tmp_path / "b.jsonl", JSONL)]
        assert read(*files)[0] == [*PAIRS, *PAIRS]

    def test_windows_line_ends_are_no_part_of_a_score(self, tmp_path):
        assert read(written(tmp_path / "p.tsv", TSV.replace("\n", "\r\n")))[0] == PAIRS

    @pytest.mark.parametrize("name", ["p.tsv", "p.jsonl"])
    def test_an_empty_file_has_no_pairs(self, tmp_path, name):
        assert read(written(tmp_path / name, "")) == ([], [], [])


BAD_LINES = {
    "p.tsv": [
        (b"one\ttwo\t0.5\textra", "4 columns; 3 were expected"),
        (b"one", "1 columns; 3 were expected"),
        (b"one\ttwo\thigh", "the score 'high' is not a number"),
        (b"one\ttwo\t", "the score '' is not a number"),
        (b"one\ttwo\tnan", "the score 'nan' is not a number"),
        (b"caf\xe9\ttwo\t0.5", r"byte 4 \(0xe9\) is not utf-8"),
        (b"one\x00\ttwo\t0.5", "a NUL byte"),
        (b"one\rmore\ttwo\t0.5", "a carriage return"),
        (b"x" * MAX_LINE + b"\ttwo\t0.5", "8,388,616 characters"),
    ],
    "p.jsonl": [
        (b'{"text": "one", "paraphrase": "two"', "not JSON"),
        (b'["one", "two", 0.5]', "a JSON object was expected, not list"),
        (b'{"text": "one", "score": 0.5}', r"no field 'paraphrase'; the fields are \['score', 'text'\]"),
        (b'{"text": 1, "paraphrase": "two", "score": 0.5}', r"no string \(int\) under 'text'"),
        (b'{"text": "one", "paraphrase": "two"}', "no score under 'score', where the first line has one"),
        (b'{"text": "one", "paraphrase": "two", "score": true}', "the score 'True' is not a number"),
        (b'{"text": "one", "paraphrase": "two", "score": 1' + b"0" * 400 + b"}", "the score '1000"),
        (b'{"text": "\\ud800", "paraphrase": "two", "score": 1}', "half of a surrogate pair"),
        (b"[" * 100_000, "not JSON"),
    ],
}


@pytest.mark.parametrize(("name", "line", "problem"), [(name, *bad) for name in BAD_LINES for bad in BAD_LINES[name]])
class TestBadLines:
    def file(self, tmp_path, name, line):
        good = (TSV if name == "p.tsv" else JSONL).encode()
        return written(tmp_path / name, good + line + b"\n" + good)

    def test_it_stops_with_the_file_and_the_line(self, tmp_path, name, line, problem):
        with pytest.raises(RecordError, match=f"p.(tsv|jsonl), line 3: {problem}"):
            read(self.file(tmp_path, name, line))

    def test_it_is_skipped_and_counted(self, tmp_path, name, line, problem):
        pairs, numbers, problems = read(self.file(tmp_path, name, line), on_error="skip")
        assert pairs == [*PAIRS, *PAIRS]
        assert numbers == [1, 2, 4, 5]
        assert len(problems) == 1


def test_bad_lines_are_counted_once_wherever_they_stand(tmp_path):
    files = PairFiles([written(tmp_path / "p.tsv", TSV + "one\n" + TSV + "one\n" * 7)], on_error="skip", block_size=10)
    assert sum(block["skipped"] for block in files.blocks()) == 8


class TestBadFiles:
    def test_a_bad_first_record_does_not_hide_the_scores_of_the_others(self, tmp_path):
        assert read(written(tmp_path / "p.jsonl", "oops\n" + JSONL), on_error="skip")[:2] == (PAIRS, [2, 3])

    def test_one_of_nothing_but_bad_lines(self, tmp_path):
        with pytest.raises(
            InputError, match=r"no line holds a pair, 2 are bad \(the first: .*p.jsonl, line 1: not JSON"
        ):
            read(written(tmp_path / "p.jsonl", "oops\noops\n"), on_error="skip")

    def test_one_that_does_not_exist(self, tmp_path):
        with pytest.raises(InputError, match="nothing.tsv does not exist"):
            read(str(tmp_path / "nothing.tsv"))

    @pytest.mark.parametrize("name", ["p.tsv.gz", "p.tsv.zst"])
    def test_one_that_is_cut_off(self, tmp_path, name):
        file = tmp_path / name
        written(file, "".join(f"text {n * n}\tother {n}\n" for n in range(20_000)))
        file.write_bytes(file.read_bytes()[:-100])
        with pytest.raises(InputError, match="cut off after line [0-9]+: the compressed file is incomplete"):
            read(str(file), on_error="skip")

    def test_a_table_of_many_columns_without_a_header(self, tmp_path):
        with pytest.raises(InputError, match="5 columns and no header line .* --columns text,paraphrase"):
            read(written(tmp_path / "p.tsv", "1\t2\t3\t4\t5\n"))

    def test_columns_without_the_two_sides(self, tmp_path):
        with pytest.raises(InputError, match="the columns are text, other; 'text' and 'paraphrase' must stand among"):
            read(written(tmp_path / "p.tsv", "one\ttwo\n"), columns=("text", "other"))

    def test_files_of_different_columns(self, tmp_path):
        files = [written(tmp_path / "a.tsv", TSV), written(tmp_path / "b.tsv", "one\ttwo\n")]
        with pytest.raises(InputError, match=r"b.tsv has the columns text, paraphrase, but .*a.tsv has .* score"):
            read(*files)

    def test_csv_is_refused_before_anything_is_read(self):
        with pytest.raises(UsageError, match="pairs are read from .tsv, .jsonl and .parquet, not from CSV"):
            PairFiles(["pairs.csv"])

    def test_a_parquet_file_that_is_none(self, tmp_path):
        pytest.importorskip("pyarrow")
        with pytest.raises(InputError, match="cannot be read as Parquet"):
            read(written(tmp_path / "p.parquet", TSV))

    def test_a_name_in_place_of_a_list_of_names(self):
        with pytest.raises(UsageError, match=r"a list of them is expected: \['pairs.tsv'\]"):
            PairFiles("pairs.tsv")

    def test_no_file_at_all(self):
        with pytest.raises(UsageError, match="no file of pairs was given"):
            PairFiles([])
