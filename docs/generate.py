"""Write the pages that are made from the code, or check that they are current (`--check`)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from restyle.cli._main import app
from restyle.rewriters.strap._pack import packs

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


def main() -> None:
    """Write the pages, or with --check exit 1 when one is stale."""
    check = "--check" in sys.argv
    pages = {ROOT / "docs/cli.md": cli_page(), ROOT / "README.md": readme_but_for_models() if check else readme()}
    stale = {path: text for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text}
    if check and stale:
        sys.exit(f"not current: {', '.join(path.name for path in stale)}; run: make docs")
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
