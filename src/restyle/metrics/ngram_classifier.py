"""Logistic regression on word and character n-grams: fast, and every weight can be read.

    words       one and two in a row, as written: capitals, punctuation and clitics are style
    characters  two to five within a word: spelling, suffixes, elisions

Each family is weighted by tf-idf with sublinear counts and scaled to length one; both are put side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from restyle.errors import InputError, MissingExtra, UsageError
from restyle.records import writing_to

try:
    import scipy.sparse
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
except ModuleNotFoundError as error:  # pragma: no cover - a test environment has it
    raise MissingExtra(error.name or "sklearn", "judge", "a linear judge") from error

Floats = NDArray[np.float64]
FAMILIES = ("words", "characters")
# A word, or a mark that stands alone: style shows in punctuation too.
_WORD = r"(?u)\w[\w']*|[^\w\s]"
# Of each family, the n-grams that most sentences have.
MOST_NGRAMS = 40_000
# The inverse of the L2 penalty; between 1 and 10 the valid accuracy of no corpus moved by more than half a point.
_C = 4.0


@dataclass(frozen=True)
class NgramClassifier:
    """N-grams by family with their idf, and a weight for each and every label."""

    labels: tuple[str, ...]
    ngrams: dict[str, list[str]]
    idf: dict[str, Floats]
    weights: Floats  # (labels, n-grams of all families), one row for two labels: the logit of the second
    bias: Floats

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        labels: Sequence[int],
        names: Sequence[str],
        *,
        most: int = MOST_NGRAMS,
        seed: int = 0,
    ) -> NgramClassifier:
        """Learn from sentences and the number of each one's label."""
        if len(set(labels)) < 2:
            raise UsageError("a judge needs sentences of at least two labels to learn from")
        vectorizers = {family: _vectorizer(family, max_features=most, min_df=2) for family in FAMILIES}
        features = scipy.sparse.hstack([vectorizers[family].fit_transform(texts) for family in FAMILIES]).tocsr()
        model = LogisticRegression(C=_C, max_iter=300, class_weight="balanced", random_state=seed)
        model.fit(features, np.asarray(labels))
        return cls(
            tuple(names),
            {family: vectorizers[family].get_feature_names_out().tolist() for family in FAMILIES},
            {family: np.asarray(vectorizers[family].idf_, np.float64) for family in FAMILIES},
            np.asarray(model.coef_, np.float64),
            np.asarray(model.intercept_, np.float64),
        ).rounded()

    def rounded(self) -> NgramClassifier:
        """The same in the numbers that a file holds, so that saving changes no verdict."""
        return NgramClassifier(
            self.labels,
            self.ngrams,
            {family: values.astype(np.float32).astype(np.float64) for family, values in self.idf.items()},
            self.weights.astype(np.float16).astype(np.float64),
            self.bias.astype(np.float32).astype(np.float64),
        )

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """The probability of each label for each text, (N, L)."""
        features = scipy.sparse.hstack([self._vectors(family, texts) for family in FAMILIES]).tocsr()
        logits = np.asarray(features @ self.weights.T) + self.bias
        if len(self.labels) == 2:
            logits = np.hstack([np.zeros_like(logits), logits])
        odds = np.exp(logits - logits.max(1, keepdims=True))
        probabilities: Floats = odds / odds.sum(1, keepdims=True)
        return probabilities

    def top(self, label: str, number: int = 20, *, family: str = "words") -> list[tuple[str, float]]:
        """The n-grams that speak most for a label, with their weights.

        >>> judge.model.top("shakespeare", 3)  # doctest: +SKIP
        [('thou', 9.1), ('thy', 8.0), ('hath', 7.2)]
        """
        if label not in self.labels:
            raise UsageError(f"this judge has no label {label!r}; it has {', '.join(self.labels)}")
        place = self.labels.index(label)
        weights = self.weights[place] if len(self.labels) > 2 else self.weights[0] * (1 if place else -1)
        start = sum(len(self.ngrams[each]) for each in FAMILIES[: FAMILIES.index(family)])
        own = weights[start : start + len(self.ngrams[family])]
        best = np.argsort(-own, kind="stable")[:number]
        return [(self.ngrams[family][each], float(own[each])) for each in best]

    def save(self, path: Path) -> None:
        """Write n-grams, idf and weights; the n-grams as UTF-8 text, one a line."""
        tensors: dict[str, NDArray[Any]] = {
            "weights": self.weights.astype(np.float16),
            "bias": self.bias.astype(np.float32),
        }
        for family in FAMILIES:
            tensors[f"{family}.idf"] = self.idf[family].astype(np.float32)
            tensors[f"{family}.ngrams"] = np.frombuffer("\n".join(self.ngrams[family]).encode(), np.uint8)
        with writing_to(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # save_file writes the buffer as it lies, and scikit-learn's coefficients lie column by column.
            save_file({name: np.ascontiguousarray(values) for name, values in tensors.items()}, path)

    @classmethod
    def load(cls, path: Path, labels: Sequence[str]) -> NgramClassifier:
        """The classifier that `save` wrote; InputError when it is not one of these labels."""
        tensors = load_file(path)
        rows = 1 if len(labels) == 2 else len(labels)
        if len(tensors["weights"]) != rows:
            raise InputError(f"{path} has weights for {len(tensors['weights'])} labels; its card names {len(labels)}")
        return cls(
            tuple(labels),
            {family: tensors[f"{family}.ngrams"].tobytes().decode().split("\n") for family in FAMILIES},
            {family: tensors[f"{family}.idf"].astype(np.float64) for family in FAMILIES},
            tensors["weights"].astype(np.float64),
            tensors["bias"].astype(np.float64),
        )

    def _vectors(self, family: str, texts: Sequence[str]) -> Any:
        return self._vectorizers()[family].transform(texts)

    def _vectorizers(self) -> dict[str, Any]:
        made = {}
        for family in FAMILIES:
            vectorizer = _vectorizer(family, vocabulary={ngram: at for at, ngram in enumerate(self.ngrams[family])})
            vectorizer.idf_ = self.idf[family]
            made[family] = vectorizer
        return made


def _vectorizer(family: str, **options: Any) -> Any:
    if family == "words":
        options |= {"analyzer": "word", "token_pattern": _WORD, "ngram_range": (1, 2)}
    else:
        options |= {"analyzer": "char_wb", "ngram_range": (2, 5)}
    return TfidfVectorizer(lowercase=False, sublinear_tf=True, **options)
