"""`restyle privacy`, as a user types it."""

import json
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

from test_privacy import DROPPED, LABELS, TEXTS
from test_privacy import run_restyle as run

from restyle.records import write_records


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.tsv"
    file.write_text("text\tgender\n" + "".join(f"{text}\t{label}\n" for text, label in zip(TEXTS, LABELS, strict=True)))
    return file


@pytest.fixture
def dropped(tmp_path):
    file = tmp_path / "drop.jsonl"
    rows = zip(DROPPED.inputs, DROPPED.outputs, LABELS, strict=True)
    write_records(
        file,
        ({"id": str(at), "input": text, "output": new, "gender": label} for at, (text, new, label) in enumerate(rows)),
    )
    return file


def test_an_audit_says_how_well_an_attacker_can_tell_and_by_which_words(capfd, mine):
    code, out, err = run(capfd, "privacy", "audit", mine, "--label", "gender", "--words", "3")
    assert code == 0
    header, line, _, _, female, male = out.splitlines()
    assert header.split()[:6] == ["system", "attacker", "trained", "texts", "accuracy", "low"]
    assert line.split()[:4] == ["originals", "words", "static", "300"]
    assert sorted(female.replace(",", "").split()[1:]) == ["husband", "lovely", "salon"]
    assert sorted(male.replace(",", "").split()[1:]) == ["solid", "steak", "wife"]
    assert "restyle: static attackers learned from the other 4 of 5 folds; words: L2 3\n" in err


def test_rewrites_are_attacked_by_one_who_has_adapted(capfd, dropped):
    code, out, _ = run(capfd, "privacy", "audit", dropped, "--label", "gender", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert [(each["system"], each["trained"]) for each in found["attacks"]] == [
        ("originals", "static"), ("drop", "static"), ("drop", "retrained"),
    ]  # fmt: skip
    assert found["attacks"][0]["accuracy"] > 0.8 > 0.6 > found["attacks"][2]["accuracy"]
    assert found["words"]["male"]["wife"] > 0.3


def test_two_systems_of_one_name_are_both_there(capfd, dropped, tmp_path):
    again = tmp_path / "again" / Path(dropped).name
    again.parent.mkdir()
    again.write_bytes(Path(dropped).read_bytes())
    _, out, _ = run(capfd, "privacy", "words", dropped, again, "--label", "gender", "--format", "json")
    assert len({each["system"] for each in json.loads(out)}) == 3


def test_the_attacks_alone_are_a_plain_table(capfd, mine):
    _, out, _ = run(capfd, "privacy", "audit", mine, "--label", "gender", "--words", "0", "--format", "json")
    (attack,) = json.loads(out)
    assert attack["accuracy"] > 0.8


def test_an_audit_is_printed_for_a_paper_too(capfd, mine):
    _, out, _ = run(capfd, "privacy", "audit", mine, "--label", "gender", "--format", "latex")
    assert out.count(r"\begin{tabular}") == 2


def test_the_words_of_systems_stand_in_five_bins(capfd, dropped, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = run(
        capfd, "privacy", "words", dropped, "--label", "gender", "--format", "json", "--plot", tmp_path / "words.svg"
    )
    before, after = json.loads(out)
    assert code == 0
    assert after["neutral"] > before["neutral"] + 0.05
    assert after["clear male"] < before["clear male"]
    assert list(before)[2:] == ["clear female", "slight female", "neutral", "slight male", "clear male"]
    assert "L2 3" in err
    assert (tmp_path / "words.svg").read_text().startswith("<?xml")


def test_what_cannot_be_audited_is_told_in_a_line(capfd, mine):
    assert run(capfd, "privacy", "audit", mine, "--label", "gendre") == (
        2, "", f"restyle: no column of {mine} is called 'gendre'; did you mean gender?\n",
    )  # fmt: skip
    code, _, err = run(capfd, "privacy", "audit", mine, "--label", "gender", "--attackers", "wrods")
    assert (code, err) == (2, "restyle: no attacker is called 'wrods'; did you mean words?\n")
    mine.write_text("text\tgender\nOne.\tfemale\nTwo.\tfemale\n")
    code, _, err = run(capfd, "privacy", "audit", mine, "--label", "gender")
    assert (code, err.count("\n")) == (1, 1)
    assert "all texts have one label (female)" in err
