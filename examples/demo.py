"""The best that restyle can do today, in five commands, each shown as you would type it.

Everything is written to a temporary folder; nothing is downloaded and nothing is left behind.
"""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

NOIR = Path(__file__).parent / "noir.txt"

COMMANDS = [
    "restyle corpora build {noir} --name noir --out noir --language any",
    "restyle corpora sample noir -n 3 --seed 1",
    'restyle rewrite --corpus noir --to noir "It is raining and my rent is due." "Two men waited for me outside."',
    "restyle text clean \"`` I ca n't pay you , '' she said .\"",
    'restyle text tokenise --style moses "I can\'t pay you, she said."',
]


def main() -> None:
    """Run the commands one after the other and show what they print."""
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            print(f"$ {command.format(noir=NOIR.name)}")
            words = shlex.split(command.format(noir=shlex.quote(str(NOIR))))
            done = subprocess.run(
                [sys.executable, "-m", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            print(done.stdout.replace(str(NOIR), NOIR.name))
            if done.returncode:
                sys.exit(done.returncode)


if __name__ == "__main__":
    main()
