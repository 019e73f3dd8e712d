import gzip
import io
import json
import os
import sys
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from restyle.errors import InputError, OutputError, RecordError, UsageError
from restyle.records import (
    ReadingReport,
    RecordWriter,
    _reading,
    _streams,
    _writing,
    format_of,
    read_records,
    write_records,
)

SENTENCES = ["Art thou mad?", "", "I'm fine, thanks.", "naïve 🙂 café", "مرحبا بالعالم", "a\u2028b\x0cc"]


def read(path, **options):
    return list(read_records(path, **options))


def texts(path, **options):
    return [record["text"] for record in read(path, **options)]


class TestReading:
    def test_plain_text_keeps_every_line_empty_ones_too(self, tmp_path):
        file = tmp_path / "a.txt"
        file.write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
        assert texts(file) == SENTENCES
        assert [record["id"] for record in read(file)] == ["1", "2", "3", "4", "5", "6"]

    def test_a_last_line_without_a_line_end_is_a_line(self, tmp_path):
        (tmp_path / "a.txt").write_text("one\ntwo")
        assert texts(tmp_path / "a.txt") == ["one", "two"]

    def test_unknown_keys_travel_untouched(self, tmp_path):
        file = tmp_path / "a.jsonl"
        file.write_text('{"id": 7, "text": "x", "mood": {"sad": [1, null]}}\n')
        assert read(file) == [{"id": "7", "text": "x", "mood": {"sad": [1, None]}}]

    @pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
    def test_a_table_is_read_by_its_header(self, tmp_path, name):
        mark = "\t" if name.endswith("tsv") else ","
        (tmp_path / name).write_text(mark.join(["sentence", "label"]) + "\n" + mark.join(["hi", "1"]) + "\n")
        assert read(tmp_path / name, text_column="sentence") == [{"id": "2", "text": "hi", "label": "1"}]

    def test_a_table_without_a_header_is_read_by_the_columns_given(self, tmp_path):
        (tmp_path / "a.tsv").write_text("gj04\t1\t\tIt works.\n")
        [record] = read(tmp_path / "a.tsv", columns=["source", "label", "star", "text"])
        assert record == {"id": "1", "text": "It works.", "source": "gj04", "label": "1", "star": ""}

    def test_csv_fields_may_hold_commas_quotes_and_line_breaks(self, tmp_path):
        (tmp_path / "a.csv").write_text('text,n\n"one, ""two""\nthree",1\nfour,2\n')
        assert texts(tmp_path / "a.csv") == ['one, "two"\nthree', "four"]

    @pytest.mark.parametrize("suffix", ["gz", "zst"])
    def test_compressed_files_are_read_as_they_are(self, tmp_path, suffix):
        file = tmp_path / f"a.txt.{suffix}"
        data = b"one\ntwo\n"
        file.write_bytes(gzip.compress(data) if suffix == "gz" else zstandard.compress(data))
        assert texts(file) == ["one", "two"]

    def test_stdin_is_told_to_be_jsonl_by_its_first_character(self, monkeypatch):
        for data, expected in ((b'{"text": "x"}\n', "x"), (b"plain\n", "plain")):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            assert texts("-") == [expected]

    def test_reading_takes_no_memory_that_grows_with_the_file(self, tmp_path):
        file = tmp_path / "long.txt"
        with file.open("w") as out:
            for _ in range(200_000):
                out.write("a sentence of some twenty five characters\n")
        tracemalloc.start()
        count = sum(1 for _ in read_records(file))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count == 200_000
        assert peak < 2_000_000

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("a.tsv.gz", "tsv"),
            ("A.JSONL", "jsonl"),
            ("notes", "txt"),
            ("b.csv.zst", "csv"),
            ("-", None),
            ("x.md", "txt"),
        ],
    )
    def test_the_format_is_told_from_the_name(self, name, expected):
        assert format_of(name) == expected


