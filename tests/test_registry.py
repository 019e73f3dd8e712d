import subprocess
import sys

import pytest

from restyle.errors import MissingExtra, UnknownName
from restyle.registry import Registry


@pytest.fixture
def shapes():
    registry = Registry("shape")
    registry.add("fraction", "fractions:Fraction", "an exact ratio")
    registry.add("absent", "a_package_that_is_not_there:Thing", "needs an extra", extra="judge")
    return registry


def test_a_name_is_loaded_when_it_is_asked_for(shapes):
    from fractions import Fraction

    assert shapes["fraction"] is Fraction


def test_listing_names_imports_nothing():
    program = (
        "import sys; from restyle.registry import Registry; r = Registry('x'); "
        "r.add('a', 'colorsys:rgb_to_hls', 's'); list(r); r.names(); 'a' in r; print('colorsys' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "False"


def test_a_typo_gets_a_suggestion(shapes):
    with pytest.raises(UnknownName, match="no shape is called 'fracton'; did you mean fraction"):
        shapes["fracton"]


def test_a_package_that_is_not_installed_is_answered_with_its_extra(shapes):
    with pytest.raises(MissingExtra, match=r"pip install 'restyle\[judge\]'"):
        shapes["absent"]


def test_a_name_cannot_be_taken_twice(shapes):
    with pytest.raises(ValueError, match="registered twice"):
        shapes.add("fraction", "x:y", "again")


def test_names_come_sorted_with_their_summaries(shapes):
    assert shapes.names() == ("absent", "fraction")
    assert [entry.summary for entry in shapes] == ["needs an extra", "an exact ratio"]
    assert len(shapes) == 2
