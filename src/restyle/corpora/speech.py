"""Speech: telephone talk, as transcribers wrote it down and as it reads without their mark-up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from restyle.corpora._content import by_content
from restyle.corpora._corpus import SPLITS, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded
from restyle.errors import InputError
from restyle.records import opened_text

# From the first transcribers' note on (`*listen`, `*typo`, `**`), a line is no longer speech.
_NOTE = re.compile(r"\s*\*(?:\*|(?=[A-Za-z])).*")
# Sounds (<Laughter>, [noise], [laughter-yes]), slashes at the end of an utterance, (( )) around what is unsure.
_SOUND = re.compile(r"<[^<>]*>|\[(?:laughter-)?(?P<word>[\w'-]*)\]|[/#]|\(\(|\)\)")
# {F uh}, {D well}, {C and}: kinds of words that Switchboard-DAMSL marks; the words were spoken, so they stay.
_MARKED_WORD = re.compile(r"\{[A-Z]\s+([^{}]*?)\s*\}")
# [ I, + I ]: a repair; what was said before the + and after it was both said.
_REPAIR = re.compile(r"[\[\]+]")
# tr-, transp[ort]-, -bout: a word that was not said to its end.
_PARTIAL = re.compile(r"(?<![\w'])(?:[A-Za-z']+(?:\[[^\]]*\])?-(?![\w'])|-\[[^\]]*\]\w*)")
_MARKUP = re.compile(r"[<\[{(*/#+]|-(?![A-Za-z])")
_SOUND_WORDS = {"laughter", "noise", "silence", "vocalized-noise"}
# Commas and spaces that are left where something was taken out.
_LEFT_OVER = (
    (re.compile(r"\s+([,.?!])"), r"\1"),
    (re.compile(r"([,.?!])(?:\s*,)+"), r"\1"),
    (re.compile(r"^[\s,.]+"), ""),
)


def spoken(text: str) -> str:
    """What was said: an utterance without sounds, partial words and what transcribers marked or noted in it.

    >>> spoken("{F Uh, } [ I, + I ] tr- want <Laughter> to go, / *listen")
    'Uh, I, I want to go,'
    """
    if not _MARKUP.search(text):
        return text
    text = _NOTE.sub("", text)
    text = _MARKED_WORD.sub(r"\1", text)
    text = _PARTIAL.sub("", text)
    text = _SOUND.sub(_sound, text)
    text = " ".join(_REPAIR.sub(" ", text).split())
    for pattern, replacement in _LEFT_OVER:
        text = pattern.sub(replacement, text)
    return text


def _sound(match: re.Match[str]) -> str:
    word = match["word"]
    return word if word and word not in _SOUND_WORDS else " "


def switchboard(files: Files, *, markup: bool = False) -> Corpus:
    """Transcribed telephone speech; `markup` keeps what the transcribers marked in it."""

    def utterances(style: str) -> Iterable[Line]:
        lines = files.lines("styles/switchboard.txt.gz")
        return lines if markup else _spoken(lines)

    return _telephone("switchboard", utterances)


def switchboard_ldc(files: Files) -> Corpus:
    """Switchboard as the 1998 transcripts of LDC97S62 hold it: `sw2001A-ms98-a-0001 0.0 0.97 text`."""

    def utterances(style: str) -> Iterable[Line]:
        return _spoken(transcribed())

    def transcribed() -> Iterator[Line]:
        transcripts = sorted(files.folder.rglob("sw*-ms98-a-trans.text"))
        if not transcripts:
            raise InputError(f"{files.folder} holds no sw*-ms98-a-trans.text")
        for transcript in transcripts:
            with opened_text(transcript) as lines:
                for number, line in enumerate(lines, start=1):
                    utterance, _, _, text = (line.split(maxsplit=3) + [""] * 4)[:4]
                    yield Line(text, transcript.name, number, utterance)

    return _telephone("switchboard-ldc", utterances)


def _telephone(name: str, utterances: Callable[[str], Iterable[Line]]) -> Corpus:
    """A corpus of one style, of which CDS holds a sample out."""
    reader = partial(by_content(utterances), "switchboard")
    return guarded(name, {"switchboard": reader}, SPLITS, apart_from={"switchboard": ["cds/switchboard/test"]})


def _spoken(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        text = spoken(line.text)
        if text == line.text:
            yield line
        elif text:
            yield replace(line, text=text)
