import importlib
import pkgutil

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
