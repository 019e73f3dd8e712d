"""Write the pages that are made from the code, or check that they are current (`--check`)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from restyle.cli._main import app
from restyle.evaluation._tables import as_markdown
from restyle.metrics.judges import Card, bundled_folder, read_card
from restyle.metrics.training import wilson
from restyle.rewriters.strap._pack import packs

ROOT = Path(__file__).parent.parent
WIDTH = 100
START, END = "<!-- demo: made by make docs -->", "<!-- /demo -->"
CARDS = "<!-- cards: made by make docs -->", "<!-- /cards -->"
ELEVEN = "<!-- eleven styles: made by make docs -->", "<!-- /eleven styles -->"
# What a judge was asked to reach, and on which of its sentences.
ASKED = (("shakespeare-report", "test", "accuracy", 0.87), ("fluency-report", "valid", "mcc", 0.50))


def cli_page() -> str:
    """Every command with its help, as the terminal shows it."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="restyle", terminal_width=WIDTH, max_content_width=WIDTH)
    parts = ["# The command line", "Made from the program's own help by `make docs`; `make check` compares them."]
    for name, help in _helps(command, context):
        parts.append(f"{'#' * (1 + len(name.split()))} {name}\n\n```text\n{help.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def _helps(command: typer.core.TyperCommand, context: typer.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, command.get_help(context)
    for name in getattr(command, "commands", ()):
        child = command.get_command(context, name)
        options = {"terminal_width": WIDTH, "max_content_width": WIDTH}
        yield from _helps(child, typer.Context(child, info_name=name, parent=context, **options))


def readme() -> str:
    """The README, with what the demo prints today between its two marks."""
    before, _, after = _readme()
    return _with_demo(before, _demo(), after)


def readme_but_for_models() -> str:
    """The README as it should be, taking what models wrote from itself: their last digits differ between machines.

    What they wrote must still be there, for every style that ships.
    """
    before, shown, after = _readme()
    commands = _demo("--styles", "none")
    written = shown.removeprefix(f"```console\n{commands}\n").removesuffix("\n```")
    named = [line.split(" ")[0] for line in written.strip().splitlines()[2:-1]]
    shipped = [name for name, pack in packs().items() if pack.origin == "bundled"]
    return _with_demo(before, f"{commands}\n{written if named == shipped else ', '.join(shipped)}", after)


def _readme() -> tuple[str, str, str]:
    """What stands before the demo, the demo with its fences, and what stands after it."""
    before, _, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition(START)
    shown, _, after = rest.partition(END)
    return before, shown.strip(), after


def _demo(*arguments: str) -> str:
    command = [sys.executable, ROOT / "examples/demo.py", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.rstrip("\n") + "\n"


def _with_demo(before: str, demo: str, after: str) -> str:
    return f"{before}{START}\n```console\n{demo.strip()}\n```\n{END}{after}"


def judges() -> str:
    """The page of the judges, with what the cards of those that ship say of them between its marks."""
    page = (ROOT / "docs/judges.md").read_text(encoding="utf-8")
    folders = sorted(path.parent for path in bundled_folder().glob("*/judge.toml"))
    # Models of similarity lie there too, under cards of their own.
    cards = {folder.name: read_card(folder) for folder in folders if not folder.name.startswith("sim-")}
    worth = as_markdown(
        ["judge", "tells apart", "corpora", "sentences", "test", "accuracy", "MCC"], _worth(cards), names=3
    )
    asked = as_markdown(["judge", "what", "found", "asked", ""], _asked(cards), names=2)
    page = _with(page, *CARDS, f"{worth}\n{asked}")
    return _with(page, *ELEVEN, as_markdown(["style", "right", "of", "accuracy"], _by_style(cards["cds-report"])))


def _worth(cards: dict[str, Card]) -> list[list[str]]:
    rows = []
    for name, card in cards.items():
        result = card.results["test"]
        told = ", ".join(card.labels) if len(card.labels) < 4 else f"{len(card.labels)} styles"
        corpora = ", ".join(dict.fromkeys(corpus.partition("/")[0] for corpus in card.corpora))
        of = f" of {result.drawn_from:,}" if result.drawn_from else ""
        accuracy = f"{result.accuracy:.3f} ({result.low:.3f} to {result.high:.3f})"
        numbers = [f"{sum(card.sentences.values()):,}", f"{result.sentences:,}{of}", accuracy, f"{result.mcc:.3f}"]
        rows.append([name, told, corpora, *numbers])
    return rows


def _asked(cards: dict[str, Card]) -> list[list[str]]:
    rows = []
    for name, split, what, floor in ASKED:
        found = getattr(cards[name].results[split], what)
        verdict = "reached" if found >= floor else f"missed by {floor - found:.4f}"
        rows.append([name, f"{what} on {split}", f"{found:.4f}", f"{floor:.2f}", verdict])
    return rows


def _by_style(card: Card) -> list[list[str]]:
    rows = []
    for place, style in enumerate(card.labels):
        of_style = card.results["test"].confusion[place]
        low, high = wilson(of_style[place], sum(of_style))
        share = f"{of_style[place] / sum(of_style):.3f} ({low:.3f} to {high:.3f})"
        rows.append([style, str(of_style[place]), str(sum(of_style)), share])
    return rows


def _with(page: str, start: str, end: str, made: str) -> str:
    """The page with what is made between two of its marks."""
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{made.rstrip()}\n{end}{after}"


def main() -> None:
    """Write the pages, or with --check exit 1 when one is stale."""
    check = "--check" in sys.argv
    pages = {
        ROOT / "docs/cli.md": cli_page(),
        ROOT / "docs/judges.md": judges(),
        ROOT / "README.md": readme_but_for_models() if check else readme(),
    }
    stale = {path: text for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text}
    if check and stale:
        sys.exit(f"not current: {', '.join(path.name for path in stale)}; run: make docs")
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
