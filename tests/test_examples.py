"""Every example runs, as a user would run it, and prints what it says it prints."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from restyle.rewriters.strap._pack import bundled_folder

DEMO = Path(__file__).parent.parent / "examples" / "demo.py"


def test_every_example_is_tried_here():
    assert list(DEMO.parent.glob("*.py")) == [DEMO]


def ran(example, *arguments, cwd):
    """What the example prints, run from a folder that it must leave as it was."""
    done = subprocess.run(
        [sys.executable, str(example), *arguments], cwd=cwd, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(cwd.iterdir()), "an example leaves nothing behind where it was started"
    return done.stdout, done.stderr


def test_the_demo_shows_each_command_with_what_it_prints(tmp_path):
    out, _ = ran(DEMO, "--styles", "none", cwd=tmp_path)
    shown = [part.partition("\n") for part in out.removeprefix("$ ").split("\n$ ")]
    assert [command.split()[:2] for command, _, _ in shown] == [
        ["restyle", "corpora"], ["restyle", "rewrite"], ["restyle", "text"],
    ]  # fmt: skip
    assert all(printed.strip() for _, _, printed in shown)


@pytest.mark.models
def test_the_demo_rewrites_a_sentence_and_judges_it(models, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    out, err = ran(DEMO, "--styles", "shakespeare,speech", cwd=folder)
    header, first, second, mean = out.splitlines()[-4:]
    assert header.split() == ["style", "ACC", "SIM", "FL", "J", "rewritten"]
    assert [line.split()[0] for line in (first, second, mean)] == ["shakespeare", "speech", "mean"]
    for line in (first, second):
        acc, sim, fl, joint = map(float, line.split()[1:5])
        assert joint == pytest.approx(acc * sim * fl, abs=0.01)
        assert len(line.split()) > 8, "a sentence stands at its end"
    assert err == ""


def test_the_demo_takes_every_style_that_ships():
    demo = runpy.run_path(str(DEMO))
    shipped = [path.parent.name for path in bundled_folder().glob("*/style.toml") if path.parent.name != "diverse"]
    assert demo["bundled_styles"]() == sorted(shipped)
