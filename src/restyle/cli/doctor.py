"""`restyle doctor`: whether everything is here that the commands need."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from restyle.cli._tables import FormatOption, TableFormat, show

# The modules of each extra of pyproject.toml.
EXTRAS = {
    "local": ("torch", "transformers", "peft", "accelerate", "gguf", "ctranslate2"),
    "text": ("spacy", "fasttext", "langdetect", "sentencepiece", "numba"),
    "judge": ("sklearn", "sacrebleu", "scipy", "nltk", "jinja2"),
    "parquet": ("pyarrow",),
    "plot": ("matplotlib",),
    "serve": ("fastapi", "uvicorn", "jinja2"),
    "study": ("sqlalchemy",),
    "ray": ("ray",),
}


def doctor(format: FormatOption = TableFormat.text) -> None:
    """Say what is installed, where the cache and the mirror are, and what is missing for which command.

    \b
    restyle doctor
    restyle doctor --format json
    """
    show([*_machine(), *_places(), *_extras(), *_models()], format)


def _row(what: str, state: str, fine: bool, advice: str = "") -> dict[str, object]:
    return {"what": what, "state": state, "fine": fine, "what to do": advice}


def _machine() -> list[dict[str, object]]:
    import os

    from restyle import __version__

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [
        _row("restyle", __version__, fine=True),
        _row("python", platform.python_version(), fine=sys.version_info >= (3, 11)),
        _row("machine", f"{platform.system()} {platform.machine()}, {cores} cores", fine=True),
    ]


def _places() -> list[dict[str, object]]:
    from restyle.assets import cache_home, mirror
    from restyle.errors import UsageError

    cache = cache_home()
    writable = _is_writable(cache)
    rows = [
        _row("cache", str(cache), writable, "" if writable else "set RESTYLE_HOME to a folder that you may write to")
    ]
    try:
        found = mirror()
        rows.append(_row("mirror", str(found) if found else "none ($RESTYLE_DATA is not set)", fine=True))
    except UsageError as error:
        rows.append(_row("mirror", str(error), fine=False, advice="set RESTYLE_DATA to the mirror's folder"))
    return rows


def _is_writable(folder: Path) -> bool:
    import os

    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _extras() -> list[dict[str, object]]:
    from importlib.util import find_spec

    rows = []
    for extra, packages in EXTRAS.items():
        missing = [package for package in packages if find_spec(package) is None]
        state = f"without {', '.join(missing)}" if missing else "installed"
        rows.append(_row(f"[{extra}]", state, not missing, f"pip install 'restyle[{extra}]'" if missing else ""))
    return rows


def _models() -> list[dict[str, object]]:
    from restyle.assets import find_model, model_wheels
    from restyle.errors import UsageError

    rows = []
    for name, model in model_wheels().items():
        try:
            here = find_model(name) is not None
        except UsageError:  # a mirror that is none, which has its own row
            here = False
        # A model that is not here yet is no fault: it is fetched when a command first needs it.
        rows.append(_row(name, "here" if here else f"fetched on first use ({model.megabytes:.1f} MB)", fine=True))
    return rows
