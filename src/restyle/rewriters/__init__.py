"""Systems: each turns text into text of another style, all behind one contract."""

from restyle.rewriters._base import Request, Rewriter, load, systems

__all__ = ["Request", "Rewriter", "load", "systems"]
