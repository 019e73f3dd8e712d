"""The stages of learning, each a file in the run's folder.

    pairs.jsonl ──► draft/ ──► outputs.jsonl ──► evaluation.json ──► pack/
    (see            (tuned)    (held-out ones   (by the judges       (with its
    _gathering)                 rewritten)       of the set report)   card)

A paraphraser begins at pairs.jsonl, which is given; of several styles each has a folder of its own up to its pairs, and
for what is written in it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from restyle.errors import UsageError
from restyle.jobs import JobSettings
from restyle.jobs.stages import Stages, content_of
from restyle.lm.bases import base_hash
from restyle.metrics import Metric
from restyle.metrics.judges import judge_of
from restyle.records import Record, read_records, writing_to
from restyle.rewriters.strap._pack import (
    LSTM,
    Card,
    Evaluation,
    Pack,
    Sample,
    find_pack,
    prefix_of,
    read_pack,
    write_card,
)
from restyle.rewriters.strap._sources import StyleSources
from restyle.rewriters.strap.learning._budget import Budget
from restyle.rewriters.strap.learning._evaluation import (
    Scorer,
    evaluated,
    paraphrase_metrics,
    style_metrics,
    train_judge,
)
from restyle.rewriters.strap.learning._gathering import (
    Gathering,
    Texts,
    done_by_job,
    of_split,
    write_joined,
    write_json,
)
from restyle.rewriters.strap.learning._given_pairs import write_given
from restyle.rewriters.strap.learning._settings import DEFAULT_BASE, LearnSettings
from restyle.rewriters.strap.learning._tuning import tune_settings, write_draft, write_lstm
from restyle.rewriters.strap.learning._writing import ParaphraseOutputs, Rewrite
from restyle.settings import from_dict, to_dict

_SAMPLES = 10


@dataclass(frozen=True)
class Course:
    """What every stage needs to know, and the stages."""

    name: str
    settings: LearnSettings
    scorer: Scorer
    stages: Stages
    jobs: JobSettings
    command: str
    shown: bool | None
    say: Callable[[str], None]

    def identity(self) -> dict[str, Any]:
        """What the pack depends on beside its sentences; UsageError when the base is not the paraphraser's."""
        settings = to_dict(self.settings)
        if start := self._start:
            settings["start"] = start.card.sha256
            if start.model or start.card.base_sha256 != base_hash(self._base):
                raise UsageError(
                    f"{self.settings.start} cannot go on learning here: what goes on is an adapter of {self._base}"
                )
        if self.settings.kind == "paraphraser":
            return {"settings": settings, "base": base_hash(self._base)}
        card = self._paraphraser.card
        if self.settings.base and base_hash(self.settings.base) != card.base_sha256:
            raise UsageError(
                f"the paraphraser {card.name} is of the base {card.base}, and not of {self.settings.base}: "
                "learn one on that first (--kind paraphraser), and name it with --paraphraser"
            )
        return {"settings": settings, "paraphraser": card.sha256, "base": card.base_sha256}

    def style(self, texts: Texts) -> Pack:
        """The pack of a style, in the run's folder."""
        gathering = self._gathering(self.name)
        sentences = gathering.sentences(texts)
        pairs = gathering.pairs(sentences)
        summary, sources = _told(texts)
        draft = self._draft(pairs, self._card(summary or f"the style of {self.name}", sources))
        known = isinstance(texts, StyleSources)
        outputs, evaluation = self._tried(gathering, sentences, pairs, draft, str(draft.folder), may_be_known=known)
        return self._pack(draft, [evaluation], [outputs])

    def several(self, styles: Sequence[StyleSources]) -> Pack:
        """The pack of several styles of a recipe: one model, whose input says which one is meant."""
        gathered: list[tuple[Gathering, Path, Path]] = []
        for number, style in enumerate(styles, start=1):
            gathering = self._gathering(style.name, f"{style.name}/", number / len(styles))
            sentences = gathering.sentences(style)
            gathered.append((gathering, sentences, gathering.pairs(sentences)))
        of_styles = {gathering.style: pairs for gathering, _, pairs in gathered}
        joined = self.stages.made(
            "pairs.jsonl",
            {name: content_of(pairs) for name, pairs in of_styles.items()},
            lambda path: write_joined(of_styles, path),
        )
        sources = tuple(dict.fromkeys(source for style in styles for source in style.sources))
        card = self._card(f"several styles: {', '.join(of_styles)}", sources)
        draft = self._draft(joined, replace(card, kind="multi", styles=tuple(of_styles)))
        tried = [
            self._tried(*each, draft, f"{draft.folder}:{each[0].style}", may_be_known=True) for each in gathered
        ]  # each: its gathering, sentences and pairs
        evaluations = [
            replace(evaluation, on=prefix_of(gathering.style) + evaluation.on)
            for (gathering, _, _), (_, evaluation) in zip(gathered, tried, strict=True)
        ]
        return self._pack(draft, evaluations, [outputs for outputs, _ in tried])

    def paraphraser(self, given: Path) -> Pack:
        """The pack of a paraphraser, in the run's folder."""
        of = {"pairs": content_of(given), "most": self.settings.most, "test": self.settings.test}
        pairs = self.stages.made("pairs.jsonl", of, lambda path: write_given(given, self.settings, path))
        card = replace(self._card("says the same in no style", (given.name,)), kind="paraphraser", paraphraser="")
        draft = self._draft(pairs, card)
        inputs = [{"id": each["id"], "text": each["text"]} for each in of_split(pairs, "test")]
        work = partial(ParaphraseOutputs, str(draft.folder), self.settings.engine)
        outputs = self._outputs(
            "", inputs[: self._budget.tested(self.settings.test)], {"pack": content_of(draft.folder)}, work
        )
        on = f"held-out texts of {given.name}"
        return self._pack(draft, [self._evaluation("", outputs, on, None, paraphrase_metrics())], [outputs])

    @property
    def _budget(self) -> Budget:
        return Budget(self.settings.minutes)

    @property
    def _paraphraser(self) -> Pack:
        return find_pack(self.settings.paraphraser, "paraphraser")

    @property
    def _start(self) -> Pack | None:
        """The pack that goes on learning."""
        return find_pack(self.settings.start, self.settings.kind) if self.settings.start else None

    @property
    def _base(self) -> str:
        if self.settings.kind == "paraphraser":
            return self.settings.base or DEFAULT_BASE
        return self._paraphraser.card.base

    def _gathering(self, style: str, folder: str = "", share: float = 1.0) -> Gathering:
        """The stages up to the pairs; when they are done, so large a share of the time for paraphrasing is spent."""
        budget = replace(self._budget, share=share)
        return Gathering(
            style, self.settings, self._paraphraser, budget, self.stages, self.jobs, self.shown, self.say, folder
        )

    def _card(self, summary: str, sources: tuple[str, ...]) -> Card:
        """What is known before anything is learned."""
        return Card(
            self.name,
            summary=self.settings.summary or summary,
            base=self._base,
            paraphraser=self._paraphraser.card.name if self.settings.kind != "paraphraser" else "",
            sources=sources,
            licence=self.settings.licence,
            command=self.command,
        )

    def _draft(self, pairs: Path, card: Card) -> Pack:
        """The tuned base as a pack without scores."""
        settings, start = self.settings, self._start
        of: dict[str, Any] = {"pairs": content_of(pairs), "tuning": to_dict(tune_settings(settings, self._base, None))}
        minutes, base = None, self._base
        if settings.minutes is not None:
            # Decided once: a run that goes on after a kill keeps to it.
            time = self.stages.made(
                "time.json",
                of | {"minutes": settings.minutes},
                lambda path: write_json(path, {"training": self._budget.training(self.stages.spent)}),
            )
            minutes = json.loads(time.read_text(encoding="utf-8"))["training"]
        if base == LSTM:
            of |= {"lstm": settings.lstm}
            base = str(self.stages.made("untrained", of, lambda path: write_lstm(pairs, settings, path)))
        tuning = replace(tune_settings(settings, self._base, minutes), base=base)

        def make(path: Path) -> None:
            write_draft(
                list(read_records(pairs)), card, tuning, settings, path,
                start=start, unfinished=self.stages.folder / "training", shown=self.shown, say=self.say,
            )  # fmt: skip

        of |= {"minutes": minutes, "card": to_dict(card), "precision": settings.precision}
        of |= {"start": start.card.sha256} if start else {}
        draft = read_pack(self.stages.made("draft", of, make, leaves=["training"], together=True))
        seen = draft.card.settings["steps"] * tuning.batch_size / max(1, draft.card.sentences)
        if minutes is not None and seen < 1:
            self.say(f"there was time to see {seen:.0%} of the pairs: more --minutes make a better pack")
        return draft

    def _tried(
        self, gathering: Gathering, sentences: Path, pairs: Path, draft: Pack, to: str, *, may_be_known: bool
    ) -> tuple[Path, Evaluation]:
        """What a draft writes of held-out sentences in one style, which it is asked for as `to`, and its scores."""
        folder = gathering.folder
        judges = style_metrics(self._judge(gathering.style, folder, pairs, may_be_known=may_be_known))
        inputs, on = gathering.tried(sentences, pairs)
        of = {"pack": content_of(draft.folder), "paraphraser": self._paraphraser.card.sha256}
        work = partial(Rewrite, to, str(self._paraphraser.folder), self.settings.engine)
        outputs = self._outputs(folder, inputs, of, work)
        return outputs, self._evaluation(folder, outputs, on, gathering.style, judges)

    def _judge(self, style: str, folder: str, pairs: Path, *, may_be_known: bool) -> str | Path:
        """The judge of a style: one of the set `report` where a style of a recipe has one, else a new one."""
        kind, most, seed = self.settings.judge, self._budget.judged(), self.settings.seed
        if may_be_known:
            try:
                return judge_of([style], part="report", kind=kind).card.name
            except UsageError:
                self.say(f"no judge knows {style}: one is trained")
        of = {"pairs": content_of(pairs), "kind": kind, "most": most, "seed": seed}
        records = list(read_records(pairs))
        return self.stages.made(f"{folder}judge", of, lambda path: train_judge(style, records, kind, most, seed, path))

    def _outputs(self, folder: str, inputs: Sequence[Record], of: dict[str, Any], work: Any) -> Path:
        of = {**of, "inputs": [record["text"] for record in inputs], "engine": self.settings.engine}
        return self.stages.made(
            f"{folder}outputs.jsonl",
            of,
            lambda path: done_by_job(work, inputs, path, self.jobs, "rewriting", of, self.shown),
            leaves=[f"{folder}outputs.jsonl.job"],
        )

    def _evaluation(
        self, folder: str, outputs: Path, on: str, target: str | None, judges: Sequence[Metric]
    ) -> Evaluation:
        of = {"outputs": content_of(outputs), "judges": [judge.signature() for judge in judges], "on": on}

        def make(path: Path) -> None:
            made = evaluated(_written(outputs), on, target, judges, self.scorer)
            write_json(path, to_dict(made))

        path = self.stages.made(f"{folder}evaluation.json", of, make)
        return from_dict(Evaluation, json.loads(path.read_text(encoding="utf-8")), where=str(path))

    def _pack(self, draft: Pack, evaluations: Sequence[Evaluation], outputs: Sequence[Path]) -> Pack:
        """The draft with what it is worth, and with samples: the first of the held-out ones, whose order is chance."""
        samples = tuple(
            Sample(each["input"], each.get("paraphrase", ""), each["output"])
            for file in outputs
            for each in _written(file)[: -(-_SAMPLES // len(outputs))]
        )
        card = replace(draft.card, evaluations=tuple(evaluations), samples=samples)

        def make(path: Path) -> None:
            with writing_to(path):
                shutil.copytree(draft.folder, path, dirs_exist_ok=True)
            write_card(card, path)

        return read_pack(self.stages.made("pack", {"card": to_dict(card)}, make))


def _told(texts: Texts) -> tuple[str, tuple[str, ...]]:
    """What the texts are, in a few words, and where they come from."""
    if isinstance(texts, StyleSources):
        return texts.summary, texts.sources
    return "", tuple(Path(file).name for file in texts)


def _written(outputs: Path) -> list[Record]:
    """Output records; a reader calls one of their fields `text`."""
    return [{**record, "output": record["text"]} for record in read_records(outputs, text_column="output")]
