"""Product formulas: `J2=acc*sim_ref*fl`, read without ever being run as code.

    formula  =  [name "="] factor {"*" factor}
    factor   =  column | number | "(" column (">=" | "<=" | ">" | "<" | "==") number ")" | "(1-" column ")"

A column's name may hold letters, digits, `_`, `-` and `.`; there is no difference, so `sim-wieting` is one name. The
comparison is 1 where it holds and 0 where not: `(fl>=0.5)` makes a verdict of a probability.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from restyle.errors import UnknownName, UsageError

Column = NDArray[np.float64]

_NAME = r"[^\W\d][\w.-]*"
_NUMBER = r"\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?"
_FACTOR = re.compile(
    rf"""
      (?P<constant>{_NUMBER})
    | (?P<column>{_NAME})
    | \(\s*1\s*-\s*(?P<complement>{_NAME})\s*\)
    | \(\s*(?P<compared>{_NAME})\s*(?P<sign>>=|<=|==|>|<)\s*(?P<bound>-?(?:{_NUMBER}))\s*\)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Factor:
    """One factor of a formula, as it was written, with the column that it reads; no column for a number."""

    text: str
    column: str | None
    of_column: Callable[[Column], Column]

    def values(self, columns: Mapping[str, Column]) -> Column:
        """The factor for every sentence; NaN where its column has no value. UnknownName for a column there is not."""
        if self.column is None:
            return self.of_column(np.empty(0))
        if self.column not in columns:
            raise UnknownName("column", self.column, columns)
        column = columns[self.column]
        return np.where(np.isnan(column), np.nan, self.of_column(column))


@dataclass(frozen=True)
class Formula:
    """A named product of factors."""

    name: str
    factors: tuple[Factor, ...]

    @property
    def corpus_name(self) -> str:
        """What the geometric mean of the corpus means is called: GM for J (Table 1), GM(A,S), GM(J2)."""
        return "GM" if self.name == "J" else f"GM({self.name.removeprefix('J(').removesuffix(')')})"

    def __str__(self) -> str:
        return "*".join(factor.text for factor in self.factors)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the formula reads."""
        return tuple(factor.column for factor in self.factors if factor.column is not None)


def parse(text: str) -> Formula:
    """Read a formula; UsageError says what is wrong with it. Without a name, it is called as it is written.

    >>> str(parse("J2 = acc * sim-wieting * (fl >= 0.5)"))
    'acc*sim-wieting*(fl>=0.5)'
    """
    name, equals, product = _split_name(text)
    if equals and not is_name(name):
        raise UsageError(f"{name!r} is no name for the formula {text!r}; letters, digits, _, - and . can be used")
    factors = tuple(_factor(part, text) for part in product.split("*"))
    if not any(factor.column for factor in factors):
        raise UsageError(f"the formula {text!r} reads no column")
    formula = Formula("", factors)
    return Formula(name or str(formula), factors)


def is_name(name: str) -> bool:
    """Whether a formula can call a column by this name."""
    return re.fullmatch(_NAME, name) is not None


def _split_name(text: str) -> tuple[str, str, str]:
    """`J2=a*(b==1)` at its first `=`, where that is none of a comparison."""
    match = re.fullmatch(r"\s*([^=<>(*]*?)\s*(=)(?!=)(.*)", text, re.DOTALL)
    return (match[1], match[2], match[3]) if match else ("", "", text)


def _factor(part: str, formula: str) -> Factor:
    match = _FACTOR.fullmatch(part.strip())
    if match is None:
        raise UsageError(
            f"{part.strip()!r} in the formula {formula!r} is no factor; write column names, numbers, (column>=0.5) or "
            "(1-column), with * between them"
        )
    written = re.sub(r"\s+", "", match[0])
    if match["constant"]:
        constant = float(match["constant"])
        return Factor(written, None, lambda _: np.float64(constant))  # type: ignore[return-value,arg-type]
    if match["complement"]:
        return Factor(written, match["complement"], lambda column: 1 - column)
    if match["compared"]:
        compare, bound = _COMPARISONS[match["sign"]], float(match["bound"])
        return Factor(written, match["compared"], lambda column: compare(column, bound).astype(np.float64))
    return Factor(written, match["column"], lambda column: column)
