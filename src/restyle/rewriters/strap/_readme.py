"""The card of a pack, for people."""

from __future__ import annotations

from restyle.rewriters.strap._pack import Card


def readme(card: Card) -> str:
    """Markdown: what it is, what it was made from, what it is worth, what it writes."""
    return "\n\n".join(part for part in (_head(card), _scores(card), _samples(card)) if part) + "\n"


def _head(card: Card) -> str:
    facts = {
        "writes": ", ".join(card.styles),
        "learned from": ", ".join(card.sources),
        "sentences": f"{card.sentences:,}",
        "base": f"{card.base} (`{card.base_sha256[:12]}`)",
        "settings": ", ".join(f"{key} {value}" for key, value in card.settings.items()),
        "strength": f"{card.strength:g}" if card.strength != 1 else "",
        "longest input": f"{card.max_subwords} subwords",
        "dev loss": f"{card.dev_loss:.3f} a subword",
        "made on": card.made_on,
        "licence": card.licence,
        "sha256": f"`{card.sha256}`",
    }
    rows = [f"| {key} | {value} |" for key, value in facts.items() if value]
    made = f"\n\nMade with:\n\n    {card.command}" if card.command else ""
    said = f"{card.summary[:1].upper()}{card.summary[1:]}.\n\n" if card.summary else ""
    called = f"{card.name}:{card.styles[0]}" if card.styles else card.name
    used = f'    restyle rewrite --to {called} "Are you crazy?"\n\n' if card.kind != "paraphraser" else ""
    return f"# {card.name}\n\n{said}{used}" + "\n".join(["| | |", "|---|---|", *rows]) + made


def _scores(card: Card) -> str:
    parts = []
    for evaluation in card.evaluations:
        names = list(evaluation.scores)
        row = [
            f"{100 * score.value:.1f} ({100 * score.low:.1f} to {100 * score.high:.1f})"
            for score in evaluation.scores.values()
        ]
        parts.append(
            f"## {evaluation.on}: {evaluation.sentences:,} sentences\n\n"
            f"| {' | '.join(names)} |\n|{'---:|' * len(names)}\n| {' | '.join(row)} |\n\n`{evaluation.signature}`"
        )
    return "\n\n".join(parts)


def _samples(card: Card) -> str:
    if not card.samples:
        return ""
    rows = [f"| {_cell(each.input)} | {_cell(each.paraphrase)} | {_cell(each.output)} |" for each in card.samples]
    return "\n".join(["## Samples, not chosen", "", "| input | paraphrase | output |", "|---|---|---|", *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
