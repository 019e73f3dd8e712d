"""Flags made from a settings dataclass: one for each field, with the field's own help, default and bounds."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import tomllib
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import typer

from restyle.errors import UsageError
from restyle.settings import read_toml, resolve

S = TypeVar("S")
_SIMPLE = (bool, int, float, str)


@dataclasses.dataclass(frozen=True)
class Chosen(Generic[S]):
    """What a file and flags choose; call it for the settings that this makes of the defaults, or of a `base`."""

    cls: type[S]
    file: str | None
    flags: Mapping[str, Any]  # None where one was not typed

    def __call__(self, *, base: S | None = None) -> S:
        """The settings, checked."""
        return resolve(self.cls, self.file, self.flags, base=base)

    def named(self) -> dict[str, Any]:
        """What the file or a flag says, be it the default or not."""
        typed = {name: value for name, value in self.flags.items() if value is not None}
        return (read_toml(self.file) if self.file else {}) | typed


def with_settings(
    cls: type,
    parameter: str = "settings",
    *,
    only: Sequence[str] | None = None,
    config: bool = True,
    with_base: bool = False,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb the flags of a settings dataclass, and itself the settings that they make.

    The verb's `parameter` receives the resolved settings: the defaults, then the file of `--config`, then the flags.
    `only` names the fields that become flags; those of no simple type are left to the file. A verb whose defaults hang
    on another of its arguments asks for it `with_base`, and receives them as `Chosen`: `settings(base=preset)`.

    >>> @with_settings(BuildSettings)                       # doctest: +SKIP
    ... def build(files: list[str], settings: BuildSettings) -> None: ...
    """
    flags = flags_of(cls, only)
    if config:
        flags |= _CONFIG

    def chosen(**given: Any) -> Any:
        file = given.pop("config", None)
        settings: Chosen[Any] = Chosen(cls, file, {name: _plain(value) for name, value in given.items()})
        return settings if with_base else settings()

    return with_flags(parameter, flags, chosen)


def flags_of(cls: type, only: Sequence[str] | None = None) -> dict[str, inspect.Parameter]:
    """A flag for each field of a settings dataclass, or for those that `only` names; None where it is not given."""
    hints = typing.get_type_hints(cls)
    return {
        field.name: _flag(field, hints[field.name])
        for field in dataclasses.fields(cls)
        if field.init and (only is None or field.name in only) and _simple_type(hints[field.name]) is not None
    }


def with_flags(
    parameter: str, flags: dict[str, inspect.Parameter], made: Callable[..., Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put flags in the place of one parameter of a verb, which receives what is `made` of their values."""

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(verb)
        def flagged(**given: Any) -> None:
            values = {name: given.pop(name) for name in flags}
            verb(**given, **{parameter: made(**values)})

        _take_parameters(flagged, verb, parameter, flags)
        return flagged

    return decorate


_CONFIG = {
    "config": inspect.Parameter(
        "config",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            str | None, typer.Option(help="A TOML file of these settings; flags come before it.", show_default=False)
        ],
    )
}


def _take_parameters(
    target: Callable[..., None], verb: Callable[..., None], parameter: str, flags: dict[str, inspect.Parameter]
) -> None:
    """Show Typer the verb's own parameters, with the flags in the place of the settings."""
    parameters: list[inspect.Parameter] = []
    for own in inspect.signature(verb, eval_str=True).parameters.values():
        parameters += flags.values() if own.name == parameter else [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
    target.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    target.__annotations__ = {each.name: each.annotation for each in parameters}


def _flag(field: dataclasses.Field[Any], hint: Any) -> inspect.Parameter:
    """One field as an option, which is None where it was not given."""
    option = typer.Option(help=_help(field, hint), show_default=False)
    annotation = Annotated[_simple_type(hint) | None, option]  # type: ignore[valid-type]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _help(field: dataclasses.Field[Any], hint: Any) -> str:
    help = str(field.metadata.get("help", "")).rstrip(".")
    help = help[:1].upper() + help[1:] + "."
    choices = [str(choice) for choice in get_args(hint)] if get_origin(hint) is Literal else []
    said = [f"one of {', '.join(choices)}"] if choices and not all(choice in help for choice in choices) else []
    if field.default not in (dataclasses.MISSING, None, "", ()):
        said.append(f"default: {field.default}")
    return f"{help} [{'; '.join(said)}]" if said else help


def _simple_type(hint: Any) -> Any:
    """What Typer should parse for a field of this type; None for tables and other nested things."""
    if get_origin(hint) in (Union, types.UnionType):
        inner = [_simple_type(each) for each in get_args(hint) if each is not types.NoneType]
        return inner[0] if len(inner) == 1 else None
    if get_origin(hint) is Literal or hint is Path:
        return str
    if get_origin(hint) in (tuple, list) and get_args(hint)[0] in _SIMPLE:
        return list[get_args(hint)[0]]  # type: ignore[misc]
    return hint if hint in _SIMPLE else None


def _plain(value: Any) -> Any:
    # An option that may be repeated is an empty list where it was not given.
    return None if value == [] else value


def assigned(given: Sequence[str], flag: str) -> dict[str, str]:
    """NAME=VALUE, several times, as a table; UsageError for what has no `=`."""
    pairs = [each.partition("=") for each in given]
    for key, mark, _ in pairs:
        if not mark:
            raise UsageError(f"{flag} {key} has no =; write {flag} NAME=VALUE")
    return {key: value for key, _, value in pairs}


def nested(given: Sequence[str], flag: str) -> dict[str, Any]:
    """NAME=VALUE or TABLE.NAME=VALUE, several times, as a TOML file would say it; a word needs no quotes there."""
    tables: dict[str, Any] = {}
    for key, value in assigned(given, flag).items():
        *path, name = key.split(".")
        table = tables
        for part in path:
            table = table.setdefault(part, {})
        try:
            table[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            table[name] = value
    return tables
