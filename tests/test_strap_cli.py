"""`restyle rewrite` and `restyle styles` with style packs, as a user types them; the stages are scripted."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from restyle.assets import model_wheels
from restyle.cli import main
from restyle.lm.adapters import Adapter
from restyle.rewriters.strap import Card, Strap, _pack
from restyle.rewriters.strap._pack import Evaluation, Score, users_folder, write_card
from restyle.rewriters.strap._writer import Written

BASE = "smollm2-135m"


def pack(name, kind="style", layers=(("layer", 2, 2),), **card):
    folder = users_folder() / name
    folder.mkdir(parents=True)
    random = np.random.default_rng(len(name))
    factors = {
        layer: (random.normal(0, 0.3, (2, inner)).astype("f"), random.normal(0, 0.3, (outer, 2)).astype("f"))
        for layer, inner, outer in layers
    }
    Adapter(factors).save(folder / "adapter.safetensors")
    base = {"base": BASE, "base_sha256": model_wheels()[BASE].sha256, "summary": f"says {name}"}
    return write_card(Card(name=name, kind=kind, **(base | card)), folder)


class Stage:
    """Says what its style is called before what it is given."""

    longest_input = 40

    def __init__(self, name):
        self.name, self.format, self.asked = name, self, []

    def lengths(self, texts):
        return [len(text.split()) for text in texts]

    def write(self, texts, decoding):
        self.asked += texts
        if any("stop here" in text for text in texts):
            raise KeyboardInterrupt
        return [[self._said(text, number) for number in range(decoding.candidates)] for text in texts]

    def _said(self, text, number):
        # As if a model that names things had been asked for a sentence that has none.
        lost = "" if self.name == "diverse" else f"{self.name}{number or ''}: "
        return Written(f"{lost}{text.replace('You', 'Thou')}", -0.1, True)


@pytest.fixture
def stages(monkeypatch, tmp_path):
    monkeypatch.setattr(_pack, "bundled_folder", lambda: tmp_path / "none")
    pack("diverse", "paraphraser")
    pack("pirate")
    pack("bible")
    made = {}

    def opened(strap, mix, *rest):
        return made.setdefault(mix.name, Stage(mix.name))

    monkeypatch.setattr(Strap, "_opened", opened)
    return made


def run(capfd, *arguments):
    """Exit code, stdout and stderr of a call."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    return stop.value.code, out, err


def rows(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


# --- a text ----------------------------------------------------------------------------------------------------------


def test_one_sentence_is_answered_with_one_sentence(stages, capfd):
    assert run(capfd, "rewrite", "--to", "pirate", "You sit down.") == (0, "pirate: Thou sit down.\n", "")


def test_several_styles_give_a_line_each_under_its_name(stages, capfd):
    code, out, err = run(capfd, "rewrite", "--to", "pirate", "--to", "bible", "Sit down.", "Stand up.")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "pirate\tpirate: Sit down.",
        "bible\tbible: Sit down.",
        "pirate\tpirate: Stand up.",
        "bible\tbible: Stand up.",
    ]


def test_explaining_shows_the_paraphrase_between_and_what_was_noticed(stages, capfd):
    code, out, err = run(capfd, "rewrite", "--to", "pirate", "--explain", "You sit down.", "12:30")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "paraphrase\tThou sit down.",
        "pirate\tpirate: Thou sit down.",
        "pirate\t12:30",
        "flags\tno words",
    ]


def test_a_mix_is_one_style(stages, capfd):
    code, out, _ = run(capfd, "rewrite", "--to", "pirate:0.7,bible:0.3", "Sit down.")
    assert (code, out) == (0, "pirate:0.7,bible:0.3: Sit down.\n")


def test_a_pack_anywhere_is_named_by_its_folder(stages, capfd, tmp_path):
    (users_folder() / "pirate").rename(tmp_path / "elsewhere")
    code, out, err = run(capfd, "rewrite", "--to", tmp_path / "elsewhere", "Sit down.")
    assert (code, out, err) == (0, "pirate: Sit down.\n", "")


def test_the_paraphrase_can_be_skipped(stages, capfd):
    assert run(capfd, "rewrite", "--to", "pirate", "--skip-paraphrase", "You sit.")[1] == "pirate: Thou sit.\n"
    assert list(stages) == ["pirate"]
    code, _, err = run(capfd, "rewrite", "--to", "x", "--skip-paraphrase", "--system", "copy", "You sit.")
    assert (code, err) == (2, "restyle: the system copy has no paraphrase to skip: leave --skip-paraphrase out\n")


