"""The filter over files: what survives, in which order and bytes, and what is said of the rest."""

import gzip
import json
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from restyle.errors import InputError, UsageError
from restyle.jobs import JobSettings
from restyle.pairs import FilterSettings, PairFiles, filter_files, kept, preset
from restyle.pairs._duplicates import Seen

OFF = preset("pang-gimpel", {"drop_substrings": False})
STRAP = replace(FilterSettings(), language="off", duplicates="near")


def made_up_lines(count, seed=0):
    """Lines of a text, a paraphrase and a score, some of them repeated, of which each stage drops some."""
    chance = random.Random(seed)
    vocabulary = [f"w{number}" for number in range(400)]
    lines = []
    for _ in range(count):
        text = chance.choices(vocabulary, k=chance.randrange(2, 25))
        other = [word if chance.random() < 0.4 else chance.choice(vocabulary) for word in text]
        if chance.random() < 0.7:
            chance.shuffle(other)
        lines.append(f"{' '.join(text)}\t{' '.join(other)}\t{chance.random():.3f}")
        if chance.random() < 0.1:
            lines.append(chance.choice(lines))
    return lines


@pytest.fixture(scope="module")
def lines():
    return made_up_lines(3000)


@pytest.fixture
def pairs(tmp_path, lines):
    file = tmp_path / "pairs.tsv"
    file.write_text("\n".join(lines) + "\n")
    return file


def survivors(lines, settings):
    columns = list(zip(*(line.split("\t") for line in lines), strict=True))
    mask = kept(columns[0], columns[1], settings, scores=[float(score) for score in columns[2]])
    return [line for line, stays in zip(lines, mask, strict=True) if stays]


def wrote(path, content):
    path.write_text(content)
    return str(path)


class TestSurvivors:
    @pytest.mark.parametrize("workers", [1, 2])
    def test_they_keep_the_order_and_the_bytes_of_the_input(self, tmp_path, pairs, lines, workers):
        expected = survivors(lines, STRAP)
        assert 100 < len(expected) < len(lines) / 2
        output = tmp_path / "kept.tsv"
        files = PairFiles([str(pairs)], block_size=5000)
        report = filter_files(files, output, STRAP, jobs=JobSettings(workers=workers))
        assert output.read_text() == "\n".join(expected) + "\n"
        assert report.kept == len(expected)

    def test_the_size_of_the_blocks_changes_nothing(self, tmp_path, pairs):
        outputs = [tmp_path / f"{size}.tsv" for size in (2000, 1 << 20)]
        for output, size in zip(outputs, (2000, 1 << 20), strict=True):
            filter_files(PairFiles([str(pairs)], block_size=size), output, STRAP)
        assert outputs[0].read_bytes() == outputs[1].read_bytes()

    def test_many_files_are_one_stream(self, tmp_path, lines):
        halves = [
            wrote(tmp_path / f"{n}.tsv", "\n".join(half) + "\n") for n, half in enumerate((lines[:50], lines[50:]))
        ]
        filter_files(PairFiles(halves), tmp_path / "kept.tsv", STRAP)
        assert (tmp_path / "kept.tsv").read_text().splitlines() == survivors(lines, STRAP)

    def test_stdout_takes_them_as_a_file_does(self, capsys, pairs, lines):
        filter_files(PairFiles([str(pairs)]), "-", STRAP)
        assert capsys.readouterr().out.splitlines() == survivors(lines, STRAP)

    def test_a_compressed_output_holds_the_same(self, tmp_path, pairs, lines):
        filter_files(PairFiles([str(pairs)]), tmp_path / "kept.tsv.gz", STRAP)
        assert gzip.decompress((tmp_path / "kept.tsv.gz").read_bytes()).decode().splitlines() == survivors(lines, STRAP)

    def test_a_header_line_is_written_once(self, tmp_path):
        files = [wrote(tmp_path / name, "id\ttext\tparaphrase\n1\tone\ttwo\n") for name in ("a.tsv", "b.tsv")]
        filter_files(PairFiles(files), tmp_path / "kept.tsv", OFF)
        assert (tmp_path / "kept.tsv").read_text() == "id\ttext\tparaphrase\n1\tone\ttwo\n1\tone\ttwo\n"

    def test_a_table_becomes_records(self, tmp_path):
        file = wrote(tmp_path / "a.tsv", "text\tparaphrase\tscore\tsource\none\ttwo\t0.5\tnews\n")
        filter_files(PairFiles([file]), tmp_path / "kept.jsonl", OFF)
        assert json.loads((tmp_path / "kept.jsonl").read_text()) == {
            "id": "2", "text": "one", "paraphrase": "two", "score": 0.5, "source": "news"
        }  # fmt: skip

    def test_records_become_a_table_and_a_line_break_a_space(self, tmp_path):
        file = wrote(tmp_path / "a.jsonl", '{"text": "one\\ntwo", "paraphrase": "th\\tree", "score": 1}\n')
        filter_files(PairFiles([file]), tmp_path / "kept.tsv", OFF)
        assert (tmp_path / "kept.tsv").read_text() == "one two\tth ree\t1\n"

    def test_an_empty_input_gives_an_empty_output(self, tmp_path):
        report = filter_files(PairFiles([wrote(tmp_path / "a.tsv", "")]), tmp_path / "kept.tsv", STRAP)
        assert (tmp_path / "kept.tsv").read_bytes() == b""
        assert report.rows()[0]["survivors"] == 0

    @pytest.mark.ray
    def test_ray_gives_the_same_bytes(self, tmp_path, pairs, lines):
        files = PairFiles([str(pairs)], block_size=20_000)
        filter_files(files, tmp_path / "kept.tsv", STRAP, jobs=JobSettings(workers=2, executor="ray"))
        assert (tmp_path / "kept.tsv").read_text().splitlines() == survivors(lines, STRAP)


