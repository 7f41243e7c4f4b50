"""The lowest versions that pyproject.toml allows, as pins for pip, and how they differ from what is installed.

`python .ci/lowest.py` prints numpy==1.26.* and so on, the core dependencies; with `--installed` it checks that this
environment has just these.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]*\])?>=([\d.]+)")


def lowest(groups: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the lowest version of each core dependency, and of those extras."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    asked = [*project["dependencies"], *(each for name in groups for each in project["optional-dependencies"][name])]
    found = {}
    for requirement in asked:
        bound = BOUND.fullmatch(requirement)
        if bound is None:
            raise SystemExit(f"{requirement!r} has no lower bound: add one that is tested.")
        found[bound[1]] = bound[2]
    return found


def differing() -> list[str]:
    """Return which dependencies are not here at their lowest version."""
    wrong = []
    for name, low in lowest().items():
        here = version(name)
        if [*map(int, here.split("."))][: low.count(".") + 1] != [*map(int, low.split("."))]:
            wrong.append(f"{name} {here}, not {low}")
    return wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["--installed"]:
        sys.exit("; ".join(differing()) or None)
    print("\n".join(f"{name}=={low}.*" if low.count(".") < 2 else f"{name}=={low}" for name, low in lowest().items()))