@pytest.mark.parametrize(("flag", "value"), [("paraphraser", "mine"), ("engine", "torch")])
def test_a_system_is_told_of_no_model_that_it_does_not_have(flag, value, stages, capfd):
    code, _, err = run(capfd, "rewrite", "--to", "x", "--system", "copy", f"--{flag}", value, "You sit.")
    assert (code, err) == (2, f"restyle: the system copy has no {flag}: leave --{flag} out\n")


def test_to_paraphrase_no_style_need_be_named(stages, capfd):
    code, _, err = run(capfd, "rewrite", "--system", "paraphrase", "--paraphraser", "mine", "You sit.")
    assert (code, "no style" in err) == (2, False)
    assert run(capfd, "rewrite", "--system", "copy", "You sit.")[2].startswith("restyle: no style was given")


def test_a_paraphraser_is_named_to_those_who_have_one(stages, capfd):
    code, _, err = run(capfd, "rewrite", "--to", "x", "--system", "paraphrase", "--paraphraser", "mine", "You sit.")
    assert code == 2
    assert err.startswith("restyle: no paraphraser is called 'mine'")


def test_candidates_of_a_text_are_lines_the_best_first(stages, capfd, monkeypatch):
    from restyle.rewriters.strap import _rewriter

    class Likes:
        fingerprints = ("toy-select#1",)

        def __init__(self, style):
            pass

        def worth(self, inputs, outputs, faults):
            return np.array([float("1" in output) for output in outputs])

    monkeypatch.setattr(_rewriter, "Chooser", Likes)
    code, out, _ = run(capfd, "rewrite", "--to", "pirate", "--candidates", "2", "Sit down.")
    assert (code, out.splitlines()) == (0, ["pirate1: Sit down.", "pirate: Sit down."])


# --- files and pipes -------------------------------------------------------------------------------------------------


def piped(monkeypatch, text):
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_a_pipe_of_lines_is_answered_line_by_line_and_nothing_is_lost(stages, capfd, monkeypatch):
    piped(monkeypatch, "Sit down.\n\n12:30\n" + "word " * 50 + "\nStand up.\n")
    code, out, err = run(capfd, "rewrite", "--to", "pirate")
    assert code == 0
    assert out.splitlines() == ["pirate: Sit down.", "", "12:30", ("word " * 50), "pirate: Stand up."]
    assert err == "restyle: flagged: empty (1), no words (1), too long (1); --explain says which\n"


def test_records_are_answered_with_records_that_carry_their_flags(stages, capfd, monkeypatch):
    piped(monkeypatch, '{"id": "a", "text": "You sit.", "n": 1, "flags": "mine"}\n{"id": "b", "text": "12:30"}\n')
    code, out, _ = run(capfd, "rewrite", "--to", "pirate", "--system", "strap")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [
        {"id": "a", "input": "You sit.", "output": "pirate: Thou sit.", "target": "pirate", "system": "strap",
         "n": 1, "flags": "mine"},
        {"id": "b", "input": "12:30", "output": "12:30", "target": "pirate", "system": "strap", "flags": ["no words"]},
    ]  # fmt: skip


def test_a_file_holds_a_record_for_each_style_and_the_settings_beside_it(stages, capfd, tmp_path):
    (tmp_path / "in.txt").write_text("You sit.\nStand up.\n")
    code, _, err = run(
        capfd, "rewrite", "--to", "pirate", "--to", "bible", "--explain", "-i", tmp_path / "in.txt",
        "-o", tmp_path / "out.jsonl",
    )  # fmt: skip
    assert (code, err) == (0, "restyle: 2 records read, 4 written\n")
    found = rows(tmp_path / "out.jsonl")
    assert [(row["id"], row["target"]) for row in found] == [
        ("1", "pirate"), ("1", "bible"), ("2", "pirate"), ("2", "bible"),
    ]  # fmt: skip
    assert [(row["paraphrase"], row["flags"]) for row in found[:1]] == [("Thou sit.", [])]
    assert 'to = [\n    "pirate",\n    "bible",\n]' in (tmp_path / "out.jsonl.settings.toml").read_text()


@pytest.mark.parametrize("extra", [["--to", "bible"], ["--explain"], ["--candidates", "2"]])
def test_a_text_file_that_could_not_hold_all_of_it_is_refused(stages, capfd, tmp_path, extra):
    (tmp_path / "in.txt").write_text("Sit.\n")
    code, _, err = run(
        capfd, "rewrite", "--to", "pirate", *extra, "-i", tmp_path / "in.txt", "-o", tmp_path / "out.txt"
    )
    assert code == 2
    assert "cannot hold all of a result: name a .jsonl" in err


