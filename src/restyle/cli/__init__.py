"""The command line: one module per verb, each thin: parse, call, print."""

from restyle.cli._main import main

__all__ = ["main"]
