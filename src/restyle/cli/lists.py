"""`restyle styles`, `systems`, `metrics`: what there is to choose from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.registry import Registry


def systems(format: FormatOption = TableFormat.text) -> None:
    """List the systems that rewrite text.

    \b
    restyle systems
    restyle systems --format json
    """
    from restyle.rewriters import systems as registry

    show(_listed(registry), format)


def metrics(format: FormatOption = TableFormat.text) -> None:
    """List the metrics that judge a rewrite.

    \b
    restyle metrics
    restyle metrics --format markdown
    """
    from restyle.metrics import metrics as registry

    show(_listed(registry), format)


def styles(
    name: Annotated[str | None, typer.Argument(help="A style pack, to print its card.", show_default=False)] = None,
    format: FormatOption = TableFormat.text,
) -> None:
    """List the styles: those that can be written, with their scores, and those that the corpora hold.

    The scores are those of the pack's card, on sentences that it never saw, in percent.

    \b
    restyle styles
    restyle styles shakespeare
    """
    from restyle.corpora import styles as known
    from restyle.rewriters.strap import find_style, packs

    if name is not None:
        typer.echo((find_style(name).folder / "README.md").read_text(encoding="utf-8"), nl=False)
        return
    several = packs("multi")
    written = packs() | {
        f"{many}:{style}": pack.writing(style) for many, pack in several.items() for style in pack.card.styles
    }
    names = list(dict.fromkeys(score for pack in written.values() for score in pack.scores))
    rows = [
        {"style": style, "pack": pack.origin}
        | {each: round(100 * pack.scores[each], 1) if each in pack.scores else None for each in names}
        | {"what it is": pack.card.summary or "no summary"}
        for style, pack in sorted(written.items())
    ]
    rows += [
        {"style": entry.name, "pack": None} | dict.fromkeys(names) | {"what it is": entry.summary}
        for entry in known
        if entry.name not in written
    ]
    show(rows, format)


def _listed(registry: Registry[Any]) -> list[dict[str, str]]:
    return [{registry.kind: entry.name, "what it is": entry.summary, "extra": entry.extra or ""} for entry in registry]
