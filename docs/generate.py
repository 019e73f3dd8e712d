"""Write the pages of docs/ that are made from the code, or check that they are current (`--check`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from restyle.cli._main import app

DOCS = Path(__file__).parent
WIDTH = 100


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
    for name, child in getattr(command, "commands", {}).items():
        options = {"terminal_width": WIDTH, "max_content_width": WIDTH}
        yield from _helps(child, typer.Context(child, info_name=name, parent=context, **options))


PAGES = {"cli.md": cli_page}


def main() -> None:
    """Write the pages, or with --check exit 1 when one is stale."""
    stale = [name for name, page in PAGES.items() if not _is_current(DOCS / name, page())]
    if "--check" not in sys.argv:
        for name in stale:
            (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
            print(f"wrote docs/{name}")
    elif stale:
        sys.exit(f"docs are not current: {', '.join(stale)}; run: make docs")


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main()
