"""Table 16 as a picture: a panel for each of its three columns, a bar for each source."""

from __future__ import annotations

from pathlib import Path

from restyle.errors import MissingExtra, UsageError
from restyle.pairs.quality import MEASURES, PairQuality
from restyle.records import writing_to

_TITLES = {"similarity": "similarity ↑", "unigram_f1": "unigram F1 ↓", "kendall_tau": "Kendall's τ ↓"}
_FORMATS = (".png", ".svg")


def save_plot(quality: PairQuality, path: str | Path) -> None:
    """Draw the quality of each source into a .png or .svg; the same numbers give the same bytes."""
    path = checked_plot(path)
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra("matplotlib", "plot", "drawing a plot") from error
    drawn = [*quality.sources, quality.overall][::-1]  # bars are stacked from below
    # Not pyplot, which keeps every figure and asks for a screen.
    figure = Figure(figsize=(10, 1.2 + 0.35 * len(drawn)), layout="constrained")
    for measure, axes in zip(MEASURES, figure.subplots(1, len(MEASURES), sharey=True), strict=True):
        means = [source.mean(measure) for source in drawn]
        bars = axes.barh([source.source for source in drawn], [mean or 0.0 for mean in means])
        axes.bar_label(bars, ["–" if mean is None else f"{mean:.2f}" for mean in means], padding=3)
        axes.set_title(_TITLES[measure])
        axes.set_xlim(min(0.0, *(mean * 1.2 for mean in means if mean is not None), 0.0), 1.15)
    # Without a date and with a salt of its own, an .svg is the same each time.
    with writing_to(path), matplotlib.rc_context({"svg.hashsalt": "restyle"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def checked_plot(path: str | Path) -> Path:
    """The path, or UsageError when its name is not that of a .png or .svg."""
    path = Path(path)
    if path.suffix not in _FORMATS:
        raise UsageError(f"a plot is written as {' or '.join(_FORMATS)}; {path} is neither")
    return path
