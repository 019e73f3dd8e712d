"""The report as one page of HTML, with its plots."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import Any

from restyle.errors import MissingExtra
from restyle.study._report import Report


def html_report(made: Report) -> str:
    """The report as one HTML text that asks no other place for anything."""
    try:
        import jinja2
        from markupsafe import Markup
    except ModuleNotFoundError as error:
        raise MissingExtra("jinja2", "study", "the HTML report") from error
    style = (resources.files("restyle.evaluation.report") / "page.css").read_text(encoding="utf-8")
    template = (resources.files("restyle.study") / "pages" / "report.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    rendered: str = environment.from_string(template).render(report=made, style=Markup(style), plots=_plots(made))
    return rendered


@dataclass(frozen=True)
class Bar:
    """A line of a plot: where it begins and ends, in percent of the width, and its interval."""

    name: str
    shown: str
    parts: list[tuple[float, float, str]]  # left, width, kind
    whisker: tuple[float, float] | None = None


@dataclass(frozen=True)
class Plot:
    """Bars under one title."""

    title: str
    bars: list[Bar]


def _plots(made: Report) -> list[Plot]:
    by_name = {each.name: each for each in made.sections}
    plots: list[Plot] = []
    if "systems" in by_name:
        section = by_name["systems"]
        for place, name in enumerate(section.header[2:], start=2):
            known = [(row, cells[place]) for row, cells in zip(section.data, section.cells, strict=True) if name in row]
            top = max([row[name]["high"] for row, _ in known] + [1.0])
            bars = [
                Bar(
                    row["system"],
                    cell,
                    [(0.0, 100 * row[name]["value"] / top, "bar")],
                    (100 * row[name]["low"] / top, 100 * row[name]["high"] / top),
                )
                for row, cell in known
            ]
            plots.append(Plot(name, bars))
    if "pairs" in by_name:
        for question, rows in groupby(sorted(by_name["pairs"].data, key=_question), key=_question):
            bars = [
                Bar(
                    f"{row['A']} / {row['B']}",
                    f"{row['A>B']:.1f} / {row['tie']:.1f} / {row['B>A']:.1f}",
                    [
                        (0.0, row["A>B"], "bar"),
                        (row["A>B"], row["tie"], "tie"),
                        (row["A>B"] + row["tie"], row["B>A"], "other"),
                    ],
                )
                for row in rows
            ]
            plots.append(Plot(f"{question}: A better / tie / B better", bars))
    return plots


def _question(row: dict[str, Any]) -> str:
    return str(row["question"])
