"""The report: one HTML file with tables, plots and every sentence, that asks no other place for anything."""

from restyle.evaluation.report._page import html_report, write_report
from restyle.evaluation.report._styles import Embeddings
from restyle.evaluation.report._vectors import encoded

__all__ = ["Embeddings", "encoded", "html_report", "write_report"]
