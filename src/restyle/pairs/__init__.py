"""Paraphrase pairs: the filter that keeps the diverse ones, and how similar and how diverse a set of pairs is.

    from restyle.pairs import PairFiles, filter_files, preset

    report = filter_files(PairFiles(["para-nmt-50m.txt"]), "kept.tsv", preset("strap-a1"))

Nothing here holds a file in memory: pairs travel in blocks of a few thousand lines, each a record of a job.
"""

from restyle.pairs.explanation import explain_pair
from restyle.pairs.files import PairFiles
from restyle.pairs.filtering import filter_files, kept
from restyle.pairs.layout import ColumnNames
from restyle.pairs.quality import PairQuality, pair_quality
from restyle.pairs.report import FilterReport
from restyle.pairs.settings import PRESETS, FilterSettings, preset

__all__ = [
    "ColumnNames",
    "FilterReport",
    "FilterSettings",
    "PRESETS",
    "PairFiles",
    "PairQuality",
    "explain_pair",
    "filter_files",
    "kept",
    "pair_quality",
    "preset",
]
