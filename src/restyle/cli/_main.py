"""The entry point: every verb in one app, and every error as one line with the right exit code."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from restyle import __version__
from restyle.cli._verbs import LazyVerbs
from restyle.errors import RestyleError
from restyle.records import writing_to

app = typer.Typer(
    name="restyle",
    cls=LazyVerbs,
    help="Say the same thing in another style, and prove that it worked.",
    epilog="restyle VERB --help says more, with examples. Guides: docs/ in the repository.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"restyle {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    # Both flags act before any verb: --version by its callback, --debug in main().
    del debug, version


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 good, 1 failed, 2 wrong use, 130 interrupted."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_exit_code(arguments, debug="--debug" in arguments))


def _exit_code(arguments: list[str], *, debug: bool) -> int:
    try:
        invoke(arguments)
        with writing_to("stdout"):
            sys.stdout.flush()
        return 0
    except typer.Exit as exit:
        return exit.exit_code
    except typer.TyperException as error:
        help = str(getattr(error, "format_message", lambda: "")())
        if help.startswith("Usage:"):  # nothing was typed after the name of a group: its help is the answer
            sys.stderr.write(help + "\n")
            return 2
        return _complain(_usage(error), 2)
    except RestyleError as error:
        if debug:
            traceback.print_exc()
        return _complain(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort) as error:
        # A job says here that the same command goes on where it was.
        return _complain(str(error) or "interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _complain(f"unexpected {type(error).__name__}: {error} (run again with --debug and report it)", 1)


def invoke(arguments: list[str]) -> None:
    """Run the verb. Not by the command's own main(), which turns Ctrl-C and a closed pipe into mute exit codes."""
    command = typer.main.get_command(app)
    if "_RESTYLE_COMPLETE" in os.environ:
        command.main(arguments, prog_name="restyle")  # the shell asks for completions
    with command.make_context("restyle", arguments) as context:
        command.invoke(context)


def _usage(error: typer.TyperException) -> str:
    """A wrong call in one line, with where to read more."""
    message = " ".join(str(getattr(error, "format_message", lambda: error)()).split()).rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{message}; see: {context.command_path if context else 'restyle'} --help"


def _complain(message: str, code: int) -> int:
    print(f"restyle: {' '.join(message.splitlines())}", file=sys.stderr)  # noqa: T201
    return code
