"""The entry point: every verb in one app, and every error as one line with the right exit code."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
