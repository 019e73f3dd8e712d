"""Training judges: which sentences, how, and what the result is worth."""

from restyle.metrics.training._data import JudgeData, Labelled, gathered, sources_of, with_broken
from restyle.metrics.training._measures import mcc, measured, wilson
from restyle.metrics.training._settings import JudgeSettings
from restyle.metrics.training._train import carded, data_for, train_judge

__all__ = [
    "JudgeData",
    "JudgeSettings",
    "Labelled",
    "carded",
    "data_for",
    "gathered",
    "mcc",
    "measured",
    "sources_of",
    "train_judge",
    "wilson",
    "with_broken",
]
