"""Which language a sentence is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from restyle.assets import model_folder
from restyle.errors import MissingExtra, UnknownName, UsageError


class Language(NamedTuple):
    """A guess: the language's code (ISO 639, or `und` where there is nothing to tell it by), and how sure it is."""

    code: str
    confidence: float


UNDETERMINED = Language("und", 0.0)


def detect(texts: Sequence[str], engine: str = "lid176") -> list[Language]:
    """The language of each sentence.

    `lid176` is fastText's model of 176 languages: tens of thousands of sentences a second, the default. `langdetect` is
    what STRAP filtered its paraphrases with (App. A.1): a few hundred a second, and less sure of short sentences; its
    sampling is seeded, so that it always answers the same. Text without a letter is `und`.

    Both may be called from several threads. A process loads a model once, on its first sentence.

    >>> detect(["Are you mad?", "12:30"])  # doctest: +SKIP
    [Language(code='en', confidence=0.81), Language(code='und', confidence=0.0)]
    """
    if isinstance(texts, str):
        raise UsageError("one sentence was given where a list of them is expected; put it in brackets")
    if engine not in ENGINES:
        raise UnknownName("language engine", engine, ENGINES)
    guess: Callable[[str], Language] | None = None
    languages = []
    for text in texts:
        if not any(map(str.isalpha, text)):
            languages.append(UNDETERMINED)
            continue
        guess = guess or ENGINES[engine]()
        languages.append(guess(text))
    return languages


def is_english(texts: Sequence[str], engine: str = "lid176") -> list[bool]:
    """Whether English is the likeliest language of each sentence."""
    return [language.code == "en" for language in detect(texts, engine)]


def _lid176() -> Callable[[str], Language]:
    model = _fasttext_model(model_folder("lid176") / "lid.176.ftz")

    def guess(text: str) -> Language:
        # The model knows next to no words in capitals, and fastText reads up to the end of a line.
        line = " ".join((text.lower() if text.isupper() else text).split())
        labels, confidences = model.predict(line.encode("utf-8", "replace").decode("utf-8"))
        return (
            Language(labels[0].removeprefix("__label__"), min(float(confidences[0]), 1.0)) if labels else UNDETERMINED
        )

    return guess


@lru_cache(maxsize=1)
def _fasttext_model(path: Path) -> Any:  # Any: fasttext-predict declares no types
    try:
        import fasttext  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise MissingExtra("fasttext-predict", "text", "telling languages apart") from error
    return fasttext.load_model(str(path))


def _langdetect() -> Callable[[str], Language]:
    factory, undecidable = _langdetect_factory()

    def guess(text: str) -> Language:
        detector = factory.create()
        detector.append(text)
        try:
            likely = detector.get_probabilities()
        except undecidable:  # nothing but URLs, say
            return UNDETERMINED
        return Language(likely[0].lang, float(likely[0].prob)) if likely else UNDETERMINED

    return guess


@lru_cache(maxsize=1)
def _langdetect_factory() -> tuple[Any, type[Exception]]:  # Any: langdetect declares no types
    try:
        from langdetect import LangDetectException  # type: ignore[import-untyped]
        from langdetect.detector_factory import (  # type: ignore[import-untyped]
            PROFILES_DIRECTORY,
            DetectorFactory,
        )
    except ModuleNotFoundError as error:
        raise MissingExtra("langdetect", "text", "telling languages apart as STRAP did") from error
    # A factory of our own: seeding the package's would seed it for everybody in this process.
    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory, LangDetectException


ENGINES = {"lid176": _lid176, "langdetect": _langdetect}
