"""Which column plays which part in J and GM, and how the parts are called elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from restyle.evaluation._formula import Formula, parse

# As tables of verdicts spell them, and as restyle does.
ALIASES = {
    "accuracy": "acc",
    "style": "acc",
    "fluency": "fl",
    "acceptability": "fl",
    "similarity": "sim",
    "perplexity": "ppl",
}
# SIM has two meanings (Table 1: against the reference; Table 6: against the input). The reference is taken where it can
# be, as in the paper's main table, and MiniLM's before others; the signature names the one that was.
_SIM = ("sim_ref", "sim_input", "sim", "sim-wieting-ref", "sim-wieting", "sim-glove-ref", "sim-glove")
_ACC = ("acc", "acc-prob", "acc-linear")
_FL = ("fl", "fl-prob")
# Pang and Gimpel 3.2 compare with the input, by word vectors where those were asked for.
_SIM_OF_PANG_GIMPEL = ("sim_input", "sim", "sim_ref")


@dataclass(frozen=True)
class Roles:
    """The columns that stand for the parts; None where there is none."""

    acc: str | None
    sim: str | None
    fl: str | None
    ppl: str | None
    sim_of_pang_gimpel: str | None


def roles_of(columns: Iterable[str]) -> Roles:
    """The parts that these columns can play: the first that is known, else the only one that begins so.

    >>> roles_of(["acc-linear", "sim_input", "sim_ref"]).sim
    'sim_ref'
    """
    names = list(columns)
    return Roles(
        _chosen(_ACC, names),
        _chosen(_SIM, names),
        _chosen(_FL, names),
        _chosen(("pp", "ppl"), names),
        "sim-glove" if "sim-glove" in names else _chosen(_SIM_OF_PANG_GIMPEL, names),
    )


def default_formulas(roles: Roles) -> tuple[Formula, ...]:
    """J(A,S) and J(A,S,F) of STRAP Sec. 3.2: ACC and FL are verdicts, so a probability counts from 0.5 on."""
    if not (roles.acc and roles.sim):
        return ()
    style_and_meaning = f"({roles.acc}>=0.5)*{roles.sim}"
    formulas = [_named("J(A,S)", style_and_meaning)]
    if roles.fl:
        formulas.append(_named("J", f"{style_and_meaning}*({roles.fl}>=0.5)"))
    return tuple(formulas)


def _named(name: str, product: str) -> Formula:
    return Formula(name, parse(product).factors)


def _chosen(wanted: tuple[str, ...], names: list[str]) -> str | None:
    for name in wanted:
        if name in names:
            return name
    beginnings = tuple(f"{re.split('[-_]', name)[0]}{mark}" for name in wanted for mark in "-_")
    beginning = [name for name in names if name.startswith(beginnings)]
    return beginning[0] if len(beginning) == 1 else None
