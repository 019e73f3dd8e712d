"""STRAP: style transfer as paraphrasing, its ablations, its packs, and how they are learned."""

from restyle.rewriters.strap._ablations import Conditioned, NonDiverse, OnBase, Recurrent, WithoutParaphrase, on_base
from restyle.rewriters.strap._pack import Card, Pack, find_pack, find_style, packs
from restyle.rewriters.strap._rewriter import Strap

__all__ = [
    "Card",
    "Conditioned",
    "NonDiverse",
    "OnBase",
    "Pack",
    "Recurrent",
    "Strap",
    "WithoutParaphrase",
    "find_pack",
    "find_style",
    "on_base",
    "packs",
]
