"""A trained cross-aligned model as a rewriter: both directions, greedy or by a beam."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from restyle.errors import UsageError
from restyle.nets.device import best_device
from restyle.nets.vocabulary import Vocabulary, load_vocabulary
from restyle.nets.weights import load_weights, save_weights
from restyle.progress import progress_bar
from restyle.rewriters._base import Request, Rewriter, read_system_file, write_system_file
from restyle.rewriters.cross_aligned._data import prepared
from restyle.rewriters.cross_aligned._model import Transfer
from restyle.rewriters.cross_aligned._settings import CrossAlignedSettings
from restyle.rewriters.cross_aligned._writing import limit_of, transferred
from restyle.settings import from_dict, to_dict
from restyle.text.entities import Entity, mask, unmask

WEIGHTS_FILE = "model.safetensors"
VERSION = 1
_DEFAULT_BATCH = 128


class CrossAligned(Rewriter):
    """Pang and Gimpel 2019, M0 to M7: content and style apart, each sentence written anew in the other style.

    Names and numbers come back only where the model writes them; a word that it does not know is copied from the input
    or marked, as its settings say. `candidates` is the width of a beam; without it the likeliest words are written.
    """

    name = "cross-aligned"

    def __init__(
        self,
        model: Transfer,
        vocabulary: Vocabulary,
        styles: Sequence[str],
        settings: CrossAlignedSettings,
        chosen: Mapping[str, Any] | None = None,
    ) -> None:
        """`styles` are two, in the order that the model numbers them in; `chosen` says which point of a run this is."""
        self.styles = (styles[0], styles[1])
        self.model, self.vocabulary, self.settings = model.to(best_device()).eval(), vocabulary, settings
        self.chosen = dict(chosen or {})

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """The texts as sentences of the style that is asked for, taken for sentences of the other."""
        style = 1 - self.styles.index(request.to)
        if request.from_ not in (None, self.styles[style]):
            raise UsageError(f"this model writes {request.to} from {self.styles[style]}, not from {request.from_}")
        tagged = mask(texts, numbered=False) if self.settings.tags else None
        read = [masked.text for masked in tagged] if tagged else prepared(texts, self.settings)
        rows = [self.vocabulary.encode(text) for text in read]
        size = request.batch_size or _DEFAULT_BATCH
        found: list[list[str]] = []
        with progress_bar("rewriting", len(texts), shown=request.progress) as advance:
            for start in range(0, len(rows), 32 * size):
                part = slice(start, start + 32 * size)
                written = transferred(
                    self.model, rows[part], style, limit_of(self.settings), beam=request.candidates, batch_size=size
                )
                found += [self._said(read[start + place], several) for place, several in enumerate(written)]
                advance(len(written))
        return (
            [self._named(several, tagged[place].entities) for place, several in enumerate(found)] if tagged else found
        )

    def fingerprint(self, *targets: str) -> str:
        """A hash of the weights."""
        digest = hashlib.sha256()
        for name, value in self.model.state_dict().items():
            digest.update(name.encode() + value.cpu().numpy().tobytes())
        return digest.hexdigest()[:32]

    def save(self, folder: str | Path) -> None:
        """Write weights, vocabulary and settings."""
        values = {
            "system": self.name,
            "version": VERSION,
            "styles": list(self.styles),
            "settings": to_dict(self.settings),
            "chosen": self.chosen,
        }
        folder = write_system_file(folder, values)
        self.vocabulary.save(folder)
        save_weights(self.model, folder / WEIGHTS_FILE)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what was saved; UsageError when it is of another version."""
        folder = Path(folder)
        values = read_model_file(folder)
        settings = from_dict(CrossAlignedSettings, values["settings"], where=str(folder))
        vocabulary = load_vocabulary(folder)
        model = Transfer(len(vocabulary), settings)
        load_weights(model, folder / WEIGHTS_FILE)
        return cls(model, vocabulary, values["styles"], settings, values.get("chosen"))

    def _said(self, text: str, several: Sequence[Sequence[int]]) -> list[str]:
        unknown = self.vocabulary.unknown(text) if self.settings.unknown == "copy" else ()
        return [self.vocabulary.decode(row, unknown) for row in several]

    def _named(self, several: Sequence[str], entities: Sequence[Entity]) -> list[str]:
        """Put names and places back where their tags are."""
        return [unmask(_as_tags(text), entities).text for text in several]


def read_model_file(folder: Path) -> dict[str, Any]:
    """What the file of a model says; UsageError when it is of another version."""
    values = read_system_file(folder)
    if values.get("version") != VERSION:
        raise UsageError(
            f"{folder} holds a cross-aligned model of version {values.get('version', 'unknown')}, and this restyle "
            f"reads version {VERSION}: learn it again"
        )
    return values


def _as_tags(text: str) -> str:
    """A vocabulary without capitals knows the tags without capitals."""
    return text.replace("-person-", "-PERSON-").replace("-location-", "-LOCATION-")
