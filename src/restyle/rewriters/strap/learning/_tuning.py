"""The training stage: pairs in, a draft of a pack out; its card says all but what it is worth."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from restyle.lm.adapters import Adapter
from restyle.lm.bases import base_hash
from restyle.lm.training import TuneSettings
from restyle.records import Record, read_records, writing_to
from restyle.rewriters.strap._pack import ADAPTER_FILE, LSTM, MODEL_FOLDER, Card, Pack, write_card
from restyle.rewriters.strap.learning._settings import LearnSettings
from restyle.settings import from_dict, to_dict

# What a reader of a card wants to know of the training; the rest stands in its command.
_TOLD = ("rank", "epochs", "batch_size", "learning_rate", "seed")
# More dev sentences would cost minutes at every evaluation and decide nothing.
_MOST_DEV = 500
# Where the Trainer writes for tensorboard, when it is asked to.
_LOGS = "runs"
# Where all weights are tuned: STRAP's, and one for weights that know nothing.
_WHOLE_RATE, _LSTM_RATE = 5e-5, 1e-3


def tune_settings(settings: LearnSettings, base: str, minutes: float | None) -> TuneSettings:
    """How the base is tuned; SettingsError names what the table `training` cannot hold."""
    own: dict[str, Any] = {"epochs": settings.epochs, "rank": settings.rank, "seed": settings.seed}
    if base == LSTM:
        own |= {"rank": 0, "learning_rate": _LSTM_RATE}
    elif not settings.rank:
        own |= {"learning_rate": _WHOLE_RATE}
    own |= settings.training
    if minutes is not None:
        own["minutes"] = minutes
    return from_dict(TuneSettings, {**own, "base": base}, where="training")


def write_lstm(pairs: Path, settings: LearnSettings, folder: Path) -> None:
    """The LSTM that is about to learn the pairs: it knows their subwords, and nothing else."""
    from restyle.nets.lstm import LstmSettings, write_untrained

    train = [record for record in read_records(pairs) if record["split"] == "train"]
    texts = [text for record in train for text in (record["text"], record["paraphrase"])]
    write_untrained(texts, from_dict(LstmSettings, settings.lstm, where="lstm"), settings.seed, folder)


def write_draft(
    pairs: Sequence[Record],
    card: Card,
    tuning: TuneSettings,
    settings: LearnSettings,
    folder: Path,
    *,
    start: Pack | None = None,
    unfinished: Path,
    shown: bool | None,
    say: Callable[[str], None],
) -> Pack:
    """Tune a base on the pairs, from `start` on; write adapter, or the whole model, and card into a folder.

    A style is the way from paraphrase to sentence, a paraphraser the way from text to paraphrase. What an unfinished
    training needs to go on lies in `unfinished`.
    """
    from accelerate import PartialState

    from restyle.lm.training import Pairs, tune
    from restyle.nets.device import hardware

    before, after = ("text", "paraphrase") if card.kind == "paraphraser" else ("paraphrase", "text")

    def of(split: str, most: int | None = None) -> Pairs:
        records = [record for record in pairs if record["split"] == split][:most]
        return Pairs([record[before] for record in records], [record[after] for record in records])

    train = of("train")
    begun = Adapter.load(start.adapter) if start else None
    tuned = tune(
        train, of("valid", _MOST_DEV), unfinished, tuning,
        start=begun, what=f"learning {card.name}", shown=shown, log=say,
    )  # fmt: skip
    if tuned.adapter is not None:
        tuned.adapter.save(folder / ADAPTER_FILE, settings.precision)
    else:
        with writing_to(folder):
            shutil.copytree(tuned.folder, folder / MODEL_FOLDER, dirs_exist_ok=True)
    if (unfinished / _LOGS).is_dir():
        shutil.copytree(unfinished / _LOGS, folder.parent / "tensorboard", dirs_exist_ok=True)
    PartialState().wait_for_everyone()  # before the first process clears away what the others read here
    told: dict[str, Any] = {key: value for key, value in to_dict(tuning).items() if key in _TOLD}
    facts = {"settings": told | {"steps": tuned.steps}, "sentences": len(train), "dev_loss": round(tuned.dev_loss, 4)}
    made = {"base_sha256": base_hash(card.base), "max_subwords": tuning.max_subwords, "made_on": hardware()}
    return write_card(from_dict(Card, {**to_dict(card), **facts, **made}), folder)
