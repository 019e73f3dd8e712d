"""Cells as an aligned text, Markdown or LaTeX table. The first column holds names, all others numbers."""

from __future__ import annotations

from collections.abc import Sequence

Cells = Sequence[Sequence[str]]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    **{mark: f"${mark}$" for mark in "<>|"},
    **{mark: "\\" + mark for mark in "&%$#_{}"},
}


def as_text(header: Sequence[str], rows: Cells, names: int = 1) -> str:
    """Columns aligned with spaces; the first `names` of them to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            cell.ljust(width) if place < names else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(aligned).rstrip() + "\n"

    return line(header) + "".join(line(row) for row in rows)


def as_markdown(header: Sequence[str], rows: Cells, names: int = 1) -> str:
    """A Markdown table."""
    rule = ["---" if place < names else "---:" for place in range(len(header))]
    lines = [[_escaped_for_markdown(cell) for cell in row] for row in (header, *rows)]
    lines.insert(1, rule)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(header: Sequence[str], rows: Cells, names: int = 1) -> str:
    """A LaTeX tabular with the rules of booktabs."""
    lines = [" & ".join(_escaped_for_latex(cell) for cell in row) + r" \\" for row in (header, *rows)]
    lines.insert(1, r"\midrule")
    columns = "l" * names + "r" * (len(header) - names)
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}", ""])


def _escaped_for_latex(cell: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in cell)


def _escaped_for_markdown(cell: str) -> str:
    return "".join("\\" + mark if mark in r"|\*_<>`[]" else mark for mark in cell)