class TestReport:
    def test_the_table_counts_survivors_stage_by_stage_in_the_papers_order(self, tmp_path, pairs, lines):
        rows = filter_files(PairFiles([str(pairs)], block_size=5000), tmp_path / "kept.tsv", STRAP).rows()
        names = ["trigram", "unigram", "kendall", "length-difference", "average-length", "duplicates"]
        assert [row["stage"] for row in rows] == ["read", "similarity", "empty", *names]
        assert rows[0]["survivors"] == len(lines)
        switched_on = {
            "similarity": {"similarity": "column"},
            "empty": {},
            "trigram": {"max_trigram_overlap": STRAP.max_trigram_overlap},
            "unigram": {"max_unigram_overlap": STRAP.max_unigram_overlap},
            "kendall": {"min_shuffled": STRAP.min_shuffled},
            "length-difference": {"max_length_difference": STRAP.max_length_difference},
            "average-length": {"min_average_length": 7.0, "max_average_length": 25.0},
            "duplicates": {"duplicates": "near"},
        }
        settings = OFF
        for row in rows[1:]:
            settings = replace(settings, **switched_on[row["stage"]])
            assert row["survivors"] == len(survivors(lines, settings)), row["stage"]

    def test_what_it_says_and_how_it_was_made_lie_beside_the_output(self, tmp_path, pairs):
        report = filter_files(PairFiles([str(pairs)]), tmp_path / "kept.tsv", STRAP)
        assert json.loads((tmp_path / "kept.tsv.report.json").read_text()) == json.loads(json.dumps(report.to_dict()))
        assert preset(file=tmp_path / "kept.tsv.settings.toml") == STRAP
        assert {path.name for path in tmp_path.iterdir()} == {
            "pairs.tsv", "kept.tsv", "kept.tsv.report.json", "kept.tsv.settings.toml"
        }  # fmt: skip

    def test_every_stage_says_what_it_cost(self, tmp_path, pairs):
        rows = filter_files(PairFiles([str(pairs)]), tmp_path / "kept.tsv", STRAP).rows()
        assert rows[0]["seconds"] > 0
        assert all(row["seconds"] >= 0 for row in rows)

    def test_skipped_lines_are_counted(self, tmp_path, lines):
        file = wrote(tmp_path / "a.tsv", "\n".join([*lines[:10], "one column", *lines[10:20]]) + "\n")
        report = filter_files(PairFiles([file], on_error="skip"), tmp_path / "kept.tsv", STRAP)
        assert (report.read, report.skipped) == (20, 1)
        assert "1 bad lines skipped (the first: " in str(report)
        assert "a.tsv, line 11: 1 columns; 3 were expected" in str(report)


