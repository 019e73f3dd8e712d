"""Which sentences are duplicates, and which split each of the others belongs to: told from the spool's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from restyle.corpora._corpus import SPLITS, TEST, TRAIN, VALID
from restyle.corpora.build._duplicates import Rows, exact_repeats
from restyle.corpora.build._settings import BuildSettings
from restyle.corpora.build._spool import Spool


@dataclass(frozen=True)
class Fates:
    """What becomes of each spooled sentence (N,): its split by number, the row that it repeats, or nearly repeats."""

    splits: npt.NDArray[np.int8]
    repeats: Rows
    near: Rows
    fixed: npt.NDArray[np.bool_]  # its source names its split

    def reason(self, row: int) -> str:
        """Why a sentence is dropped for the sake of an earlier one, or ""."""
        partner = self.partner(row)
        if partner < 0:
            return ""
        if self.fixed[partner]:
            return "set aside"
        return "duplicate" if self.repeats[row] >= 0 else "near duplicate"

    def partner(self, row: int) -> int:
        """The earlier sentence, or -1."""
        return int(max(self.repeats[row], self.near[row]))


def fates_of(spool: Spool, forced: Sequence[str | None], settings: BuildSettings, held_out: int | None) -> Fates:
    """What becomes of each sentence of a spool; `forced` is the split of each source that has one of its own."""
    fixed = np.array([-1 if split is None else SPLITS.index(split) for split in forced], np.int8)[spool.sources]
    # A published test set stays whole, whatever repeats in it.
    repeats = np.where(fixed < 0, exact_repeats(spool.keys), -1)
    near = spool.pairs.near_repeats(np.flatnonzero(repeats < 0), settings.near_duplicate)
    near = np.where(fixed < 0, near, -1)
    splits = np.full(len(spool), SPLITS.index(TRAIN), np.int8)
    kept = (repeats < 0) & (near < 0) & (fixed < 0)
    for style in range(int(spool.styles.max()) + 1):
        rows = np.flatnonzero(kept & (spool.styles == style))
        positions = spool.contents[rows] / 2.0**64
        test, valid = _cuts(positions, settings, held_out)
        splits[rows[positions < valid]] = SPLITS.index(VALID)
        splits[rows[positions < test]] = SPLITS.index(TEST)
    return Fates(np.where(fixed < 0, splits, fixed), repeats, near, fixed >= 0)


def _cuts(positions: npt.NDArray[np.float64], settings: BuildSettings, held_out: int | None) -> tuple[float, float]:
    """Where between 0 and 1 the test split ends, and where the valid split ends after it."""
    if held_out is None:
        return settings.test_share, settings.test_share + settings.valid_share
    count = min(held_out, len(positions) // 10)
    ordered = np.append(np.sort(positions), 1.0)
    return float(ordered[count]), float(ordered[2 * count])
