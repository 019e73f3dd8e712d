"""What is asked for: a style, a path to one, or a mix of several, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from restyle.errors import UsageError
from restyle.lm.adapters import Adapter
from restyle.lm.decoding import Engine, open_engine
from restyle.rewriters.strap._pack import CARD_FILE, Pack, find_style, is_multi


@dataclass(frozen=True)
class Mix:
    """Packs and the share of each; the shares sum to one."""

    parts: tuple[tuple[Pack, float], ...]

    @property
    def main(self) -> Pack:
        """The pack with the largest share."""
        return max(self.parts, key=lambda part: part[1])[0]

    @property
    def name(self) -> str:
        """`shakespeare`, wherever its pack lies; `shakespeare:0.7,bible:0.3`."""
        if len(self.parts) == 1:
            return self.main.card.name
        return ",".join(f"{pack.card.name}:{share:.4g}" for pack, share in self.parts)

    @property
    def prefix(self) -> str:
        """What an input begins with."""
        return self.main.prefix

    def engine(self, paraphraser: Pack | None, strength: float, engine: str) -> Engine:
        """What writes so; UsageError where a whole model is asked for a share of itself."""
        amounts = self._amounts(paraphraser, strength)
        whole = next((pack for pack, _ in amounts if pack.model), None)
        if whole is None:
            return open_engine(
                self.main.card.base,
                lambda: self.adapter(paraphraser, strength),
                identity=self.identity(paraphraser, strength),
                engine=engine,
            )
        if amounts != [(whole, 1.0)]:
            raise UsageError(f"{whole.card.name} is a whole model and no adapter: strength can be nothing but 1")
        return open_engine(str(whole.model), engine=engine)

    def adapter(self, paraphraser: Pack | None, strength: float) -> Adapter:
        """The weights that write so.

        Between "as it is" and the style lies the paraphraser, which says the same in no style: at strength 0 it alone
        writes, at 1 the style as its card measures it, and beyond that the style goes further from the paraphraser.
        """
        amounts = self._amounts(paraphraser, strength)
        adapters = [Adapter.load(pack.adapter).scaled(amount) for pack, amount in amounts]
        total = adapters[0]
        for each in adapters[1:]:
            total = total + each
        return total

    def identity(self, paraphraser: Pack | None, strength: float) -> str:
        """What tells these weights from all others."""
        return "+".join(
            sorted(f"{pack.card.sha256}:{amount:.6g}" for pack, amount in self._amounts(paraphraser, strength))
        )

    def needs_paraphraser(self, strength: float) -> bool:
        """Whether the paraphraser's adapter has a part in these weights."""
        return bool(self._rest(strength))

    def _amounts(self, paraphraser: Pack | None, strength: float) -> list[tuple[Pack, float]]:
        """How much of each adapter; with the paraphraser's, which may be less than nothing, they sum to one."""
        amounts = [(pack, share * strength * pack.card.strength) for pack, share in self.parts]
        rest = self._rest(strength)
        return [*amounts, (paraphraser, rest)] if paraphraser is not None and rest else amounts

    def _rest(self, strength: float) -> float:
        return round(1 - sum(share * strength * pack.card.strength for pack, share in self.parts), 9)


def mix_of(to: str) -> Mix:
    """Of `shakespeare`, `path/to/pack` or `shakespeare:0.7,bible:0.3`; UnknownName, or UsageError with what can be."""
    # Whatever marks are in its path.
    if (Path(to) / CARD_FILE).is_file() or is_multi(to.rpartition(":")[0]):
        return Mix(((find_style(to), 1.0),))
    parts: list[tuple[Pack, float]] = []
    for each in to.split(","):
        name, share = _share(each.strip())
        if not name:
            raise UsageError(
                f"{to!r} names no style; a style, or a mix such as shakespeare:0.7,bible:0.3, was expected"
            )
        if not 0 < share < float("inf"):
            raise UsageError(f"the share of {name} is {share:g}; it can be anything above 0")
        parts.append((find_style(name), share))
    if len({pack.card.base_sha256 for pack, _ in parts}) > 1:
        raise UsageError(f"{to}: the packs are of different base models, which cannot be mixed")
    for pack, _ in parts:
        if len(parts) > 1 and (pack.model or pack.prefix):
            kind = "a whole model" if pack.model else "one of several styles of a pack"
            raise UsageError(f"{to}: {pack.card.name} is {kind}, and only packs of one style with an adapter are mixed")
    total = sum(share for _, share in parts)
    return Mix(tuple((pack, share / total) for pack, share in parts))


def _share(part: str) -> tuple[str, float]:
    """The name and its share, 1 where there is none; what follows the colon of `C:style` is no share."""
    name, _, share = part.rpartition(":")
    try:
        return (name, float(share)) if name else (part, 1.0)
    except ValueError:
        return part, 1.0