class TestSamples:
    def samples(self, tmp_path, pairs, **options):
        settings = replace(STRAP, sample_dropped=4, seed=options.pop("seed", 0))
        report = filter_files(PairFiles([str(pairs)], block_size=5000), tmp_path / "kept.tsv", settings, **options)
        return report.samples

    def test_each_stage_shows_so_many_of_those_it_dropped(self, tmp_path, pairs, lines):
        samples = self.samples(tmp_path, pairs)
        by_stage = {
            stage: [s for s in samples if s["stage"] == stage] for stage in ("similarity", "kendall", "duplicates")
        }
        assert {stage: len(found) for stage, found in by_stage.items()} == dict.fromkeys(by_stage, 4)
        for sample in by_stage["kendall"]:
            assert sample["values"]["kendall"] < STRAP.min_shuffled
            assert sample["values"]["unigram"] <= STRAP.max_unigram_overlap
            number = int(sample["where"].rpartition(":")[2])
            assert sample["pair"] == lines[number - 1].rpartition("\t")[0].replace("\t", " ⇥ ")

    def test_the_same_seed_shows_the_same_whatever_the_workers(self, tmp_path, pairs):
        assert self.samples(tmp_path, pairs) == self.samples(tmp_path, pairs, jobs=JobSettings(workers=2))

    def test_they_are_drawn_anew_in_each_block(self, tmp_path):
        line = "one two\tone two"
        file = wrote(tmp_path / "a.tsv", f"{line}\n" * 1000)
        settings = replace(OFF, max_unigram_overlap=0.5, sample_dropped=50)
        report = filter_files(PairFiles([file], block_size=len(line) * 100), tmp_path / "kept.tsv", settings)
        numbers = [int(sample["where"].rpartition(":")[2]) for sample in report.samples]
        assert len(numbers) == 50
        assert len({number % 100 for number in numbers}) > 20  # of blocks drawn alike, it would be five places

    def test_another_seed_shows_others(self, tmp_path, pairs):
        assert self.samples(tmp_path, pairs) != self.samples(tmp_path, pairs, seed=1)


class TestExplaining:
    def test_every_pair_says_which_stage_dropped_it_and_with_which_values(self, tmp_path, pairs, lines):
        report = filter_files(PairFiles([str(pairs)], block_size=5000), tmp_path / "why.jsonl", STRAP, explain=True)
        records = [json.loads(line) for line in (tmp_path / "why.jsonl").read_text().splitlines()]
        assert [f"{record['text']}\t{record['paraphrase']}" for record in records] == [
            line.rpartition("\t")[0] for line in lines
        ]
        assert [line for line, record in zip(lines, records, strict=True) if record["kept"]] == survivors(lines, STRAP)
        for row in report.rows()[1:]:
            assert sum(record["dropped_by"] == row["stage"] for record in records) == row["dropped"]
        assert all("kendall" in record["values"] for record in records)

    def test_it_is_not_written_as_a_table(self, tmp_path, pairs):
        with pytest.raises(UsageError, match=r"explanations are written as JSONL; .*why.tsv should end in .jsonl"):
            filter_files(PairFiles([str(pairs)]), tmp_path / "why.tsv", STRAP, explain=True)


