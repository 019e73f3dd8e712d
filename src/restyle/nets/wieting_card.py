"""The card of a similarity model: judge.toml for programs, and README.md for people, all of it from the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomli_w

from restyle.corpora import catalogue
from restyle.nets.wieting_settings import TrainSettings
from restyle.records import writing_to
from restyle.settings import read_toml

CARD, README = "judge.toml", "README.md"

Card = Mapping[str, Any]


def card_files(card: Card) -> dict[str, bytes]:
    """The two files of a card; judge.toml last, which makes a folder a model."""
    return {README: readme(card).encode(), CARD: tomli_w.dumps(dict(card)).encode()}


def write_whole(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, each of which appears whole or not at all."""
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, held in files.items():
            partial = folder / f".{name}.part"
            partial.write_bytes(held)
            os.replace(partial, folder / name)


def note_figures(folder: str | Path, figures: Sequence[Card]) -> None:
    """Write on the card of a trained model what it was measured to be worth; its weights stay as they are.

    A figure names its `test`, the number of `pairs` and the `measure`, and gives for each judge its name and the value
    with the two ends of its 95% interval.
    """
    folder = Path(folder)
    write_whole(folder, card_files({**read_toml(folder / CARD), "figures": list(figures)}))


def readme(card: Card) -> str:
    """The README.md of a similarity model's folder."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Card) -> Iterator[str]:
    learned_from = [name.strip() for name in card.get("data", "").split(",") if name.strip()]
    known = bool(learned_from) and all(name in catalogue() for name in learned_from)
    yield f"# {card.get('name', 'unnamed')}"
    yield ""
    yield (
        "A judge of similarity (Wieting et al. 2019): the cosine of two sentences, each the average of its subwords' "
        "vectors. Near 1 they mean the same, near 0 they have nothing in common."
    )
    yield ""
    yield from _facts(card, learned_from)
    if known:
        yield from _made_with(card)
        yield from _sources(learned_from)
    if card.get("epochs"):
        yield from _validation(card["epochs"])
    if card.get("figures"):
        yield from _figures(card["figures"])


def _facts(card: Card, learned_from: Sequence[str]) -> Iterator[str]:
    trained_on, settings = card.get("trained_on", {}), card.get("settings", {})
    yield "| | |"
    yield "|---|---|"
    if learned_from:
        yield f"| trained on | {', '.join(learned_from)} |"
    if trained_on:
        yield f"| groups that say the same | {trained_on['groups']:,}, of {trained_on['sentences']:,} sentences |"
    if settings:
        yield f"| settings | {', '.join(f'{name} {value:g}' for name, value in settings.items())} |"
    for name, file in card.get("files", {}).items():
        yield f"| {name} | {file['bytes'] / 1e6:.1f} MB, sha256 `{file['sha256']}` |"


def _made_with(card: Card) -> Iterator[str]:
    usual = asdict(TrainSettings())
    changed = {name: value for name, value in card.get("settings", {}).items() if value != usual.get(name)}
    flags = "".join(f" --{name.replace('_', '-')} {value:g}" for name, value in changed.items())
    yield ""
    yield "Made with:"
    yield ""
    yield f"    restyle similarity train --out {card.get('name', 'sim')}{flags}"


def _sources(learned_from: Sequence[str]) -> Iterator[str]:
    yield ""
    yield "## Licence"
    yield ""
    yield (
        "The vectors come with restyle under Apache-2.0. The sentences that they were learned from are not here; they "
        "keep the licences of their corpora, some of which allow no commercial use."
    )
    yield ""
    yield "| corpus | what it is | licence |"
    yield "|---|---|---|"
    for name in learned_from:
        yield f"| {name} | {catalogue()[name].title} | {catalogue()[name].licence} |"


def _validation(epochs: Sequence[Card]) -> Iterator[str]:
    yield ""
    yield "## Validation"
    yield ""
    yield "`found` is how often a held-out sentence finds its paraphrase among all others."
    yield ""
    yield "| epoch | loss | found |"
    yield "|---:|---:|---:|"
    for number, epoch in enumerate(epochs, 1):
        yield f"| {number} | {epoch['loss']:.4f} | {epoch['found']:.3f} |"


def _figures(figures: Sequence[Card]) -> Iterator[str]:
    judges = [name for name in figures[0] if name not in ("test", "pairs", "measure")]
    yield ""
    yield "## What it is worth"
    yield ""
    yield (
        "Correlations, in brackets the 95% interval of bootstrap resamples of the pairs; none of these sentences was "
        "learned from. The published model is that of Wieting et al. 2019, by the scores that STRAP's authors gave "
        "with it to the outputs of systems on the Shakespeare test, held against their references."
    )
    yield ""
    yield f"| compared with | pairs | measure | {' | '.join(judges)} |"
    yield f"|---|---:|---|{'---:|' * len(judges)}"
    for figure in figures:
        values = " | ".join(_interval(figure[judge]) for judge in judges)
        yield f"| {figure['test']} | {figure['pairs']:,} | {figure['measure']} | {values} |"


def _interval(figure: Sequence[float]) -> str:
    value, low, high = figure
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"
