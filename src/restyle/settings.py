"""Settings: one dataclass per verb, read from TOML and from flags, checked, and saved beside what they made.

    @dataclass(frozen=True)
    class BuildSettings:
        min_words: int = setting(3, "shortest sentence kept, in words", minimum=1)

A key that no field carries is refused with the nearest that one does; a value of the wrong type, or outside its bounds,
is refused with what is allowed.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import tomli_w

from restyle.errors import InputError, SettingsError, suggestion
from restyle.records import writing_to

S = TypeVar("S")


def setting(
    default: Any, help: str, *, minimum: float | None = None, maximum: float | None = None
) -> Any:  # Any, as dataclasses.field is: the annotation beside it is what a type checker should believe.
    """A dataclass field with the sentence that documents it and the bounds that it must keep."""
    metadata = {"help": help, "minimum": minimum, "maximum": maximum}
    if isinstance(default, (list, dict, set)):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def resolve(
    cls: type[S],
    file: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    base: S | None = None,
) -> S:
    """Settings from `base` (else the defaults), then a TOML file, then `overrides`: flags, None where not given."""
    values = to_dict(base) if base is not None else {}
    values |= read_toml(file) if file else {}
    values |= {key: value for key, value in (overrides or {}).items() if value is not None}
    return from_dict(cls, values, where=str(file) if file else "settings")


def from_dict(cls: type[S], values: Mapping[str, Any], *, where: str = "settings") -> S:
    """Settings from plain values, every key and type checked; `where` names their origin in errors."""
    hints = typing.get_type_hints(cls)
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            raise SettingsError(f"{where}: no setting is called {key!r}{suggestion(key, fields)}")
    made: dict[str, Any] = {}
    for name, field in fields.items():
        if name in values:
            made[name] = _converted(values[name], hints[name], f"{where}: {name}")
            _check_bounds(made[name], field, f"{where}: {name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise SettingsError(f"{where}: {name} is required and not set")
    return cls(**made)


def to_dict(settings: Any) -> dict[str, Any]:
    """Settings as plain values that TOML and JSON can hold; fields that are None are left out."""
    return {
        field.name: _plain(value)
        for field in dataclasses.fields(settings)
        if (value := getattr(settings, field.name)) is not None
    }


def read_toml(file: str | Path) -> dict[str, Any]:
    """The tables of a TOML file; InputError when it cannot be read, and with its line when it is not TOML."""
    try:
        return tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file} does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{file} is a folder; a TOML file was expected") from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not TOML: {error}") from None


def to_toml(settings: Any) -> str:
    """Settings as TOML, with each field's help as a comment above it."""
    lines = []
    plain = to_dict(settings)
    # In TOML every key after a [table] belongs to it, so plain values come first.
    for field in sorted(dataclasses.fields(settings), key=lambda field: isinstance(plain.get(field.name), dict)):
        if help := field.metadata.get("help"):
            lines.append(f"# {help}")
        if field.name in plain:
            lines.append(tomli_w.dumps({field.name: plain[field.name]}).rstrip("\n"))
        else:
            lines.append(f"# {field.name} is not set")
    return "\n".join(lines) + "\n"


def save_beside(settings: Any, output: str | Path) -> Path:
    """Save the resolved settings as `OUTPUT.settings.toml`, so that every result says how it was made."""
    path = Path(f"{output}.settings.toml")
    with writing_to(path):
        path.write_text(to_toml(settings), encoding="utf-8")
    return path


def _converted(value: Any, hint: Any, where: str) -> Any:
    """A plain value as the annotated type, or SettingsError: numbers are not strings, and 1.5 is no int."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _as_union(value, get_args(hint), where)
    if origin is Literal:
        if value not in get_args(hint):
            raise SettingsError(f"{where} is {value!r}; it can be {_listed(get_args(hint))}")
        return value
    if origin in (tuple, list):
        return _as_sequence(value, hint, where)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise SettingsError(f"{where} is {value!r}; a table was expected")
        return {str(key): _converted(item, get_args(hint)[1], f"{where}.{key}") for key, item in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if isinstance(value, hint):
            return value
        if not isinstance(value, Mapping):
            raise SettingsError(f"{where} is {value!r}; a table was expected")
        return from_dict(hint, value, where=where)
    return _as_scalar(value, hint, where)


def _as_scalar(value: Any, hint: Any, where: str) -> Any:
    if hint is Any:
        return value
    if hint is Path and isinstance(value, (str, Path)):
        return Path(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise SettingsError(f"{where} is {value!r}; {_NAMES.get(hint, hint.__name__)} was expected")


def _as_union(value: Any, hints: tuple[Any, ...], where: str) -> Any:
    if value is None and types.NoneType in hints:
        return None
    problem: SettingsError | None = None
    for hint in hints:
        if hint is types.NoneType:
            continue
        try:
            return _converted(value, hint, where)
        except SettingsError as error:
            problem = error
    raise problem or SettingsError(f"{where} is {value!r}, which it cannot be")


def _as_sequence(value: Any, hint: Any, where: str) -> Any:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise SettingsError(f"{where} is {value!r}; a list was expected")
    arguments = get_args(hint)
    if get_origin(hint) is list or arguments[-1] is Ellipsis:
        items = [_converted(item, arguments[0], f"{where}[{index}]") for index, item in enumerate(value)]
        return items if get_origin(hint) is list else tuple(items)
    if len(arguments) != len(value):
        raise SettingsError(f"{where} has {len(value)} values; {len(arguments)} were expected")
    return tuple(_converted(item, wanted, where) for item, wanted in zip(value, arguments, strict=True))


def _check_bounds(value: Any, field: dataclasses.Field[Any], where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return
    low, high = field.metadata.get("minimum"), field.metadata.get("maximum")
    if math.isnan(value):
        raise SettingsError(f"{where} is not a number")
    if (low is not None and value < low) or (high is not None and value > high):
        allowed = f"at least {low}" if high is None else f"at most {high}" if low is None else f"from {low} to {high}"
        raise SettingsError(f"{where} is {value}; it can be {allowed}")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_dict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _listed(values: tuple[Any, ...]) -> str:
    return " or ".join(repr(value) for value in values)


_NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "true or false", Path: "a path"}
