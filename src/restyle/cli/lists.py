"""`restyle styles`, `systems`, `metrics`: what there is to choose from."""

from __future__ import annotations

from typing import Any

from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.registry import Registry


def systems(format: FormatOption = TableFormat.text) -> None:
    """List the systems that rewrite text."""
    from restyle.rewriters import systems as registry

    show(_listed(registry), format)


def metrics(format: FormatOption = TableFormat.text) -> None:
    """List the metrics that judge a rewrite."""
    from restyle.metrics import metrics as registry

    show(_listed(registry), format)


def styles(format: FormatOption = TableFormat.text) -> None:
    """List the styles that the corpora hold, and where each can be learnt from."""
    from restyle.corpora import styles as known

    show([{"style": entry.name, "what it is": entry.summary} for entry in known], format)


def _listed(registry: Registry[Any]) -> list[dict[str, str]]:
    return [{registry.kind: entry.name, "what it is": entry.summary, "extra": entry.extra or ""} for entry in registry]
