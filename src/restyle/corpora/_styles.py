"""Every style that a corpus holds, and the corpora that it can be learnt from."""

from __future__ import annotations

from dataclasses import dataclass

from restyle.corpora._catalogue import catalogue


@dataclass(frozen=True)
class Style:
    """A style by name, and the corpora that hold sentences in it."""

    name: str
    corpora: tuple[str, ...]

    @property
    def summary(self) -> str:
        """Where its sentences are, and what the first of those corpora is."""
        return f"in {', '.join(self.corpora)}: {catalogue()[self.corpora[0]].title}"


def _styles() -> tuple[Style, ...]:
    holders: dict[str, list[str]] = {}
    for entry in catalogue().values():
        for style in entry.styles:
            holders.setdefault(style, []).append(entry.name)
    return tuple(Style(name, tuple(holders[name])) for name in sorted(holders, key=str.casefold))


styles = _styles()
