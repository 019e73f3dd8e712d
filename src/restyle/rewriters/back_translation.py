"""Back-translation: into another language and back, which loses much of how a thing was said (Prabhumoye et al. 2018).

    spa        into Spanish and back
    spa,cat    several ways, each a candidate (multilingual back-translation; Adelani et al. 2021)
    spa+cat    one way after the other

Apertium, rules and dictionaries, needs no model and no network once its Debian packages are installed. Any two models
of transformers that translate there and back, such as Marian's opus-mt, take its place.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, Self

from restyle.errors import InputError, MissingExtra, RestyleError, UnknownName, UsageError
from restyle.rewriters._base import Request, Rewriter, read_system_file, write_system_file
from restyle.text.clean import clean

ENGLISH = "eng"
# Those that Debian packages with English in both directions, and which package it is.
_PACKAGES = {"spa": "apertium-eng-spa", "cat": "apertium-eng-cat"}
_INSTALL = "apt-get install apertium apertium-eng-spa apertium-eng-cat"
_SECONDS = 600
_AT_ONCE = 32
_LONGEST = 128  # subwords; what is longer loses its end


class Translator(Protocol):
    """Something that translates from a language into another."""

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Every text in the other language, in the order of the texts."""
        ...


class BackTranslation(Rewriter):
    """Says a thing as it comes back from another language; whatever style or attribute is named."""

    name = "back-translation"
    styles = ()

    def __init__(self, pivots: str = "spa", *, models: Mapping[str, tuple[str, str]] | None = None) -> None:
        """`pivots` are languages, with commas or plus signs between (see above).

        `models` gives for a pivot the models there and back, by id or folder; others are Apertium's. UsageError where a
        route cannot be read.
        """
        self.pivots, self.models = pivots, {name: tuple(both) for name, both in (models or {}).items()}
        self.routes = [[pivot.strip() for pivot in route.split("+")] for route in pivots.split(",")]
        if not all(all(route) for route in self.routes):
            raise UsageError(f"pivots are {pivots!r}; languages were expected, such as spa or spa,cat or spa+cat")
        for name, both in self.models.items():
            if len(both) != 2:
                raise UsageError(f"the models of {name} are {both!r}; two were expected, there and back")

    def ready(self, request: Request) -> None:
        """Find or load what translates."""
        for pivot in dict.fromkeys(pivot for route in self.routes for pivot in route):
            self._translator(pivot)

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """What each route makes of every text, the first route's first; the last again where there are fewer."""
        ways = [self._travelled(texts, route) for route in self.routes[: request.candidates]]
        several = [list(made) for made in zip(*ways, strict=True)]
        return [made + [made[-1]] * (request.candidates - len(made)) for made in several]

    def fingerprint(self, *targets: str) -> str:
        """The routes, and the models."""
        return f"{self.name}/{self.pivots}/{self.models}"

    def save(self, folder: str | Path) -> None:
        """Write the routes and the names of the models."""
        models = {name: list(both) for name, both in self.models.items()}
        write_system_file(folder, {"system": self.name, "pivots": self.pivots, "models": models})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The same again."""
        settings = read_system_file(folder)
        return cls(settings["pivots"], models=settings["models"])

    def _travelled(self, texts: Sequence[str], route: Sequence[str]) -> list[str]:
        """The texts after each round trip; one of which nothing came back stays as it is."""
        # A line is a text to Apertium, and an empty one needs no translator.
        told = [clean(text) for text in texts]
        places = [place for place, text in enumerate(told) if text]
        now = [told[place] for place in places]
        for pivot in route:
            translator = self._translator(pivot)
            now = translator.translate(translator.translate(now, ENGLISH, pivot), pivot, ENGLISH)
        found = list(texts)
        for place, text in zip(places, now, strict=True):
            found[place] = clean(text) or texts[place]
        return found

    def _translator(self, pivot: str) -> Translator:
        if pivot in self.models:
            return _models(*self.models[pivot])
        if pivot not in _PACKAGES:
            raise UnknownName("pivot of Apertium (others need models)", pivot, _PACKAGES)
        return _apertium(pivot)


class Apertium:
    """Translation by rules and dictionaries (Forcada et al. 2011), as the program of this name does it."""

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Every text in the other language; a word that is in no dictionary stays."""
        if not texts:
            return []
        # A full stop of its own, in a line of its own, keeps what is said in one text out of the next.
        asked = "\n\n".join(texts) + "\n"
        command = ["apertium", "-u", f"{source}-{target}"]
        try:
            done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            said = str(getattr(error, "stderr", "") or error).strip()
            raise RestyleError(f"apertium {source}-{target} failed: {said}") from None
        lines = done.stdout.rstrip("\n").split("\n\n")
        if len(lines) != len(texts):
            raise RestyleError(f"apertium gave {len(lines):,} texts for {len(texts):,}: {source}-{target}")
        return [" ".join(line.split()) for line in lines]


class Models:
    """Translation by two models of transformers: one there, one back."""

    def __init__(self, there: str, back: str) -> None:
        self._loaded = {True: _model(there), False: _model(back)}

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Every text in the other language, the likeliest translation by a narrow beam."""
        import torch

        model, tokenizer = self._loaded[source == ENGLISH]
        found: list[str] = []
        for start in range(0, len(texts), _AT_ONCE):
            batch = list(texts[start : start + _AT_ONCE])
            rows = tokenizer(batch, return_tensors="pt", padding=True, truncation=True, max_length=_LONGEST)
            with torch.inference_mode():
                made = model.generate(
                    input_ids=rows["input_ids"].to(model.device),
                    attention_mask=rows["attention_mask"].to(model.device),
                    num_beams=4, do_sample=False, max_new_tokens=_LONGEST,
                )  # fmt: skip
            found += tokenizer.batch_decode(made, skip_special_tokens=True)
        return found


@cache
def _apertium(pivot: str) -> Translator:
    """Apertium, if the pair is installed; RestyleError says which Debian packages are missing."""
    missing = "apertium" if shutil.which("apertium") is None else _PACKAGES[pivot]
    known: set[str] = set()
    if missing != "apertium":
        listed = subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False).stdout
        known = set(listed.split())
    if not {f"{ENGLISH}-{pivot}", f"{pivot}-{ENGLISH}"} <= known:
        raise RestyleError(f"back-translation through {pivot} needs the Debian package {missing}: {_INSTALL}")
    return Apertium()


@cache
def _models(there: str, back: str) -> Translator:
    return Models(there, back)


def _model(name: str) -> tuple[Any, Any]:
    """A model that translates and its tokenizer, where it computes fastest; InputError when there is none."""
    try:
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        from restyle.nets.device import best_device
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "transformers", "local", "back-translation by models") from error
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(name)
        model: Any = AutoModelForSeq2SeqLM.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise InputError(f"{name} is no model that translates, by id or folder: {error}") from None
    return model.to(best_device()).eval().requires_grad_(False), tokenizer
