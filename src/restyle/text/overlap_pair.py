"""How much of one sentence is found in another: the definitions, one pair at a time, in plain Python.

Every measure of `restyle.text.overlap`, which computes them for millions of pairs, is defined here and tested equal to
what stands here. `source` is the sentence one starts from, `rewrite` the one that is judged against it.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter, deque
from collections.abc import Sequence
from typing import Literal

_PUNCTUATION = re.compile(f"[{re.escape(string.punctuation)}]")
_ARTICLE = re.compile(r"\b(a|an|the)\b")


def words(text: str) -> list[str]:
    """The words of a sentence as the SQuAD evaluation script sees them.

    Lower-cased, without ASCII punctuation, then without the articles a, an and the, split on white space. The order of
    these steps matters: `don't` becomes `dont`, and `a-b` becomes `ab`, before articles are looked for.

    >>> words("The cat's on a mat.")
    ['cats', 'on', 'mat']
    """
    return _ARTICLE.sub(" ", _PUNCTUATION.sub("", text.lower())).split()


def unigram_precision(source: str, rewrite: str) -> float:
    """The share of the rewrite's words that are found in the source, each word of the source used once.

    STRAP drops a pair above 0.5 (App. A.1). Two sentences without words overlap entirely (1.0), as in SQuAD 2.0 and in
    STRAP's own code; one without words overlaps with nothing (0.0).

    >>> unigram_precision("are you crazy", "art thou crazy")
    0.3333333333333333
    """
    return _scores(source, rewrite)[0]


def unigram_recall(source: str, rewrite: str) -> float:
    """The share of the source's words that are found in the rewrite, each word of the rewrite used once."""
    return _scores(source, rewrite)[1]


def unigram_f1(source: str, rewrite: str) -> float:
    """The harmonic mean of unigram precision and recall: the lexical overlap of STRAP's Table 16."""
    return _scores(source, rewrite)[2]


def ngram_overlap(source: str, rewrite: str, n: int = 3) -> float:
    """The share of the rewrite's n-grams that are found in the source, each n-gram of the source used once.

    A rewrite of fewer than n words has no n-gram, and overlaps with nothing (0.0).
    """
    ours, theirs = _ngrams(words(source), n), _ngrams(words(rewrite), n)
    return (ours & theirs).total() / theirs.total() if theirs else 0.0


def jaccard(source: str, rewrite: str) -> float:
    """The words in both sentences over the words in either, repetitions not counted; 1.0 when neither has any."""
    ours, theirs = set(words(source)), set(words(rewrite))
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 1.0


def kendall_tau(source: str, rewrite: str, undefined: float = math.nan) -> float:
    """Kendall's tau-b of the order of the shared words: 1 in the same order, -1 in the reverse order (Table 16).

    The k-th occurrence of a word is the same word as its k-th occurrence on the other side, so that no two shared words
    tie and tau-b is the plain tau. Fewer than two shared words have no order: the answer is `undefined`.
    """
    discordant, pairs = _discordant(source, rewrite)
    return (pairs - 2 * discordant) / pairs if pairs else undefined


def shuffled(source: str, rewrite: str, undefined: float = 1.0) -> float:
    """The Kendall tau distance: the share of pairs of shared words that changed order, 0 when none did, 1 when all did.

    STRAP keeps a pair from 0.5 on (App. A.1). Fewer than two shared words have no order to keep: the answer is
    `undefined`, by default 1.0, because STRAP's code takes them for fully shuffled (tau -1).
    """
    discordant, pairs = _discordant(source, rewrite)
    return discordant / pairs if pairs else undefined


def edit_distance(source: str, rewrite: str, unit: Literal["word", "character"] = "word") -> int:
    """How many words (or, of the texts as they stand, characters) to insert, delete or replace (Levenshtein)."""
    ours: Sequence[str] = words(source) if unit == "word" else source
    theirs: Sequence[str] = words(rewrite) if unit == "word" else rewrite
    row = list(range(len(theirs) + 1))
    for i, mine in enumerate(ours, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(theirs, start=1):
            best = min(diagonal + (mine != other), row[j] + 1, row[j - 1] + 1)
            diagonal, row[j] = row[j], best
    return row[-1]


def _scores(source: str, rewrite: str) -> tuple[float, float, float]:
    ours, theirs = words(source), words(rewrite)
    if not ours and not theirs:
        return 1.0, 1.0, 1.0
    shared = (Counter(ours) & Counter(theirs)).total()
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / len(theirs), shared / len(ours)
    return precision, recall, 2 * precision * recall / (precision + recall)


def _ngrams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def _discordant(source: str, rewrite: str) -> tuple[int, int]:
    """How many pairs of shared words changed their order, out of how many pairs."""
    positions: dict[str, deque[int]] = {}
    for position, word in enumerate(words(source)):
        positions.setdefault(word, deque()).append(position)
    order = [positions[word].popleft() for word in words(rewrite) if positions.get(word)]
    discordant = sum(order[i] > order[j] for j in range(len(order)) for i in range(j))
    return discordant, len(order) * (len(order) - 1) // 2
