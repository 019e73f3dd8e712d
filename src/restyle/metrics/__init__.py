"""Judges: each gives every output sentence one number, once; corpus figures are made from these columns."""

from restyle.metrics._base import Batch, Metric, metrics

__all__ = ["Batch", "Metric", "metrics"]
