"""Run the two commands of the README as printed, each in a fresh copy of the tracked files.

A reader of the README has nothing but the README, so CI has nothing else either.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commands() -> list[str]:
    """Return the single-line commands of the section "Two commands"."""
    section = re.search(r"^## Two commands$(.*?)^## ", (ROOT / "README.md").read_text(), re.M | re.S)
    lines = re.findall(r"^```sh\n(.+)\n```$", section[1], re.M) if section else []
    if len(lines) != 2:
        sys.exit("README.md must have two one-line commands under '## Two commands'")
    return lines


def fresh_copy(folder: Path) -> Path:
    """Copy what git tracks, as a clone would have it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


def main(work: Path) -> None:
    """Run both commands; the first has to leave its picture."""
    for number, command in enumerate(commands()):
        print(f"\n$ {command}", flush=True)
        copy = fresh_copy(work / f"readme{number}")
        done = subprocess.run(["bash", "-c", command], cwd=copy)
        if done.returncode:
            sys.exit(done.returncode)
        if number == 0 and not (copy / "clusters.png").is_file():
            sys.exit("the first command left no picture")


main(Path(sys.argv[1]))
