"""Obfuscating records: the work that a job gives to its workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from restyle.errors import UnknownName, UsageError
from restyle.metrics.leakage import attacker
from restyle.records import Record
from restyle.rewriters._base import DEFAULT_KEEP, Request, Rewrite, Rewriter
from restyle.rewriters.privacy._choosing import Choice, LeakChooser
from restyle.rewriters.strap import _guard, _keeping
from restyle.rewriters.strap._foreign import foreign
from restyle.rewriters.strap._guard import Flag
from restyle.rewriters.strap._pack import packs
from restyle.settings import setting
from restyle.text.entities import mask

SYSTEMS = ("risk-rerank", "lexical", "paraphrase", "back-translation", "copy")
# What needs no network to write needs none to be chosen from.
_WITHOUT_NETWORKS = ("lexical", "back-translation", "copy")
NEUTRAL = "neutral"
STILL_LEAKS = "still leaks"
# What an earlier run said of itself, which is not true of the next.
_OURS = ("flags", "selected_with", "similarity")


@dataclass(frozen=True)
class ObfuscateSettings:
    """What is hidden, how well, and by which system."""

    attribute: str = setting("", "what is hidden: gender, politics, or the folder of an attacker of your own")
    system: str = setting(
        "risk-rerank", f"{', '.join(SYSTEMS)}, or a pack that `restyle privacy learn` made, by name or folder"
    )
    max_leak: float | None = setting(
        None, "leave a text alone that gives away no more (0 to 1), and bring others under it", minimum=0, maximum=1
    )
    alpha: float = setting(1.0, "how much a leak weighs against a loss of meaning", minimum=0)
    candidates: int = setting(8, "rewrites of each text to choose from", minimum=1)
    nucleus: float = setting(0.0, "0 finds the likeliest rewrites, more draws them: 0.6, 0.9", minimum=0, maximum=1)
    keep: str = setting(
        ",".join(DEFAULT_KEEP), "what must stay, with commas between: names, numbers, addresses; or none"
    )
    mask: str = setting("", "what gets a tag in its place, such as -PERSON-: names, numbers, addresses")
    pivots: str = setting(
        "spa", "of back-translation: spa, or spa,cat (several ways), or spa+cat (one after the other)"
    )
    models: dict[str, tuple[str, str]] = setting({}, "of back-translation: for a pivot two models, there and back")
    paraphraser: str = setting("diverse", "the paraphraser of risk-rerank and paraphrase: a pack")
    engine: str = setting("auto", "what runs models: auto, ctranslate2, torch")
    seed: int = setting(0, "the same seed gives the same words")

    def request(self, candidates: int) -> Request:
        """What is asked of a system."""
        return Request(
            to=self.attribute, candidates=candidates, nucleus=self.nucleus, keep=_listed(self.keep), seed=self.seed
        )

    @property
    def masked(self) -> tuple[str, ...]:
        """The kinds of entities that get tags; UnknownName for a word that means none."""
        return _keeping.kinds_of(_listed(self.mask))


@dataclass
class Told:
    """What a run has to say when it is over, where it is of one process."""

    flags: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    before: float = 0.0
    after: float = 0.0
    left: int = 0

    def __str__(self) -> str:
        alone = f"; {self.left:,} were under it already and left alone" if self.left else ""
        count = f"mean of {self.texts:,} texts" if self.texts > 1 else "1 text"
        return f"leak {self.before / self.texts:.2f} -> {self.after / self.texts:.2f} ({count}{alone})"


def opened(settings: ObfuscateSettings) -> Rewriter:
    """The system that the settings name; UsageError or UnknownName for what cannot be meant."""
    if not settings.attribute:
        raise UsageError("no attribute was given; name what is to be hidden: --attribute gender")
    attacker(settings.attribute, "select")
    _ = settings.masked
    made = _system(settings)
    if settings.system in SYSTEMS:
        made.checked(settings.attribute)
    return made


def _system(settings: ObfuscateSettings) -> Rewriter:
    from restyle.rewriters.back_translation import BackTranslation
    from restyle.rewriters.copy import Copy
    from restyle.rewriters.privacy import Lexical, Paraphrase, RiskRerank
    from restyle.rewriters.privacy._learned import Learned

    models: dict[str, Any] = {"paraphraser": settings.paraphraser, "engine": settings.engine}
    if settings.system == "risk-rerank":
        return RiskRerank(alpha=settings.alpha, pool=settings.candidates, **models)
    if settings.system == "paraphrase":
        return Paraphrase(**models)
    if settings.system == "back-translation":
        return BackTranslation(settings.pivots, models=settings.models)
    if settings.system in ("lexical", "copy"):
        return Lexical() if settings.system == "lexical" else Copy()
    try:
        return Learned(settings.system, engine=settings.engine)
    except UnknownName:
        raise UnknownName("system or pack", settings.system, [*SYSTEMS, *packs()]) from None


class ObfuscateRecords:
    """Makes each record an output record: what was said, what is said now, and what either gives away."""

    def __init__(self, rewriter: Rewriter, settings: ObfuscateSettings, told: Told | None = None) -> None:
        """What is needed is loaded now. `told` adds up what there is to say, where this is the same process."""
        self._rewriter, self._settings = rewriter, settings
        self._told = Told() if told is None else told
        # A system whose best rewrite is wanted gives one; where there is a choice to make, several.
        self._chooses = settings.max_leak is not None or settings.system == "risk-rerank"
        self._chooser = LeakChooser(
            settings.attribute,
            alpha=settings.alpha,
            max_leak=settings.max_leak,
            fluent=self._chooses and settings.system not in _WITHOUT_NETWORKS,
        )
        if self._chooses:
            self._chooser.ready()
        self._request = settings.request(settings.candidates if self._chooses else 1)
        rewriter.ready(self._request)

    def __call__(self, records: list[Record]) -> list[Record]:
        """The output records of the records, their other keys carried through."""
        texts = [record["text"] for record in records]
        before = self._chooser.leaks(texts)
        flags = _unfit(texts)
        limit = self._settings.max_leak
        alone = [limit is not None and leak <= limit for leak in before]
        asked = [place for place in range(len(texts)) if not flags[place] and not alone[place]]
        found = dict(zip(asked, self._rewritten([texts[place] for place in asked]), strict=True))
        outputs = [found[place][0].output if place in found else text for place, text in enumerate(texts)]
        outputs = self._masked(outputs)
        after = self._chooser.leaks(outputs)
        return [
            self._output(record, outputs[place], (before[place], after[place]), flags[place], found.get(place))
            for place, record in enumerate(records)
        ]

    def _rewritten(self, texts: Sequence[str]) -> list[tuple[Choice, Rewrite]]:
        """The rewrite of each text that is given, and what the system says of it."""
        from restyle.rewriters.privacy import RiskRerank

        pool = self._rewriter.candidates if isinstance(self._rewriter, RiskRerank) else self._rewriter.rewrites
        made = pool(texts, self._request)
        if self._chooses:
            return list(zip(self._chooser.chosen(texts, [each.outputs for each in made]), made, strict=True))
        return [(Choice(each.text, each.outputs[0], 0.0, 0.0, 0.0, True), each) for each in made]

    def _flags(self, choice: Choice, made: Rewrite) -> list[str]:
        """What is to be said of the rewrite that was chosen, whichever of a system's it is."""
        flags: list[str] = [flag for flag in made.flags if flag in (Flag.IN_PARTS, *_guard.AS_IT_WAS)]
        if _guard.turned(choice.text, choice.output):
            flags.append(Flag.NEGATION)
        [kept] = _keeping.found([choice.text], _keeping.kinds_of(self._request.keep))
        if missing := _keeping.lost(kept, choice.output):
            flags.append(f"{Flag.LOST}: {', '.join(entity.text for entity in missing)}")
        return flags

    def _masked(self, outputs: Sequence[str]) -> list[str]:
        kinds = self._settings.masked
        if not kinds:
            return list(outputs)
        return [masked.text for masked in mask(list(outputs), kinds, numbered=False)]

    def _output(
        self, record: Record, output: str, leaks: tuple[float, float], unfit: str, found: tuple[Choice, Rewrite] | None
    ) -> Record:
        before, after = leaks
        limit = self._settings.max_leak
        made: Record = {"id": record["id"], "input": record["text"], "output": output, "target": NEUTRAL}
        made |= {"system": self._rewriter.name, "attribute": self._settings.attribute}
        made |= {"leak_before": round(before, 4), "leak_after": round(after, 4)}
        flags = [unfit] if unfit else self._flags(*found) if found else []
        if limit is not None and after > limit:
            flags.append(STILL_LEAKS)
        if flags:
            made["flags"] = flags
        selected_with = dict.fromkeys(found[1].selected_with) if found else {}
        if found and self._chooses:
            selected_with |= dict.fromkeys(self._chooser.fingerprints)
        if selected_with:
            made["selected_with"] = list(selected_with)
        self._told.flags.update(flags)
        self._told.texts += 1
        self._told.before += before
        self._told.after += after
        self._told.left += found is None and not unfit
        # An output that is obfuscated again brings keys of these names along: they are those of now.
        stale = _OURS if "target" in record and "system" in record else ()
        return made | {key: value for key, value in record.items() if key not in (*stale, *made, "text")}


def with_systems_own(settings: ObfuscateSettings) -> ObfuscateSettings:
    """The settings without what their system has no use for, so that a job is resumed by what matters."""
    return settings if settings.system == "back-translation" else replace(settings, pivots="spa", models={})


def _unfit(texts: Sequence[str]) -> list[str]:
    """Why each text is not to be rewritten, whatever the system; "" where it is."""
    strange = foreign(texts)
    return [
        _guard.unfit(text, 0, 1) or (Flag.FOREIGN if is_foreign else "")
        for text, is_foreign in zip(texts, strange, strict=True)
    ]


def _listed(names: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in names.split(",") if each.strip())
