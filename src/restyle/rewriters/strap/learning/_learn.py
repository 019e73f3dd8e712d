"""Learning, from what was given to a pack that is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from restyle.assets import cache_home
from restyle.errors import InputError, OutputError, UsageError
from restyle.jobs import JobSettings
from restyle.jobs.stages import Stages, content_of
from restyle.records import writing_to
from restyle.rewriters.strap._pack import CARD_FILE, Pack, bundled_folder, read_pack, users_folder
from restyle.rewriters.strap._sources import StyleSources, read_recipe, style_of
from restyle.rewriters.strap.learning._command import command_of
from restyle.rewriters.strap.learning._course import Course
from restyle.rewriters.strap.learning._evaluation import Scorer
from restyle.rewriters.strap.learning._settings import LearnSettings
from restyle.settings import to_dict

# Says that a run went to its end, and where its pack is.
_LEARNED = "learned.txt"


def learn(
    files: Sequence[str | Path] = (),
    *,
    name: str,
    scorer: Scorer,
    recipe: str | Path | None = None,
    pairs: str | Path | None = None,
    output: str | Path | None = None,
    run: str | Path | None = None,
    overwrite: bool = False,
    settings: LearnSettings | None = None,
    jobs: JobSettings | None = None,
    shown: bool | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Pack:
    """Learn a style from text files or a recipe, several from a recipe, or a paraphraser from a file of pairs.

    The pack goes to `output`, or among the user's packs, where `restyle rewrite --to NAME` finds it. What is unfinished
    lies in `run`, and the same call goes on with it. `scorer` makes scorecards; `say` is told what happens.

    Under `accelerate launch` all processes share the steps of the training; the first does everything else.

    Raises InputError for what cannot be learned from, UsageError for a name that is taken, unless `overwrite`.
    """
    settings = settings or LearnSettings()
    _check(files, name, recipe, pairs, settings)
    texts = [style_of(recipe, each) for each in _styles(recipe, name, settings)] if recipe else list(files)
    command = command_of(files, name, recipe, pairs, settings)
    target = Path(output) if output else users_folder() / name
    folder = Path(run) if run else cache_home() / "learned" / settings.kind / name
    with Stages(folder, say) as stages:
        course = Course(name, settings, scorer, stages, jobs or JobSettings(), command, shown, say)
        identity = {
            "texts": [to_dict(text) if isinstance(text, StyleSources) else content_of(text) for text in texts],
            "pairs": content_of(pairs) if pairs else None,
            **course.identity(),
        }
        if not overwrite and not stages.is_made(_LEARNED, identity):
            _check_free(name, target, to_users=output is None)
        made = _made(course, texts, Path(str(pairs)))
        installed = _installed(made, target) if stages.leads else made
        stages.made(_LEARNED, identity, lambda path: path.write_text(f"{target}\n", encoding="utf-8"))
    return installed


def _styles(recipe: str | Path, name: str, settings: LearnSettings) -> Sequence[str]:
    """The styles of a recipe that are learned."""
    return (settings.styles or tuple(read_recipe(recipe))) if settings.kind == "multi" else (name,)


def _made(course: Course, texts: Sequence[str | Path | StyleSources], pairs: Path) -> Pack:
    """What is learned from the files, or from the styles of a recipe."""
    styles = [text for text in texts if isinstance(text, StyleSources)]
    if course.settings.kind == "paraphraser":
        return course.paraphraser(pairs)
    if course.settings.kind == "multi":
        return course.several(styles)
    return course.style(styles[0] if styles else [text for text in texts if not isinstance(text, StyleSources)])


def _check(
    files: Sequence[str | Path], name: str, recipe: str | Path | None, pairs: str | Path | None, settings: LearnSettings
) -> None:
    """Refuse what cannot be meant, before any work is done."""
    if not name.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"a pack cannot be called {name!r}; use letters, digits and hyphens, such as --name noir")
    if problem := _misunderstood(files, recipe, pairs, settings):
        raise UsageError(problem)
    for file in (*files, *([pairs] if pairs else [])):
        if str(file) == "-":
            raise UsageError("what is learned from is read more than once: give a file, not a pipe")
        if not Path(file).exists():
            raise InputError(f"{file} does not exist")


def _misunderstood(
    files: Sequence[str | Path], recipe: str | Path | None, pairs: str | Path | None, settings: LearnSettings
) -> str | None:
    """What is wrong with what is to be learned from; each kind has a source of its own."""
    if settings.styles and settings.kind != "multi":
        return "--styles is for --kind multi; one style of a recipe is named by --name"
    if settings.kind == "paraphraser":
        if files or recipe or not pairs:
            return "a paraphraser is learned from a file of pairs alone: --kind paraphraser --pairs pairs.jsonl"
        return None
    if pairs:
        return "--pairs is for a paraphraser (--kind paraphraser); a style is learned from text files"
    if settings.kind == "multi" and (files or not recipe):
        return "several styles are learned from a recipe alone: --kind multi --recipe styles.toml --styles …"
    if bool(files) == bool(recipe):
        return "a style is learned from text files, or from a recipe (--recipe): give one of the two"
    return None


def _check_free(name: str, target: Path, *, to_users: bool) -> None:
    """UsageError when the name, or the folder, is that of another pack."""
    shipped = bundled_folder() / name
    for folder in (target, *([shipped] if to_users else [])):
        if (folder / CARD_FILE).is_file():
            raise UsageError(f"{name} is taken by the pack in {folder}: choose another name, or --overwrite it")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target} exists and holds no pack; choose another folder")


def _installed(made: Pack, target: Path) -> Pack:
    """The pack at its place: whole, or as it was before."""
    if not target.exists() or content_of(made.folder) != content_of(target):
        scratch = target.with_name(f".{target.name}.{os.getpid()}")
        with writing_to(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.copytree(made.folder, scratch)
            if target.exists():
                shutil.rmtree(target)
            os.rename(scratch, target)
    return read_pack(target)
