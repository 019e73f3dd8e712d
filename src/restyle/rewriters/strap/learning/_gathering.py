"""From the texts of one style to the pairs that it is learned from: the first stages of a run.

sentences.jsonl ──► paraphrases.jsonl ──► pairs.jsonl
(which split)       (in no style)        (the sound ones)
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from restyle.errors import InputError
from restyle.jobs import JobSettings
from restyle.jobs import run as run_job
from restyle.jobs.stages import Stages, content_of
from restyle.records import Record, RecordWriter, read_records, writing_to
from restyle.rewriters.strap._pack import Pack, prefix_of
from restyle.rewriters.strap._sources import StyleSources
from restyle.rewriters.strap.learning._budget import Budget
from restyle.rewriters.strap.learning._pairing import DROPPED, faults_of, write_pairs
from restyle.rewriters.strap.learning._sentences import write_of_recipe, write_own
from restyle.rewriters.strap.learning._settings import LearnSettings
from restyle.rewriters.strap.learning._writing import Paraphrase, seconds_a_sentence
from restyle.settings import to_dict

# Of the work on sentences, so much is lost by a kill.
_SHARD = 128
# Either text files, or the sources that a recipe names.
Texts = Sequence[str | Path] | StyleSources


@dataclass(frozen=True)
class Gathering:
    """What the stages of one style need to know, and the stages."""

    style: str
    settings: LearnSettings
    paraphraser: Pack
    budget: Budget
    stages: Stages
    jobs: JobSettings
    shown: bool | None
    say: Callable[[str], None]
    folder: str = ""  # of its files, within that of the run, where a run learns several styles

    def sentences(self, texts: Texts) -> Path:
        """The sentences, each in its split."""
        settings = self.settings
        of: dict[str, Any] = {"most": settings.most, "test": settings.test, "seed": settings.seed}
        if isinstance(texts, StyleSources):
            of |= {"sources": to_dict(texts)}
            return self.stages.made(
                f"{self.folder}sentences.jsonl", of, lambda path: write_of_recipe(texts, settings, path)
            )
        of |= {"files": [content_of(file) for file in texts], "corpus": settings.corpus}
        return self.stages.made(
            f"{self.folder}sentences.jsonl", of, lambda path: write_own(texts, self.style, settings, path)
        )

    def pairs(self, sentences: Path) -> Path:
        """The sentences with their paraphrases, without those that would teach nonsense."""
        paraphrases = self._paraphrases(sentences)
        names = ("min_similarity", "min_length", "max_length")
        of = {"paraphrases": content_of(paraphrases), **{name: getattr(self.settings, name) for name in names}}
        pairs = self.stages.made(
            f"{self.folder}pairs.jsonl", of, lambda path: write_pairs(paraphrases, self.settings, path)
        )
        dropped = faults_of(read_records(pairs.with_name(DROPPED)))
        why = ", ".join(f"{fault} {count:,}" for fault, count in dropped.items())
        self.say(f"{len(of_split(pairs, 'train')):,} training pairs (dropped: {why or 'none'})")
        return pairs

    def tried(self, sentences: Path, pairs: Path) -> tuple[list[Record], str]:
        """What is rewritten to see what the pack is worth, and what that is in words."""
        most = self.budget.tested(self.settings.test)
        if foreign := of_split(sentences, "try")[:most]:
            return foreign, "test sentences of other styles"
        held = [{"id": each["id"], "text": each["paraphrase"]} for each in of_split(pairs, "test")][:most]
        if not held:
            raise InputError(f"no held-out sentence of {self.style} is left to try the pack on; give more sentences")
        return held, "paraphrases of held-out sentences"

    def _paraphrases(self, sentences: Path) -> Path:
        """The sentences paraphrased, or as many as there is time for."""
        of = {"sentences": content_of(sentences), "paraphraser": self.paraphraser.card.sha256}
        most: dict[str, int] = {"test": self.budget.tested(self.settings.test)}
        if self.settings.minutes is not None:
            of_plan = of | {"minutes": self.settings.minutes}
            plan = self.stages.made(f"{self.folder}plan.json", of_plan, lambda path: self._plan(sentences, path))
            most |= json.loads(plan.read_text(encoding="utf-8"))
        records = [
            record for split in ("test", "valid", "train") for record in of_split(sentences, split)[: most.get(split)]
        ]
        work = partial(Paraphrase, str(self.paraphraser.folder), self.settings.engine)
        name = f"{self.folder}paraphrases.jsonl"
        return self.stages.made(
            name,
            of | {"most": most},
            lambda path: done_by_job(work, records, path, self.jobs, "paraphrasing", of, self.shown),
            leaves=[f"{name}.job"],
        )

    def _plan(self, sentences: Path, path: Path) -> None:
        """How many sentences of each split there is time to paraphrase."""
        train = of_split(sentences, "train")
        texts = [record["text"] for record in train if "paraphrase" not in record]
        each = seconds_a_sentence(self.paraphraser.folder, self.settings.engine, texts)
        plan = self.budget.split(self.budget.sentences(each, self.stages.spent) or 0, self.settings.test)
        if plan["train"] < len(train):
            self.say(f"there is time for {plan['train']:,} of {len(train):,} sentences ({each:.2f} seconds each)")
        write_json(path, plan)


def write_joined(of_styles: dict[str, Path], path: Path) -> None:
    """The pairs of several styles in turn, as one model learns them: each paraphrase says which style is wanted."""
    every = [
        [record | {"id": f"{style}/{record['id']}", "paraphrase": prefix_of(style) + record["paraphrase"]}
         for record in read_records(file)]
        for style, file in of_styles.items()
    ]  # fmt: skip
    with RecordWriter(path) as out:
        for place in range(max(map(len, every))):
            for records in every:
                if place < len(records):
                    out.write(records[place])


def done_by_job(
    work: Any, records: Sequence[Record], path: Path, jobs: JobSettings, what: str, identity: dict[str, Any],
    shown: bool | None,
) -> None:  # fmt: skip
    """Work on sentences that goes on where it was killed; one that fails stops it."""
    jobs = replace(jobs, shard_size=_SHARD, on_error="stop")
    run_job(work, records, path, settings=jobs, identity=identity, what=what, total=len(records), shown=shown)


def of_split(file: Path, split: str) -> list[Record]:
    """The records of a split."""
    return [record for record in read_records(file) if record["split"] == split]


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a file whole, or not at all."""
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    with writing_to(path):
        whole.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        os.replace(whole, path)
