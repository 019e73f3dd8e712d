"""What restyle does, as you would type it: a corpus of your own, and one sentence in every style that ships, judged.

Everything is written to a temporary folder; only models stay in the cache. The base model, the judges' encoder and
what the commands need are fetched there on first use, some 120 MB.

    python examples/demo.py                        # all of it
    python examples/demo.py --styles joyce,bible   # the sentence in these styles alone
    python examples/demo.py --styles none          # the commands alone, which need no model
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

NOIR = Path(__file__).parent / "noir.txt"
SENTENCE = "You have lied to me, and I will never forgive you."

COMMANDS = [
    "restyle corpora build {noir} --name noir --out noir --language any",
    'restyle rewrite --corpus noir --to noir "It is raining and my rent is due." "Two men waited for me outside."',
    "restyle text clean \"`` I ca n't pay you , '' she said .\"",
]
PROMISE = f'"{SENTENCE}" in every style that ships, and what the report judges say:'


def main() -> None:
    """Run the commands one after the other, then rewrite and judge the sentence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--styles", default="", help="these alone, with commas between; none: the commands alone")
    wanted = [name for name in parser.parse_args().styles.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            print(f"$ {command.format(noir=NOIR.name)}")
            print(ran(command.format(noir=shlex.quote(str(NOIR))), folder).replace(str(NOIR), NOIR.name))
    if wanted != ["none"]:
        print(PROMISE, flush=True)
        for line in judged(wanted or bundled_styles()):
            print(line)


def ran(command: str, folder: str) -> str:
    """What a command prints; the demo ends where one fails."""
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(done.stdout)
    return done.stdout


def bundled_styles() -> list[str]:
    """The styles that come with restyle, as `restyle styles` lists them."""
    listed = subprocess.run(
        [sys.executable, "-m", "restyle", "styles", "--format", "json"], stdout=subprocess.PIPE, text=True, check=True
    )
    return [row["style"] for row in json.loads(listed.stdout) if row["pack"] == "bundled"]


def judged(styles: Sequence[str]) -> Iterator[str]:
    """A table: the sentence in each style, whether it is that style, means the same, is English, and all at once."""
    import restyle

    rewritten = [restyle.load(style).rewrite(SENTENCE) for style in styles]
    card = restyle.score(rewritten, inputs=[SENTENCE] * len(styles), target=styles, metrics=["acc", "sim_input", "fl"])
    yield f"{'style':<12} ACC   SIM  FL     J  rewritten"
    for row in card.rows():
        acc, sim, fl = (row["scores"][name] for name in ("acc", "sim_input", "fl"))
        yield f"{row['target']:<12} {acc:3.0f}  {sim:.2f} {fl:3.0f}  {row['products']['J']:.2f}  {row['output']}"
    acc, sim, fl, joint = (card[name] for name in ("acc", "sim_input", "fl", "J"))
    yield f"{'mean':<12} {acc:.2f} {sim:.2f} {fl:.2f} {joint:.2f}"


if __name__ == "__main__":
    main()
