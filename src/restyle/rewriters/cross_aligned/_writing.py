"""Sentences from contents: the likeliest word at each place, or the likeliest sentences that a beam finds."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from restyle.nets.vocabulary import BEGIN, END, PAD
from restyle.rewriters.cross_aligned._batches import Sentences
from restyle.rewriters.cross_aligned._data import Rows
from restyle.rewriters.cross_aligned._model import Transfer
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings

# Of a beam, the least that no sum of words reaches.
_NEVER = float("-inf")


@torch.no_grad()
def transferred(
    model: Transfer, rows: Rows, style: int, limit: int, *, beam: int = 1, batch_size: int = 128
) -> list[list[list[int]]]:
    """Sentences of one style as the other would say them: `beam` of each, best first.

    None is longer than `limit`, or than what it was where that is more; nothing is said of an empty one.

    A sentence is written by itself, whatever else is asked for: those of one length are computed together.
    """
    device = next(model.parameters()).device
    found: list[list[list[int]]] = [[[]] * beam for _ in rows]
    places = sorted((place for place, row in enumerate(rows) if row), key=lambda place: len(rows[place]))
    for batch in _of_one_length(places, rows, batch_size):
        sentences = Sentences.of([rows[place] for place in batch], [style] * len(batch)).to(device)
        contents = model.encode(sentences.ids, sentences.lengths, sentences.styles)
        start = model.start(1 - sentences.styles, contents)
        most = max(limit, len(rows[batch[0]])) + 1
        written = greedy(model, start, most) if beam == 1 else beamed(model, start, most, beam)
        for place, several in zip(batch, written, strict=True):
            found[place] = several
    return found


def greedy(model: Transfer, start: Tensor, most: int) -> list[list[list[int]]]:
    """The likeliest word at each place, (N, H) -> N lists of one sentence."""
    state, words = start, torch.full((len(start),), BEGIN, device=start.device)
    running = torch.ones_like(words, dtype=torch.bool)
    written = []
    for _ in range(most):
        state = model.step(model.words(words), state)
        words = _sayable(model.scores(state)).argmax(1)
        running = running & (words != END)
        if not running.any():
            break
        written.append(torch.where(running, words, PAD))
    columns = torch.stack(written, dim=1).tolist() if written else [[] for _ in range(len(start))]
    return [[[word for word in row if word != PAD]] for row in columns]


def beamed(model: Transfer, start: Tensor, most: int, beam: int) -> list[list[list[int]]]:
    """The `beam` sentences of the highest mean log-probability per word that a beam of this width finds."""
    count, device = len(start), start.device
    state = start.repeat_interleave(beam, dim=0)  # (N * beam, H)
    words = torch.full((count * beam,), BEGIN, device=device)
    sums = torch.full((count, beam), _NEVER, device=device)
    sums[:, 0] = 0.0  # at the begin all are one
    written = torch.full((count, beam, 0), PAD, device=device)
    ended = torch.zeros(count, beam, dtype=torch.bool, device=device)
    lengths = torch.zeros(count, beam, device=device)
    for _ in range(most):
        state = model.step(model.words(words), state)
        logs = _sayable(model.scores(state)).log_softmax(1).view(count, beam, -1)  # (N, beam, V)
        # One that has ended goes on as itself, at no cost.
        logs = torch.where(ended[..., None], _NEVER, logs)
        logs[..., PAD] = torch.where(ended, 0.0, _NEVER)
        sums, chosen = (sums[..., None] + logs).flatten(1).topk(beam, dim=1)  # (N, beam)
        parent, words_now = chosen // logs.shape[2], chosen % logs.shape[2]
        ended, lengths = ended.gather(1, parent), lengths.gather(1, parent)
        lengths = lengths + (~ended)
        ended = ended | (words_now == END)
        written = written.gather(1, parent[..., None].expand(-1, -1, written.shape[2]))
        written = torch.cat([written, words_now[..., None]], dim=2)
        rows = (parent + torch.arange(count, device=device)[:, None] * beam).flatten()
        state, words = state[rows], words_now.flatten()
        if ended.all():
            break
    order = (sums / lengths.clamp(min=1)).sort(dim=1, descending=True, stable=True).indices
    best = written.gather(1, order[..., None].expand(-1, -1, written.shape[2])).tolist()
    return [[[word for word in row if word not in (PAD, END)] for row in several] for several in best]


def _sayable(logits: Tensor) -> Tensor:
    """The scores without the marks that stand in no sentence."""
    logits[:, [PAD, BEGIN]] = _NEVER
    return logits


def _of_one_length(places: Sequence[int], rows: Rows, size: int) -> list[list[int]]:
    batches: list[list[int]] = []
    for place in places:
        if batches and len(batches[-1]) < size and len(rows[batches[-1][0]]) == len(rows[place]):
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches


def limit_of(settings: CrossAlignedSettings) -> int:
    """How long a sentence may become whatever it was; a longer one may become as long as it was."""
    # A byte pair is a third of a word at the least, on average.
    return settings.max_words * (3 if settings.subwords else 1)
