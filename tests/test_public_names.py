import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import restyle

PACKAGES = [
    module.name
    for module in pkgutil.walk_packages(restyle.__path__, "restyle.")
    if module.ispkg and not module.name.rpartition(".")[2].startswith("_")
]


@pytest.mark.parametrize("name", ["restyle", *PACKAGES])
def test_all_is_sorted_and_everything_in_it_can_be_imported(name):
    module = importlib.import_module(name)
    public = getattr(module, "__all__", [])
    assert list(public) == sorted(public)
    for attribute in public:
        assert getattr(module, attribute) is not None


@pytest.mark.parametrize("name", ["restyle", *PACKAGES])
def test_every_package_says_what_it_is(name):
    assert importlib.import_module(name).__doc__


def test_the_stub_for_type_checkers_names_what_is_there():
    stub = ast.parse(Path(restyle.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imported = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported | {"__version__"} == set(restyle.__all__)
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert all(getattr(module, alias.name) is getattr(restyle, alias.name) for alias in node.names)


def test_public_names_are_listed_before_they_are_imported():
    assert set(restyle.__all__) <= set(dir(restyle))


def test_a_scorecard_is_read_as_the_design_writes_it():
    outputs, inputs, references = ["Art thou mad?", "Away."], ["Are you mad?", "Go."], ["Art thou mad?", "Hence!"]
    verdicts = {"acc": [1, 1], "sim_ref": [1.0, 0.5], "fl": [1, 0]}
    card = restyle.score(
        outputs, inputs=inputs, references=references, target="shakespeare", metrics=[], columns=verdicts
    )
    assert card["J"] == 0.5
    low, high = card.interval("J")
    assert 0 <= low <= 0.5 <= high <= 1
    table = str(card)
    assert table.startswith("system")
    assert card.signature.long() in table.splitlines()[-1]


@pytest.mark.models
def test_the_public_face_works_as_the_design_writes_it(models, capfd):
    writer = restyle.load("shakespeare")
    alone = writer.rewrite("Are you crazy?")
    assert isinstance(alone, str)
    lines = ["Are you crazy?", "I will not marry him."]
    assert writer.rewrite(lines)[0] == alone
    several = writer.rewrite(lines, candidates=3, strength=0.8, progress=True)
    assert [len(each) for each in several] == [3, 3]
    outputs = [best for best, *_ in several]
    card = restyle.score(outputs, inputs=lines, references=["Art thou mad?", "Never!"], target="shakespeare")
    assert 0 <= card["J"] <= 1
    assert card.interval("J").low <= card["J"] <= card.interval("J").high
    assert "shakespeare-report" in str(card)
    out, err = capfd.readouterr()
    assert out == ""
    assert all(line.startswith("rewriting ") for line in err.splitlines()), "only the bar that was asked for"
