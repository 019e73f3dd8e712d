"""Whether an output means what its input means by averaged word vectors (Pang and Gimpel 2019, Sec. 3.2).

Each sentence is the mean of its words' 300-d vectors, weighted by idf; Sim is the cosine. The idf comes from what every
system is given, inputs and references, or from the sentences that are named, such as the training sentences of both
styles: counted in a system's own outputs, it would weigh each system on a scale of its own.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from restyle.assets import model_folder, model_wheels
from restyle.errors import InputError, MissingExtra
from restyle.metrics._base import Batch, Column
from restyle.metrics.similarity_minilm import largest, owners_of_references
from restyle.text.clean import clean
from restyle.text.tokenised_styles import tokenise

DEFAULT_VECTORS = "spacy-md"
Vector = NDArray[np.float32]


class SimGlove:
    """The cosine of output and input by idf-weighted word vectors; 0 where one has no known word."""

    name: ClassVar[str] = "sim-glove"
    needs: ClassVar[frozenset[str]] = frozenset({"inputs"})
    side: ClassVar[str] = "input"

    def __init__(self, vectors: str | Path = DEFAULT_VECTORS, *, idf_from: Iterable[str] | None = None) -> None:
        """`vectors` is `spacy-md` or a GloVe text file; `idf_from` the sentences that the idf is counted in."""
        self._vectors = str(vectors)
        self._idf = None if idf_from is None else Idf(words_of(text) for text in idf_from)

    def ready(self) -> None:
        """Read the vectors, fetched where they are not here yet."""
        word_vectors(self._vectors)

    def score(self, batch: Batch) -> Column:
        """One number per output sentence, from -1 to 1."""
        batch.require(self)
        return self._cosines(list(batch.outputs), list(batch.inputs or ()), batch)

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        return {
            "metric": self.name,
            "side": self.side,
            "vectors": _identity(self._vectors),
            "idf": "given" if self._idf is None else self._idf.fingerprint,
            "tok": "ptb",
        }

    def _cosines(self, ours: list[str], theirs: list[str], batch: Batch) -> Column:
        left, right = [words_of(text) for text in ours], [words_of(text) for text in theirs]
        given = (*(batch.inputs or ()), *(text for several in batch.references or () for text in several))
        idf = self._idf or Idf(words_of(text) for text in given)
        table = word_vectors(self._vectors)
        return np.array(
            [_cosine(_mean(one, table, idf), _mean(other, table, idf)) for one, other in zip(left, right, strict=True)],
            np.float64,
        )


class SimGloveRef(SimGlove):
    """The cosine of output and reference by the same vectors, the largest where there are several."""

    name = "sim-glove-ref"
    needs = frozenset({"references"})
    side = "reference"

    def score(self, batch: Batch) -> Column:
        """One number per output sentence, from -1 to 1."""
        batch.require(self)
        owners = owners_of_references(self.name, batch)
        theirs = [reference for several in batch.references or () for reference in several]
        return largest(self._cosines([batch.outputs[owner] for owner in owners], theirs, batch), owners)


class Idf:
    """log((N + 1) / n) of each word: N sentences, n of which hold it; a word that was never seen counts as seen once.

    With N alone, a word that every sentence holds would weigh nothing, and a sentence of such words would be like none.
    """

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        holders: Counter[str] = Counter()
        self._sentences = 0
        for words in sentences:
            holders.update(set(words))
            self._sentences += 1
        self._holders = dict(holders)

    def __getitem__(self, word: str) -> float:
        return math.log((self._sentences + 1) / self._holders.get(word, 1))

    @property
    def fingerprint(self) -> str:
        """Eight digits of a hash of the counts."""
        counted = repr((self._sentences, sorted(self._holders.items())))
        return hashlib.sha256(counted.encode()).hexdigest()[:8]


def words_of(text: str) -> list[str]:
    """The words that have vectors, as the tokeniser of GloVe's corpora cut them."""
    return tokenise(clean(text), "ptb").split()


class WordVectors:
    """A vector for each word; a word that is not known as written may be known in lower case."""

    def __init__(self, rows: Any, table: Vector) -> None:
        self._rows, self._table = rows, table

    def __getitem__(self, word: str) -> Vector | None:
        row = self._rows(word)
        if row is None:
            row = self._rows(word.lower())
        return None if row is None else self._table[row]


@lru_cache(maxsize=2)
def word_vectors(named: str) -> WordVectors:
    """The vectors of spaCy's model, or of a GloVe text file: a word and its numbers on each line."""
    return _of_spacy(model_folder(named)) if named in model_wheels() else _of_file(Path(named))


@lru_cache(maxsize=2)
def _identity(named: str) -> str:
    """The name of the vectors; of a file the hash too, as many are called the same."""
    if named in model_wheels():
        return named
    with Path(named).open("rb") as stream:
        return f"{Path(named).name}#{hashlib.file_digest(stream, 'sha256').hexdigest()[:8]}"


def _of_spacy(folder: Path) -> WordVectors:
    try:
        # Compiled modules, of which no type checker knows anything.
        from spacy.strings import hash_string  # type: ignore[attr-defined]
        from spacy.vectors import Vectors  # type: ignore[import-not-found]
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "spacy", "text", "the metric sim-glove") from error
    vectors = Vectors()
    vectors.from_disk(folder / "vocab")
    rows = vectors.key2row
    return WordVectors(lambda word: rows.get(hash_string(word)), np.asarray(vectors.data, np.float32))


def _of_file(path: Path) -> WordVectors:
    rows: dict[str, int] = {}
    table: list[Vector] = []
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                word, *numbers = line.rstrip().split(" ")
                vector = np.array(numbers, np.float32)
                if not len(vector) or (table and len(vector) != len(table[0])):
                    raise InputError(
                        f"{path}, line {number}: {len(vector)} numbers; the first line has {len(table[0])}"
                    )
                rows.setdefault(word, len(table))
                table.append(vector)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no file of word vectors: {error}") from None
    if not table:
        raise InputError(f"{path} holds no word vectors")
    return WordVectors(rows.get, np.stack(table))


def _mean(words: Sequence[str], table: WordVectors, idf: Idf) -> Vector | None:
    """The weighted sum, which has the direction of the mean; None when no word is known."""
    known = [(vector, idf[word]) for word in words if (vector := table[word]) is not None]
    return np.sum([vector * weight for vector, weight in known], axis=0, dtype=np.float64) if known else None


def _cosine(one: Vector | None, other: Vector | None) -> float:
    if one is None or other is None:
        return 0.0
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(np.dot(one, other) / lengths, -1, 1)) if lengths else 0.0
