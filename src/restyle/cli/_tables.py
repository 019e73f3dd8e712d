"""Rows of results as text, JSON, JSONL, Markdown or LaTeX, on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from restyle.records import json_line, writing_to

Row = Mapping[str, Any]


class TableFormat(StrEnum):
    """How a table of results is printed."""

    text = "text"
    json = "json"
    jsonl = "jsonl"
    markdown = "markdown"
    latex = "latex"


FormatOption = Annotated[TableFormat, typer.Option("--format", help="How the result is printed.")]


def show(rows: Sequence[Row], format: TableFormat = TableFormat.text) -> None:
    """Print rows that share their keys; `text` aligns them in columns, numbers to the right."""
    renderers: dict[TableFormat, Callable[[Sequence[Row]], str]] = {
        TableFormat.text: _text,
        TableFormat.json: lambda rows: json.dumps(list(rows), ensure_ascii=False, indent=2) + "\n",
        TableFormat.jsonl: lambda rows: "".join(json_line(dict(row)) for row in rows),
        TableFormat.markdown: _markdown,
        TableFormat.latex: _latex,
    }
    with writing_to("stdout"):
        sys.stdout.write(renderers[format](rows))


def _text(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    header = list(rows[0])
    cells = [[_cell(row.get(name)) for name in header] for row in rows]
    widths = [max(len(name), *(len(line[i]) for line in cells)) for i, name in enumerate(header)]
    numeric = [all(_is_number(row.get(name)) for row in rows) for name in header]

    def line(values: Sequence[str]) -> str:
        aligned = (
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(values, widths, numeric, strict=True)
        )
        return "  ".join(aligned).rstrip() + "\n"

    return line(header) + "".join(line(values) for values in cells)


def _markdown(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    header = list(rows[0])
    lines = [header, ["---:" if all(_is_number(row.get(name)) for row in rows) else "---" for name in header]]
    lines += [[_cell(row.get(name)).replace("|", "\\|") for name in header] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _latex(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    header = list(rows[0])
    columns = "".join("r" if all(_is_number(row.get(name)) for row in rows) else "l" for name in header)
    body = [header, *([_cell(row.get(name)) for name in header] for row in rows)]
    lines = [" & ".join(_escaped_for_latex(cell) for cell in line) + r" \\" for line in body]
    lines.insert(1, r"\midrule")
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}", ""])


def _escaped_for_latex(cell: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(mark, "\\" + mark if mark in "&%$#_{}" else mark) for mark in cell)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(item) for item in value)
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
