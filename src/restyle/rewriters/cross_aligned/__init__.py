"""The cross-aligned models M0 to M7 of Pang and Gimpel 2019, of which M0 is the model of Shen et al. 2017."""

from restyle.rewriters.cross_aligned._data import read_sides
from restyle.rewriters.cross_aligned._learn import Watch, choose, is_run, learn, trajectory_of
from restyle.rewriters.cross_aligned._rewriter import CrossAligned
from restyle.rewriters.cross_aligned._settings import MODELS, CrossAlignedSettings

__all__ = [
    "CrossAligned",
    "CrossAlignedSettings",
    "MODELS",
    "Watch",
    "choose",
    "is_run",
    "learn",
    "read_sides",
    "trajectory_of",
]
