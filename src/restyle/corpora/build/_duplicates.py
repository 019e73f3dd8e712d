"""Which sentences repeat an earlier one, exactly or nearly.

Near duplicates are found with MinHash over word pairs, in bands (Broder 1997; Leskovec et al., Mining of Massive
Datasets, ch. 3), and every candidate is then checked by its exact Jaccard similarity. MinHash and not SimHash, since a
sentence has few features: on 5 to 40 word pairs the bits of a SimHash are noise, while shared pairs can be counted.
Only numbers are held: about 150 bytes a sentence, 150 MB for a million.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from restyle.corpora.build._fingerprint import U32, U64

Rows = npt.NDArray[np.int64]

# 16 bands of 3: a pair of similarity 0.7 shares a band with probability 0.999, one of 0.6 with 0.98.
BANDS, ROWS_IN_BAND = 16, 3
# Within a band, each sentence is held against so many earlier ones: bounds the work on text made from a template.
WINDOW = 8
_CHUNK = 50_000  # pairs that are compared at once: some 50 MB

_random = np.random.default_rng(20201008)  # fixed: the same text gives the same corpus
_FACTORS = _random.integers(1, 1 << 63, (BANDS, ROWS_IN_BAND), np.uint64) | np.uint64(1)
_ADDENDS = _random.integers(0, 1 << 63, (BANDS, ROWS_IN_BAND), np.uint64)
_JOINERS = _random.integers(1, 1 << 63, ROWS_IN_BAND, np.uint64) | np.uint64(1)
_SHIFT = np.uint64(32)


class PairSets:
    """The word-pair sets of many sentences, one after the other, with their MinHash bands."""

    def __init__(self) -> None:
        self._hashes: list[U32] = []
        self._sizes: list[Rows] = []
        self._bands: list[U32] = []

    def add(self, hashes: U32, offsets: Rows) -> None:
        """Append a batch of sets as `word_pairs` gives them."""
        if len(offsets) > 1:
            self._hashes.append(hashes)
            self._sizes.append(np.diff(offsets))
            self._bands.append(band_keys(hashes, offsets))

    def near_repeats(self, rows: Rows, threshold: float) -> Rows:
        """For each of all sentences, the first of `rows` before it that it nearly repeats; -1 where there is none.

        Only `rows` are compared with each other. Between those that get -1, no pair that was compared reaches the
        threshold.
        """
        total = sum(len(sizes) for sizes in self._sizes)
        if threshold >= 1 or len(rows) < 2:
            return np.full(total, -1, np.int64)
        hashes, sizes = np.concatenate(self._hashes), np.concatenate(self._sizes)
        bands = np.concatenate(self._bands)  # (N, BANDS)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        partners = np.full(total, total, np.int64)
        for pairs in _candidates(bands[rows], rows):
            similar = pairs[jaccard(hashes, offsets, pairs) >= threshold]
            np.minimum.at(partners, similar[:, 1], similar[:, 0])
        return np.where(partners == total, -1, partners)


def exact_repeats(keys: U64) -> Rows:
    """For each key, the first earlier row with the same one; -1 where it is new."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    earliest = first[inverse.reshape(-1)].astype(np.int64)
    return np.where(earliest == np.arange(len(keys)), -1, earliest)


def band_keys(hashes: U32, offsets: Rows) -> U32:
    """The band keys (N, BANDS) of N sets: sets that are alike are likely to share one."""
    wide = hashes.astype(np.uint64)
    keys = np.empty((len(offsets) - 1, BANDS), np.uint32)
    with np.errstate(over="ignore"):
        for band in range(BANDS):
            joined = np.zeros(len(offsets) - 1, np.uint64)
            for row in range(ROWS_IN_BAND):
                permuted = (wide * _FACTORS[band, row] + _ADDENDS[band, row]) >> _SHIFT
                joined += np.minimum.reduceat(permuted, offsets[:-1]) * _JOINERS[row]
            keys[:, band] = joined >> _SHIFT
    return keys


def jaccard(hashes: U32, offsets: Rows, pairs: Rows) -> npt.NDArray[np.float64]:
    """The Jaccard similarity of each pair (P, 2) of sets."""
    sizes = offsets[pairs + 1] - offsets[pairs]  # (P, 2)
    owner = np.repeat(np.arange(len(pairs), dtype=np.uint64), sizes.sum(1))
    members = hashes[_ranges(offsets[pairs].reshape(-1), sizes.reshape(-1))]
    # Within a pair, a hash that stands twice stands in both sets.
    tagged = np.sort(owner << _SHIFT | members)
    shared = np.bincount((tagged[1:][tagged[1:] == tagged[:-1]] >> _SHIFT).astype(np.int64), minlength=len(pairs))
    similarity: npt.NDArray[np.float64] = shared / (sizes.sum(1) - shared)
    return similarity


def _candidates(bands: U32, rows: Rows) -> Iterator[Rows]:
    """Pairs (P, 2) of rows, the earlier first, that share a band and stand near each other in it."""
    for band in range(bands.shape[1]):
        order = np.argsort(bands[:, band], kind="stable")
        keys = bands[order, band]
        for distance in range(1, WINDOW + 1):
            at = np.flatnonzero(keys[distance:] == keys[:-distance])
            if not len(at):
                break
            for start in range(0, len(at), _CHUNK):
                part = at[start : start + _CHUNK]
                yield np.stack([rows[order[part]], rows[order[part + distance]]], axis=1)


def _ranges(starts: Rows, lengths: Rows) -> Rows:
    """The numbers start, start + 1, … of each range, one range after the other."""
    ends = np.cumsum(lengths)
    within: Rows = np.arange(lengths.sum()) + np.repeat(starts - (ends - lengths), lengths)
    return within
