"""Say the same thing in another style, and prove that it worked."""

import importlib
from typing import Any

from restyle._version import __version__

__all__ = ["__version__", "learn", "load", "score"]

# Where the public functions live; __init__.pyi tells type checkers the same. They are imported when they are asked for:
# `import restyle` loads nothing heavy.
_PUBLIC = {"learn": "restyle.cli._learning", "load": "restyle.rewriters", "score": "restyle.evaluation"}


def __getattr__(name: str) -> Any:
    """A public function, its room imported now."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'restyle' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    """The public names, those that are not imported yet among them."""
    return sorted({*globals(), *_PUBLIC})
