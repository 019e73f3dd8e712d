"""The stages of learning to hide an attribute, each a file in the run's folder; re-implementation, inferred objective.

    texts.jsonl ──► paraphrases.jsonl ──► pairs.jsonl ──► draft/ ──► outputs.jsonl ──► evaluation.json ──► pack/
    (of the set     (the intermediate     (the sound      (tuned)    (held-out texts   (leak, meaning)     (with
     select)         z, in no style)       ones)                      rewritten)                            card)

The system and its inner attacker learn from the set `select` of the texts, the evaluator from `report`: no text is in
both. Risk has an attacker of its own, of the base's subwords, which learns from the same texts as the system.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from restyle.assets import cache_home
from restyle.errors import InputError, UsageError
from restyle.jobs import JobSettings
from restyle.jobs import run as run_job
from restyle.jobs.stages import Stages, content_of
from restyle.lm.bases import base_hash, load_base
from restyle.metrics import Batch, Metric
from restyle.metrics.judges import WordJudge
from restyle.metrics.leakage import Leak, attacker, refuse_seen, refuse_shared
from restyle.metrics.similarity import SimWieting
from restyle.metrics.training import gathered, sources_of
from restyle.nets.word_weights import L2, WordWeights
from restyle.records import Record, read_records, write_records, writing_to
from restyle.rewriters._base import Request
from restyle.rewriters.privacy._learned import Learned
from restyle.rewriters.privacy._training import INFERRED, PrivacyLearnSettings
from restyle.rewriters.strap._pack import ADAPTER_FILE, Card, Evaluation, Pack, Sample, find_pack, read_pack, write_card
from restyle.rewriters.strap.learning import LearnSettings
from restyle.rewriters.strap.learning._evaluation import Scorer
from restyle.rewriters.strap.learning._pairing import write_pairs
from restyle.rewriters.strap.learning._writing import Paraphrase
from restyle.settings import from_dict, to_dict

_SHARD = 128
_SAMPLES = 10
_MOST_DEV = 500
_SCORES = {"leak": "LEAK", "sim-wieting": "SIM"}


def learn_to_hide(
    name: str,
    settings: PrivacyLearnSettings,
    output: str | Path,
    scorer: Scorer,
    *,
    run: str | Path | None = None,
    jobs: JobSettings | None = None,
    shown: bool | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Pack:
    """Learn a pack that rewrites texts so that an attribute cannot be told from them, and write it to a folder.

    What is unfinished lies in `run`, and the same call goes on with it. UsageError where `output` holds something else.
    """
    folder = Path(run) if run else cache_home() / "learned" / "privacy" / name
    target = Path(output)
    if target.exists() and not (target / ADAPTER_FILE).is_file():
        raise UsageError(f"{target} holds something that is no pack: name another folder with --output")
    with Stages(folder, say) as stages:
        made = _Course(name, settings, scorer, stages, jobs or JobSettings(), shown, say).pack()
        if not stages.leads:
            return made
        with writing_to(target):
            target.mkdir(parents=True, exist_ok=True)
            (target / ADAPTER_FILE).write_bytes(made.adapter.read_bytes())
        return write_card(made.card, target)


@dataclass(frozen=True)
class _Course:
    """What every stage needs to know."""

    name: str
    settings: PrivacyLearnSettings
    scorer: Scorer
    stages: Stages
    jobs: JobSettings
    shown: bool | None
    say: Callable[[str], None]

    def pack(self) -> Pack:
        """All stages, one after the other."""
        refuse_shared(self._evaluator, self._inner)
        texts = self._texts()
        self._check(list(read_records(texts)))
        pairs = self._pairs(self._paraphrases(texts))
        draft = self._draft(pairs)
        outputs = self._outputs(pairs, draft)
        return self._evaluated(draft, outputs)

    @property
    def _paraphraser(self) -> Pack:
        return find_pack(self.settings.paraphraser, "paraphraser")

    @property
    def _inner(self) -> WordJudge:
        return attacker(self.settings.attribute, "select")

    @property
    def _evaluator(self) -> WordJudge:
        return attacker(self.settings.attribute, "report")

    def _texts(self) -> Path:
        settings = self.settings
        of = {name: getattr(settings, name) for name in ("corpora", "share", "most", "test", "seed")}

        def make(path: Path) -> None:
            data = gathered(
                sources_of(settings.corpora), "select", share=settings.share, limit=settings.most, seed=settings.seed
            )
            parts = {"train": data.train, "valid": data.valid, "test": data.test}
            for part in parts.values():
                for label, texts in part.texts.items():  # a corpus may be in the order of its dates
                    random.Random(f"{settings.seed}/{label}").shuffle(texts)
            most = {"train": None, "valid": _MOST_DEV // 2, "test": settings.test}
            write_records(
                path,
                (
                    {"id": f"{split}/{label}/{at}", "text": text, "label": label, "split": split}
                    for split, part in parts.items()
                    for label, texts in part.texts.items()
                    for at, text in enumerate(texts[: most[split]])
                ),
            )

        return self.stages.made("texts.jsonl", of, make)

    def _check(self, records: Sequence[Record]) -> None:
        """Refuse labels that the attackers do not know, and texts from which the evaluator has learned."""
        labels, inner = self._inner.card.labels, self._inner.card.name
        if unknown := {record["label"] for record in records} - set(labels):
            raise InputError(
                f"the texts are of {', '.join(sorted(unknown))}, and {inner} knows {', '.join(labels)}: name the label "
                f"of each corpus, CORPUS/STYLE={labels[0]}"
            )
        learned = [record["text"] for record in records if record["split"] == "train"]
        seen = self._evaluator.model.has_seen(learned) / len(learned)
        refuse_seen(seen, "what the system would learn from", self._evaluator.card.name)

    def _paraphrases(self, texts: Path) -> Path:
        of = {"texts": content_of(texts), "paraphraser": self._paraphraser.card.sha256}
        records = list(read_records(texts))
        work = partial(Paraphrase, str(self._paraphraser.folder), self.settings.engine)
        return self.stages.made(
            "paraphrases.jsonl",
            of,
            lambda path: self._job(work, records, path, "paraphrasing", of),
            leaves=["paraphrases.jsonl.job"],
        )

    def _pairs(self, paraphrases: Path) -> Path:
        sound = LearnSettings(min_similarity=self.settings.min_similarity)
        of = {"paraphrases": content_of(paraphrases), "min_similarity": sound.min_similarity}
        return self.stages.made("pairs.jsonl", of, lambda path: write_pairs(paraphrases, sound, path))

    def _draft(self, pairs: Path) -> Pack:
        """The tuned base as a pack without scores."""
        settings, paraphraser = self.settings, self._paraphraser.card
        tuning = {
            "epochs": settings.epochs, "rank": settings.rank, "seed": settings.seed, "minutes": settings.minutes,
            **settings.training, "base": paraphraser.base,
        }  # fmt: skip
        names = ("objective", "alpha", "strength", "samples", "kappa", "precision")
        of = {"pairs": content_of(pairs), "tuning": tuning, "base": base_hash(paraphraser.base)}
        of |= {name: getattr(settings, name) for name in names} | {"inner": self._inner.card.fingerprint}

        def make(path: Path) -> None:
            self._tuned(
                list(read_records(pairs)), {key: each for key, each in tuning.items() if each is not None}, path
            )

        return read_pack(self.stages.made("draft", of, make, leaves=["training"], together=True))

    def _tuned(self, records: Sequence[Record], tuning: dict[str, Any], path: Path) -> None:
        from accelerate import PartialState

        from restyle.lm.training import Pairs, TuneSettings, tune
        from restyle.nets.device import hardware

        labels = self._inner.card.labels

        def of(split: str) -> Pairs:
            some = [record for record in records if record["split"] == split]
            whose = [labels.index(record["label"]) for record in some]
            return Pairs([each["paraphrase"] for each in some], [each["text"] for each in some], whose)

        train, settings = of("train"), from_dict(TuneSettings, tuning, where="training")
        tuned = tune(
            train, of("valid"), self.stages.folder / "training", settings, objective=self._objective(records),
            what=f"learning {self.name}", shown=self.shown, log=self.say,
        )  # fmt: skip
        if tuned.adapter is None:
            raise UsageError("rank is 0: a pack is an adapter, which has a rank of one or more")
        PartialState().wait_for_everyone()  # before the first process clears away what the others read here
        tuned.adapter.save(path / ADAPTER_FILE, self.settings.precision)
        paraphraser = self._paraphraser.card
        write_card(
            Card(
                self.name,
                summary=f"hides {self.settings.attribute}: {self.settings.weight} ({INFERRED})",
                base=paraphraser.base,
                base_sha256=paraphraser.base_sha256,
                max_subwords=settings.max_subwords,
                paraphraser=paraphraser.name,
                sources=self.settings.corpora,
                sentences=len(train),
                settings={
                    "objective": self.settings.weight,
                    "inner attacker": self._inner.card.fingerprint,
                    **{key: getattr(settings, key) for key in ("rank", "epochs", "seed")},
                    "steps": tuned.steps,
                },
                dev_loss=round(tuned.dev_loss, 4),
                made_on=hardware(),
                command=f"restyle privacy learn --name {self.name} --attribute {self.settings.attribute} …",
            ),
            path,
        )

    def _objective(self, records: Sequence[Record]) -> Any:
        """What is asked for beside the reconstruction; None where nothing is."""
        from restyle.lm.training import Adversary, LinearRisk, SampledRisk

        settings, inner = self.settings, self._inner
        if settings.objective == "rec":
            return None
        if settings.objective == "risk":
            return LinearRisk(*self._of_subwords(records), settings.alpha)
        if settings.objective == "risk-sampled":
            leak = Leak(inner)

            def leaks(texts: Sequence[str]) -> list[float]:
                return [float(each) for each in leak.score(Batch(list(texts)))]

            return SampledRisk(leaks, inner.card.fingerprint, settings.alpha, settings.samples, settings.kappa)
        return Adversary(len(inner.card.labels), settings.strength, settings.objective == "adv-bounded")

    def _of_subwords(self, records: Sequence[Record]) -> tuple[Any, float]:
        """An attacker that reads as the base does: the weight of each of its subwords, (V,), and the bias."""
        labels = self._inner.card.labels
        if len(labels) != 2:
            raise UsageError("the relaxation of Risk is for two labels; take --objective risk-sampled")
        train = [record for record in records if record["split"] == "train"]
        tokenizer = load_base(self._paraphraser.card.base).tokenizer
        rows = [list(map(str, tokenizer(each["text"], add_special_tokens=False)["input_ids"])) for each in train]
        numbers = [labels.index(each["label"]) for each in train]
        learned = WordWeights.fit(rows, numbers, labels, l2=L2)
        weights = np.zeros(len(tokenizer))
        weights[[int(word) for word in learned.words]] = learned.weights[0]
        return weights, float(learned.bias[0])

    def _outputs(self, pairs: Path, draft: Pack) -> Path:
        inputs = [record for record in read_records(pairs) if record["split"] == "test"]
        if not inputs:
            raise InputError(
                "no held-out text is left to try the pack on: the corpora have no test split of these labels"
            )
        of = {
            "pack": content_of(draft.folder),
            "inputs": [each["text"] for each in inputs],
            "engine": self.settings.engine,
        }
        work = partial(_Hidden, str(draft.folder), str(self._paraphraser.folder), self.settings.engine)
        return self.stages.made(
            "outputs.jsonl",
            of,
            lambda path: self._job(work, inputs, path, "rewriting", of),
            leaves=["outputs.jsonl.job"],
        )

    def _evaluated(self, draft: Pack, outputs: Path) -> Pack:
        """The draft with what it is worth to an evaluator that had no part in it, and with unchosen samples."""
        metrics: list[Metric] = [Leak(self._evaluator), SimWieting()]
        records = list(read_records(outputs, text_column="output"))
        of = {"outputs": content_of(outputs), "metrics": [each.signature() for each in metrics]}

        def make(path: Path) -> None:
            said = [record["text"] for record in records]
            card = self.scorer(said, [record["input"] for record in records], None, metrics)
            scores = {
                called: {"value": round(card[name], 4)}
                | dict(zip(("low", "high"), (round(float(end), 4) for end in card.interval(name)), strict=True))
                for name, called in _SCORES.items()
            }
            on = f"held-out texts of {', '.join(self.settings.corpora)}"
            made = {"on": on, "sentences": len(said), "scores": scores, "signature": str(card.signature)}
            _write_json(path, made)

        path = self.stages.made("evaluation.json", of, make)
        evaluation = from_dict(Evaluation, json.loads(path.read_text(encoding="utf-8")), where=str(path))
        samples = tuple(Sample(each["input"], each["paraphrase"], each["text"]) for each in _unchosen(records))
        card = replace(draft.card, evaluations=(evaluation,), samples=samples)

        def write(folder: Path) -> None:
            with writing_to(folder):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / ADAPTER_FILE).write_bytes(draft.adapter.read_bytes())
            write_card(card, folder)

        return read_pack(self.stages.made("pack", {"card": to_dict(card)}, write))

    def _job(self, work: Any, records: Sequence[Record], path: Path, what: str, identity: dict[str, Any]) -> None:
        jobs = replace(self.jobs, shard_size=_SHARD, on_error="stop")
        run_job(work, records, path, settings=jobs, identity=identity, what=what, total=len(records), shown=self.shown)


class _Hidden:
    """Rewrites each record's text by a pack that is being learned: an output record with its label."""

    def __init__(self, pack: str, paraphraser: str, engine: str) -> None:
        self._system = Learned(pack, paraphraser=paraphraser, engine=engine)

    def __call__(self, records: list[Record]) -> list[Record]:
        """The output records, in their order."""
        found = self._system.rewrites([record["text"] for record in records], Request(to=""))
        return [
            {"id": record["id"], "input": record["text"], "paraphrase": each.paraphrase, "output": each.outputs[0],
             "label": record["label"], "system": self._system.name}
            for record, each in zip(records, found, strict=True)
        ]  # fmt: skip


def _unchosen(records: Sequence[Record]) -> list[Record]:
    """The first of each label, whose order is chance."""
    labels = list(dict.fromkeys(record["label"] for record in records))
    return [
        record
        for label in labels
        for record in [each for each in records if each["label"] == label][: _SAMPLES // len(labels)]
    ]


def _write_json(path: Path, values: dict[str, Any]) -> None:
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    with writing_to(path):
        whole.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        os.replace(whole, path)
