"""`restyle learn` as a user types it, mistakes included."""

import re

import pytest
from test_learning import SETTINGS, _no_fetching, paraphraser, written  # noqa: F401  (two are fixtures)

from restyle.cli import main
from restyle.rewriters.strap._pack import find_pack

pytest.importorskip("peft")

CONFIG = """
judge = "linear"
min_similarity = -1.0
min_length = 0.01
max_length = 50.0
test = 12
epochs = 1.0
rank = 2

[training]
batch_size = 16
evaluations = 2
samples = 1
learning_rate = 0.005
"""


@pytest.fixture
def learn(capfd, tmp_path):
    """Exit code, stdout and stderr of `restyle learn`."""

    def learn(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["learn", *map(str, arguments)])
        return stop.value.code, *capfd.readouterr()

    return learn


@pytest.fixture
def config(tmp_path):
    (tmp_path / "quick.toml").write_text(CONFIG)
    return tmp_path / "quick.toml"


def test_it_learns_says_how_good_it_is_and_what_to_type_next(learn, paraphraser, config, tmp_path):  # noqa: F811
    text = written(tmp_path / "noir.txt")
    code, out, err = learn(text, "--name", "noir", "--paraphraser", paraphraser, "--config", config)
    assert code == 0, err
    assert re.match(r"noir, on \d+ paraphrases of held-out sentences: ACC ", out)
    assert f"written to {find_pack('noir').folder}" in out
    assert out.splitlines()[-1].startswith("now: restyle rewrite --to noir ")
    assert "sentences are few" in err
    assert "training pairs (dropped: " in err
    assert "dev loss" in err and "  ->  " in err, "it shows what it writes while it trains"
    command = find_pack("noir").card.command
    assert command.startswith("restyle learn noir.txt --name noir --paraphraser toy --epochs 1 --rank 2")


def test_typed_again_it_is_done_at_once(learn, paraphraser, config, tmp_path):  # noqa: F811
    command = [written(tmp_path / "noir.txt"), "--name", "noir", "--paraphraser", paraphraser, "--config", config]
    first = learn(*command)
    again = learn(*command)
    assert again[:2] == first[:2]
    assert "…" not in again[2]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["none.txt", "--name", "noir"], 1, "none.txt does not exist"),
        (["noir.txt"], 2, "a pack cannot be called ''; use letters, digits and hyphens, such as --name noir"),
        (["noir.txt", "--name", "no/ir"], 2, "a pack cannot be called 'no/ir'"),
        (["--name", "noir"], 2, "from text files, or from a recipe (--recipe): give one of the two"),
        (["noir.txt", "--name", "noir", "--recipe", "r.toml"], 2, "give one of the two"),
        (["noir.txt", "--name", "noir", "--pairs", "p.jsonl"], 2, "--pairs is for a paraphraser"),
        (["--kind", "paraphraser", "--name", "noir"], 2, "--kind paraphraser --pairs pairs.jsonl"),
        (["--kind", "parafraser", "--name", "noir"], 2, "kind is 'parafraser'; it can be 'style' or 'multi'"),
        (["-", "--name", "noir"], 2, "give a file, not a pipe"),
        (["noir.txt", "--name", "noir", "--minutes", "0"], 2, "minutes is 0.0; it can be at least 0.1"),
        (["noir.txt", "--name", "noir", "--paraphraser", "nobody"], 2, "no paraphraser is called 'nobody'"),
        (["--name", "noir", "--recipe", "none.toml"], 1, "none.toml does not exist"),
    ],
)
def test_a_mistake_is_answered_with_one_line(learn, tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "noir.txt")
    (tmp_path / "p.jsonl").touch()
    (tmp_path / "r.toml").touch()
    given, out, err = learn(*arguments)
    assert (given, out) == (code, "")
    assert err.startswith("restyle: ") and err.count("\n") == 1
    assert said in err


def test_an_unknown_base_is_told_before_any_work(learn, tmp_path):
    from restyle.records import write_records

    pairs = ({"id": str(n), "text": f"Here is text {n}.", "paraphrase": f"Words {n}."} for n in range(300))
    write_records(tmp_path / "pairs.jsonl", pairs)
    code, out, err = learn(
        "--kind", "paraphraser", "--name", "mine", "--pairs", tmp_path / "pairs.jsonl", "--base", tmp_path / "nowhere"
    )
    assert (code, out) == (1, "")
    assert "nowhere" in err.splitlines()[-1]


def test_a_taken_name_says_how_to_overwrite(learn, paraphraser, config, tmp_path):  # noqa: F811
    options = ["--name", "noir", "--paraphraser", paraphraser, "--config", config]
    learn(written(tmp_path / "noir.txt"), *options)
    code, _, err = learn(written(tmp_path / "other.txt", seed=4), *options)
    assert code == 2
    assert "noir is taken by the pack in" in err and "--overwrite" in err
    code, _, err = learn(tmp_path / "other.txt", *options, "--overwrite")
    assert code == 0, err
    assert find_pack("noir").card.sources == ("other.txt",)


def test_the_settings_of_the_tests_are_those_of_the_command():
    import tomllib

    assert tomllib.loads(CONFIG).keys() == SETTINGS.keys()
