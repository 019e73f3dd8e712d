import pytest

from restyle import errors


def test_an_unknown_name_suggests_the_nearest():
    error = errors.UnknownName("style", "shakespear", ["bible", "shakespeare"])
    assert str(error) == "no style is called 'shakespear'; did you mean shakespeare?"


def test_a_name_that_resembles_none_is_answered_with_all_there_are():
    assert errors.suggestion("zzz", ["b", "a"]) == "; there are: a, b"
    assert errors.suggestion("zzz", []) == "; there are none"


def test_suggestions_do_not_mind_capitals():
    assert "did you mean Noir?" in errors.suggestion("NOIR", ["Noir", "bible"])


def test_a_missing_extra_gives_the_exact_pip_line():
    error = errors.MissingExtra("torch", "local", "rewriting with strap")
    assert str(error) == "rewriting with strap needs torch: pip install 'restyle[local]'"


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    classes = [
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.RestyleError)
    ]
    assert classes
    for cls in classes:
        assert f"{cls.__name__} " in errors.__doc__, cls


@pytest.mark.parametrize(("cls", "code"), [(errors.UsageError, 2), (errors.SettingsError, 2), (errors.InputError, 1)])
def test_wrong_use_exits_with_2_and_a_failure_with_1(cls, code):
    assert cls("…").exit_code == code
