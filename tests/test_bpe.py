"""Subwords: learned the same every time, cut and joined without loss, and one line when a corpus will not do."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from restyle.errors import InputError, OutputError, UsageError
from restyle.text import bpe
from restyle.text.bpe import Subwords


def corpus(seed=0):
    generator = random.Random(seed)
    words = ["".join(generator.choices("abcdefgh", k=generator.randint(1, 7))) for _ in range(200)]
    return [" ".join(generator.choices(words, k=10)) for _ in range(200)]


@pytest.fixture(scope="module")
def subwords(tmp_path_factory):
    return bpe.learn(corpus(), 400, tmp_path_factory.mktemp("bpe") / "toy.model")


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="▁")) | st.sampled_from(corpus()))
def test_text_with_single_spaces_comes_back_to_the_character(subwords, text):
    text = " ".join(word for word in text.split(" ") if word)
    assert subwords.decode(subwords.encode(text)) == text


def test_a_frequent_word_is_one_piece_and_pieces_are_what_the_numbers_stand_for(subwords):
    word = corpus()[0].split()[0]
    assert len(subwords.pieces(word)) < len(word) or len(word) == 1
    assert len(subwords.pieces(word)) == len(subwords.encode(word))


def test_tags_are_never_cut(subwords):
    assert "-PERSON-" in subwords.pieces("abc -PERSON-, x-PERSON-y")
    assert subwords.pieces("-LOCATION-").count("-LOCATION-") == 1


def test_no_character_is_unknown(subwords):
    assert bpe.UNKNOWN not in subwords.encode("Ünknown 🙂 字 <s> </s> <unk>")


def test_a_list_is_encoded_sentence_by_sentence(subwords):
    texts = [*corpus()[:5], "", "\ud800"]
    assert subwords.encode(texts) == [subwords.encode(text) for text in texts]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_same_sentences_give_the_same_bytes_quietly(kind, tmp_path, capfd):
    one, other = tmp_path / "one.model", tmp_path / "other.model"
    bpe.learn(corpus(), 350, one, kind=kind)
    bpe.learn(iter(corpus()), 350, other, kind=kind)
    assert one.read_bytes() == other.read_bytes()
    assert len(Subwords.load(one)) == 350
    assert capfd.readouterr() == ("", "")


def test_padding_begin_and_end_decode_to_nothing(subwords):
    ids = [bpe.BEGIN, *subwords.encode("abc"), bpe.END, bpe.PAD, bpe.PAD]
    assert subwords.decode(ids) == "abc"


def test_subwords_survive_pickling(subwords):
    assert pickle.loads(pickle.dumps(subwords)).encode("abc") == subwords.encode("abc")


def test_a_vocabulary_that_the_corpus_cannot_fill_is_refused_with_what_it_can(tmp_path):
    with pytest.raises(UsageError, match=r"too small for 50,000 subwords; it has at most [\d,]+"):
        bpe.learn(corpus(), 50_000, tmp_path / "big.model")
    assert not list(tmp_path.iterdir())


def test_a_vocabulary_smaller_than_the_alphabet_is_refused(tmp_path):
    with pytest.raises(UsageError, match="20 subwords are too few: the characters, bytes and symbols alone are"):
        bpe.learn(corpus(), 20, tmp_path / "small.model")


@pytest.mark.parametrize("sentences", [[], ["", " \n"], ["x" * 5000]])
def test_a_corpus_without_sentences_is_refused(sentences, tmp_path):
    with pytest.raises(InputError, match="no sentence to learn subwords from"):
        bpe.learn(sentences, 300, tmp_path / "empty.model")


def test_a_file_that_is_no_model_is_refused_by_name(tmp_path):
    (tmp_path / "notes.txt").write_text("no model")
    with pytest.raises(InputError, match=r"notes\.txt is not a SentencePiece model"):
        Subwords.load(tmp_path / "notes.txt")
    with pytest.raises(InputError, match=r"absent\.model cannot be read: No such file"):
        Subwords.load(tmp_path / "absent.model")


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        bpe.learn(corpus(), 350, tmp_path / "file" / "toy.model")


def test_a_number_outside_the_vocabulary_is_refused(subwords):
    with pytest.raises(UsageError, match="there is no subword 400; this vocabulary has 0 to 399"):
        subwords.decode([400])
