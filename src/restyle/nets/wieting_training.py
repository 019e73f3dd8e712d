"""Learning the similarity model: paraphrases are drawn together, and away from what is most easily taken for one.

Which pairs come when, and all else that is random, follows from the seed and the step alone, so that a run that was
killed ends with the bytes of one that was not.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from restyle.errors import InputError, MissingExtra, UsageError
from restyle.nets.wieting import SUBWORDS, Wieting, prepared
from restyle.nets.wieting_card import CARD
from restyle.nets.wieting_pairs import Group, merged, split
from restyle.nets.wieting_settings import TrainSettings
from restyle.progress import progress_bar
from restyle.records import writing_to
from restyle.settings import to_dict
from restyle.text import bpe

try:
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file
    from torch import Tensor

    from restyle.nets.wieting_batches import Ids, Pairs
    from restyle.nets.wieting_loss import hardest, margin_loss
except ModuleNotFoundError as error:
    raise MissingExtra("torch", "local", "training the similarity model") from error

# Holds what a run needs to go on, inside the folder of the model that it makes.
_WORK = "training"
_CHECKPOINT = "checkpoint.safetensors"
# SentencePiece holds them all in memory, and its pieces do not change with more.
_SENTENCES_TO_CUT = 300_000
# Of the random vectors. At the default learning rate, Adam moves a coordinate by a thirtieth of it in a step.
_DEVIATION = 0.3
# What a stream of random numbers is for: no two of them are the same.
_VECTORS, _PAIRS = 1, 2
# Validation pairs: each is looked for among the others, which takes their number squared.
_VALIDATION_PAIRS = 5_000


def train(
    groups: Iterable[Group],
    folder: str | Path,
    settings: TrainSettings | None = None,
    *,
    data: str = "",
    checkpoint_seconds: float = 30.0,
    shown: bool | None = None,
) -> Wieting:
    """Learn a model from groups of sentences that say the same, and save it in `folder`; killed, it goes on from there.

    `data` says on the card where the groups came from. A folder that holds the finished model of the same groups and
    settings is left as it is.

    Raises InputError when there is nothing to learn from, UsageError when the folder holds another model or training.
    """
    settings, folder = settings or TrainSettings(), Path(folder)
    learn_from, validate_with = split(merged(_readable(group) for group in groups))
    if len(learn_from) < 2:
        raise InputError("there is nothing to learn from: it takes at least two groups of sentences that say the same")
    identity = {"settings": to_dict(settings), "groups": _digest(learn_from)}
    if finished := _finished(folder, identity):
        return finished
    work = folder / _WORK
    _begin(work, identity)
    subwords = _subwords(learn_from, work / SUBWORDS, settings)
    cut = bpe.Subwords(subwords)
    pairs = Pairs(learn_from, cut)
    with _one_thread():
        run = _Run(_first_vectors(pairs, len(cut), settings), pairs, settings, work / _CHECKPOINT)
        run.go(Pairs(validate_with, cut), checkpoint_seconds, shown)
    card = {
        "name": folder.resolve().name,
        "data": data,
        "trained_on": {"groups": len(learn_from), "sentences": len(pairs.sentences)},
        **identity,
        "epochs": run.history,
    }
    model = Wieting(subwords, run.vectors.detach().numpy(), card)
    model.save(folder)
    shutil.rmtree(work)
    # What is used is what was saved, rounded to whole numbers.
    return Wieting.load(folder)


class _Run:
    """A training as it stands: the vectors, the optimiser's moments, and how many pairs have been learned from."""

    def __init__(self, vectors: Tensor, pairs: Pairs, settings: TrainSettings, checkpoint: Path) -> None:
        self.vectors = vectors.requires_grad_()  # (V, D)
        self.history: list[dict[str, float]] = []
        self._pairs, self._settings, self._checkpoint = pairs, settings, checkpoint
        # Fused, or a step over all vectors takes longer than all the rest together.
        self._optimiser = torch.optim.Adam([self.vectors], lr=settings.learning_rate, fused=True)
        self._per_epoch = pairs.count(settings.pairs_per_group)
        self._done, self._loss = 0, 0.0
        if checkpoint.is_file():
            self._resume()

    def go(self, validation: Pairs, checkpoint_seconds: float, shown: bool | None) -> None:
        """Learn until all epochs are over; a checkpoint every so many seconds, between two mega-batches."""
        saved = time.monotonic()
        total = self._per_epoch * self._settings.epochs
        with progress_bar("learning which sentences mean the same", total, shown=shown, done=self._done) as advance:
            while self._done < total:
                epoch = self._done // self._per_epoch
                for part in self._mega_batches(epoch):
                    self._learn(*part)
                    advance(len(part[0]))
                    if time.monotonic() - saved >= checkpoint_seconds and self._done % self._per_epoch:
                        self._save()
                        saved = time.monotonic()
                self.history.append(
                    {"loss": round(self._loss / self._per_epoch, 4), "found": round(self._found(validation), 4)}
                )
                self._loss = 0.0
                self._save()

    def _mega_batches(self, epoch: int) -> Iterator[tuple[Ids, Ids, Ids]]:
        """What is left of an epoch, a mega-batch at a time."""
        settings = self._settings
        generator = np.random.default_rng([_PAIRS, settings.seed, epoch])
        left, right, groups = self._pairs.drawn(settings.pairs_per_group, generator)
        grown = min(1.0, epoch / settings.growing_epochs) if settings.growing_epochs else 1.0
        size = settings.batch_size * round(1 + (settings.mega_batch - 1) * grown)
        for start in range(self._done % self._per_epoch, self._per_epoch, size):
            part = slice(start, start + size)
            yield left[part], right[part], groups[part]

    def _learn(self, left: Ids, right: Ids, groups: Ids) -> None:
        """Find the negatives of a mega-batch with the vectors as they are, then take its steps."""
        if groups.min() == groups.max():  # the tail of an epoch: there is no negative
            self._done += len(groups)
            return
        sentences, size = self._pairs.sentences, self._settings.batch_size
        with torch.no_grad():
            ours, theirs = sentences.embed(left, self.vectors), sentences.embed(right, self.vectors)
            same = torch.from_numpy(groups)
            not_right = right[hardest(ours, theirs, same).numpy()]
            not_left = left[hardest(theirs, ours, same).numpy()]
        for start in range(0, len(left), size):
            rows = [side[start : start + size] for side in (left, right, not_left, not_right)]
            self._step(np.concatenate(rows))
            self._done += len(rows[0])

    def _step(self, rows: Ids) -> None:
        settings = self._settings
        unit = self._pairs.sentences.embed(rows, self.vectors)  # (4N, D)
        left, right, not_left, not_right = unit.chunk(4)
        loss = margin_loss(left, right, not_left, not_right, settings.margin)
        for group in self._optimiser.param_groups:
            group["lr"] = settings.learning_rate * (1 - self._done / (self._per_epoch * settings.epochs))
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        self._loss += loss.item() * len(left)

    @torch.no_grad()
    def _found(self, validation: Pairs) -> float:
        """The share of validation sentences to which their own paraphrase is the nearest of all others' paraphrases."""
        left, right, _ = (side[:_VALIDATION_PAIRS] for side in validation.drawn(1, np.random.default_rng(0)))
        if not len(left):
            return 0.0
        ours, theirs = (validation.sentences.embed(side, self.vectors) for side in (left, right))
        return float(((ours @ theirs.T).argmax(1) == torch.arange(len(left))).float().mean())

    def _save(self) -> None:
        state = self._optimiser.state[self.vectors]
        tensors = {"vectors": self.vectors.detach(), **state}
        facts = {"done": self._done, "loss": self._loss, "history": self.history}
        partial = self._checkpoint.with_suffix(".part")
        with writing_to(self._checkpoint):
            save_file(tensors, partial, {"run": json.dumps(facts)})
            os.replace(partial, self._checkpoint)

    def _resume(self) -> None:
        with safe_open(self._checkpoint, "pt") as file:
            facts = json.loads((file.metadata() or {})["run"])
            self.vectors.data.copy_(file.get_tensor("vectors"))
            self._optimiser.state[self.vectors] = {
                key: file.get_tensor(key)
                for key in file.keys()  # noqa: SIM118 - not a dict
                if key != "vectors"
            }
        self._done, self._loss, self.history = facts["done"], facts["loss"], facts["history"]


