"""Systems: each turns text into text of another style, all behind one contract."""

from restyle.rewriters._base import Request, Rewrite, Rewriter, load, systems

__all__ = ["Request", "Rewrite", "Rewriter", "load", "systems"]
