"""The reference engine: any causal model of transformers, on any device, greedy, by beams, or by chance.

It is also what draws by chance: each row has numbers of its own, so rows of many sentences are drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache

from restyle.lm.decoding._base import DECIMALS, Candidate, Decoding, Prompt
from restyle.lm.decoding._batches import in_order, pieces
from restyle.lm.format import PairFormat
from restyle.lm.subwords import Subwords

# Prompt and room of the rows of a batch, added up; more gain little on a CPU, and much on a GPU.
_BATCH_TOKENS = {"cpu": 4096, "cuda": 65_536}
# Which are those of a long row.
_ROW_TOKENS = 128
# Libraries of matrix products choose a kernel by the number of rows, and each kernel adds in an order of its own: with
# 33 rows a row came out otherwise than with 32, in bfloat16, and with two threads in float32 as well. So every batch
# has one number of rows, filled up where it is short, and a sentence is written alone as in a crowd.
_FEWEST_ROWS = 16
# A nucleus is seldom larger; sorting the whole vocabulary would cost more than the network.
_LIKELIEST = 512


class TorchEngine:
    """Decoding with PyTorch."""

    def __init__(self, model: Any, subwords: Subwords, *, batch_tokens: int | None = None) -> None:
        """`model` is a causal model of transformers, its adapters merged; `batch_tokens` bounds prompts and rooms."""
        self._model, self._subwords = model.eval().requires_grad_(False), subwords
        self._device = next(model.parameters()).device
        self._batch_tokens = batch_tokens or _BATCH_TOKENS.get(self._device.type, _BATCH_TOKENS["cuda"])

    def _prompts_a_batch(self, decoding: Decoding) -> int:
        return max(1, max(_FEWEST_ROWS, self._batch_tokens // _ROW_TOKENS) // decoding.candidates)

    @property
    def name(self) -> str:
        """`torch`, and the numbers it computes in."""
        return f"torch {str(next(self._model.parameters()).dtype).removeprefix('torch.')}"

    def format(self, max_subwords: int) -> PairFormat:
        """How its base writes a pair."""
        return PairFormat(self._subwords, max_subwords)

    def generate(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[list[Candidate]]:
        """Continuations of each prompt, likeliest first; the order of the prompts is kept."""
        return in_order(prompts, decoding, lambda groups: self._continued(groups, decoding))

    def _continued(self, groups: list[list[Prompt]], decoding: Decoding) -> dict[Prompt, list[Candidate]]:
        found: dict[Prompt, list[Candidate]] = {}
        for group in groups:
            if decoding.searches:
                found.update((prompt, self._searched(prompt, decoding)) for prompt in group)
                continue
            for batch in pieces(group, self._prompts_a_batch(decoding)):
                found.update(zip(batch, self._written(batch, decoding), strict=True))
        return found

    @torch.inference_mode()
    def _written(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[list[Candidate]]:
        """The candidates of prompts of one length and room, each in a row of its own."""
        number, room, end = len(prompts) * decoding.candidates, prompts[0].room, self._subwords.end
        most = self._prompts_a_batch(decoding)
        ids = torch.tensor([prompt.ids for prompt in prompts], device=self._device)
        rows = _Rows(self._model, ids[_filled(torch.arange(len(prompts), device=self._device), most)])
        # Which candidate a row writes. Rows that fill up write the first one again, to the same result.
        place = _filled(torch.arange(number, device=self._device), max(_FEWEST_ROWS, most * decoding.candidates))
        rows.keep(place // decoding.candidates)
        chances = self._chances(prompts, decoding)  # (N, room)
        written = torch.full((number, room), end, device=self._device)
        score = torch.zeros(number, dtype=torch.float64, device=self._device)
        ended = torch.zeros(number, dtype=torch.bool, device=self._device)
        for step in range(room):
            likely = rows.next_log_probabilities()  # (B, V)
            if decoding.no_repeat:
                likely = _without_repeats(likely, written[place, :step], decoding.no_repeat)
            if decoding.samples:
                chosen = _drawn(likely, chances[place, step], decoding)
            elif decoding.branches and not step:
                chosen = _begun(likely, place % decoding.candidates, decoding.candidates, end)
            else:
                chosen = likely.argmax(-1)
            chosen = torch.where(ended[place], end, chosen)  # (B,)
            score[place] += torch.where(ended[place], 0, likely.gather(1, chosen[:, None])[:, 0].double())
            written[place, step] = chosen
            ended[place] |= chosen == end
            if bool(ended.all()):
                break
            rows.append(chosen)
        made = [_candidate(ids, total, end) for ids, total in zip(written.tolist(), score.tolist(), strict=True)]
        each = decoding.candidates
        return [sorted(made[at : at + each], key=Candidate.rank) for at in range(0, number, each)]

    def _chances(self, prompts: Sequence[Prompt], decoding: Decoding) -> Tensor:
        """A number from 0 to 1 for each subword of each candidate, (N, room); of no meaning where nothing is drawn."""
        if not decoding.samples:
            return torch.zeros(len(prompts) * decoding.candidates, prompts[0].room, device=self._device)
        rows = [prompt.uniforms(decoding, number) for prompt in prompts for number in range(decoding.candidates)]
        return torch.from_numpy(np.stack(rows)).to(self._device)

    @torch.inference_mode()
    def _searched(self, prompt: Prompt, decoding: Decoding) -> list[Candidate]:
        """The candidates of a beam search."""
        ids = torch.tensor([prompt.ids], device=self._device)
        made = self._model.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, use_cache=True, early_stopping=True,
            num_beams=max(decoding.beams, decoding.candidates), num_return_sequences=decoding.candidates,
            max_new_tokens=prompt.room, eos_token_id=self._subwords.end, pad_token_id=self._subwords.end,
            return_dict_in_generate=True, output_scores=True,
        )  # fmt: skip
        rows = made.sequences[:, ids.shape[1] :].tolist()
        found = []
        for row, score in zip(rows, made.sequences_scores.tolist(), strict=True):
            ended = self._subwords.end in row
            kept = row[: row.index(self._subwords.end)] if ended else row
            found.append(Candidate(tuple(kept), round(score, DECIMALS), ended))
        return found


class _Rows:
    """Texts that are being written, and the keys and values of what they hold so far."""

    def __init__(self, model: Any, ids: Tensor) -> None:
        """`ids` (P, T) are read up to their last subword, with which the first step begins."""
        self._model, self._last = model, ids[:, -1:]
        self._cache = model.new_cache() if hasattr(model, "new_cache") else DynamicCache(config=model.config)
        before = ids[:, :-1]
        if before.shape[1]:
            self._fed(before, logits=0)

    def next_log_probabilities(self) -> Tensor:
        """For each row, of each subword that may come next, (B, V)."""
        found: Tensor = self._fed(self._last).float().log_softmax(-1)
        return found

    def append(self, chosen: Tensor) -> None:
        """Write one subword more in each row, (B,)."""
        self._last = chosen[:, None]

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows alone, in this order; one may be named more than once."""
        self._cache.batch_select_indices(rows)
        self._last = self._last[rows]

    def _fed(self, ids: Tensor, logits: int = 1) -> Tensor:
        """The logits after the last of some more subwords, (B, V); none at all are made where none are wanted."""
        # The place is named by a tensor: asked for "the last one", the model hands on a view of all its states, and
        # the weights of the vocabulary layer are then copied for every row.
        kept = torch.arange(ids.shape[1] - logits, ids.shape[1], device=ids.device)
        made = self._model(input_ids=ids, past_key_values=self._cache, use_cache=True, logits_to_keep=kept)
        found: Tensor = made.logits[:, -logits:].flatten(0, 1)
        return found


