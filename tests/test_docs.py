"""What the pages and the help tell people to type can be typed, and what they link to is there."""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from restyle.cli._main import app

ROOT = Path(__file__).parent.parent
# docs/cli.md is the help itself, which `make check` compares.
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
# A backslash at the end of a line goes on with the next.
CONTINUED = re.compile(r"\\\n\s*")
COMMAND = re.compile(r"^\s*(?:\$ |cat \S+ \| )?(restyle [a-z][^#\n]*)", re.MULTILINE)
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
APP = typer.main.get_command(app)
CONTEXT = typer.Context(APP)
INLINE = re.compile(r"`(restyle [a-z][^`\n]*)`")


def commands_of(page):
    """Every call of restyle on a page: in blocks of code, and between backticks."""
    text = CONTINUED.sub("", page.read_text(encoding="utf-8"))
    for language, block in FENCED.findall(text):
        if language in ("", "bash", "console"):
            yield from COMMAND.findall(block)
    yield from INLINE.findall(FENCED.sub("", text))


# The pages with Python on them, and each block of it.
PYTHON = {
    page: blocks
    for page in PAGES
    if (blocks := [code for kind, code in FENCED.findall(page.read_text(encoding="utf-8")) if kind == "python"])
}


def children(command, context):
    names = command.list_commands(context) if hasattr(command, "list_commands") else ()
    return {name: command.get_command(context, name) for name in names}


def refused(line):
    """What is wrong with a call: a verb that does not exist, or an option that it does not have."""
    words = shlex.split(re.split(r"\s{2,}| [|>] ", line.strip())[0], comments=True)[1:]
    command, path = APP, []
    while (below := children(command, CONTEXT)) and words and not words[0].startswith("-"):
        if words[0] not in below:
            return f"no command {words[0]}"
        path.append(words.pop(0))
        command = below[path[-1]]
    known = {"--help"} | {option for parameter in command.params for option in _spellings(parameter)}
    unknown = [word for word in words if re.match(r"-[a-z-]", word) and word.partition("=")[0] not in known]
    return f"{' '.join(path)} has no {', '.join(unknown)}" if unknown else None


def _spellings(parameter):
    return (*parameter.opts, *parameter.secondary_opts)


def leaves(command, path=()):
    below = children(command, CONTEXT)
    if not below:
        yield " ".join(path), command
    for name, child in below.items():
        yield from leaves(child, (*path, name))


LEAVES = dict(leaves(APP))


def test_a_slip_would_be_noticed():
    assert refused("restyle rewriet x") == "no command rewriet"
    assert refused("restyle corpora stats --fromat json") == "corpora stats has no --fromat"
    assert refused('restyle rewrite --to noir "I am --gone"   # and why') is None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_on_a_page_can_be_typed(page):
    wrong = {line: fault for line in commands_of(page) if (fault := refused(line))}
    assert wrong == {}


@pytest.mark.data
@pytest.mark.models
@pytest.mark.parametrize("page", PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_on_a_page_runs(page, mirror, models):
    for code in PYTHON[page]:
        exec(compile(code, str(page), "exec"), {})


@pytest.mark.parametrize("verb", LEAVES)
def test_the_help_of_every_command_ends_with_examples_of_it(verb):
    examples = COMMAND.findall(CONTINUED.sub("", LEAVES[verb].help or ""))
    assert any(example.startswith(f"restyle {verb}") for example in examples)
    assert [fault for example in examples if (fault := refused(example))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_or_heading_leads_somewhere(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\((?!\w+:)([^)]+)\)", text):
        name, _, heading = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles], target


def test_the_readmes_demo_is_compared_but_for_what_models_wrote(monkeypatch):
    generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    current, names = generate["readme_but_for_models"], ["bible", "joyce"]
    shared = current.__globals__
    packs = {name: type("Pack", (), {"origin": "bundled"}) for name in names}
    table = "Promise:\nstyle ACC\nbible 1 0.5 x\njoyce 0 0.2 y\nmean 0.5"
    monkeypatch.setitem(shared, "packs", lambda: packs)
    monkeypatch.setitem(shared, "_demo", lambda *arguments: "$ restyle\nnoir\n")

    def page(demo):
        return shared["_with_demo"]("before\n", demo, "\nafter")

    def compared(demo):
        shown = page(demo).split(generate["START"])[1].split(generate["END"])[0].strip()
        monkeypatch.setitem(shared, "_readme", lambda: ("before\n", shown, "\nafter"))
        return current() == page(demo)

    assert compared(f"$ restyle\nnoir\n\n{table}")
    assert compared(f"$ restyle\nnoir\n\n{table.replace('0.5 x', '0.4 z')}")
    assert not compared(f"$ restyle\nblanc\n\n{table}"), "a command prints something else"
    assert not compared(f"$ restyle\nnoir\n\n{table.replace('joyce', 'yeats')}"), "the styles are others"
    assert not compared("$ restyle\nnoir"), "the styles are missing"


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_can_be_started_as_make_bench_does_without_arguments(benchmark):
    usage = subprocess.run(
        [sys.executable, str(benchmark), "--help"], capture_output=True, text=True, check=True
    ).stdout.partition("\n\n")[0]
    wanted = re.sub(r"\[[^\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", usage)).split()
    assert wanted == ["usage:", benchmark.name], "what stands in no brackets must be given"
