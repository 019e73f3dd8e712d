from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restyle.errors import InputError, SettingsError
from restyle.settings import from_dict, resolve, save_beside, setting, to_dict, to_toml


@dataclass(frozen=True)
class Inner:
    depth: int = setting(2, "how deep", minimum=1)


@dataclass(frozen=True)
class Toy:
    size: int = setting(10, "how many", minimum=1, maximum=1000)
    rate: float = setting(0.5, "how fast", minimum=0, maximum=1)
    mode: Literal["a", "b"] = setting("a", "which way")
    names: tuple[str, ...] = setting((), "which ones")
    limits: tuple[int, int] = setting((7, 25), "from and to")
    where: Path | None = setting(None, "where to")
    weights: dict[str, float] = setting({}, "how much of each")
    inner: Inner = field(default_factory=Inner)
    loud: bool = setting(False, "say more")


def test_flags_win_over_the_file_and_the_file_over_the_defaults(tmp_path):
    file = tmp_path / "toy.toml"
    file.write_text("size = 20\nrate = 0.25\n")
    settings = resolve(Toy, file, {"size": 30, "mode": None})
    assert (settings.size, settings.rate, settings.mode) == (30, 0.25, "a")


def test_an_unknown_key_is_refused_with_the_nearest(tmp_path):
    file = tmp_path / "toy.toml"
    file.write_text("sise = 20\n")
    with pytest.raises(SettingsError, match=r"toy.toml: no setting is called 'sise'; did you mean size\?"):
        resolve(Toy, file)


def test_an_unknown_key_of_an_inner_table_is_refused_too():
    with pytest.raises(SettingsError, match="inner: no setting is called 'dept'; did you mean depth"):
        from_dict(Toy, {"inner": {"dept": 3}})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 1.5}, "size is 1.5; a whole number was expected"),
        ({"size": True}, "size is True; a whole number was expected"),
        ({"size": "ten"}, "size is 'ten'; a whole number was expected"),
        ({"size": 0}, "size is 0; it can be from 1 to 1000"),
        ({"rate": float("nan")}, "rate is not a number"),
        ({"rate": 1.01}, "rate is 1.01; it can be from 0 to 1"),
        ({"mode": "c"}, "mode is 'c'; it can be 'a' or 'b'"),
        ({"names": "one"}, "names is 'one'; a list was expected"),
        ({"names": [1]}, r"names\[0\] is 1; a string was expected"),
        ({"limits": [1, 2, 3]}, "limits has 3 values; 2 were expected"),
        ({"inner": 3}, "inner is 3; a table was expected"),
        ({"inner": {"depth": 0}}, "inner: depth is 0; it can be at least 1"),
        ({"weights": {"a": "much"}}, "weights.a is 'much'; a number was expected"),
        ({"loud": 1}, "loud is 1; true or false was expected"),
    ],
)
def test_a_value_that_cannot_be_says_what_can(values, message):
    with pytest.raises(SettingsError, match=message):
        from_dict(Toy, values)


def test_a_whole_number_serves_where_a_number_is_wanted():
    assert from_dict(Toy, {"rate": 1}).rate == 1.0


def test_a_broken_file_names_itself(tmp_path):
    file = tmp_path / "toy.toml"
    file.write_text("size = \n")
    with pytest.raises(InputError, match=r"toy.toml is not TOML: .*line 1"):
        resolve(Toy, file)
    with pytest.raises(InputError, match="absent.toml does not exist"):
        resolve(Toy, tmp_path / "absent.toml")
    with pytest.raises(InputError, match="is a folder; a TOML file was expected"):
        resolve(Toy, tmp_path)
    with pytest.raises(InputError, match="toml cannot be read: Not a directory"):
        resolve(Toy, file / "inside.toml")


def test_a_required_setting_says_that_it_is_required():
    @dataclass
    class Needy:
        name: str

    with pytest.raises(SettingsError, match="name is required and not set"):
        from_dict(Needy, {})


def test_resolved_settings_are_saved_beside_what_they_made(tmp_path):
    output = tmp_path / "out.jsonl"
    saved = save_beside(Toy(size=3), output)
    assert saved.name == "out.jsonl.settings.toml"
    assert resolve(Toy, saved) == Toy(size=3)


def test_saved_settings_explain_themselves():
    text = to_toml(Toy())
    assert "# how many\nsize = 10" in text
    assert "# where is not set" in text


@given(
    st.builds(
        Toy,
        size=st.integers(1, 1000),
        rate=st.floats(0, 1),
        mode=st.sampled_from(["a", "b"]),
        names=st.lists(st.text(st.characters(codec="utf-8")), max_size=3).map(tuple),
        limits=st.tuples(st.integers(0, 9), st.integers(10, 99)),
        where=st.none() | st.just(Path("some/where")),
        weights=st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.floats(-1, 1), max_size=3),
        inner=st.builds(Inner, depth=st.integers(1, 9)),
        loud=st.booleans(),
    )
)
def test_settings_survive_a_trip_through_toml(tmp_path_factory, settings):
    file = tmp_path_factory.mktemp("toml") / "toy.toml"
    file.write_text(to_toml(settings), encoding="utf-8")
    assert resolve(Toy, file) == settings
    assert from_dict(Toy, to_dict(settings)) == settings
