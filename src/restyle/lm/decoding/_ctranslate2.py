"""The fast engine: CTranslate2, in eight bits on a CPU and in float16 on a GPU; greedy, or by beams.

It draws nothing by chance. Its random numbers come from one generator a thread, seeded once (CTranslate2 issue 1757,
as of 4.8.5), so what is drawn for a sentence would depend on what was drawn before it; see `_open` for what draws.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from restyle.errors import Corrupt, MissingExtra, UsageError
from restyle.lm.decoding._base import DECIMALS, Candidate, Decoding, Prompt
from restyle.lm.decoding._batches import in_order, pieces
from restyle.lm.format import PairFormat
from restyle.lm.subwords import FileSubwords

try:
    import ctranslate2
except ModuleNotFoundError as error:  # pragma: no cover - a test environment has it
    raise MissingExtra(error.name or "ctranslate2", "local", "the engine ctranslate2") from error

VERSION: str = ctranslate2.__version__
# Prompt and room of the rows of a batch, added up. On a CPU 64 rows are as good as any more, 8 take twice as long each.
_BATCH_TOKENS = {"cpu": 4096, "cuda": 65_536}


def device() -> str:
    """Where engines compute: on a GPU where there is one."""
    return "cuda" if ctranslate2.get_cuda_device_count() else "cpu"


def compute_type() -> str:
    """The numbers of the weights: eight bits on a CPU that can multiply them."""
    if device() == "cuda":
        return "float16"
    return "int8_float32" if "int8_float32" in ctranslate2.get_supported_compute_types("cpu") else "float32"


class CTranslate2Engine:
    """Decoding with CTranslate2."""

    def __init__(self, folder: str | Path, *, threads: int | None = None, batch_tokens: int | None = None) -> None:
        """`folder` is a converted engine; `threads` (all cores by default) each decode a batch of their own on a CPU.

        Corrupt when the folder is not whole.
        """
        folder, self._device = Path(folder), device()
        self._subwords = FileSubwords(folder)
        self._batch_tokens = batch_tokens or _BATCH_TOKENS[self._device]
        self._threads = (threads or _cores()) if self._device == "cpu" else 1
        try:
            # One thread a batch: two on one batch wait for each other at each of its hundred small products, and where
            # other work takes a core away for a moment, they wait most of the time.
            self._generator = ctranslate2.Generator(
                str(folder), self._device, compute_type=compute_type(), inter_threads=self._threads, intra_threads=1
            )
            self._words: list[str] = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
        except (RuntimeError, OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise Corrupt(f"{folder} is no whole engine ({reason}); remove it and run the same command") from error

    @property
    def name(self) -> str:
        """`ctranslate2`, and the numbers it computes in."""
        return f"ctranslate2 {self._generator.compute_type}"

    def format(self, max_subwords: int) -> PairFormat:
        """How its base writes a pair."""
        return PairFormat(self._subwords, max_subwords)

    def generate(self, prompts: Sequence[Prompt], decoding: Decoding) -> list[list[Candidate]]:
        """Continuations of each prompt, likeliest first; the order of the prompts is kept.

        UsageError when they are to be drawn by chance.
        """
        if decoding.samples:
            raise UsageError(
                "the engine ctranslate2 cannot draw by a seed of each sentence's own: use the engine auto or torch, "
                "or set nucleus to 0"
            )
        return in_order(prompts, decoding, lambda groups: self._continued(groups, decoding))

    def _continued(self, groups: list[list[Prompt]], decoding: Decoding) -> dict[Prompt, list[Candidate]]:
        branching = decoding.branches and decoding.candidates > 1
        # Branches are rows of a batch as beams are, and no search among them.
        width = max(decoding.beams, decoding.candidates)
        beams = 1 if branching else width
        started = []
        for group in groups:
            rows = self._batch_tokens // (width * (len(group[0].ids) + group[0].room))
            for batch in pieces(group, rows, self._threads):
                # Before branches the whole prompt counts as written, but for the subword that is there anyway.
                before = len(group[0].ids) - 1 if branching else 0
                # At once: the threads take the batches one after the other.
                results = self._generator.generate_batch(
                    [[self._words[subword] for subword in prompt.ids] for prompt in batch],
                    max_length=before + group[0].room, end_token=[self._subwords.end], include_prompt_in_result=False,
                    beam_size=beams, num_hypotheses=decoding.candidates, no_repeat_ngram_size=decoding.no_repeat,
                    return_alternatives=branching,
                    return_scores=True, asynchronous=True,
                )  # fmt: skip
                started.append((batch, results))
        found = {
            prompt: _candidates(result.result(), prompt.room)
            for batch, results in started
            for prompt, result in zip(batch, results, strict=True)
        }
        return self._scored(found) if branching else found

    def _scored(self, found: dict[Prompt, list[Candidate]]) -> dict[Prompt, list[Candidate]]:
        """The same with the scores of whole branches: CTranslate2 gives them without their first subword's share."""
        rows = [(prompt, candidate) for prompt, several in found.items() for candidate in several]
        texts = [(*prompt.ids, *candidate.ids, *([self._subwords.end] * candidate.ended)) for prompt, candidate in rows]
        # One a batch: a row beside longer ones is padded, and its last digits change.
        results = self._generator.score_batch([[self._words[id_] for id_ in ids] for ids in texts], max_batch_size=1)
        scored: dict[Prompt, list[Candidate]] = {prompt: [] for prompt in found}
        for (prompt, candidate), result in zip(rows, results, strict=True):
            own = result.log_probs[len(prompt.ids) - 1 :]
            scored[prompt].append(replace(candidate, score=round(sum(own) / max(1, len(own)), DECIMALS)))
        return {prompt: sorted(several, key=Candidate.rank) for prompt, several in scored.items()}


def _candidates(result: ctranslate2.GenerationResult, room: int) -> list[Candidate]:
    # A result that fills the room to its last subword has no end; the scores count the end where there is one.
    made = [
        Candidate(tuple(ids), round(score, DECIMALS), len(ids) < room)
        for ids, score in zip(result.sequences_ids, result.scores, strict=True)
    ]
    return sorted(made, key=Candidate.rank)


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
