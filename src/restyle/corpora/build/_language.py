"""Sentences in another language than the rest, where the model that tells languages apart is on this machine."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice

from restyle.assets import find_model
from restyle.corpora._content import folded
from restyle.corpora.build._pieces import Piece, Stage
from restyle.corpora.build._rules import word_count
from restyle.corpora.build._settings import BuildSettings
from restyle.text.language import Language, detect

_BATCH = 1000


def language_stage(settings: BuildSettings) -> Stage | None:
    """What drops the sentences of other languages from a source; None when it is not wanted or cannot be had."""
    if settings.language == "any" or why_no_languages():
        return None
    return partial(_filtered, settings=settings)


def why_no_languages() -> str:
    """Why languages cannot be told apart on this machine, and what to do; "" when they can."""
    if importlib.util.find_spec("fasttext") is None:
        return "other languages were not looked for: pip install 'restyle[text]'"
    if find_model("lid176") is None:
        return "other languages were not looked for: the model is not here (restyle models fetch lid176)"
    return ""


def _filtered(pieces: Iterator[Piece], settings: BuildSettings) -> Iterator[Piece]:
    language, known = settings.language, frozenset[str]()
    while batch := list(islice(pieces, _BATCH)):
        judged = [piece for piece in batch if not piece.dropped and word_count(piece.text) >= settings.language_words]
        verdicts = detect([piece.text for piece in judged])
        if language == "auto":
            # The first thousand pieces say which language the source is in; while none is sure, all are kept.
            language = _most_common(verdicts, settings.language_certainty) or language
        if not known:
            known = _words_of(language, judged, verdicts)
        for piece, verdict in zip(judged, verdicts, strict=True):
            if verdict.code == language or language == "auto" or verdict.confidence < settings.language_certainty:
                continue
            if not _is_familiar(piece.text, known):
                piece.dropped = "wrong language"
        yield from batch


def _most_common(verdicts: list[Language], certainty: float) -> str | None:
    sure = Counter(verdict.code for verdict in verdicts if verdict.confidence >= certainty)
    return sure.most_common(1)[0][0] if sure else None


def _words_of(language: str, pieces: list[Piece], verdicts: list[Language]) -> frozenset[str]:
    """The words of the pieces that are in the language."""
    texts = [piece.text for piece, verdict in zip(pieces, verdicts, strict=True) if verdict.code == language]
    return frozenset(word for text in texts for word in folded(text).split())


def _is_familiar(text: str, known: frozenset[str]) -> bool:
    """Whether half of the words were met in the language: then it is verse or dialect that the model mistook.

    Of what lid.176 calls foreign in Burns, Byron and Ulysses, about half is English.
    """
    words = folded(text).split()
    return 2 * sum(word in known for word in words) >= len(words)
