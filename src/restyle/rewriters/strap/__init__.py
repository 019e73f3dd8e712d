"""STRAP: style transfer as paraphrasing, its packs, and how they are learned."""

from restyle.rewriters.strap._pack import Card, Pack, find_pack, packs
from restyle.rewriters.strap._rewriter import Strap, WithoutParaphrase

__all__ = ["Card", "Pack", "Strap", "WithoutParaphrase", "find_pack", "packs"]
