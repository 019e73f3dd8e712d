"""What the report pictures by style where a user brings no vectors: some sentences of each style, by an encoder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from restyle.evaluation._leaderboard import Leaderboard
from restyle.evaluation.report._styles import (
    FEWEST_POINTS,
    MOST_POINTS,
    MOST_STYLES,
    Embeddings,
    Floats,
    drawn,
    require_t_sne,
)
from restyle.metrics.similarity_minilm import DEFAULT_ENCODER

# Enough for a mean and for a cloud, and seconds to embed.
_MOST_OF_A_STYLE = 100


def encoded(board: Leaderboard, *, encoder: str = DEFAULT_ENCODER, seed: int = 0) -> Embeddings | None:
    """Vectors of some sentences of each style: of the inputs where their styles are known, else of outputs by target.

    Where the records hold the `paraphrase` of each input, as `restyle rewrite --explain` writes it, of those too.
    None where one style is known or too many, or too few sentences. `encoder` is a sentence encoder as `sim_input`
    takes it. Raises MissingExtra or AssetError where it cannot be had.
    """
    for title, texts, styles, paraphrases in _styled(board):
        chosen = _some_of_each(texts, styles, seed)
        kinds = len({style for _, style in chosen})
        if 1 < kinds <= MOST_STYLES and len(chosen) >= FEWEST_POINTS:
            vectors = _vectors([text for text, _ in chosen], encoder)
            beside = [paraphrases.get(text, "") for text, _ in chosen]
            of_paraphrases = _vectors(beside, encoder) if all(beside) else None
            note = f"Vectors by {encoder} of {title}, at most {_most(kinds)} of each style (seed {seed})."
            return Embeddings(vectors, [style for _, style in chosen], of_paraphrases, title=title, note=note)
    return None


def _styled(board: Leaderboard) -> Iterator[tuple[str, Sequence[str], Sequence[str], dict[str, str]]]:
    """What has a style: inputs, with paraphrases where they are known; then the outputs of each system, best first."""
    systems = [card for card in board.rows if card in board.systems]
    for texts in (card.outputs for card in systems):
        if texts.inputs is not None and texts.styles is not None:
            made = [str(other.get("paraphrase") or "") for other in texts.others or ({},) * len(texts)]
            yield "inputs", texts.inputs, texts.styles, dict(zip(texts.inputs, made, strict=True))
    for texts in (card.outputs for card in systems):
        if texts.targets is not None:
            yield f"outputs of {texts.system}", texts.outputs, texts.targets, {}


def _some_of_each(texts: Sequence[str], styles: Sequence[str], seed: int) -> list[tuple[str, str]]:
    """Different sentences with their styles, as many of each as the pictures take."""
    of_style: dict[str, dict[str, None]] = defaultdict(dict)
    for text, style in zip(texts, styles, strict=True):
        if text.strip():
            of_style[style][text] = None
    return [
        (different[place], style)
        for style, different in sorted((style, list(found)) for style, found in of_style.items())
        for place in drawn(len(different), _most(len(of_style)), seed)
    ]


def _most(styles: int) -> int:
    return max(1, min(_MOST_OF_A_STYLE, MOST_POINTS // styles))


def _vectors(texts: list[str], encoder: str) -> Floats:
    """What is missing is told before any work is done."""
    require_t_sne()
    from restyle.nets.pretrained import fetched

    fetched(encoder)
    from restyle.nets.embedding import embedder

    return embedder(encoder).vectors(texts)
