"""Retrieval, the fluent baseline: a real sentence of the target style, as near to the input as there is one.

RetrieveOnly of Li et al. 2018 (STRAP Table 13: "Retri."): right style, right English, rarely the same meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from restyle.progress import progress_bar
from restyle.rewriters._base import Request
from restyle.rewriters._by_example import ByExample

# Texts compared with the whole style at once: some 100 MB for a style of 50,000 sentences.
_DEFAULT_BATCH = 256


class Retrieve(ByExample):
    """Answers with the sentences of the target style whose weighted words are nearest to the text's."""

    name = "retrieve"

    def __init__(self, sentences: Mapping[str, Sequence[str]]) -> None:
        super().__init__(sentences)
        self._indexes: dict[str, tuple[TfidfVectorizer, Any]] = {}

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """The nearest sentences by cosine; of equally near ones, the first of the style."""
        if not texts:
            return []
        vectorizer, index = self._index(request.to)
        batch_size = request.batch_size or _DEFAULT_BATCH
        found: list[list[str]] = []
        with progress_bar("retrieving", len(texts), shown=request.progress) as advance:
            for start in range(0, len(texts), batch_size):
                batch = texts[start : start + batch_size]
                nearness = (vectorizer.transform(batch) @ index.T).toarray()  # (texts, sentences)
                found += [self._nearest(row, request) for row in nearness]
                advance(len(batch))
        return found

    def _nearest(self, nearness: Any, request: Request) -> list[str]:
        of_style = self.sentences[request.to]
        best = np.argsort(-nearness, kind="stable")[: request.candidates]
        # A style of two sentences has no third: its last one stands in for the rest.
        return [of_style[i] for i in best] + [of_style[best[-1]]] * (request.candidates - len(best))

    def _index(self, style: str) -> tuple[TfidfVectorizer, Any]:
        if style not in self._indexes:
            # One-letter words (I, O, a) are words of a style too; scikit-learn's own pattern drops them.
            vectorizer = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), token_pattern=r"(?u)\b\w+(?:'\w+)*\b")
            self._indexes[style] = (vectorizer, vectorizer.fit_transform(self.sentences[style]))
        return self._indexes[style]