def test_what_was_rewritten_before_is_rewritten_anew(stages, capfd, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "12:30"}\n')
    run(capfd, "rewrite", "--to", "pirate", "--explain", "-i", tmp_path / "in.jsonl", "-o", tmp_path / "once.jsonl")
    again = tmp_path / "twice.jsonl"
    options = ["--text-column", "output", "-i", tmp_path / "once.jsonl", "-o", again]
    assert run(capfd, "rewrite", "--to", "bible", "--system", "copy", *options)[0] == 0
    assert rows(again) == [{"id": "a", "input": "12:30", "output": "12:30", "target": "bible", "system": "copy"}]


def test_an_interrupted_run_goes_on_where_it_was_unless_it_is_another_one(stages, capfd, tmp_path):
    (tmp_path / "in.txt").write_text("".join(f"Sit on chair {n}.\n" for n in range(8)) + "Now stop here.\n")
    arguments = ["rewrite", "--to", "pirate", "-i", tmp_path / "in.txt", "-o", tmp_path / "out.txt", "--shard-size", 3]
    code, _, err = run(capfd, *arguments)
    assert code == 130
    assert "the same command goes on" in err
    code, _, err = run(capfd, *arguments, "--strength", "0.5")
    assert code == 1
    assert "strength" in err
    stages["pirate"].asked.clear()
    stages["diverse"].write = lambda texts, decoding: [[Written(text, 0.0, True)] for text in texts]
    stages["pirate"].write = lambda texts, decoding: [[Written(f"again: {text}", 0.0, True)] for text in texts]
    assert run(capfd, *arguments)[0] == 0
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["pirate"] * 6 + ["again"] * 3


# --- documents -------------------------------------------------------------------------------------------------------

DOCUMENT = """# The sea

You sit by the **shore**.  Look at `the_sea()` now.

* You fish.
* See <https://a.example>.

```python
print("You sit.")
```

> You said so.

Don’t go.
"""
REWRITTEN = DOCUMENT.replace("You sit by the **shore**.", "pirate: Thou sit by the shore.")
REWRITTEN = REWRITTEN.replace("* You fish.", "* pirate: Thou fish.").replace("Don’t go.", "pirate: Don’t go.")


def test_a_document_keeps_its_layout_its_code_its_links_and_its_quotes(stages, capfd, tmp_path):
    (tmp_path / "in.md").write_text(DOCUMENT)
    code, out, err = run(capfd, "rewrite", "--to", "pirate", "--document", "-i", tmp_path / "in.md")
    assert (code, out, err) == (0, REWRITTEN, "")


def test_a_document_in_a_file_is_written_whole_and_nothing_is_left_beside_it(stages, capfd, tmp_path):
    (tmp_path / "in.md").write_bytes(DOCUMENT.replace("\n", "\r\n").encode())
    arguments = ["rewrite", "--to", "pirate", "--document", "-i", tmp_path / "in.md", "-o", tmp_path / "out.md"]
    assert run(capfd, *arguments)[0] == 0
    assert (tmp_path / "out.md").read_bytes() == REWRITTEN.replace("\n", "\r\n").encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.md", "out.md", "out.md.settings.toml"]


def test_an_interrupted_document_goes_on_where_it_was(stages, capfd, tmp_path):
    (tmp_path / "in.txt").write_text("You sit. You fish. You sleep. Now stop here.\n")
    arguments = ["rewrite", "--to", "pirate", "--document", "-i", tmp_path / "in.txt", "-o", tmp_path / "out.txt"]
    assert run(capfd, *arguments, "--shard-size", 2)[0] == 130
    assert not (tmp_path / "out.txt").exists()
    stages["diverse"].write = lambda texts, decoding: [[Written(text, 0.0, True)] for text in texts]
    stages["pirate"].write = lambda texts, decoding: [[Written("Again.", 0.0, True)] for text in texts]
    assert run(capfd, *arguments, "--shard-size", 2)[0] == 0
    assert (tmp_path / "out.txt").read_text() == "pirate: Thou sit. pirate: Thou fish. Again. Again.\n"


