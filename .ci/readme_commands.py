"""Run a command of the README as printed: `python .ci/readme_commands.py NUMBER`, with 1 for the first.

A reader of the README has only the README, so this script takes the commands from its section "Two commands".
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commands() -> list[str]:
    """Return the one-line commands of the section "Two commands"."""
    section = re.search(r"^## Two commands$(.*?)^## ", (ROOT / "README.md").read_text(), re.M | re.S)
    lines = re.findall(r"^```sh\n(.+)\n```$", section[1], re.M) if section else []
    if len(lines) != 2:
        sys.exit("README.md must have two one-line commands under '## Two commands'")
    return lines


def main(number: int) -> None:
    """Run one command in this checkout; the first must write its picture."""
    picture = ROOT / "clusters.png"
    picture.unlink(missing_ok=True)
    command = commands()[number - 1]
    print(f"$ {command}", flush=True)
    done = subprocess.run(["bash", "-c", command], cwd=ROOT)
    if done.returncode:
        sys.exit(done.returncode)
    if number == 1 and not picture.is_file():
        sys.exit("the first command wrote no picture")


main(int(sys.argv[1]))