class TestBadInput:
    def test_a_missing_score_column_is_told_before_any_work(self, tmp_path):
        file = wrote(tmp_path / "a.tsv", "one\ttwo\n")
        with pytest.raises(InputError, match="a.tsv has no score column.* --score-column .* --similarity .*off"):
            filter_files(PairFiles([file]), tmp_path / "kept.tsv", replace(STRAP, similarity="column"))
        assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]

    def test_a_bad_line_stops_it_and_leaves_the_old_output_alone(self, tmp_path, lines):
        file = wrote(tmp_path / "a.tsv", "\n".join([*lines, "one column"]) + "\n")
        output = tmp_path / "kept.tsv"
        output.write_text("as before")
        with pytest.raises(InputError, match=f"line {len(lines) + 1}: 1 columns; 3 were expected"):
            filter_files(PairFiles([file], block_size=5000), output, STRAP)
        assert output.read_text() == "as before"

    def test_after_a_truncated_file_is_made_whole_the_same_call_goes_on(self, tmp_path, lines):
        file, output = tmp_path / "a.tsv.gz", tmp_path / "kept.tsv"
        whole = gzip.compress("\n".join(lines).encode() + b"\n")
        file.write_bytes(whole[: len(whole) // 2])
        files = PairFiles([str(file)], block_size=5000)
        with pytest.raises(InputError, match="cut off after line"):
            filter_files(files, output, STRAP)
        assert list(tmp_path.glob("kept.tsv.blocks.jsonl.job/shards/*"))
        file.write_bytes(whole)
        filter_files(files, output, STRAP)
        assert output.read_text().splitlines() == survivors(lines, STRAP)

    def test_a_sentence_of_a_megabyte_takes_no_time_and_harms_no_other(self, tmp_path):
        chance = random.Random(0)
        long = " ".join(str(chance.randrange(10**6)) for _ in range(150_000))
        good = "one two three four\tfive six seven eight"
        file = wrote(tmp_path / "a.tsv", f"{good}\n{long}\t{long[::-1]}\n{long}\tone\n{good} nine\n")
        settings = preset("loose", {"similarity": "off", "language": "off", "min_shuffled": 0.1})
        begun = time.perf_counter()
        filter_files(PairFiles([file]), tmp_path / "kept.tsv", settings)
        assert time.perf_counter() - begun < 10
        assert (tmp_path / "kept.tsv").read_text() == f"{good}\n{good} nine\n"

    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read the peak of the memory from")
    def test_a_million_identical_pairs_leave_one_in_little_memory(self, tmp_path):
        file = wrote(tmp_path / "a.tsv", "one two three\tfour five six\n" * 1_000_000)
        code = (
            "import re, sys\n"
            "from restyle.pairs import PairFiles, filter_files, preset\n"
            "settings = preset('pang-gimpel', {'duplicates': 'near'})\n"
            "print(filter_files(PairFiles([sys.argv[1]]), sys.argv[2], settings))\n"
            "print(int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) >> 10)\n"
        )
        command = [sys.executable, "-c", code, file, str(tmp_path / "kept.tsv")]
        said, megabytes = subprocess.check_output(command, text=True).splitlines()
        assert said == "1,000,000 pairs read, 1 kept"
        assert Path(tmp_path / "kept.tsv").read_text() == "one two three\tfour five six\n"
        assert int(megabytes) < 300

    @pytest.mark.parametrize("name", ["kept.csv", "kept.parquet"])
    def test_an_output_that_cannot_be_written_is_refused_first(self, tmp_path, pairs, name):
        with pytest.raises(UsageError, match=f"{name}: pairs are written as .tsv or .jsonl"):
            filter_files(PairFiles([str(pairs)]), tmp_path / name, STRAP)


class TestSeen:
    def test_it_knows_what_came_before_through_all_its_growth(self):
        chance = np.random.default_rng(0)
        keys = chance.integers(1, 60_000, 200_000).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        seen, before = Seen(), set()
        for part in np.array_split(keys, 50):
            expected = []
            for key in part.tolist():
                expected.append(key not in before)
                before.add(key)
            assert seen.fresh(part).tolist() == expected
        assert seen.remembered == len(before)
        assert not seen.overflowed

    def test_beyond_its_room_it_still_knows_those_it_remembers(self):
        keys = np.arange(1, 101, dtype=np.uint64)
        seen = Seen(most_slots=64)
        assert seen.fresh(keys).all()
        assert seen.overflowed
        assert seen.remembered == 53  # five sixths of 64
        assert np.count_nonzero(~seen.fresh(keys)) == 53

    def test_the_report_says_so(self, tmp_path, monkeypatch, pairs):
        monkeypatch.setattr("restyle.pairs.merge.Seen", lambda: Seen(most_slots=64))
        report = filter_files(PairFiles([str(pairs)]), tmp_path / "kept.tsv", replace(OFF, duplicates="exact"))
        assert str(report).endswith("duplicates were looked for only among the first 53 survivors")


@pytest.mark.data
@pytest.mark.parametrize("name", ["quora", "twitter_url"])
def test_real_pairs_of_the_mirror_survive_alike_one_by_one(mirror, tmp_path, name):
    with gzip.open(mirror / f"paraphrase/{name}.test.tsv.gz", "rt", encoding="utf-8") as rows:
        pairs = [row.rstrip("\n").split("\t") for row in rows][:3000]
    settings = replace(STRAP, similarity="off", duplicates="keep")
    alone = [bool(kept([text], [other], settings)[0]) for text, other in pairs]
    assert kept([text for text, _ in pairs], [other for _, other in pairs], settings).tolist() == alone
    assert 0 < sum(alone) < len(pairs)
