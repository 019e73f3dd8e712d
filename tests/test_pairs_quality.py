"""Table 16 of a set of pairs: `pair_quality`, its plot, and both commands as a user types them."""

import json
import math
import sys

import pytest
import typer
from typer.testing import CliRunner

from restyle.cli.filter import filter_pairs
from restyle.cli.pairs import app as pairs_app
from restyle.errors import InputError, MissingExtra, UnknownName, UsageError
from restyle.jobs import JobSettings
from restyle.pairs import ColumnNames, PairFiles, pair_quality
from restyle.pairs.plot import save_plot
from restyle.text import overlap_pair

PAIRS = [
    ("news", "are you mad", "mad are you", 0.9),  # tau -1/3
    ("news", "go home now", "go home", 0.7),  # tau 1
    ("plays", "one two", "three four", 0.2),  # no shared word, no tau
    ("plays", "art thou mad", "thou art mad", 0.6),  # tau 1/3
]


@pytest.fixture
def jsonl(tmp_path):
    file = tmp_path / "pairs.jsonl"
    keys = ("source", "text", "paraphrase", "score")
    file.write_text("".join(json.dumps(dict(zip(keys, pair, strict=True))) + "\n" for pair in PAIRS))
    return str(file)


@pytest.fixture
def tsv(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{text}\t{other}\n" for _, text, other, _ in PAIRS))
    return str(file)


def f1(*rows):
    return sum(overlap_pair.unigram_f1(*PAIRS[row][1:3]) for row in rows) / len(rows)


class TestQuality:
    def test_the_means_of_each_source_and_of_all(self, jsonl):
        rows = pair_quality(PairFiles([jsonl])).rows()
        assert [list(row.values())[:2] for row in rows] == [["news", 2], ["plays", 2], ["overall", 4]]
        assert [row["similarity"] for row in rows] == pytest.approx([0.8, 0.4, 0.6])
        assert [row["unigram_f1"] for row in rows] == pytest.approx([f1(0, 1), f1(2, 3), f1(0, 1, 2, 3)])
        assert [row["kendall_tau"] for row in rows] == pytest.approx([1 / 3, 1 / 3, 1 / 3])

    def test_pairs_without_a_tau_are_left_out_of_its_mean_and_counted(self, jsonl):
        assert [row["no_tau"] for row in pair_quality(PairFiles([jsonl])).rows()] == [0, 1, 1]

    def test_blocks_and_workers_change_nothing(self, jsonl):
        expected = pair_quality(PairFiles([jsonl])).rows()
        found = pair_quality(PairFiles([jsonl], block_size=10), jobs=JobSettings(workers=2)).rows()
        for row, other in zip(found, expected, strict=True):
            assert row == pytest.approx(other)

    def test_without_a_source_column_the_file_is_the_source(self, tsv):
        assert [row["source"] for row in pair_quality(PairFiles([tsv])).rows()] == [tsv, "overall"]

    def test_without_scores_and_a_model_there_is_no_similarity(self, tsv, monkeypatch):
        monkeypatch.setattr("restyle.pairs.quality.DEFAULT_METRIC", "sim-nowhere")
        assert [row["similarity"] for row in pair_quality(PairFiles([tsv])).rows()] == [None, None]

    def test_a_metric_can_be_the_similarity(self, tsv):
        [row, _] = pair_quality(PairFiles([tsv]), similarity_from="jaccard").rows()
        assert row["similarity"] == pytest.approx(sum(overlap_pair.jaccard(*pair[1:3]) for pair in PAIRS) / 4)

    def test_a_column_of_sentences_is_no_column_of_sources(self, jsonl, monkeypatch):
        monkeypatch.setattr("restyle.pairs.quality.MAX_SOURCES", 3)
        with pytest.raises(InputError, match="'text' names more than 3 sources.* --source-column"):
            pair_quality(PairFiles([jsonl], names=ColumnNames("text", "paraphrase", "score", "text")))

    def test_no_pairs_at_all_are_an_error(self, tmp_path):
        (tmp_path / "a.tsv").touch()
        with pytest.raises(InputError, match="not one pair"):
            pair_quality(PairFiles([str(tmp_path / "a.tsv")]))

    def test_bad_lines_are_counted(self, tmp_path):
        (tmp_path / "a.tsv").write_text("one\ttwo\nthree\n")
        quality = pair_quality(PairFiles([str(tmp_path / "a.tsv")], on_error="skip"))
        assert (quality.overall.pairs, quality.skipped) == (1, 1)


class TestPlot:
    @pytest.fixture(autouse=True)
    def _fonts(self, tmp_path_factory, monkeypatch):
        # Its list of fonts takes seconds to make; the tests share one.
        monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path_factory.getbasetemp() / "matplotlib"))

    @pytest.mark.parametrize(("name", "magic"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml")])
    def test_the_same_numbers_give_the_same_picture(self, jsonl, tmp_path, name, magic):
        pytest.importorskip("matplotlib")
        pictures = []
        for _ in range(2):
            save_plot(pair_quality(PairFiles([jsonl])), tmp_path / name)
            pictures.append((tmp_path / name).read_bytes())
        assert pictures[0].startswith(magic)
        assert pictures[0] == pictures[1]

    def test_another_format_is_refused(self, jsonl, tmp_path):
        with pytest.raises(UsageError, match=r"a plot is written as .png or .svg; .*p.gif is neither"):
            save_plot(pair_quality(PairFiles([jsonl])), tmp_path / "p.gif")

    def test_without_matplotlib_it_says_how_to_get_it(self, jsonl, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(MissingExtra, match=r"drawing a plot needs matplotlib: pip install 'restyle\["):
            save_plot(pair_quality(PairFiles([jsonl])), tmp_path / "p.png")


def command(*arguments, stdin=None):
    """What a command prints to stdout and to stderr; its error, if it has one, is raised."""
    app = typer.Typer()
    app.command("filter")(filter_pairs)
    app.add_typer(pairs_app, name="pairs")
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout, result.stderr


class TestCommands:
    def test_the_table_of_a_filter_goes_to_stdout(self, jsonl, tmp_path):
        out, err = command("filter", jsonl, "-o", str(tmp_path / "kept.jsonl"), "--preset", "pang-gimpel")
        assert [line.split()[:2] for line in out.splitlines()] == [
            ["stage", "survivors"], ["read", "4"], ["empty", "4"], ["substring", "3"]
        ]  # fmt: skip
        assert err == "restyle: 4 pairs read, 3 kept\n"
        assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 3

    def test_in_a_pipe_the_survivors_go_to_stdout_and_the_table_to_stderr(self):
        out, err = command("filter", "--preset", "pang-gimpel", stdin="one\tone two\nthree\tfour\n")
        assert out == "three\tfour\n"
        assert "substring" in err

    def test_every_threshold_is_a_flag(self, jsonl, tmp_path):
        flags = {
            "min-similarity": "0.1", "max-trigram-overlap": "0.2", "max-unigram-overlap": "0.3", "min-shuffled": "0.4",
            "max-length-difference": "inf", "min-average-length": "1", "max-average-length": "99", "language": "off",
            "duplicates": "exact", "sample-dropped": "2", "seed": "3", "similarity": "column",
        }  # fmt: skip
        arguments = [part for name, value in flags.items() for part in (f"--{name}", value)]
        command("filter", jsonl, "-o", str(tmp_path / "kept.jsonl"), *arguments, "--drop-substrings", "--full-table")
        saved = (tmp_path / "kept.jsonl.settings.toml").read_text()
        for name, value in flags.items():
            quoted = f'"{value}"' if value.isalpha() and value != "inf" else value
            assert f"\n{name.replace('-', '_')} = {quoted}" in f"\n{saved}"
        assert "drop_substrings = true" in saved
        assert "full_table = true" in saved

    def test_saved_settings_make_the_same_again(self, jsonl, tmp_path):
        first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        command("filter", jsonl, "-o", str(first), "--preset", "pang-gimpel")
        command("filter", jsonl, "-o", str(second), "--config", f"{first}.settings.toml")
        assert first.read_bytes() == second.read_bytes()

    def test_a_pair_is_explained_stage_by_stage(self):
        out, _ = command(
            "filter", "--pair", "are you mad", "are you crazy", "--similarity", "off", "--language", "off",
            "--format", "json",
        )  # fmt: skip
        dropped = {row["stage"]: row["value"] for row in json.loads(out) if not row["keeps"]}
        assert dropped == {"unigram": pytest.approx(2 / 3), "kendall": 0.0, "average-length": 3.0}

    def test_all_pairs_of_a_pipe_are_explained(self):
        flags = ("--explain", "--similarity", "off", "--language", "off")
        out, _ = command("filter", *flags, stdin="are you mad\tare you crazy\n")
        record = json.loads(out)
        assert (record["kept"], record["dropped_by"]) == (False, "unigram")
        assert math.isclose(record["values"]["unigram"], 2 / 3, abs_tol=1e-4)

    def test_samples_of_dropped_pairs_are_shown(self, jsonl, tmp_path):
        out, _ = command(
            "filter", jsonl, "-o", str(tmp_path / "kept.jsonl"), "--preset", "pang-gimpel", "--sample-dropped", "5"
        )
        assert out.splitlines()[-1].endswith("go home now ⇥ go home")

    def test_an_unknown_preset_is_answered_with_the_nearest(self, jsonl):
        with pytest.raises(UnknownName, match="did you mean strap-a1"):
            command("filter", jsonl, "--preset", "strap-a")

    def test_the_quality_is_a_table(self, jsonl):
        out, _ = command("pairs", "stats", jsonl)
        assert out.splitlines()[0].split() == ["source", "pairs", "similarity", "unigram_f1", "kendall_tau", "no_tau"]
        assert out.splitlines()[-1].split()[:3] == ["overall", "4", "0.600"]

    def test_the_quality_is_json(self, jsonl):
        out, _ = command("pairs", "stats", jsonl, "--format", "json")
        assert json.loads(out)[0]["source"] == "news"
