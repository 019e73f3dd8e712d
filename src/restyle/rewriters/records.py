"""Rewriting records: the work that a job gives to its workers."""

from __future__ import annotations

from dataclasses import dataclass

from restyle.corpora import load as load_corpus
from restyle.errors import UsageError
from restyle.records import Record
from restyle.rewriters._base import Rewriter, systems
from restyle.rewriters._by_example import ByExample
from restyle.settings import setting


@dataclass(frozen=True)
class RewriteSettings:
    """What is written, by which system, and how."""

    to: str = setting("", "the style to write: see `restyle styles`")
    system: str = setting("retrieve", "the system that rewrites: see `restyle systems`")
    corpus: str | None = setting(None, "the corpus that holds the style: a name, or a folder that you built")
    candidates: int = setting(1, "rewrites of each text, best first", minimum=1)
    seed: int = setting(0, "the same seed gives the same words")


def prepared(settings: RewriteSettings) -> Rewriter:
    """The system that the settings name, with what it needs to know of their style."""
    if not settings.to:
        raise UsageError("no style was given; name it with --to (`restyle styles` lists those of the corpora)")
    kind = systems[settings.system]
    if not issubclass(kind, ByExample):
        return kind()
    if settings.corpus is None:
        raise UsageError(
            f"the system {settings.system} knows a style from sentences: name the corpus that holds them, --corpus"
        )
    return kind.from_corpus(load_corpus(settings.corpus), [settings.to])


class RewriteRecords:
    """Makes each record an output record: what was said, what is said now, in which style, by which system."""

    def __init__(self, rewriter: Rewriter, settings: RewriteSettings) -> None:
        self._rewriter, self._settings = rewriter, settings

    def __call__(self, records: list[Record]) -> list[Record]:
        """One output record for each record, its other keys carried through."""
        texts, settings = [record["text"] for record in records], self._settings
        rewritten = self._rewriter.rewrite(texts, settings.to, candidates=settings.candidates, seed=settings.seed)
        return [self._output(record, result) for record, result in zip(records, rewritten, strict=True)]

    def _output(self, record: Record, result: str | list[str]) -> Record:
        best = result if isinstance(result, str) else result[0]
        output: Record = {"id": record["id"], "input": record["text"], "output": best}
        output |= {"target": self._settings.to, "system": self._rewriter.name}
        if not isinstance(result, str):
            output["candidates"] = result
        # An output that is rewritten again brings an input, output, target and system along: they are those of now.
        return output | {key: value for key, value in record.items() if key not in (*output, "text")}