def _first_vectors(pairs: Pairs, vocabulary: int, settings: TrainSettings) -> Tensor:
    """Random vectors, (V, D), the shorter the more frequent their subword: a/(a+p) of Arora et al. 2017, learned on."""
    generator = np.random.default_rng([_VECTORS, settings.seed])
    vectors = generator.normal(0, _DEVIATION, (vocabulary, settings.dim)).astype(np.float32)
    if settings.rarity:
        counts = np.bincount(pairs.sentences.ids, minlength=vocabulary)  # (V,)
        weights = settings.rarity / (settings.rarity + counts / max(1, counts.sum()))
        vectors *= weights[:, None].astype(np.float32)
    return torch.from_numpy(vectors)


def _readable(group: Group) -> Group:
    """The sentences of a group as the model reads them, without those in which there is nothing to read."""
    return [text for text in map(prepared, group) if text]


def _subwords(groups: Sequence[Group], file: Path, settings: TrainSettings) -> bytes:
    """The vocabulary, learned from as many sentences of a group as pairs are drawn from it."""
    if not file.is_file():
        sentences = [text for group in groups for text in group[: settings.pairs_per_group + 1]]
        step = -(-len(sentences) // _SENTENCES_TO_CUT)
        bpe.learn(sentences[::step], settings.vocabulary, file, kind="unigram", symbols=())
    return file.read_bytes()


def _begin(work: Path, identity: dict[str, Any]) -> None:
    """Take up the work in this folder, or start it; UsageError when it is of another training."""
    file = work / "identity.json"
    # Where not even the subwords are there, nothing would be lost.
    if file.is_file() and (work / SUBWORDS).is_file():
        if json.loads(file.read_text(encoding="utf-8")) != identity:
            raise UsageError(
                f"{work} holds an unfinished training with other settings or pairs: go on with those, "
                "remove it, or choose another folder"
            )
        return
    with writing_to(work):
        work.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(".part")
        partial.write_text(json.dumps(identity, indent=2), encoding="utf-8")
        os.replace(partial, file)


def _finished(folder: Path, identity: dict[str, Any]) -> Wieting | None:
    """The model that these groups and settings have made before; UsageError when the folder holds another."""
    if not (folder / CARD).is_file():
        return None
    model = Wieting.load(folder)
    if {key: model.card.get(key) for key in identity} != identity:
        raise UsageError(f"{folder} holds a model of other settings or pairs: remove it, or choose another folder")
    shutil.rmtree(folder / _WORK, ignore_errors=True)
    return model


def _digest(groups: Sequence[Group]) -> str:
    """What the groups are, in order."""
    digest = hashlib.sha256()
    for group in groups:
        digest.update("\x1f".join(group).encode("utf-8", "replace") + b"\x1e")
    return digest.hexdigest()


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Steps of a few milliseconds lose more to waiting for a second thread than it takes off them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
