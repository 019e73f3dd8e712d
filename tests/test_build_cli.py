"""`restyle corpora build` as a user types it."""

import json
from dataclasses import replace

import pytest

from restyle.cli import _corpora_build, main
from restyle.corpora.build import BuildReport, load_built
from restyle.corpora.build.cds import SETTINGS as CDS_SETTINGS


def run(capfd, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["corpora", "build", *map(str, arguments)])
    out, err = capfd.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def noir(tmp_path):
    path = tmp_path / "noir.txt"
    path.write_text("The rain came down on the old quay.\n\nCHAPTER II\n\nHe waited there until the lamps went out.\n")
    return path


def test_the_account_is_a_table_with_examples(capfd, noir):
    code, out, err = run(capfd, noir, "--name", "noir")
    assert code == 0
    assert "dropped: heading" in out
    assert "CHAPTER II  [noir.txt, line 3]" in out
    assert "written to" in out
    assert all(line.startswith("restyle: ") for line in err.splitlines())
    assert load_built("noir").styles == ("noir",)


def test_the_account_as_json_adds_up(capfd, noir):
    _, out, _ = run(capfd, noir, "--name", "noir", "--format", "json")
    account = json.loads(out)
    assert account["read"] == account["kept"] + sum(account["dropped"].values()) == 3
    assert account["examples"]["heading"][0]["text"] == "CHAPTER II"


def test_flags_come_before_the_config_file(capfd, noir, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text("min_words = 20\nmax_words = 30\n")
    assert run(capfd, noir, "--name", "noir", "--config", config)[0] == 1
    assert run(capfd, noir, "--name", "noir", "--config", config, "--min-words", "4")[0] == 0


def test_the_folder_can_be_chosen(capfd, noir, tmp_path):
    run(capfd, noir, "--name", "noir", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "train.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--name", "noir"], "no text was given"),
        (["noir.txt"], "has no name"),
        (["nowhere.txt", "--name", "noir"], "does not exist"),
        (["noir.txt", "--name", "noir", "--layout", "verse"], "it can be 'auto'"),
        (["--paper", "cdss"], "did you mean cds"),
        (["noir.txt", "--paper", "cds"], "name no inputs"),
        (["--paper", "cds", "--path", "coha"], "CORPUS=FOLDER"),
    ],
)
def test_a_mistake_is_answered_in_one_line(capfd, noir, monkeypatch, arguments, complaint):
    monkeypatch.chdir(noir.parent)
    code, out, err = run(capfd, *arguments)
    assert code in (1, 2)
    assert (out, err.count("\n")) == ("", 1)
    assert complaint in err


def test_a_papers_corpus_is_built_with_the_papers_settings_and_what_flags_change(capfd, monkeypatch, tmp_path):
    given = {}

    def build_cds(**options):
        given.update(options)
        return None, BuildReport("cds-built", notes=["lyrics: missing"])

    monkeypatch.setitem(_corpora_build._PAPERS, "cds", (build_cds, CDS_SETTINGS))
    config = tmp_path / "settings.toml"
    config.write_text("max_words = 30\nmin_words = 5\n")
    flags = ["--path", f"coha={tmp_path}", "--limit", "50", "--config", config, "--min-words", "2"]
    _, _, err = run(capfd, "--paper", "cds", *flags)
    assert given["paths"] == {"coha": tmp_path}
    assert given["limit"] == 50
    assert given["settings"] == replace(CDS_SETTINGS, min_words=2, max_words=30)
    assert err == "restyle: lyrics: missing\n"