class TestBadInput:
    def test_an_empty_file_has_no_records(self, tmp_path):
        for name in ("a.txt", "a.jsonl", "a.tsv", "a.csv"):
            (tmp_path / name).write_bytes(b"")
            assert read(tmp_path / name) == []

    def test_a_byte_order_mark_is_no_part_of_the_first_sentence(self, tmp_path):
        (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\n")
        (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "one"}\n')
        assert texts(tmp_path / "a.txt") == texts(tmp_path / "a.jsonl") == ["one"]

    def test_windows_line_ends_are_no_part_of_a_sentence(self, tmp_path):
        (tmp_path / "a.tsv").write_bytes(b"text\tn\r\none\t1\r\n")
        assert read(tmp_path / "a.tsv") == [{"id": "2", "text": "one", "n": "1"}]

    def test_a_ragged_row_is_named_with_both_counts(self, tmp_path):
        (tmp_path / "a.tsv").write_text("text\tn\none\t1\ntwo\n")
        with pytest.raises(RecordError, match=r"a.tsv, line 3: 1 fields; the header has 2"):
            read(tmp_path / "a.tsv")

    def test_a_wrong_encoding_names_the_byte_and_the_remedy(self, tmp_path):
        (tmp_path / "a.txt").write_bytes("fine\ncaf\xe9\n".encode("latin-1"))
        with pytest.raises(RecordError, match=r"line 2: byte 4 \(0xe9\) is not utf-8; .*--encoding cp1252"):
            read(tmp_path / "a.txt")
        assert texts(tmp_path / "a.txt", encoding="latin-1") == ["fine", "café"]

    def test_an_encoding_that_does_not_exist_is_refused(self, tmp_path):
        (tmp_path / "a.txt").write_text("x\n")
        with pytest.raises(UsageError, match="no encoding is called 'utf-9'"):
            read(tmp_path / "a.txt", encoding="utf-9")

    def test_utf16_and_binary_files_are_refused_as_such(self, tmp_path):
        (tmp_path / "a.txt").write_bytes("hello".encode("utf-16"))
        with pytest.raises(InputError, match="UTF-16; convert it first"):
            read(tmp_path / "a.txt")
        (tmp_path / "b.txt").write_bytes(b"\x7fELF\0\0\0")
        with pytest.raises(InputError, match="is a binary file"):
            read(tmp_path / "b.txt")

    def test_a_nul_byte_further_down_is_a_bad_line(self, tmp_path):
        (tmp_path / "a.txt").write_bytes(b"one\nt\0wo\n")
        with pytest.raises(RecordError, match="line 2: a NUL byte"):
            read(tmp_path / "a.txt")

    def test_a_line_of_ten_megabytes_is_a_line(self, tmp_path):
        (tmp_path / "a.txt").write_bytes(b"x" * 10_000_000 + b"\nshort\n")
        assert [len(text) for text in texts(tmp_path / "a.txt")] == [10_000_000, 5]
        (tmp_path / "a.csv").write_bytes(b"text\n" + b"x" * 10_000_000 + b"\n")
        assert [len(text) for text in texts(tmp_path / "a.csv")] == [10_000_000]

    def test_a_file_without_line_breaks_does_not_fill_the_memory(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_streams, "MAX_LINE_BYTES", 1 << 20)
        (tmp_path / "a.txt").write_bytes(b"x" * (3 << 20))
        with pytest.raises(InputError, match="line 1 is longer than 1 MiB"):
            read(tmp_path / "a.txt")

    @pytest.mark.parametrize("suffix", ["gz", "zst"])
    def test_a_truncated_archive_says_where_it_ends(self, tmp_path, suffix):
        lines = b"".join(b"line %d of many that make up a file\n" % i for i in range(50_000))
        data = gzip.compress(lines) if suffix == "gz" else zstandard.compress(lines)
        file = tmp_path / f"a.txt.{suffix}"
        file.write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError, match=r"after line \d+"):
            read(file)

    def test_a_gz_that_is_none_is_refused(self, tmp_path):
        (tmp_path / "a.txt.gz").write_bytes(b"just text\n")
        with pytest.raises(InputError, match="a.txt.gz"):
            read(tmp_path / "a.txt.gz")

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("{not json}", "not JSON"),
            ("[1, 2]", "a JSON object was expected, not list"),
            ('{"txt": "x"}', "no field 'text'; the fields are \\['txt'\\]"),
            ('{"text": 5}', r"no string \(int\) under 'text'"),
            ('{"text": "\\ud800"}', "half of a surrogate pair"),
        ],
    )
    def test_a_bad_json_line_says_what_is_wrong(self, tmp_path, line, problem):
        (tmp_path / "a.jsonl").write_text('{"text": "fine"}\n' + line + "\n")
        with pytest.raises(RecordError, match=f"a.jsonl, line 2: {problem}"):
            read(tmp_path / "a.jsonl")

    def test_a_missing_column_is_answered_with_the_columns_there_are(self, tmp_path):
        (tmp_path / "a.tsv").write_text("sentence\tlabel\nhi\t1\n")
        with pytest.raises(InputError, match="no column 'text'.*'sentence', 'label'.*--text-column"):
            read(tmp_path / "a.tsv")

    def test_an_unclosed_quote_does_not_swallow_the_file(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_reading, "MAX_CSV_ROW_LINES", 3)
        (tmp_path / "a.csv").write_text('text\n"open\n' + "x\n" * 10)
        with pytest.raises(RecordError, match="line 2: a quoted CSV field is not closed within 3 lines"):
            read(tmp_path / "a.csv")
        (tmp_path / "b.csv").write_text('text\nfine\n"open\n')
        with pytest.raises(RecordError, match="line 3: a quoted CSV field is never closed"):
            read(tmp_path / "b.csv")

    def test_skipping_counts_what_it_skips_and_loses_nothing_else(self, tmp_path):
        (tmp_path / "a.jsonl").write_text('{"text": "a"}\nbad\n{"text": "b"}\n{"text": 1}\n')
        report = ReadingReport()
        assert texts(tmp_path / "a.jsonl", on_error="skip", report=report) == ["a", "b"]
        assert (report.records, report.skipped) == (2, 2)
        assert "2 records read, 2 bad lines skipped (the first: " in str(report)
        assert "line 2: not JSON" in str(report)

    def test_what_is_no_file_is_told_so(self, tmp_path):
        with pytest.raises(InputError, match="does not exist"):
            read(tmp_path / "absent.txt")
        with pytest.raises(InputError, match="is a folder"):
            read(tmp_path)

    def test_a_format_that_does_not_exist_is_refused(self, tmp_path):
        (tmp_path / "a.txt").write_text("x\n")
        with pytest.raises(UsageError, match="no record format is called 'xml'; there are: jsonl, tsv, csv, txt"):
            read(tmp_path / "a.txt", format="xml")