@pytest.mark.parametrize("extra", [["--to", "bible"], ["--explain"]])
def test_a_document_is_one_document(stages, capfd, extra):
    code, _, err = run(capfd, "rewrite", "--to", "pirate", "--document", *extra, "You sit.")
    assert (code, err) == (2, "restyle: --document writes one document: name one style, and leave --explain out\n")


def test_a_document_that_is_no_text_is_refused(stages, capfd, tmp_path):
    (tmp_path / "in.md").write_bytes(b"caf\xe9 au lait\n")
    arguments = ["rewrite", "--to", "pirate", "--document", "-i", tmp_path / "in.md"]
    code, _, err = run(capfd, *arguments)
    assert code == 1
    assert "in.md is no text in utf-8" in err
    assert err.count("\n") == 1
    assert run(capfd, *arguments, "--encoding", "latin-1")[:2] == (0, "pirate: café au lait\n")


# --- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--to", "pirat", "x"], 2, "no style is called 'pirat'; did you mean pirate?"),
        (["--to", "pirate,bibel", "x"], 2, "no style is called 'bibel'; did you mean bible?"),
        (["--to", "diverse", "x"], 1, "diverse is a paraphraser, and not a style"),
        (["--to", "pirate", "--paraphraser", "divers", "x"], 2, "no paraphraser is called 'divers'; did you mean"),
        (["--to", "pirate", "--strength", "2", "x"], 2, "strength is 2.0; it can be from 0 to 1.5"),
        (["--to", "pirate", "--nucleus", "1.5", "x"], 2, "nucleus is 1.5; it can be from 0 to 1"),
        (["--to", "pirate", "--keep", "names,nubmers", "x"], 2, "no thing to keep is called 'nubmers'; did you mean"),
        (["x"], 2, "no style was given; name it with --to"),
        (["--to", "pirate", "--system", "starp", "x"], 2, "no system is called 'starp'; did you mean strap?"),
    ],
)
def test_a_mistake_is_one_line(stages, capfd, arguments, code, says):
    given, out, err = run(capfd, "rewrite", *arguments)
    assert (given, out) == (code, "")
    assert says in err
    assert err.count("\n") == 1


# --- the list of styles ----------------------------------------------------------------------------------------------


def test_the_styles_are_the_packs_with_their_scores_and_then_those_of_the_corpora(stages, capfd):
    pack("noir", evaluations=(Evaluation("held out", 100, {"J": Score(0.512, 0.45, 0.55)}, "sig"),))
    code, out, _ = run(capfd, "styles", "--format", "json")
    assert code == 0
    listed = {row["style"]: row for row in json.loads(out)}
    assert list(listed)[:3] == ["bible", "noir", "pirate"]
    assert listed["noir"] == {"style": "noir", "pack": "yours", "J": 51.2, "what it is": "says noir"}
    assert listed["pirate"]["J"] is None
    assert listed["switchboard"]["pack"] is None if "switchboard" in listed else listed
    assert "diverse" not in listed


def test_the_card_of_a_style_is_printed(stages, capfd):
    code, out, _ = run(capfd, "styles", "pirate")
    assert (code, out) == (0, (users_folder() / "pirate" / "README.md").read_text())
    code, _, err = run(capfd, "styles", "pirat")
    assert (code, err) == (2, "restyle: no style is called 'pirat'; did you mean pirate?\n")


# --- on many workers, for good ---------------------------------------------------------------------------------------

LAYERS = [(f"model.layers.{n}.mlp.down_proj", 64, 32) for n in range(2)]


@pytest.mark.parametrize(
    "executor", ["local", pytest.param("ray", marks=[pytest.mark.ray, pytest.mark.filterwarnings("ignore")])]
)
def test_workers_write_what_one_process_writes(toy_base, tmp_path, executor):
    from restyle.lm.bases import base_hash

    toy = {"base": str(toy_base), "base_sha256": base_hash(str(toy_base)), "layers": LAYERS}
    pack("diverse", "paraphraser", **toy)
    pack("pirate", **toy)
    (tmp_path / "in.txt").write_text("".join(f"The cat sat on mat {n}.\n" for n in range(12)))

    def written(name, *options):
        done = subprocess.run(
            [sys.executable, "-m", "restyle", "rewrite", "--to", "pirate", "-i", tmp_path / "in.txt",
             "-o", tmp_path / name, "--shard-size", "4", "--engine", "ctranslate2", *options],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return (tmp_path / name).read_text()

    one = written("one.jsonl")
    assert len(one.splitlines()) == 12
    assert written("two.jsonl", "--workers", "2", "--executor", executor) == one
