"""Say the same thing in another style, and prove that it worked."""

import importlib
from typing import Any

from restyle._version import __version__

__all__ = ["__version__", "learn", "load"]

# Where the public functions live. They are imported when they are asked for: `import restyle` loads nothing heavy.
_PUBLIC = {"learn": "restyle.cli._learning", "load": "restyle.rewriters"}


def __getattr__(name: str) -> Any:
    """A public function, its room imported now."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'restyle' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC[name]), name)
