"""What tells states of the decoder that read a sentence from states that wrote one (Pang and Gimpel, 4.1 and 4.5)."""

from __future__ import annotations

from torch import Tensor, nn

from restyle.nets.text_cnn import Filters
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings

WIDTHS = (3, 4, 5)  # of D_0 and D_1
SECOND_WIDTHS = (1, 2, 3)  # of D'_0 and D'_1


class Discriminator(nn.Module):
    """A CNN over states, (N, T, H), that gives each sentence one number, (N,): a logit, or the score of a critic."""

    def __init__(self, width: int, widths: tuple[int, ...], settings: CrossAlignedSettings) -> None:
        super().__init__()
        self.filters = Filters(width, widths, settings.filters, settings.precision)
        self.out = nn.Linear(self.filters.size, 1)

    def forward(self, states: Tensor) -> Tensor:
        """One number a sentence."""
        answers: Tensor = self.out(self.filters(states)).squeeze(1)
        return answers


class Discriminators(nn.Module):
    """The first pair, and the second where the model has one; number t of a pair belongs to style t."""

    def __init__(self, settings: CrossAlignedSettings) -> None:
        super().__init__()
        width = settings.style_dim + settings.content_dim

        def pair(widths: tuple[int, ...]) -> nn.ModuleList:
            return nn.ModuleList(Discriminator(width, widths, settings) for _ in range(2))

        self.first = pair(WIDTHS)
        self.second = pair(SECOND_WIDTHS) if settings.has("2d") else None

    def each(self) -> list[nn.Module]:
        """All two or four."""
        return [*self.first, *(self.second or ())]
