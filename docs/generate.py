"""Write the pages that are made from the code, or check that they are current (`--check`)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from restyle.cli._main import app

ROOT = Path(__file__).parent.parent
WIDTH = 100
START, END = "<!-- demo: made by make docs -->", "<!-- /demo -->"


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
    demo = subprocess.run([sys.executable, ROOT / "examples/demo.py"], capture_output=True, text=True, check=True)
    before, _, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n```console\n{demo.stdout.strip()}\n```\n{END}{after}"


PAGES = {"docs/cli.md": cli_page, "README.md": readme}


def main() -> None:
    """Write the pages, or with --check exit 1 when one is stale."""
    pages = {ROOT / name: page() for name, page in PAGES.items()}
    stale = {path: text for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text}
    if "--check" in sys.argv and stale:
        sys.exit(f"not current: {', '.join(path.name for path in stale)}; run: make docs")
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
