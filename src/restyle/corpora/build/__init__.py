"""A corpus of your own from plain text, and the papers' corpora from their sources."""

from restyle.corpora.build._folder import built_home, built_names, load_built
from restyle.corpora.build._pipeline import build
from restyle.corpora.build._report import BuildReport, Example
from restyle.corpora.build._settings import BuildSettings
from restyle.corpora.build.cds import build_cds
from restyle.corpora.build.literature import build_literature

__all__ = [
    "BuildReport",
    "BuildSettings",
    "Example",
    "build",
    "build_cds",
    "build_literature",
    "built_home",
    "built_names",
    "load_built",
]
