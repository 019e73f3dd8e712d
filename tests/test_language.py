"""Telling languages apart: on ordinary sentences, on what has no language, and always the same."""

from __future__ import annotations

import sys
import threading

import pytest

from restyle.errors import MissingExtra, UnknownName, UsageError
from restyle.text import language

ENGLISH = "I do not know what you mean by that."
FRENCH = "Je ne sais pas ce que vous voulez dire par là."
GERMAN = "Ich weiß nicht, was Sie damit sagen wollen."


@pytest.mark.models
def test_lid176_tells_languages_apart(models):
    answers = language.detect([ENGLISH, FRENCH, GERMAN])
    assert [answer.code for answer in answers] == ["en", "fr", "de"]
    assert all(0.5 < answer.confidence <= 1 for answer in answers)


def test_langdetect_tells_languages_apart_and_always_answers_the_same():
    answers = language.detect([ENGLISH, FRENCH, GERMAN], "langdetect")
    assert [answer.code for answer in answers] == ["en", "fr", "de"]
    unsure = ["hello my friend", "ok maybe", "la la la"]  # which its sampling answers differently from run to run
    assert len({str(language.detect(unsure, "langdetect")) for _ in range(5)}) == 1


@pytest.mark.parametrize("engine", ["lid176", "langdetect"])
def test_text_without_letters_is_undetermined_and_needs_no_model(engine):
    assert language.detect(["", " \n", "12:30 …", "🙂"], engine) == [("und", 0.0)] * 4


def test_langdetect_calls_a_bare_url_undetermined():
    assert language.detect(["http://example.org/le/chat"], "langdetect") == [("und", 0.0)]


@pytest.mark.models
@pytest.mark.parametrize("text", ["Je ne sais\npas ce que\r\nvous dites", "je ne sais pas\x00 \ud800", FRENCH.upper()])
def test_line_breaks_broken_characters_and_capitals_do_not_confuse_lid176(models, text):
    assert language.detect([text])[0].code == "fr"


@pytest.mark.models
def test_is_english_answers_for_each_sentence(models):
    assert language.is_english([ENGLISH, FRENCH, ""]) == [True, False, False]
    assert language.is_english([]) == []


@pytest.mark.models
def test_several_threads_get_the_same_answers(models):
    texts = [ENGLISH, FRENCH, GERMAN] * 50
    answers = {}
    threads = [threading.Thread(target=lambda n=n: answers.update({n: language.detect(texts)})) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[n] for n in range(4)] == [language.detect(texts)] * 4


def test_wrong_use_is_told_in_a_line():
    with pytest.raises(UnknownName, match="did you mean lid176"):
        language.detect([ENGLISH], "lid-176")
    with pytest.raises(UsageError, match="put it in brackets"):
        language.detect(ENGLISH)


def test_without_langdetect_the_pip_line_is_given(monkeypatch):
    language._langdetect_factory.cache_clear()
    monkeypatch.setitem(sys.modules, "langdetect", None)
    with pytest.raises(MissingExtra, match=r"pip install 'restyle\[text\]'"):
        language.detect([ENGLISH], "langdetect")
