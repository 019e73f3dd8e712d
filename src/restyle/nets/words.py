"""A language model with fewer words: tokenizer, embedding and vocabulary layer, cut together.

Gemma's 262,144 words are those of 140 languages, and the layer that chooses among them would cost more than the network
beneath it. Kept are the words that an English vocabulary has as well, the marks, the bytes that spell everything else,
and the pieces over which byte-pair encoding arrives at a word: so what is made of kept words is cut up as before, and
any text can still be written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

# How a space stands in a word, in vocabularies of SentencePiece and of GPT-2.
_SPACE, _BYTES_SPACE = "▁", "Ġ"
_NEVER = 1 << 30
# Letters and signs that print in English text, alone: Latin-1, and typographic quotation marks and dashes.
_SIGNS = {
    chr(code) for first, last in ((0x20, 0x7E), (0xA1, 0xFF), (0x2010, 0x2027)) for code in range(first, last + 1)
}


def cut(model: Any, tokenizer: Any, english: Any) -> tuple[Any, Any]:
    """A model and its tokenizer with the words alone that the tokenizer `english` has too; ids keep their order."""
    raw = json.loads(tokenizer.backend_tokenizer.to_str())
    marks = {tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token, tokenizer.unk_token} - {None}
    wanted = {word.replace(_BYTES_SPACE, _SPACE) for word in english.get_vocab()}
    kept = _kept(raw["model"], wanted, marks)
    numbers = torch.tensor([number for _, number in kept])  # (V',)
    smaller = _retokenised(raw, [word for word, _ in kept], tokenizer, marks)
    return _with_rows(model, numbers, smaller), smaller


def _kept(bpe: dict[str, Any], wanted: Iterable[str], marks: Iterable[str]) -> list[tuple[str, int]]:
    """The words that stay, with their numbers, in their order."""
    vocabulary: dict[str, int] = bpe["vocab"]
    merges = [tuple(pair) for pair in bpe["merges"]]
    ranks: dict[tuple[str, str], int] = {}
    for rank, pair in enumerate(merges):
        ranks.setdefault(pair, rank)
    stays = {word for word in vocabulary if word in marks or word in _SIGNS or _is_byte(word) or word in ("\n", _SPACE)}
    for word in wanted:
        if word in vocabulary and all(letter in _SIGNS or letter == _SPACE for letter in word):
            stays.update(piece for piece in _pieces(word, ranks) if piece in vocabulary)
    return sorted(((word, vocabulary[word]) for word in stays), key=lambda each: each[1])


def _is_byte(word: str) -> bool:
    return len(word) == 6 and word.startswith("<0x") and word.endswith(">")


def _pieces(word: str, ranks: dict[tuple[str, str], int]) -> set[str]:
    """A word, and all that byte-pair encoding joins on the way to it."""
    parts = list(word)
    seen = {word, *parts}
    while len(parts) > 1:
        rank, place = min((ranks.get(pair, _NEVER), at) for at, pair in enumerate(zip(parts, parts[1:], strict=False)))
        if rank == _NEVER:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        seen.add(parts[place])
    return seen


def _retokenised(raw: dict[str, Any], words: Sequence[str], tokenizer: Any, marks: Iterable[str]) -> Any:
    """The tokenizer with these words alone, numbered anew."""
    numbers = {word: number for number, word in enumerate(words)}
    bpe = raw["model"]
    merges = [pair for pair in bpe["merges"] if pair[0] in numbers and pair[1] in numbers and "".join(pair) in numbers]
    added = [each | {"id": numbers[each["content"]]} for each in raw["added_tokens"] if each["content"] in marks]
    # What it would put around a text is the business of whoever asks.
    smaller = raw | {"model": bpe | {"vocab": numbers, "merges": merges}, "added_tokens": added, "post_processor": None}
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=Tokenizer.from_str(json.dumps(smaller)), bos_token=tokenizer.bos_token,
        eos_token=tokenizer.eos_token, pad_token=tokenizer.pad_token, unk_token=tokenizer.unk_token,
    )  # fmt: skip


def _with_rows(model: Any, numbers: torch.Tensor, tokenizer: Any) -> Any:
    """The model with these rows of its embedding and of its vocabulary layer alone."""
    config = model.config.__class__.from_dict(model.config.to_dict())
    config.vocab_size = len(numbers)
    for mark in ("bos", "eos", "pad", "unk"):
        setattr(config, f"{mark}_token_id", getattr(tokenizer, f"{mark}_token_id"))
    smaller = type(model)(config)
    words = {id(model.get_input_embeddings().weight), id(model.get_output_embeddings().weight)}
    rows = {name for name, weight in model.named_parameters(remove_duplicate=False) if id(weight) in words}
    state = {name: value[numbers] if name in rows else value for name, value in model.state_dict().items()}
    smaller.load_state_dict(state)
    smaller.generation_config.eos_token_id = config.eos_token_id
    return smaller.eval()
