import gzip
import io
import json
import os
import sys
import threading
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from restyle.errors import InputError, MissingExtra, OutputError, RecordError, UsageError
from restyle.records import (
    ReadingReport,
    RecordWriter,
    _csv,
    _streams,
    _writing,
    format_of,
    json_line,
    read_document,
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
        with pytest.raises(RecordError, match=r"a.tsv, line 3: fields: 1; the header has 2"):
            read(tmp_path / "a.tsv")

    def test_a_wrong_encoding_names_the_byte_and_the_remedy(self, tmp_path):
        (tmp_path / "a.txt").write_bytes("fine\ncaf\xe9\n".encode("latin-1"))
        with pytest.raises(RecordError, match=r"line 2: byte 4 \(0xe9\) is not utf-8; .*--encoding cp1252"):
            read(tmp_path / "a.txt")
        assert texts(tmp_path / "a.txt", encoding="latin-1") == ["fine", "café"]

    @pytest.mark.parametrize("name", ["utf-9", "rot13", "hex", "undefined", "u\0"])
    def test_what_is_no_encoding_of_text_is_refused(self, tmp_path, name):
        (tmp_path / "a.txt").write_text("x\n")
        with pytest.raises(UsageError, match="no encoding is called"):
            read(tmp_path / "a.txt", encoding=name)

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
        with pytest.raises(InputError, match=r"a.txt.gz is no gzip file, .*; rename it if it is not compressed"):
            read(tmp_path / "a.txt.gz")

    def test_a_gz_whose_contents_are_not_what_it_promises_is_damaged(self, tmp_path):
        data = bytearray(gzip.compress(b"text\n"))
        data[-8] ^= 1  # its checksum
        (tmp_path / "a.txt.gz").write_bytes(data)
        with pytest.raises(InputError, match="a.txt.gz is damaged after line"):
            read(tmp_path / "a.txt.gz")

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("{not json}", "not JSON"),
            ("[1, 2]", "a JSON object was expected, not list"),
            ('{"txt": "x"}', "no field 'text'; the fields are \\['txt'\\]"),
            ('{"text": 5}', r"no string \(int\) under 'text'"),
            ('{"text": "\\ud800"}', "half of a surrogate pair"),
            ('{"text": "x", "n": ' + "1" * 5000 + "}", "not JSON: Exceeds the limit"),
            ('{"text": "x", "n": NaN}', "not JSON: NaN is no finite number; write null"),
            ('{"text": "x", "n": -Infinity}', "not JSON: -Infinity is no finite number"),
            ('{"text": "x", "n": 1e999}', "not JSON: 1e999 is no finite number"),
        ],
    )
    def test_a_bad_json_line_says_what_is_wrong(self, tmp_path, line, problem):
        (tmp_path / "a.jsonl").write_text('{"text": "fine"}\n' + line + "\n")
        with pytest.raises(RecordError, match=f"a.jsonl, line 2: {problem}"):
            read(tmp_path / "a.jsonl")

    def test_a_missing_field_is_told_before_a_field_that_would_be_in_its_way(self, tmp_path):
        (tmp_path / "a.jsonl").write_text('{"text": "x"}\n', encoding="utf-8")
        with pytest.raises(RecordError, match=r"no field 'output'; the fields are \['text'\]"):
            list(read_records(tmp_path / "a.jsonl", text_column="output"))

    def test_a_missing_column_is_answered_with_the_columns_there_are(self, tmp_path):
        (tmp_path / "a.tsv").write_text("sentence\tlabel\nhi\t1\n")
        with pytest.raises(InputError, match="no column 'text'.*'sentence', 'label'.*--text-column"):
            read(tmp_path / "a.tsv")

    def test_an_unclosed_quote_does_not_swallow_the_file(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_csv, "MAX_CSV_ROW_LINES", 3)
        (tmp_path / "a.csv").write_text('text\n"open\n' + "x\n" * 10)
        with pytest.raises(RecordError, match="line 2: a quoted CSV field is not closed within 3 lines"):
            read(tmp_path / "a.csv")
        (tmp_path / "b.csv").write_text('text\nfine\n"open\n')
        with pytest.raises(RecordError, match="line 3: a quoted CSV field is never closed"):
            read(tmp_path / "b.csv")

    def test_a_quote_within_a_csv_field_is_text(self, tmp_path):
        (tmp_path / "a.csv").write_text('id,text\n1,he is 5" tall\n2,she is 6" tall\n3,plain\n')
        assert texts(tmp_path / "a.csv") == ['he is 5" tall', 'she is 6" tall', "plain"]

    def test_skipping_an_unclosed_quote_loses_its_line_alone(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_csv, "MAX_CSV_ROW_LINES", 3)
        rows = ["id,text", '1,"open', "2,a", '3,"b', 'b"', "4,c", "5,d", '6,"open, too', "7,e"]
        (tmp_path / "a.csv").write_text("\n".join(rows))
        report = ReadingReport()
        found = read(tmp_path / "a.csv", on_error="skip", report=report)
        assert [(record["id"], record["text"]) for record in found] == [
            ("2", "a"), ("3", "b\nb"), ("4", "c"), ("5", "d"), ("7", "e")
        ]  # fmt: skip
        assert (report.records, report.skipped) == (5, 2)
        assert "line 2: " in report.problems[0]
        assert "line 8: a quoted CSV field is never closed" in report.problems[1]

    def test_a_quoted_field_that_meets_a_bad_line_is_bad_from_its_beginning(self, tmp_path):
        (tmp_path / "a.csv").write_bytes(b'text\n"open\ncaf\xe9"\nfine\n')
        with pytest.raises(RecordError, match="line 2: a quoted CSV field goes on to line 3: byte 4"):
            read(tmp_path / "a.csv")
        report = ReadingReport()
        assert texts(tmp_path / "a.csv", on_error="skip", report=report) == ["fine"]
        assert report.skipped == 2

    def test_a_ragged_row_of_several_lines_counts_them_all(self, tmp_path):
        (tmp_path / "a.csv").write_text('text\n"one,\ntwo",3\nfine\n')
        report = ReadingReport()
        assert texts(tmp_path / "a.csv", on_error="skip", report=report) == ["fine"]
        assert (report.skipped, report.line) == (2, 4)

    def test_quotes_that_nothing_closes_take_no_memory_that_grows_with_the_file(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_csv, "MAX_LINE_BYTES", 1 << 20)
        (tmp_path / "a.csv").write_text("text\n" + '"' + ("x" * 99_999 + "\n") * 100)
        tracemalloc.start()
        with pytest.raises(RecordError, match="line 2: a quoted CSV field is not closed within 1 MiB"):
            read(tmp_path / "a.csv")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 12_000_000

    def test_a_bad_header_is_never_skipped(self, tmp_path):
        (tmp_path / "a.csv").write_text('text,"n"x\na,1\n')
        with pytest.raises(RecordError, match="line 1: not CSV"):
            read(tmp_path / "a.csv", on_error="skip")

    def test_a_closed_stdin_is_told(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", None)
        with pytest.raises(InputError, match="stdin is closed"):
            read("-")

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

    def test_a_link_stays_and_the_file_that_it_points_to_is_written(self, tmp_path):
        (tmp_path / "disk").mkdir()
        real, link = tmp_path / "disk" / "real.txt", tmp_path / "link.txt"
        link.symlink_to(real)
        for text in ("first", "second"):
            write_records(link, [{"text": text}])
            assert link.is_symlink()
            assert real.read_text() == f"{text}\n"
        assert [path.name for path in (tmp_path / "disk").iterdir()] == ["real.txt"]

    @pytest.mark.parametrize("name", ["pipe.txt", "link.txt"])
    def test_a_pipe_is_written_into_and_not_replaced(self, tmp_path, name):
        os.mkfifo(tmp_path / "pipe.txt")
        (tmp_path / "link.txt").symlink_to("pipe.txt")
        read_from_it = []
        reader = threading.Thread(target=lambda: read_from_it.append((tmp_path / "pipe.txt").read_text()))
        reader.start()
        write_records(tmp_path / name, [{"text": "x"}])
        reader.join(10)
        assert read_from_it == ["x\n"]
        assert (tmp_path / "pipe.txt").is_fifo()

    def test_unfinished_output_can_be_told_by_its_name(self, tmp_path):
        for name in ("out.jsonl", "x" * 250):
            with RecordWriter(tmp_path / name):
                [unfinished] = tmp_path.glob(".*")
                assert unfinished.name.startswith(f".{name[:50]}.unfinished-")
            (tmp_path / name).unlink()

    def test_nothing_is_left_when_the_compression_is_not_installed(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "zstandard", None)
        with pytest.raises(MissingExtra):
            write_records(tmp_path / "a.txt.zst", [{"text": "x"}])
        assert list(tmp_path.iterdir()) == []

    def test_an_output_without_a_name_and_a_folder_are_refused(self, tmp_path):
        with pytest.raises(UsageError, match="the output has no name; name a file, or - for stdout"):
            RecordWriter("")
        with pytest.raises(OutputError, match="it is a folder; name a file in it"):
            write_records(tmp_path, [{"text": "x"}])

    def test_what_json_cannot_hold_is_refused(self):
        with pytest.raises(OutputError, match="record '7' cannot be written as JSON .* give None"):
            json_line({"id": "7", "text": "x", "score": float("nan")})

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


cells = st.text(st.sampled_from("a\",'\n\r \t\u2028é"), max_size=6)


@given(st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), max_size=6)))
def test_any_records_survive_a_trip_through_csv(tmp_path_factory, rows):
    records = [
        {"id": str(number), "text": row[0], **{f"more{place}": cell for place, cell in enumerate(row[1:])}}
        for number, row in enumerate(rows)
    ]
    file = tmp_path_factory.mktemp("trip") / "a.csv"
    write_records(file, records)
    assert read(file) == records


