"""A base model's tokenizer as this room sees it: sentences to numbers, and back.

Tuning has the tokenizer of transformers at hand. Rewriting has only the file that the library `tokenizers` reads, as
importing transformers would take longer than rewriting a sentence. Both give the same numbers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from tokenizers import Tokenizer

from restyle.errors import Corrupt, InputError

TOKENIZER_FILE, MARKS_FILE = "tokenizer.json", "marks.json"
# Under which a tokenizer's configuration keeps the width of inputs, where the base was tuned with one.
WIDTH = "input_width"


class Subwords(Protocol):
    """What a vocabulary can do."""

    @property
    def begin(self) -> int | None:
        """What a text begins with, where the base has a mark for it."""
        ...

    @property
    def end(self) -> int:
        """What a text ends with."""
        ...

    @property
    def width(self) -> int | None:
        """To how many numbers an input is padded, where the base was tuned so (see `segments`)."""
        ...

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of each text, no mark added; what looks like a mark in a text is taken as its letters."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some numbers, without marks."""
        ...


class TransformersSubwords:
    """A tokenizer of transformers."""

    def __init__(self, tokenizer: Any) -> None:
        """`tokenizer`: transformers gives its tokenizers no common type. InputError when it has no mark of an end."""
        self._tokenizer = tokenizer
        if tokenizer.eos_token_id is None:
            raise InputError(
                f"{tokenizer.name_or_path} has no mark for the end of a text, so it cannot be taught to stop"
            )
        self.begin = None if tokenizer.bos_token_id is None else int(tokenizer.bos_token_id)
        self.end = int(tokenizer.eos_token_id)
        self.width: int | None = tokenizer.init_kwargs.get(WIDTH)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of each text."""
        if not texts:
            return []
        found: list[list[int]] = self._tokenizer(
            [_whole(text) for text in texts],
            add_special_tokens=False,
            split_special_tokens=True,
            return_attention_mask=False,
            verbose=False,
        )["input_ids"]
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some numbers."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text

    def save(self, folder: str | Path) -> None:
        """Write what `FileSubwords` reads; InputError for a tokenizer that the library `tokenizers` does not know."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if not isinstance(backend, Tokenizer):
            raise InputError(f"the tokenizer of {self._tokenizer.name_or_path} cannot be written as {TOKENIZER_FILE}")
        backend.save(str(Path(folder) / TOKENIZER_FILE))
        marks = {"begin": self.begin, "end": self.end, "width": self.width}
        (Path(folder) / MARKS_FILE).write_text(json.dumps(marks), encoding="utf-8")


class FileSubwords:
    """A tokenizer as `TransformersSubwords.save` wrote it."""

    def __init__(self, folder: str | Path) -> None:
        """Corrupt when the files in `folder` are not whole."""
        try:
            self._tokenizer = Tokenizer.from_file(str(Path(folder) / TOKENIZER_FILE))
            marks = json.loads((Path(folder) / MARKS_FILE).read_text(encoding="utf-8"))
            self.begin: int | None = marks["begin"]
            self.end: int = marks["end"]
            self.width: int | None = marks["width"]
        except Exception as error:  # tokenizers raises nothing more special
            raise Corrupt(f"{folder} holds no whole tokenizer ({error}); remove it and run the same command") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of each text."""
        whole = [_whole(text) for text in texts]
        return [each.ids for each in self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some numbers."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)


def _whole(text: str) -> str:
    """The text with a question mark for each half of a character, which JSON can hold and no tokenizer can read."""
    return text.encode("utf-8", "replace").decode("utf-8")
