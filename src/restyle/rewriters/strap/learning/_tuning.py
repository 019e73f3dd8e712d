"""The training stage: pairs in, a draft of a pack out; its card says all but what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from restyle.lm.bases import base_hash
from restyle.lm.training import TuneSettings
from restyle.records import Record
from restyle.rewriters.strap._pack import ADAPTER_FILE, Card, Pack, write_card
from restyle.rewriters.strap.learning._settings import LearnSettings
from restyle.settings import from_dict, to_dict

# What a reader of a card wants to know of the training; the rest stands in its command.
_TOLD = ("rank", "epochs", "batch_size", "learning_rate", "seed")
# More dev sentences would cost minutes at every evaluation and decide nothing.
_MOST_DEV = 500


def tune_settings(settings: LearnSettings, base: str, minutes: float | None) -> TuneSettings:
    """How the base is tuned; SettingsError names what the table `training` cannot hold."""
    own = {"epochs": settings.epochs, "rank": settings.rank, "seed": settings.seed, **settings.training}
    if minutes is not None:
        own["minutes"] = minutes
    return from_dict(TuneSettings, {**own, "base": base}, where="training")


def write_draft(
    pairs: Sequence[Record],
    card: Card,
    tuning: TuneSettings,
    settings: LearnSettings,
    folder: Path,
    *,
    unfinished: Path,
    shown: bool | None,
    say: Callable[[str], None],
) -> Pack:
    """Tune a base on the pairs, and write adapter and card into a folder.

    A style is the way from paraphrase to sentence, a paraphraser the way from text to paraphrase. What an unfinished
    training needs to go on lies in `unfinished`.
    """
    from restyle.lm.training import Pairs, tune
    from restyle.nets.device import hardware

    before, after = ("paraphrase", "text") if card.kind == "style" else ("text", "paraphrase")

    def of(split: str, most: int | None = None) -> Pairs:
        records = [record for record in pairs if record["split"] == split][:most]
        return Pairs([record[before] for record in records], [record[after] for record in records])

    train = of("train")
    tuned = tune(train, of("valid", _MOST_DEV), unfinished, tuning, what=f"learning {card.name}", shown=shown, log=say)
    if tuned.adapter is None:
        raise AssertionError("LearnSettings asks for a rank of one or more")
    tuned.adapter.save(folder / ADAPTER_FILE, settings.precision)
    told: dict[str, Any] = {key: value for key, value in to_dict(tuning).items() if key in _TOLD}
    facts = {"settings": told | {"steps": tuned.steps}, "sentences": len(train), "dev_loss": round(tuned.dev_loss, 4)}
    made = {"base_sha256": base_hash(tuning.base), "max_subwords": tuning.max_subwords, "made_on": hardware()}
    return write_card(from_dict(Card, {**to_dict(card), **facts, **made}), folder)
