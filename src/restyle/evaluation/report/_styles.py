"""What the report shows of styles: confusion after transfer (Fig. 3), similarity (Fig. 4), t-SNE (Fig. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, MissingExtra
from restyle.evaluation._scorecard import Scorecard

Floats = NDArray[np.float64]

# More points make a slower picture and not a clearer one; fewer show nothing.
MOST_POINTS, FEWEST_POINTS = 1500, 5
# Of a table by style; more make a page nobody reads.
MOST_STYLES = 60


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Vectors of sentences with their styles; and, to see styles vanish, of the paraphrases of the same sentences."""

    vectors: Floats  # (sentences, dimensions)
    styles: Sequence[str]
    paraphrases: Floats | None = None  # (sentences, dimensions)
    title: str = "originals"  # what the sentences are
    note: str = ""  # how they were chosen, for the captions

    def __post_init__(self) -> None:
        if np.ndim(self.vectors) != 2 or len(self.vectors) != len(self.styles) or not len(self.styles):
            raise InputError(
                f"vectors of shape {np.shape(self.vectors)} do not fit {len(self.styles):,} styles; "
                "one row per sentence is needed, and at least one"
            )
        if not all(np.isfinite(each).all() for each in (self.vectors, self.paraphrases) if each is not None):
            raise InputError("a vector holds a value that is no number, or infinite")
        if self.paraphrases is not None and np.shape(self.paraphrases) != np.shape(self.vectors):
            raise InputError(
                f"vectors of paraphrases have the shape {np.shape(self.paraphrases)}, those of the sentences "
                f"{np.shape(self.vectors)}; both need the same"
            )


@dataclass(frozen=True)
class Matrix:
    """Shares or similarities between styles; a shade of 1 is the strongest."""

    rows: list[str]
    columns: list[str]
    cells: list[list[tuple[str, float]]]  # what is written, and its shade from 0 to 1


def confusion(card: Scorecard) -> Matrix | None:
    """Which style the judge saw in the outputs for each target, in percent of a row (Fig. 3); None without labels."""
    targets, predicted = card.outputs.targets, card.outputs.predicted
    if targets is None or predicted is None:
        return None
    rows = sorted(set(targets))
    columns = sorted(set(rows) | set(predicted))
    counts = np.zeros((len(rows), len(columns)))
    row_of, column_of = {style: i for i, style in enumerate(rows)}, {style: i for i, style in enumerate(columns)}
    np.add.at(counts, ([row_of[style] for style in targets], [column_of[style] for style in predicted]), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return Matrix(rows, columns, [[(f"{100 * share:.0f}", float(share)) for share in row] for row in shares])


def similarity(embeddings: Embeddings) -> Matrix:
    """The cosine between the mean vectors of the styles (Fig. 4), shaded from the lowest to the highest."""
    names = sorted(set(embeddings.styles))
    of_row = np.array(embeddings.styles)
    means = np.stack([embeddings.vectors[of_row == name].mean(axis=0) for name in names])  # (styles, dimensions)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    units = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0)
    cosines = np.clip(units @ units.T, -1, 1)
    low, high = float(cosines.min()), float(cosines.max())
    shades = (cosines - low) / (high - low) if high > low else np.ones_like(cosines)
    cells = [
        # + 0.0, as what rounds to nothing from below would be written -0.00
        [(f"{round(cosine, 2) + 0.0:.2f}", float(shade)) for cosine, shade in zip(*pair, strict=True)]
        for pair in zip(cosines, shades, strict=True)
    ]
    return Matrix(names, names, cells)


def projection(embeddings: Embeddings, seed: int = 0) -> tuple[Floats, Floats | None, list[str]]:
    """Places in the unit square of originals and paraphrases, and the style of each (Fig. 2).

    Both are projected by one t-SNE, so that a place means the same in both pictures. Of many sentences, some are drawn.
    """
    require_t_sne()
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    chosen = drawn(len(embeddings.styles), MOST_POINTS, seed)
    parts = [embeddings.vectors[chosen]]
    if embeddings.paraphrases is not None:
        parts.append(embeddings.paraphrases[chosen])
    together = np.concatenate(parts).astype(np.float64)
    if len(together) < FEWEST_POINTS:
        raise InputError(f"a t-SNE of {len(together)} sentences shows nothing; give at least {FEWEST_POINTS}")
    # t-SNE needs more points than its perplexity; scikit-learn's default is 30.
    perplexity = min(30.0, (len(together) - 1) / 3)
    start = "pca" if together.shape[1] >= 2 else "random"
    # Sums of several threads differ in their last bit from run to run, which t-SNE turns into another picture.
    with threadpool_limits(1):
        placed = TSNE(perplexity=perplexity, init=start, random_state=seed).fit_transform(together)
    low, high = placed.min(axis=0), placed.max(axis=0)
    within = (placed - low) / np.maximum(high - low, 1e-12)
    styles = [embeddings.styles[row] for row in chosen]
    return within[: len(chosen)], within[len(chosen) :] if len(parts) == 2 else None, styles


def require_t_sne() -> None:
    """MissingExtra where what makes a t-SNE is not installed."""
    try:
        import sklearn.manifold  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra("scikit-learn", "judge", "the t-SNE of a report") from error


def drawn(number: int, most: int, seed: int) -> list[int]:
    """At most so many places of a number of them, in their order; the seed draws them."""
    if number <= most:
        return list(range(number))
    order = np.argsort(np.random.PCG64(seed).random_raw(number), kind="stable")
    return sorted(order[:most].tolist())
