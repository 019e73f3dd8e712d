"""Attacks on privacy: labelled texts, those who guess the labels, and what they find before and after rewriting."""

from restyle.metrics.privacy._audit import Attack, Audit, audited
from restyle.metrics.privacy._labels import Rewritten, checked_labels, read_labelled, read_rewritten
from restyle.metrics.privacy._settings import AuditSettings
from restyle.metrics.privacy._words import BINS, WordShares, save_plot, word_shares

__all__ = [
    "Attack",
    "Audit",
    "AuditSettings",
    "BINS",
    "Rewritten",
    "WordShares",
    "audited",
    "checked_labels",
    "read_labelled",
    "read_rewritten",
    "save_plot",
    "word_shares",
]