@given(st.lists(st.text(st.sampled_from('ab",\r '), max_size=5), max_size=12))
def test_every_line_of_any_csv_is_in_a_record_or_counted(tmp_path_factory, lines):
    file = tmp_path_factory.mktemp("any") / "a.csv"
    file.write_bytes("\n".join(lines).encode())
    report = ReadingReport()
    spans = [
        1 + record["text"].count("\n") + record["n"].count("\n")
        for record in read_records(file, columns=["text", "n"], on_error="skip", report=report)
    ]
    blank = sum(line in ("", "\r") for line in lines)
    within = sum(spans) + report.skipped
    # A blank line within a quoted field belongs to it.
    assert len(lines) - blank <= within <= len(lines)
    assert report.records == len(spans)


class TestDocuments:
    def test_a_document_comes_whole_with_its_line_ends_and_its_mark(self, tmp_path):
        text = "\ufeff# Tea\r\n\r\nIt is hot.\u2028\n\n"
        (tmp_path / "a.md").write_bytes(text.encode())
        (tmp_path / "a.md.gz").write_bytes(gzip.compress(text.encode()))
        assert read_document(tmp_path / "a.md") == read_document(tmp_path / "a.md.gz") == text

    @pytest.mark.parametrize(
        ("name", "data", "problem"),
        [
            ("a.md", b"\x89PNG\0\0", "is no text in utf-8: a NUL byte stands in it"),
            ("a.md", "Thé".encode("latin-1"), r"is no text in utf-8: byte 3 is 0xe9; give its encoding"),
            ("a.md.gz", gzip.compress(b"word " * 1000)[:-20], "is cut off after line 0: the compressed file is inc"),
            ("a.md.gz", b"plain", "is no gzip file"),
        ],
        ids=["binary", "latin-1", "truncated", "no archive"],
    )
    def test_what_is_no_document_is_told_in_one_line(self, tmp_path, name, data, problem):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=problem):
            read_document(tmp_path / name)