def _filled(rows: Tensor, fewest: int) -> Tensor:
    """The row numbers, the first repeated until there are enough."""
    missing = fewest - len(rows)
    return rows if missing <= 0 else torch.cat([rows, rows[:1].expand(missing)])


def _without_repeats(log_probabilities: Tensor, written: Tensor, size: int) -> Tensor:
    """The same, (B, V), without the subwords that would end a run of `size` which a row, (B, T), has written before."""
    if written.shape[1] < size:
        return log_probabilities
    runs = written.unfold(1, size, 1)  # (B, T - size + 1, size)
    begun = (runs[:, :, :-1] == written[:, None, 1 - size :]).all(-1)
    row, place = begun.nonzero(as_tuple=True)
    return log_probabilities.index_put((row, runs[row, place, -1]), torch.tensor(-torch.inf))


def _begun(log_probabilities: Tensor, ranks: Tensor, branches: int, end: int) -> Tensor:
    """The first subword of each row's branch, (B,): of the likeliest but the end that of the row's rank, (B,)."""
    begins = log_probabilities.index_fill(1, torch.tensor([end], device=ranks.device), -torch.inf)
    best = begins.topk(branches, dim=-1).indices  # (B, branches)
    return best.gather(1, ranks[:, None])[:, 0]


def _drawn(log_probabilities: Tensor, chances: Tensor, decoding: Decoding) -> Tensor:
    """One subword a row, (B,), by one uniform number a row: the nucleus laid out on a line, likeliest first."""
    probabilities = (log_probabilities / decoding.temperature).softmax(-1)
    best, places = probabilities.topk(min(_LIKELIEST, probabilities.shape[1]), dim=-1)
    drawn = _at(chances, best, places, decoding.nucleus)
    # Those rows alone: the two ways order equally likely subwords differently, and no row may decide it for another.
    wide = best.double().sum(-1) < decoding.nucleus
    if bool(wide.any()):
        best, places = probabilities[wide].sort(dim=-1, descending=True, stable=True)
        drawn[wide] = _at(chances[wide], best, places, decoding.nucleus)
    return drawn


def _at(chances: Tensor, best: Tensor, places: Tensor, nucleus: float) -> Tensor:
    """What lies where each row's number points, of the likeliest subwords laid end to end up to the nucleus."""
    line = best.double().cumsum(-1)  # (B, K)
    inside = (line - best < nucleus).sum(-1, keepdim=True)  # the subword that reaches p is the last
    point = chances[:, None] * line.gather(1, inside - 1)
    drawn = torch.searchsorted(line, point, right=True).minimum(inside - 1)
    return places.gather(1, drawn)[:, 0]


def _candidate(ids: list[int], total: float, end: int) -> Candidate:
    ended = end in ids
    kept = ids[: ids.index(end)] if ended else ids
    return Candidate(tuple(kept), round(total / (len(kept) + ended), DECIMALS), ended)
