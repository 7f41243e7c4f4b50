"""Print the lowest versions of the core dependencies that pyproject.toml allows, as pins for pip.

With `--installed`, check that this environment has exactly these versions.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]*\])?>=([\d.]+)")


def lowest() -> dict[str, str]:
    """Return the bound of each core dependency."""
    found = {}
    for requirement in tomllib.loads(PROJECT.read_text())["project"]["dependencies"]:
        bound = BOUND.fullmatch(requirement)
        if bound is None:
            raise SystemExit(f"{requirement!r} has no lower bound: add one that is tested.")
        found[bound[1]] = bound[2]
    return found


def pins() -> dict[str, str]:
    """Return the first release of each: 1.26.0 where the bound is 1.26."""
    return {name: ".".join([*low.split("."), "0", "0"][:3]) for name, low in lowest().items()}


def differing() -> list[str]:
    """Return the dependencies that are installed in another version than their lowest one."""
    return [f"{name} {version(name)}, not {low}" for name, low in pins().items() if version(name) != low]


if __name__ == "__main__":
    if sys.argv[1:] == ["--installed"]:
        sys.exit("; ".join(differing()) or None)
    print("\n".join(f"{name}=={low}" for name, low in pins().items()))
