"""Subwords: learn which pieces the words of a corpus are made of, cut text into them, and put it together again."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, overload

from restyle.errors import InputError, MissingExtra, UsageError
from restyle.records import writing_to

# Places of the vocabulary that no text ever takes.
PAD, UNKNOWN, BEGIN, END = range(4)
# In UTF-8. SentencePiece leaves longer ones out; this is its own limit, named because it says nothing when it does.
MAX_SENTENCE_BYTES = 4192


class Subwords:
    """A learned subword vocabulary; `len(subwords)` is its size.

    >>> subwords = Subwords.load("literature.model")  # doctest: +SKIP
    >>> subwords.pieces("-PERSON- snored")  # doctest: +SKIP
    ['▁', '-PERSON-', '▁sn', 'ored']
    """

    def __init__(self, model: bytes) -> None:
        """`model` is what a file that `learn` wrote contains."""
        self._processor: Any = _sentencepiece().SentencePieceProcessor(model_proto=model)

    @classmethod
    def load(cls, path: str | Path) -> Subwords:
        """Read a vocabulary that `learn` wrote; InputError when the file is none."""
        try:
            return cls(Path(path).read_bytes())
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        except RuntimeError as error:
            raise InputError(f"{path} is not a SentencePiece model; make one with restyle.text.bpe.learn") from error

    @overload
    def encode(self, text: str) -> list[int]: ...
    @overload
    def encode(self, text: list[str]) -> list[list[int]]: ...
    def encode(self, text: str | list[str]) -> list[int] | list[list[int]]:
        """The numbers of a sentence's subwords, or of each sentence's of a list; no begin or end is added."""
        ids: list[Any]
        if isinstance(text, str):
            ids = self._processor.encode(_valid(text))
        else:
            # One thread: spreading sentences over cores is the business of restyle.jobs.
            ids = self._processor.encode([_valid(sentence) for sentence in text], num_threads=1)
        return ids

    def pieces(self, text: str) -> list[str]:
        """A sentence's subwords as strings, `▁` where a space stood."""
        pieces: list[str] = self._processor.encode(_valid(text), out_type=str)
        return pieces

    def decode(self, ids: Sequence[int]) -> str:
        """The sentence that these subwords make; padding, begin and end add nothing.

        Gives back what was encoded, to the character, for any text without leading, trailing or double spaces, lone
        surrogates and `▁` (U+2581, SentencePiece's sign for a space).
        """
        if outside := [number for number in ids if not 0 <= number < len(self)]:
            raise UsageError(f"there is no subword {outside[0]}; this vocabulary has 0 to {len(self) - 1}")
        text: str = self._processor.decode([int(number) for number in ids])
        return text

    def __len__(self) -> int:
        return int(self._processor.get_piece_size())


def learn(
    sentences: Iterable[str],
    vocabulary: int,
    path: str | Path,
    *,
    kind: Literal["bpe", "unigram"] = "bpe",
    symbols: Sequence[str] = ("-PERSON-", "-LOCATION-"),
) -> Subwords:
    """Learn a vocabulary of this many subwords from sentences, and write it to a file.

    `kind` is byte-pair encoding (the Literature data, Pang & Gimpel 5.1) or SentencePiece's unigram model. `symbols`
    are never cut and take one place each. Of the rest 4 places are padding, unknown, begin and end, and 256 are the
    bytes that spell a character which the corpus lacks, so that no text is ever unknown. The same sentences in the same
    order give the same bytes. Sentences of more than MAX_SENTENCE_BYTES are left out; all others are held in memory.

    Raises UsageError when the corpus has too few different words for the vocabulary, or too many different characters,
    and InputError when it has no words at all.
    """
    model = io.BytesIO()
    try:
        _sentencepiece().SentencePieceTrainer.train(
            sentence_iterator=_lines(sentences),
            model_writer=model,
            vocab_size=vocabulary,
            model_type=kind,
            user_defined_symbols=list(dict.fromkeys(symbols)),
            # Text comes normalised from restyle.text.clean; a second normalisation would not be undone by decoding.
            normalization_rule_name="identity",
            character_coverage=1.0,
            byte_fallback=True,
            max_sentence_length=MAX_SENTENCE_BYTES,
            num_threads=1,  # the number is written into the model, and sums depend on it
            minloglevel=2,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=BEGIN,
            eos_id=END,
        )
    except RuntimeError as error:
        raise _explained(str(error), vocabulary) from error
    subwords = Subwords(model.getvalue())
    _write(Path(path), model.getvalue())
    return subwords


def _lines(sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        line = " ".join(sentence.split())
        if line:
            yield _valid(line)


def _valid(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _write(path: Path, model: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(model)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def _explained(complaint: str, vocabulary: int) -> Exception:
    """SentencePiece's words in ours; what is not known is passed on as it is."""
    if most := re.search(r"Vocabulary size too high \(\d+\)\. Please set it to a value <= (\d+)", complaint):
        return UsageError(f"the corpus is too small for {vocabulary:,} subwords; it has at most {int(most[1]):,}")
    if least := re.search(r"smaller than required_chars\. \d+ vs (\d+)", complaint):
        return UsageError(
            f"{vocabulary:,} subwords are too few: the characters, bytes and symbols alone are {int(least[1]):,}; "
            "ask for more, or remove rare characters from the corpus"
        )
    if "insert_id" in complaint:
        return UsageError(
            f"a vocabulary of {vocabulary:,} is too small: padding, unknown, begin and end take 4 places, and the "
            "bytes 256; ask for more"
        )
    if "sentences_.empty()" in complaint or "all_chars_count" in complaint:
        return InputError("there is no sentence to learn subwords from")
    return InputError(f"SentencePiece could not learn subwords: {complaint}")


def _sentencepiece() -> ModuleType:
    try:
        import sentencepiece
    except ModuleNotFoundError as error:
        raise MissingExtra("sentencepiece", "text", "cutting words into subwords") from error
    module: ModuleType = sentencepiece
    return module
