"""How long a sentence is, for the filter: its tokens are what white space parts.

ParaNMT is tokenised, so that this is what the paper counts there: a full stop is a token, and so is an article. In
ordinary text a full stop belongs to its word, and a sentence counts one or two tokens less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from restyle.pairs import _kernels as kernels


def token_counts(texts: Sequence[str]) -> NDArray[np.int64]:
    """`len(text.split())` of each text."""
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):  # inside a text a line break is as good as a space
        joined = "\n".join(text.replace("\n", " ") for text in texts)
    buffer = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    counts, beyond_ascii = kernels.count_tokens(buffer, kernels.SPACES, len(texts))
    for row in map(int, np.flatnonzero(beyond_ascii)):  # Unicode has spaces of its own
        counts[row] = len(texts[row].split())
    return counts
