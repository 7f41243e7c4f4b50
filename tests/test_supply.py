"""Dependencies: docs/dependencies.md, pyproject.toml and the imports agree, and the core installs nothing else."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# where what one imports has another name
IMPORTED = {
    "sklearn": "scikit-learn",
    "PIL": "pillow",
    "markdown_it": "markdown-it-py",
    "skimage": "scikit-image",
    "distributed": "dask",
    "pyannote": "pyannote.core",
}


def asked(requirements):
    """Return names and lower bounds; where there is none, an empty text."""
    found = [re.match(r"([\w.-]+)(?:\[.*\])?(?:>=([\d.]+))?", each).groups(default="") for each in requirements]
    return set(found)


def rows(heading, columns):
    """Return the cells of the tables below a heading, without quotes."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split("|") for line in part.splitlines() if line.startswith("| `")]
    return [tuple(cell.strip().strip("`") for cell in line[:columns]) for line in lines]


def brought():
    """Return what the page says that the core brings with it."""
    part = PAGE.partition("These packages have dependencies of their own.")[2].partition("\n\n")[0]
    return set(re.findall(r"`([\w.-]+)`", part))


def test_the_core_is_listed_with_bounds():
    listed = rows("Core", 4)
    assert {row[:2] for row in listed} == asked(PROJECT["dependencies"])
    assert all(why and bound for *_, why, bound in listed)


def test_extras_are_listed_with_bounds():
    listed = [*rows("Extras", 4), *rows("For work on modeseek", 4)]
    extras = PROJECT["optional-dependencies"]
    expected = {(extra, *each) for extra in extras for each in asked(extras[extra])}
    assert {row[:3] for row in listed} == expected
    assert len(listed) == len(expected)
    assert all(row[3] for row in listed)


def test_nothing_else_is_imported():
    known = {name for name, _ in asked(PROJECT["dependencies"])} | brought() | {row[1] for row in rows("Extras", 2)}
    known |= set(re.findall(r"installs `([\w-]+)`", PAGE))
    known |= {"modeseek", "pandas", "polars", "IPython"}  # used where the caller has brought them
    found = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            found |= {name.partition(".")[0]: path.name for name in names}
    ours = {name: path for name, path in found.items() if name not in sys.stdlib_module_names}
    assert {name: path for name, path in ours.items() if IMPORTED.get(name, name) not in known} == {}
    assert {"numpy", "pyarrow", "PIL"} <= ours.keys()


def test_the_core_brings_only_what_is_listed():
    """By the metadata of what is installed here, so that no network is needed."""
    packaging = pytest.importorskip("packaging.requirements")
    core = {name for name, _ in asked(PROJECT["dependencies"])}
    seen, todo = set(), sorted(core)
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop().lower())
        if name in seen:
            continue
        seen.add(name)
        try:
            needed = [packaging.Requirement(each) for each in requires(name) or []]
        except PackageNotFoundError:
            continue
        todo += [each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    assert "llvmlite" in seen
    assert seen - core - brought() == set()


def test_the_lowest_versions_are_first_releases():
    done = subprocess.run([sys.executable, ROOT / ".ci" / "lowest.py"], capture_output=True, text=True, check=True)
    pins = dict(line.split("==") for line in done.stdout.split())
    expected = {name: ".".join([*low.split("."), "0", "0"][:3]) for name, low in asked(PROJECT["dependencies"])}
    assert pins == expected
    assert all(pins.values())


def test_the_conda_recipe_agrees():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = {kind: [each.replace(" ", "") for each in names] for kind, names in recipe["requirements"].items()}
    python = f"python{PROJECT['requires-python']}"
    core = [each.replace("matplotlib>", "matplotlib-base>") for each in PROJECT["dependencies"]]
    assert listed["run"] == [python, *core]
    assert listed["host"] == [python, "pip", *project["build-system"]["requires"]]
    scripts = [f"{name} = {place}" for name, place in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["context"]["version"] == PROJECT["version"]
    assert (recipe["about"]["license"], recipe["about"]["license_file"]) == (
        PROJECT["license"],
        *PROJECT["license-files"],
    )


def test_the_conda_recipe_is_valid():
    """rattler-build refuses unknown fields, wrong types and licenses that are not in SPDX."""
    rattler_build = pytest.importorskip("rattler_build")
    recipe = rattler_build.Stage0Recipe.from_file(ROOT / "conda" / "recipe.yaml")
    (made,) = recipe.render(rattler_build.VariantConfig())
    assert made.recipe.package.name == "modeseek"
