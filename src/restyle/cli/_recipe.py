"""A published experiment as a recipe: steps that each make a file, and tables that hold the paper's numbers and ours.

    [[step]]
    output = "dlsm"                                   # what it makes, in the run's folder
    run = "score --table strap-judged/dlsm --metrics none --save {output}"

    [[table]]
    title = "Table 1, Shakespeare"
    columns = ["ACC", "SIM"]
    take = ["acc", "sim_ref"]                         # what ours are called
    differs = "nothing: these are the published verdicts"
    row = [{ name = "DLSM", paper = [71.1, 43.5], of = "dlsm" }]

In a command stand {run} for the run's folder, {here} for the recipe's, {output} for what the step makes, and the names
of `[values]`. Files, folders and packs that it names are its inputs: when one has changed, the step is done again.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from restyle.errors import InputError, SettingsError, UnknownName, suggestion
from restyle.settings import from_dict, read_toml, setting, to_dict


@dataclass(frozen=True)
class Step:
    """One thing to be done, and what it makes."""

    output: str = setting("", "the file or folder that it makes, in the run's folder")
    run: str = setting("", "a command of restyle; what it prints is the output when {output} does not stand in it")
    rows: str = setting(
        "", "instead of a command: TABLE or TABLE/PART of the catalogue, or an output, rows of which are written"
    )
    join: tuple[str, ...] = setting((), "instead of a command: outputs whose records are written one after another")
    fields: dict[str, str] = setting(
        {}, "rows: the keys that are kept, and where each stands in a row (a.b is b in a, a.0 the first of a list)"
    )
    adds: dict[str, str] = setting({}, "rows: keys that each gets, and their value")
    where: dict[str, Any] = setting({}, "rows: what a key must be: a value, one of a list, or { least = NUMBER }")
    every: int = setting(1, "rows: of those that fit every so manieth, the first among them", minimum=1)
    pack: str = setting("", "a pack that makes the step superfluous where it is installed")
    each: str = setting("", "a list of [each]: the step is done for each of its entries")


@dataclass(frozen=True)
class Row:
    """A line of a table: what the paper says, and the output that ours are taken from."""

    name: str = setting("", "what the line is called")
    paper: tuple[float, ...] = setting((), "the paper's numbers, by column")
    of: str = setting("", "the output that holds ours: a saved scorecard, or a table as JSON")
    where: dict[str, Any] = setting({}, "of a table, the row with these values; of a scorecard, the target's sentences")


@dataclass(frozen=True)
class Table:
    """A table of the paper."""

    title: str = setting("", "what the table is called")
    columns: tuple[str, ...] = setting((), "its columns")
    take: tuple[str, ...] = setting((), "what ours are called in the outputs, by column; empty where there is none")
    scale: tuple[float, ...] = setting((), "what ours are multiplied by, by column; 100 when not given")
    differs: str = setting("", "what differs from the paper in scale, in words")
    row: tuple[Row, ...] = field(default=())

    def scale_of(self, place: int) -> float:
        """What our number in a column is multiplied by."""
        return self.scale[place] if self.scale else 100.0


@dataclass(frozen=True)
class Recipe:
    """An experiment."""

    title: str = setting("", "what is reproduced")
    values: dict[str, Any] = setting({}, "names that stand for values in the commands; --set changes them")
    each: dict[str, Any] = setting({}, "lists of such names, for the steps that are done for each")
    step: tuple[Step, ...] = field(default=())
    table: tuple[Table, ...] = field(default=())


def read_recipe(file: str | Path, values: Mapping[str, str] | None = None) -> Recipe:
    """The recipe in a TOML file, its names filled in and `values` over its own.

    SettingsError, UnknownName or InputError says what it cannot be.
    """
    recipe = from_dict(Recipe, read_toml(file), where=str(file))
    for name in values or {}:
        if name not in recipe.values:
            raise UnknownName(f"value of {file}", name, recipe.values)
    recipe = replace(recipe, values=recipe.values | dict(values or {}))
    if not recipe.step:
        raise InputError(f"{file} names no step; each is a [[step]] table")
    for number, step in enumerate(recipe.step, start=1):
        _check_step(step, f"{file}, step {number}", recipe)
    steps = tuple(expanded for step in recipe.step for expanded in _expanded(step, recipe, Path(file)))
    outputs = [step.output for step in steps]
    if doubles := {output for output in outputs if outputs.count(output) > 1}:
        raise SettingsError(f"{file}: several steps make {', '.join(sorted(doubles))}")
    for step in steps:
        _check_verb(step, str(file))
    for table in recipe.table:
        _check_table(table, f"{file}, {table.title or 'a table'}", outputs)
    return replace(recipe, step=steps)


def words_of(command: str, where: str) -> list[str]:
    """The words of a command, as a shell takes it apart."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise SettingsError(f"{where}: {command!r} is no command: {error}") from None


def _check_step(step: Step, where: str, recipe: Recipe) -> None:
    if not step.output or Path(step.output).is_absolute() or ".." in Path(step.output).parts:
        raise SettingsError(f"{where}: output is {step.output!r}; a file or folder in the run's folder was expected")
    kinds = [name for name in ("run", "rows", "join") if getattr(step, name)]
    if len(kinds) != 1:
        given = " and ".join(kinds) or "none"
        raise SettingsError(f"{where} ({step.output}): one of run, rows and join was expected; there is {given}")
    if step.each and step.each not in recipe.each:
        raise UnknownName(f"list under [each], for {where},", step.each, recipe.each)


def _check_verb(step: Step, where: str) -> None:
    from restyle.cli._verbs import verbs

    words = words_of(step.run, f"{where}, {step.output}") if step.run else []
    known = [entry.name for entry in verbs if entry.name != "reproduce"]
    if step.run and words[0] not in known:
        raise UnknownName(f"command, in {where}, {step.output},", words[0], known)


def _check_table(table: Table, where: str, outputs: Sequence[str]) -> None:
    for what, given in (("take", table.take), ("scale", table.scale), *((row.name, row.paper) for row in table.row)):
        if given and len(given) != len(table.columns):
            raise SettingsError(f"{where}: {what} has {len(given)} values for {len(table.columns)} columns")
    for row in table.row:
        if row.of and row.of not in outputs:
            raise InputError(f"{where}: no step makes {row.of!r}{suggestion(row.of, outputs)}")


def _expanded(step: Step, recipe: Recipe, file: Path) -> Iterator[Step]:
    """The step with its names filled in, once for each entry of its list."""
    for entry in recipe.each[step.each] if step.each else [{}]:
        entry = _filled(entry, recipe.values, f"{file}, {step.each}")
        names = {**recipe.values, **entry, "here": str(file.parent)}
        filled = {
            name: _filled(value, names, f"{file}, {step.output}")
            for name, value in to_dict(step).items()
            if name != "each"
        }
        yield from_dict(Step, filled, where=str(file))


def _filled(value: Any, names: Mapping[str, Any], where: str) -> Any:
    if isinstance(value, (list, tuple)):
        return [_filled(each, names, where) for each in value]
    if isinstance(value, Mapping):
        return {key: _filled(each, names, where) for key, each in value.items()}
    if not isinstance(value, str):
        return value
    try:
        # What only the run knows is filled in later.
        return value.format_map({**names, "run": "{run}", "output": "{output}"})
    except KeyError as error:
        raise UnknownName(f"value, in {where},", str(error).strip("'"), [*names, "run", "output"]) from None
    except (ValueError, IndexError, AttributeError) as error:
        raise SettingsError(f"{where}: {value!r} cannot be filled in: {error}") from None
