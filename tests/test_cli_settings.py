"""Flags, a TOML file and a dataclass are three ways to say the same settings."""

from dataclasses import dataclass
from typing import Literal

import pytest
import typer

from restyle.cli._settings import with_settings
from restyle.errors import SettingsError
from restyle.settings import setting


@dataclass(frozen=True)
class Oven:
    heat: int = setting(180, "how hot", minimum=50, maximum=300)
    mode: Literal["fan", "grill"] = setting("fan", "which way the heat comes")
    dishes: tuple[str, ...] = setting((), "what goes in")
    timer: float | None = setting(None, "minutes until it rings")
    light: bool = setting(True, "light the inside")


def call(*arguments, **options):
    """What a verb with an oven's flags received."""
    received = []
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command()
    @with_settings(Oven, **options)
    def bake(name: str, settings: Oven, loud: bool = False) -> None:
        received.extend([name, settings, loud])

    typer.main.get_command(app).main(["cake", *arguments], standalone_mode=False)
    return received


def test_every_field_is_a_flag_and_the_verb_keeps_its_own():
    name, oven, loud = call("--heat", "200", "--mode", "grill", "--timer", "2.5", "--no-light", "--loud")
    assert (name, loud) == ("cake", True)
    assert oven == Oven(heat=200, mode="grill", timer=2.5, light=False)


def test_a_flag_that_was_not_given_leaves_the_default():
    assert call()[1] == Oven()


def test_a_list_is_a_flag_given_again_and_again():
    assert call("--dishes", "pie", "--dishes", "bread")[1].dishes == ("pie", "bread")


def test_flags_win_over_the_file(tmp_path):
    (tmp_path / "oven.toml").write_text('heat = 220\nmode = "grill"\n')
    assert call("--config", str(tmp_path / "oven.toml"), "--heat", "90")[1] == Oven(heat=90, mode="grill")


def test_a_flag_out_of_bounds_says_what_is_allowed():
    with pytest.raises(SettingsError, match="heat is 500; it can be from 50 to 300"):
        call("--heat", "500")
    with pytest.raises(SettingsError, match="mode is 'steam'; it can be 'fan' or 'grill'"):
        call("--mode", "steam")


def test_a_preset_stands_under_the_file_and_the_flags(tmp_path):
    (tmp_path / "oven.toml").write_text("heat = 220\n")
    chosen = call("--config", str(tmp_path / "oven.toml"), with_base=True)[1]
    assert chosen(base=Oven(heat=60, mode="grill")) == Oven(heat=220, mode="grill")


def test_only_the_named_fields_become_flags():
    with pytest.raises(typer.TyperException, match="No such option: --heat"):
        call("--heat", "90", only=["mode"])


def test_the_help_says_what_a_flag_does_and_what_stands_without_it(capsys):
    call("--help")
    help = " ".join(capsys.readouterr().out.split())
    assert "--heat <int> How hot. [default: 180]" in help
    assert "one of fan, grill; default: fan" in help
