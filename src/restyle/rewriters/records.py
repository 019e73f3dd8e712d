"""Rewriting records: the work that a job gives to its workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from restyle.corpora import load as load_corpus
from restyle.errors import UsageError
from restyle.records import Record
from restyle.rewriters._base import Rewriter, systems
from restyle.rewriters._by_example import ByExample


def prepared(system: str, to: str, corpus: str | None) -> Rewriter:
    """A system that can write the style, which it may know from a corpus (a name, or a folder that you built)."""
    kind = systems[system]
    if not issubclass(kind, ByExample):
        return kind()
    if corpus is None:
        raise UsageError(f"the system {system} knows a style from sentences: name the corpus that holds them, --corpus")
    return kind.from_corpus(load_corpus(corpus), [to])


class RewriteRecords:
    """Makes each record an output record: what was said, what is said now, in which style, by which system.

    `as_text` makes it a record of the new text alone, which is all that a plain text file can hold.
    """

    def __init__(self, rewriter: Rewriter, to: str, options: Mapping[str, Any], *, as_text: bool = False) -> None:
        self._rewriter, self._to, self._options, self._as_text = rewriter, to, dict(options), as_text

    def __call__(self, records: list[Record]) -> list[Record]:
        """One output record for each record, its other keys carried through."""
        rewritten = self._rewriter.rewrite([record["text"] for record in records], self._to, **self._options)
        return [self._output(record, result) for record, result in zip(records, rewritten, strict=True)]

    def _output(self, record: Record, result: str | list[str]) -> Record:
        best = result if isinstance(result, str) else result[0]
        if self._as_text:
            return {"id": record["id"], "text": best}
        output: Record = {"id": record["id"], "input": record["text"], "output": best}
        output |= {"target": self._to, "system": self._rewriter.name}
        if not isinstance(result, str):
            output["candidates"] = result
        return output | {key: value for key, value in record.items() if key not in (*output, "text")}
