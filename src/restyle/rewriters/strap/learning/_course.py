"""The stages of learning, each a file in the run's folder.

    sentences.jsonl ──► paraphrases.jsonl ──► pairs.jsonl ──► draft/ ──► outputs.jsonl ──► evaluation.json ──► pack/
    (which split)       (in no style)        (the sound ones) (tuned)    (held-out ones   (by the judges       (with its
                                                                         rewritten)        of the set report)   card)

A paraphraser begins at pairs.jsonl, which is given.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from restyle.errors import InputError, UsageError
from restyle.jobs import JobSettings
from restyle.jobs import run as run_job
from restyle.jobs.stages import Stages, content_of
from restyle.lm.bases import base_hash
from restyle.metrics import Metric
from restyle.metrics.judges import judge_of
from restyle.records import Record, read_records, writing_to
from restyle.rewriters.strap._pack import ADAPTER_FILE, Card, Evaluation, Pack, Sample, find_pack, read_pack, write_card
from restyle.rewriters.strap._sources import StyleSources
from restyle.rewriters.strap.learning._budget import Budget
from restyle.rewriters.strap.learning._evaluation import (
    Scorer,
    evaluated,
    paraphrase_metrics,
    style_metrics,
    train_judge,
)
from restyle.rewriters.strap.learning._given_pairs import write_given
from restyle.rewriters.strap.learning._pairing import DROPPED, faults_of, write_pairs
from restyle.rewriters.strap.learning._sentences import write_of_recipe, write_own
from restyle.rewriters.strap.learning._settings import DEFAULT_BASE, LearnSettings
from restyle.rewriters.strap.learning._tuning import tune_settings, write_draft
from restyle.rewriters.strap.learning._writing import Paraphrase, ParaphraseOutputs, Rewrite, seconds_a_sentence
from restyle.settings import from_dict, to_dict

_SAMPLES = 10
# Of the work on sentences, so much is lost by a kill.
_SHARD = 128
# Either text files, or the sources that a recipe names.
Texts = Sequence[str | Path] | StyleSources


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
        sentences = self._sentences(texts)
        pairs = self._pairs(self._paraphrases(sentences))
        summary, sources = _told(texts)
        draft = self._draft(
            pairs,
            Card(
                self.name,
                summary=self.settings.summary or summary or f"the style of {self.name}",
                base=self._base,
                paraphraser=self._paraphraser.card.name,
                sources=sources,
                licence=self.settings.licence,
                command=self.command,
            ),
        )
        judges = style_metrics(self._judge(pairs, may_be_known=isinstance(texts, StyleSources)))
        inputs, on = self._tried(sentences, pairs)
        of = {"pack": content_of(draft.folder), "paraphraser": self._paraphraser.card.sha256}
        work = partial(Rewrite, str(draft.folder), str(self._paraphraser.folder), self.settings.engine)
        outputs = self._outputs(inputs, of, work)
        return self._pack(draft, self._evaluation(outputs, on, self.name, judges), outputs)

    def paraphraser(self, given: Path) -> Pack:
        """The pack of a paraphraser, in the run's folder."""
        of = {"pairs": content_of(given), "most": self.settings.most, "test": self.settings.test}
        pairs = self.stages.made("pairs.jsonl", of, lambda path: write_given(given, self.settings, path))
        draft = self._draft(
            pairs,
            Card(
                self.name,
                kind="paraphraser",
                summary=self.settings.summary or "says the same in no style",
                base=self._base,
                paraphraser="",
                sources=(given.name,),
                licence=self.settings.licence,
                command=self.command,
            ),
        )
        inputs = [{"id": each["id"], "text": each["text"]} for each in _of_split(pairs, "test")]
        work = partial(ParaphraseOutputs, str(draft.folder), self.settings.engine)
        outputs = self._outputs(
            inputs[: self._budget.tested(self.settings.test)], {"pack": content_of(draft.folder)}, work
        )
        on = f"held-out texts of {given.name}"
        return self._pack(draft, self._evaluation(outputs, on, None, paraphrase_metrics()), outputs)

    @property
    def _budget(self) -> Budget:
        return Budget(self.settings.minutes)

    @property
    def _paraphraser(self) -> Pack:
        return find_pack(self.settings.paraphraser, "paraphraser")

    @property
    def _base(self) -> str:
        if self.settings.kind == "style":
            return self._paraphraser.card.base
        return self.settings.base or DEFAULT_BASE

    def _sentences(self, texts: Texts) -> Path:
        settings = self.settings
        of: dict[str, Any] = {"most": settings.most, "test": settings.test, "seed": settings.seed}
        if isinstance(texts, StyleSources):
            return self.stages.made(
                "sentences.jsonl",
                of | {"sources": to_dict(texts)},
                lambda path: write_of_recipe(texts, settings, path),
            )
        of |= {"files": [content_of(file) for file in texts], "corpus": settings.corpus}
        return self.stages.made("sentences.jsonl", of, lambda path: write_own(texts, self.name, settings, path))

    def _paraphrases(self, sentences: Path) -> Path:
        """The sentences paraphrased, or as many as there is time for."""
        of = {"sentences": content_of(sentences), "paraphraser": self._paraphraser.card.sha256}
        most: dict[str, int] = {"test": self._budget.tested(self.settings.test)}
        if self.settings.minutes is not None:
            of_plan = of | {"minutes": self.settings.minutes}
            plan = self.stages.made("plan.json", of_plan, lambda path: self._plan(sentences, path))
            most |= json.loads(plan.read_text(encoding="utf-8"))
        records = [
            record for split in ("test", "valid", "train") for record in _of_split(sentences, split)[: most.get(split)]
        ]
        work = partial(Paraphrase, str(self._paraphraser.folder), self.settings.engine)
        return self.stages.made(
            "paraphrases.jsonl",
            of | {"most": most},
            lambda path: self._job(work, records, path, "paraphrasing", of),
            leaves=["paraphrases.jsonl.job"],
        )

    def _plan(self, sentences: Path, path: Path) -> None:
        """How many sentences of each split there is time to paraphrase."""
        train = _of_split(sentences, "train")
        texts = [record["text"] for record in train if "paraphrase" not in record]
        each = seconds_a_sentence(self._paraphraser.folder, self.settings.engine, texts)
        plan = self._budget.split(self._budget.sentences(each, self.stages.spent) or 0, self.settings.test)
        if plan["train"] < len(train):
            self.say(f"there is time for {plan['train']:,} of {len(train):,} sentences ({each:.2f} seconds each)")
        _write_json(path, plan)

    def _pairs(self, paraphrases: Path) -> Path:
        names = ("min_similarity", "min_length", "max_length")
        of = {"paraphrases": content_of(paraphrases), **{name: getattr(self.settings, name) for name in names}}
        pairs = self.stages.made("pairs.jsonl", of, lambda path: write_pairs(paraphrases, self.settings, path))
        dropped = faults_of(read_records(pairs.with_name(DROPPED)))
        why = ", ".join(f"{fault} {count:,}" for fault, count in dropped.items())
        self.say(f"{len(_of_split(pairs, 'train')):,} training pairs (dropped: {why or 'none'})")
        return pairs

    def _draft(self, pairs: Path, card: Card) -> Pack:
        """The tuned base as a pack without scores."""
        settings = self.settings
        of: dict[str, Any] = {"pairs": content_of(pairs), "tuning": to_dict(tune_settings(settings, self._base, None))}
        minutes = None
        if settings.minutes is not None:
            # Decided once: a run that goes on after a kill keeps to it.
            time = self.stages.made(
                "time.json",
                of | {"minutes": settings.minutes},
                lambda path: _write_json(path, {"training": self._budget.training(self.stages.spent)}),
            )
            minutes = json.loads(time.read_text(encoding="utf-8"))["training"]
        tuning = tune_settings(settings, self._base, minutes)

        def make(path: Path) -> None:
            write_draft(
                list(read_records(pairs)), card, tuning, settings, path,
                unfinished=self.stages.folder / "training", shown=self.shown, say=self.say,
            )  # fmt: skip

        of |= {"minutes": minutes, "card": to_dict(card), "precision": settings.precision}
        draft = read_pack(self.stages.made("draft", of, make, leaves=["training"]))
        seen = draft.card.settings["steps"] * tuning.batch_size / max(1, draft.card.sentences)
        if minutes is not None and seen < 1:
            self.say(f"there was time to see {seen:.0%} of the pairs: more --minutes make a better pack")
        return draft

    def _judge(self, pairs: Path, *, may_be_known: bool) -> str | Path:
        """The judge of the style: one of the set `report` where a style of a recipe has one, else a new one."""
        kind, most, seed = self.settings.judge, self._budget.judged(), self.settings.seed
        if may_be_known:
            try:
                return judge_of([self.name], part="report", kind=kind).card.name
            except UsageError:
                self.say(f"no judge knows {self.name}: one is trained")
        of = {"pairs": content_of(pairs), "kind": kind, "most": most, "seed": seed}
        records = list(read_records(pairs))
        return self.stages.made("judge", of, lambda path: train_judge(self.name, records, kind, most, seed, path))

    def _tried(self, sentences: Path, pairs: Path) -> tuple[list[Record], str]:
        """What is rewritten to see what the pack is worth, and what that is in words."""
        most = self._budget.tested(self.settings.test)
        if foreign := _of_split(sentences, "try")[:most]:
            return foreign, "test sentences of other styles"
        held = [{"id": each["id"], "text": each["paraphrase"]} for each in _of_split(pairs, "test")][:most]
        if not held:
            raise InputError(f"no held-out sentence of {self.name} is left to try the pack on; give more sentences")
        return held, "paraphrases of held-out sentences"

    def _outputs(self, inputs: Sequence[Record], of: dict[str, Any], work: Any) -> Path:
        of = {**of, "inputs": [record["text"] for record in inputs], "engine": self.settings.engine}
        return self.stages.made(
            "outputs.jsonl",
            of,
            lambda path: self._job(work, inputs, path, "rewriting", of),
            leaves=["outputs.jsonl.job"],
        )

    def _evaluation(self, outputs: Path, on: str, target: str | None, judges: Sequence[Metric]) -> Evaluation:
        of = {"outputs": content_of(outputs), "judges": [judge.signature() for judge in judges], "on": on}

        def make(path: Path) -> None:
            made = evaluated(_written(outputs), on, target, judges, self.scorer)
            _write_json(path, to_dict(made))

        path = self.stages.made("evaluation.json", of, make)
        return from_dict(Evaluation, json.loads(path.read_text(encoding="utf-8")), where=str(path))

    def _pack(self, draft: Pack, evaluation: Evaluation, outputs: Path) -> Pack:
        """The draft with what it is worth, and with samples: the first of the held-out ones, whose order is chance."""
        samples = tuple(
            Sample(each["input"], each.get("paraphrase", ""), each["output"]) for each in _written(outputs)[:_SAMPLES]
        )
        card = replace(draft.card, evaluations=(evaluation,), samples=samples)

        def make(path: Path) -> None:
            with writing_to(path):
                path.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(draft.adapter, path / ADAPTER_FILE)
            write_card(card, path)

        return read_pack(self.stages.made("pack", {"card": to_dict(card)}, make))

    def _job(self, work: Any, records: Sequence[Record], path: Path, what: str, identity: dict[str, Any]) -> None:
        jobs = replace(self.jobs, shard_size=_SHARD, on_error="stop")
        run_job(work, records, path, settings=jobs, identity=identity, what=what, total=len(records), shown=self.shown)


def _told(texts: Texts) -> tuple[str, tuple[str, ...]]:
    """What the texts are, in a few words, and where they come from."""
    if isinstance(texts, StyleSources):
        return texts.summary, texts.sources
    return "", tuple(Path(file).name for file in texts)


def _of_split(file: Path, split: str) -> list[Record]:
    return [record for record in read_records(file) if record["split"] == split]


def _written(outputs: Path) -> list[Record]:
    """Output records; a reader calls one of their fields `text`."""
    return [{**record, "output": record["text"]} for record in read_records(outputs, text_column="output")]


def _write_json(path: Path, values: dict[str, Any]) -> None:
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    with writing_to(path):
        whole.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        os.replace(whole, path)
