"""The similarity model of Wieting et al. 2019 ("Beyond BLEU", Sec. 2): which sentences mean the same.

A sentence is the average of the vectors of its subwords, and two sentences are as similar as the cosine between them
says: SIM of STRAP's Sec. 3.1. To score takes sentencepiece and numpy; `restyle.nets.wieting_training`, which learns the
vectors, needs torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from restyle.errors import Corrupt, InputError
from restyle.nets.wieting_card import CARD, card_files, write_whole
from restyle.settings import read_toml
from restyle.text.bpe import Subwords
from restyle.text.clean import clean

Floats = NDArray[np.float32]
Column = NDArray[np.float64]

VECTORS, SUBWORDS = "vectors.safetensors", "subwords.model"
_KIND = "wieting"
# Pairs scored at a time: a few MB of vectors, whatever the number of pairs.
_AT_ONCE = 4096
# Subwords in a sentence from which on they are counted rather than looked up one by one: 20 MB of vectors.
_LONG = 16_384
_LARGEST_INT8 = 127


class Wieting:
    """A trained similarity model.

    >>> model = bundled()  # doctest: +SKIP
    >>> model.similarity(["Are you crazy?"], ["Art thou mad?"])  # doctest: +SKIP
    array([0.54])
    """

    def __init__(self, subwords: bytes, vectors: Floats, card: Mapping[str, Any] | None = None) -> None:
        """`subwords` is a file of `restyle.text.bpe`, `vectors` has a row for each; `card` says what else is known."""
        self.subwords = Subwords(subwords)
        self.vectors = vectors  # (V, D)
        self._subwords_file = subwords
        self.card = dict(card or {})

    @property
    def fingerprint(self) -> str:
        """The name of the model and twelve digits of its vectors' hash: another model, another fingerprint."""
        return f"{self.card.get('name', 'unnamed')}:{_sha256(self.vectors.tobytes() + self._subwords_file)[:12]}"

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """The subwords of each sentence, as the model was trained to see it: cleaned, in lower case."""
        return self.subwords.encode([prepared(sentence) for sentence in sentences])

    def embed(self, sentences: Sequence[str]) -> Floats:
        """A unit vector for each sentence, (N, D); zeros for one in which there is nothing to read."""
        sums = np.zeros((len(sentences), self.vectors.shape[1]), dtype=np.float32)
        for start in range(0, len(sentences), _AT_ONCE):
            # A sentence at a time: the vectors of a few dozen subwords stay in the processor's cache.
            for row, ids in enumerate(self.encode(sentences[start : start + _AT_ONCE]), start=start):
                sums[row] = self._sum(ids)
        lengths = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        np.divide(sums, lengths, out=sums, where=lengths > 0)
        return sums

    def similarity(self, left: Sequence[str], right: Sequence[str]) -> Column:
        """The cosine of each pair, from -1 to 1 (paraphrases stand above 0.5, strangers near 0).

        Two sentences in which there is nothing to read are the same (1.0), and one of them is like no other sentence
        (0.0), as in `restyle.text.overlap`. A pair has the same number whatever it is scored with.
        """
        if len(left) != len(right):
            raise InputError(f"{len(left):,} sentences on the left, but {len(right):,} on the right; they must pair")
        scores = np.empty(len(left), dtype=np.float64)
        for start in range(0, len(left), _AT_ONCE):
            chunk = slice(start, start + _AT_ONCE)
            ours, theirs = self.embed(left[chunk]), self.embed(right[chunk])  # (n, D) each
            cosines = (ours.astype(np.float64) * theirs).sum(axis=1)
            scores[chunk] = np.where(ours.any(axis=1) | theirs.any(axis=1), cosines.clip(-1, 1), 1.0)
        return scores

    def _sum(self, ids: list[int]) -> Floats:
        """The vectors of a sentence's subwords, summed: for a cosine as good as the average of the paper."""
        if len(ids) > _LONG:
            counts = np.bincount(ids, minlength=len(self.vectors)).astype(np.float32)  # (V,)
            total: Floats = counts @ self.vectors  # (D,)
            return total
        total = self.vectors[ids].sum(axis=0)
        return total

    def save(self, folder: str | Path) -> None:
        """Write the model: vectors as int8 with a scale a row, subwords, and the card, which comes last and names both.

        int8 takes a quarter of the place of float32 and moves no score of the STS benchmark by more than 0.002.
        """
        folder = Path(folder)
        files = {VECTORS: save_tensors(_quantised(self.vectors)), SUBWORDS: self._subwords_file}
        hashes = {name: {"sha256": _sha256(held), "bytes": len(held)} for name, held in files.items()}
        card = {"kind": _KIND, **self.card, "files": hashes}
        write_whole(folder, {**files, **card_files(card)})

    @classmethod
    def load(cls, folder: str | Path) -> Wieting:
        """Read a saved model; InputError when there is none, Corrupt when a file is not the one that the card names."""
        folder = Path(folder)
        if not (folder / CARD).is_file():
            raise InputError(
                f"{folder} holds no similarity model ({CARD} is missing); make one: restyle similarity train"
            )
        card = read_toml(folder / CARD)
        if card.get("kind") != _KIND:
            raise InputError(f"{folder / CARD}: kind is {card.get('kind')!r}; {_KIND!r} was expected")
        hashes = card.pop("files", {})
        vectors = _checked(folder / VECTORS, hashes)
        model = cls(_checked(folder / SUBWORDS, hashes), _dequantised(vectors, folder / VECTORS), card)
        if len(model.vectors) != len(model.subwords):
            raise Corrupt(f"{folder} holds {len(model.vectors):,} vectors for {len(model.subwords):,} subwords")
        return model


@lru_cache
def bundled() -> Wieting:
    """The model that comes with restyle; its card is packs/judges/sim-wieting/README.md."""
    return Wieting.load(Path(str(resources.files("restyle") / "packs" / "judges" / "sim-wieting")))


def prepared(sentence: str) -> str:
    """A sentence as the model reads it: tokenised or not, in capitals or not, it has the same number."""
    return clean(sentence).lower()


def _quantised(vectors: Floats) -> dict[str, NDArray[Any]]:
    """A row as whole numbers from -127 to 127 and the scale that takes them back."""
    scales = np.maximum(np.abs(vectors).max(axis=1), np.finfo(np.float32).tiny) / _LARGEST_INT8  # (V,)
    rounded = np.rint(vectors / scales[:, None]).astype(np.int8)  # (V, D)
    return {"vectors": rounded, "scales": scales.astype(np.float32)}


def _dequantised(held: bytes, path: Path) -> Floats:
    try:
        tensors = load_tensors(held)
        rounded, scales = tensors["vectors"], tensors["scales"]  # (V, D), (V,)
        vectors: Floats = rounded.astype(np.float32) * scales.astype(np.float32)[:, None]
    except (SafetensorError, KeyError, ValueError, IndexError) as error:
        raise Corrupt(f"{path} does not hold the vectors of a similarity model ({error}); make it again") from None
    return vectors


def _checked(path: Path, named: Mapping[str, Any]) -> bytes:
    """The contents of a file, which must be what the card says."""
    try:
        held = path.read_bytes()
    except OSError as error:
        raise Corrupt(f"{path} cannot be read ({error.strerror}); make the model again") from None
    expected = named.get(path.name, {})
    if _sha256(held) != expected.get("sha256"):
        raise Corrupt(
            f"{path} is not the file that {CARD} names ({len(held):,} bytes; {expected.get('bytes', 0):,} were "
            "expected): copy the folder again, or make the model again"
        )
    return held


def _sha256(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()
