"""Tuning a base model on pairs of sentences."""

from restyle.lm.training._objectives import Adversary, LinearRisk, Objective, SampledRisk
from restyle.lm.training._settings import TuneSettings
from restyle.lm.training._tune import Pairs, Tuned, tune

__all__ = [
    "Adversary",
    "LinearRisk",
    "Objective",
    "Pairs",
    "SampledRisk",
    "TuneSettings",
    "Tuned",
    "tune",
]
