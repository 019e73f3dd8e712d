"""The signature: one line that pins everything which changes a scorecard's numbers, as sacrebleu's does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from restyle._version import __version__

# What a reader sees in the short form, and where the long form says more.
_HASH_LENGTH = 8


@dataclass(frozen=True)
class Signature:
    """What was measured, with what, and how it was put together.

    `metrics` holds what each metric says of itself (model, hash, side, tokenisation …); `formulas`, the products; the
    rest are options. Scorecards with equal signatures can be compared; equal inputs and signatures give equal bytes.
    """

    metrics: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    formulas: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__

    def __str__(self) -> str:
        return self.long()

    def long(self) -> str:
        """Everything, as `part:key=value,…` between bars."""
        parts = [f"{key}:{value}" for key, value in self.options.items()]
        parts += [f"{name}:{_listed(facts)}" for name, facts in self.metrics.items()]
        parts += [f"{name}:{formula}" for name, formula in self.formulas.items()]
        return _joined([*parts, f"restyle:{self.version}"])

    def short(self) -> str:
        """Names, and a hash of all that each stands for: for a caption, or a column of a table."""
        parts = [f"{key}:{value}" for key, value in self.options.items()]
        parts += [f"{name}#{_hash(facts)}" if facts else f"{name}:given" for name, facts in self.metrics.items()]
        parts += [f"{name}#{_hash(formula)}" for name, formula in self.formulas.items()]
        return _joined([*parts, f"v:{self.version}"])

    def to_dict(self) -> dict[str, object]:
        """Plain values for a file."""
        return {
            "version": self.version,
            "options": dict(self.options),
            "metrics": {name: dict(facts) for name, facts in self.metrics.items()},
            "formulas": dict(self.formulas),
        }


def judge_hash(facts: Mapping[str, str]) -> str:
    """Eight hexadecimal digits of everything that a metric says of itself."""
    return _hash(facts)


def _listed(facts: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in facts.items() if key != "metric") or "given"


def _joined(parts: list[str]) -> str:
    # A name of a column or of a model may hold a bar or a line break; the line must stay one line.
    return "|".join(" ".join(part.replace("|", "/").split()) for part in parts)


def _hash(content: object) -> str:
    plain = dict(content) if isinstance(content, Mapping) else content
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:_HASH_LENGTH]
