"""Rewriting records: the work that a job gives to its workers."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any

from restyle.corpora import load as load_corpus
from restyle.errors import UsageError
from restyle.records import Record
from restyle.rewriters._base import (
    DEFAULT_KEEP,
    MOST_STRENGTH,
    Request,
    Rewrite,
    Rewriter,
    is_saved,
    load,
    systems,
)
from restyle.rewriters._by_example import ByExample
from restyle.settings import setting

# Writes in no style, so that none need be named; records call its target by its own name.
_IN_NO_STYLE = "paraphrase"
_WITHOUT_PARAPHRASE = "strap-no-inference-paraphrase"
# What an earlier rewrite said of itself, which is not true of the next.
_OURS = ("candidates", "paraphrase", "flags", "selected_with")


@dataclass(frozen=True)
class RewriteSettings:
    """What is written, by which system, and how."""

    to: tuple[str, ...] = setting((), "a style (see `restyle styles`), a pack's folder, or a mix: bible:0.7,joyce:0.3")
    system: str | None = setting(
        None,
        "the system that rewrites (see `restyle systems`), or the folder of one that was learned; strap when not "
        "given, or retrieve with --corpus",
    )
    corpus: str | None = setting(None, "the corpus that holds the style: a name, or a folder that you built")
    candidates: int = setting(1, "rewrites of each text, best first", minimum=1)
    nucleus: float = setting(0.0, "0 writes what is likeliest, more by chance: 0.6, 0.9", minimum=0, maximum=1)
    strength: float = setting(1.0, "how much of the style, 0 is none", minimum=0, maximum=MOST_STRENGTH)
    keep: str = setting(
        ",".join(DEFAULT_KEEP), "what must stay, with commas between: names, numbers, addresses; or none"
    )
    skip_paraphrase: bool = setting(False, f"rewrite in one step: the system {_WITHOUT_PARAPHRASE}")
    paraphraser: str | None = setting(None, "the first step of strap: a pack; that of the style when not given")
    engine: str = setting("auto", "what runs the models of strap: auto, ctranslate2, torch")
    explain: bool = setting(False, "say the paraphrase between, and what was noticed")
    seed: int = setting(0, "the same seed gives the same words")

    def request(self, to: str) -> Request:
        """What is asked of a system."""
        keep = tuple(each.strip() for each in self.keep.split(",") if each.strip())
        return Request(
            to=to,
            candidates=self.candidates,
            nucleus=self.nucleus,
            strength=self.strength,
            keep=keep,
            seed=self.seed,
        )


def resolved(settings: RewriteSettings) -> RewriteSettings:
    """The settings with the system that they mean; UsageError when they contradict each other."""
    system = settings.system or ("strap" if settings.corpus is None else "retrieve")
    if not settings.to and system == _IN_NO_STYLE:
        settings = replace(settings, to=(system,))
    if not settings.to:
        raise UsageError("no style was given; name it with --to (`restyle styles` lists them)")
    if settings.skip_paraphrase:
        if system not in ("strap", _WITHOUT_PARAPHRASE):
            raise UsageError(f"the system {system} has no paraphrase to skip: leave --skip-paraphrase out")
        system = _WITHOUT_PARAPHRASE
    return replace(settings, system=system)


def prepared(settings: RewriteSettings) -> Rewriter:
    """The system that the settings name, with what it needs to know of their styles."""
    settings = resolved(settings)
    name = settings.system or ""
    if name.startswith("strap"):
        rewriter = _strap(name, settings)
    elif name not in systems and is_saved(name):
        _options(name, (), settings)
        rewriter = load(name)
    elif name == "cross-aligned":
        raise UsageError(
            f"the system {name} is learned from a corpus: name the folder of a model of it (restyle learn)"
        )
    elif issubclass(kind := systems[name], ByExample):
        if settings.corpus is None:
            raise UsageError(
                f"the system {name} knows a style from sentences: name the corpus that holds them, --corpus"
            )
        _options(name, (), settings)
        return kind.from_corpus(load_corpus(settings.corpus), settings.to)
    else:
        rewriter = kind(**_options(name, inspect.signature(kind).parameters, settings))
    for to in settings.to:
        rewriter.checked(to)
    return rewriter


def _options(name: str, known: Container[str], settings: RewriteSettings) -> dict[str, Any]:
    """The paraphraser and the engine, where they were named; UsageError when the system has none."""
    named = {"paraphraser": settings.paraphraser, "engine": settings.engine if settings.engine != "auto" else None}
    options = {option: value for option, value in named.items() if value is not None}
    for option in options:
        if option not in known:
            raise UsageError(f"the system {name} has no {option}: leave --{option} out")
    return options


def _strap(name: str, settings: RewriteSettings) -> Rewriter:
    """One of the systems of STRAP."""
    from restyle.rewriters.strap import OnBase, on_base

    options: dict[str, Any] = {"paraphraser": settings.paraphraser, "engine": settings.engine}
    if name not in systems and (base := on_base(name, settings.to)):
        return OnBase(base=base, **options)
    made: Rewriter = systems[name](**options)
    return made


class RewriteRecords:
    """Makes each record output records, one for each style: what was said, what is said now, by which system."""

    def __init__(self, rewriter: Rewriter, settings: RewriteSettings, flagged: Counter[str] | None = None) -> None:
        """What the rewriter needs is loaded now. `flagged` counts what was noticed, where this is the same process."""
        self._rewriter, self._settings = rewriter, settings
        self._flagged = Counter[str]() if flagged is None else flagged
        self._requests = {rewriter.called(to): settings.request(to) for to in settings.to}
        for request in self._requests.values():
            rewriter.ready(request)

    def __call__(self, records: list[Record]) -> list[Record]:
        """The output records of each record, its other keys carried through."""
        texts = [record["text"] for record in records]
        found = [(target, self._rewriter.rewrites(texts, request)) for target, request in self._requests.items()]
        return [
            self._output(record, target, rewrites[place])
            for place, record in enumerate(records)
            for target, rewrites in found
        ]

    def _output(self, record: Record, target: str, made: Rewrite) -> Record:
        settings = self._settings
        output: Record = {"id": record["id"], "input": record["text"], "output": made.outputs[0]}
        output |= {"target": target, "system": self._rewriter.name}
        if settings.candidates > 1:
            output["candidates"] = list(made.outputs)
        if settings.explain:
            output["paraphrase"] = made.paraphrase
        if settings.explain or made.flags:
            output["flags"] = list(made.flags)
        if made.selected_with:
            output["selected_with"] = list(made.selected_with)
        self._flagged.update(made.flags)
        # An output that is rewritten again brings an input, output, target and system along: they are those of now.
        stale = _OURS if "target" in record and "system" in record else ()
        return output | {key: value for key, value in record.items() if key not in (*stale, *output, "text")}
