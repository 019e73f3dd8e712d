"""The public names with their types, for type checkers: at run time they are imported when they are asked for."""

from restyle.cli._learning import learn as learn
from restyle.evaluation import score as score
from restyle.rewriters import load as load

__all__ = ["__version__", "learn", "load", "score"]
__version__: str