class TestWriting:
    def test_a_file_appears_whole_or_not_at_all(self, tmp_path):
        target = tmp_path / "out.jsonl"
        with pytest.raises(RuntimeError), RecordWriter(target) as out:
            out.write({"id": "1", "text": "x"})
            assert not target.exists()
            raise RuntimeError
        assert list(tmp_path.iterdir()) == []

    def test_an_older_file_stays_until_the_new_one_is_whole(self, tmp_path):
        target = tmp_path / "out.txt"
        target.write_text("old\n")
        with pytest.raises(RuntimeError), RecordWriter(target) as out:
            out.write({"text": "new"})
            raise RuntimeError
        assert target.read_text() == "old\n"

    @pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.csv.gz", "a.tsv"])
    def test_the_same_records_give_the_same_bytes(self, tmp_path, name):
        rows = [{"id": "1", "text": "x", "n": "1"}, {"id": "2", "text": "y", "n": "2"}]
        (tmp_path / "again").mkdir()
        write_records(tmp_path / name, rows)
        write_records(tmp_path / "again" / name, rows)
        assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
        assert read(tmp_path / name) == rows

    def test_a_table_refuses_what_it_cannot_hold(self, tmp_path):
        with pytest.raises(OutputError, match="holds a tab or a line break: write .jsonl or .csv"):
            write_records(tmp_path / "a.tsv", [{"id": "1", "text": "a\tb"}])
        with pytest.raises(OutputError, match="holds a line break: write .jsonl"):
            write_records(tmp_path / "a.txt", [{"id": "1", "text": "a\nb"}])
        with pytest.raises(OutputError, match="record '2' has \\['extra'\\], which the header"):
            write_records(tmp_path / "a.csv", [{"id": "1", "text": "a"}, {"id": "2", "text": "b", "extra": 1}])

    def test_a_full_disk_is_told_in_one_line(self, tmp_path, monkeypatch):
        if not os.path.exists("/dev/full"):
            pytest.skip("no /dev/full here")

        def full(raw, path):
            raw.close()
            return open("/dev/full", "w")  # noqa: SIM115 the writer closes it

        monkeypatch.setattr(_writing, "compressed", full)
        with pytest.raises(OutputError, match="the disk is full; free some space"):
            write_records(tmp_path / "a.txt", [{"text": "x"}])
        assert list(tmp_path.iterdir()) == []

    def test_a_place_that_may_not_be_written_is_told_in_one_line(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(OutputError, match="cannot write"):
            write_records(tmp_path / "file" / "a.txt", [{"text": "x"}])

    def test_the_written_file_has_ordinary_permissions(self, tmp_path):
        write_records(tmp_path / "a.txt", [{"text": "x"}])
        (tmp_path / "b.txt").write_text("x\n")
        assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode


record_lists = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
            "text": st.text(st.characters(codec="utf-8", exclude_characters="\0")),
        },
        optional={"extra": st.none() | st.integers() | st.lists(st.booleans())},
    ),
    max_size=5,
)


@given(record_lists)
def test_any_records_survive_a_trip_through_jsonl(tmp_path_factory, rows):
    file = tmp_path_factory.mktemp("trip") / "a.jsonl"
    assert write_records(file, rows) == len(rows)
    assert read(file) == rows
    assert all(json.loads(line) for line in file.read_bytes().decode().split("\n") if line)


@given(record_lists)
def test_any_records_survive_a_trip_through_csv(tmp_path_factory, rows):
    rows = [{"id": row["id"], "text": row["text"]} for row in rows]
    file = tmp_path_factory.mktemp("trip") / "a.csv"
    write_records(file, rows)
    assert read(file) == rows
