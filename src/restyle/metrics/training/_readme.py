"""The card of a judge for people."""

from __future__ import annotations

from collections.abc import Iterator

from restyle.metrics.judges import Card, Result

_SPLITS = {"valid": "valid (chosen by)", "test": "test"}


def readme(card: Card) -> str:
    """The README.md of a judge's folder, all of it from its card."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Card) -> Iterator[str]:
    yield f"# {card.name}"
    yield ""
    yield f"A judge of {card.task}: {', '.join(card.labels)}. Set: {card.part}."
    if card.task == "attribute":
        yield "An attacker: it guesses who wrote a text. It is there to measure what a text gives away."
    if card.part == "select":
        yield "It is there to choose among candidates; report with the judge of the set `report`."
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| trained on | {', '.join(card.corpora)} |"
    if card.sentences:
        yield f"| training sentences | {', '.join(f'{label} {count:,}' for label, count in card.sentences.items())} |"
    if card.kind == "network":
        yield f"| network | {', '.join(f'{key} {value}' for key, value in card.network.items())} |"
        if card.beside:
            yield f"| probabilities multiplied with | {card.beside} |"
    elif card.kind == "words":
        learned = "naive Bayes on counts of words" if card.l2 is None else f"logistic regression, L2 {card.l2:g}"
        yield f"| model | a weight for each word: {learned} |"
    else:
        yield "| model | logistic regression on word and character n-grams |"
    if len(card.labels) == 2:
        yield f"| threshold | {card.labels[0]} from {card.threshold:g} on |"
    yield f"| seed | {card.seed} |"
    yield f"| sha256 | `{card.sha256}` |"
    yield ""
    yield f"Made with (on {card.hardware}):"
    yield ""
    if card.first:
        yield f"    {card.first}"
    yield f"    {card.command}"
    for split, result in card.results.items():
        yield ""
        yield from _result(card, _SPLITS.get(split, split), result)


def _result(card: Card, split: str, result: Result) -> Iterator[str]:
    drawn = f", drawn from {result.drawn_from:,}" if result.drawn_from else ""
    yield f"## {split}: {result.sentences:,} sentences{drawn}"
    yield ""
    yield f"Accuracy {result.accuracy:.3f} (95% interval {result.low:.3f} to {result.high:.3f}), MCC {result.mcc:.3f}."
    yield ""
    yield f"| true, and judged as | {' | '.join(card.labels)} |"
    yield f"|---|{'---:|' * len(card.labels)}"
    for label, row in zip(card.labels, result.confusion, strict=True):
        yield f"| {label} | {' | '.join(map(str, row))} |"
