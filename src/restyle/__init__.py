"""Say the same thing in another style, and prove that it worked."""

from restyle._version import __version__

__all__ = ["__version__"]
