"""STRAP's own way to give GPT-2 a pair (App. A.2): the input padded on its left to one width, and two segments.

    pad pad input …   separator  output …  end
    └──── width ───┘  └─ the output's segment ─┘

Each segment has an embedding, which is added to those of its tokens. As all inputs have one width, a token's segment
follows from its position: the two embeddings stand beside the positions while they are learned, and are added to them
afterwards. What is left is a plain GPT-2, which every engine runs, and a width, which its tokenizer remembers.
As in the authors' code, the pads are read like any other token.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from restyle.errors import UsageError
from restyle.lm.bases import Base
from restyle.lm.subwords import WIDTH


def with_segments(base: Base, width: int) -> Base:
    """A GPT-2 base that is about to learn segments; UsageError for any other base, or one with too few positions."""
    if base.model.config.model_type != "gpt2":
        raise UsageError(f"segments are for GPT-2 bases, and {base.id} is none: leave that setting out")
    table = base.model.transformer.wpe
    if table.num_embeddings < 2 * (width + 1):
        raise UsageError(f"{base.id} has {table.num_embeddings} positions, too few for {width} subwords on each side")
    base.model.transformer.wpe = _SegmentedPositions(table, width)
    base.tokenizer.init_kwargs[WIDTH] = width
    return base


def without_segments(model: Any) -> None:
    """Add the segments to the positions: the same model, as plain GPT-2."""
    model.transformer.wpe = model.transformer.wpe.folded()


class _SegmentedPositions(nn.Module):
    """The embeddings of positions, to each of which that of its segment is added."""

    def __init__(self, table: nn.Embedding, width: int) -> None:
        super().__init__()
        self.table, self._width = table, width
        # At zero, so that tuning begins with the base as it is.
        self.segments = nn.Parameter(torch.zeros(2, table.embedding_dim))

    def forward(self, positions: Tensor) -> Tensor:
        """The embedding of each position, (…, H)."""
        found: Tensor = self.table(positions) + self.segments[(positions >= self._width).long()]
        return found

    def folded(self) -> nn.Embedding:
        """One table that gives the same."""
        with torch.no_grad():
            places = torch.arange(self.table.num_embeddings, device=self.segments.device)
            self.table.weight.copy_(self(places))
        return self.table
