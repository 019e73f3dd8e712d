"""Where sentences come from: the catalogue of known corpora, the Corpus type, a loader per source, leak checks."""

from restyle.corpora._catalogue import CatalogueEntry, CatalogueFile, catalogue, catalogued
from restyle.corpora._corpus import Corpus, Line, Part
from restyle.corpora._files import Files
from restyle.corpora._open import corpora, load, parts_of, rows, tables
from restyle.corpora._styles import Style, styles
from restyle.corpora.leaks import HeldOut, Leak, check_leaks

__all__ = [
    "CatalogueEntry",
    "CatalogueFile",
    "Corpus",
    "Files",
    "HeldOut",
    "Leak",
    "Line",
    "Part",
    "Style",
    "catalogue",
    "catalogued",
    "check_leaks",
    "corpora",
    "load",
    "parts_of",
    "rows",
    "styles",
    "tables",
]
