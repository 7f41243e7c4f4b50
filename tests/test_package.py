from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import modeseek
from modeseek.paper.claims import CLAIMS


@pytest.mark.parametrize("name", modeseek.__all__)
def test_public_names(name):
    assert getattr(modeseek, name) is not None
    assert name in dir(modeseek)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'KMeans'"):
        modeseek.KMeans  # noqa: B018


def test_import_is_light_and_compiles_nothing():
    """Importing the package, and asking the command for help, waits for none of the heavy libraries."""
    code = (
        "import sys, modeseek, modeseek.cli; "
        "print(sorted({'sklearn', 'scipy', 'numba', 'matplotlib', 'pyarrow', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_cluster_imports_no_plots():
    """matplotlib was imported for a function that formats numbers."""
    names = "{'numba', 'matplotlib', 'sklearn.neighbors', 'sklearn.metrics'}"
    code = f"import sys, modeseek.cli.cluster; print(sorted({names} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_page_on_reproduction_has_its_pictures():
    docs = Path(__file__).parent.parent / "docs"
    page = (docs / "reproduction.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"!\[[^\]]*\]\((figures/[^)]+)\)", page))
    assert linked
    assert linked == {f"figures/{path.name}" for path in (docs / "figures").iterdir()}
    # made by the command on its full grid, claim by claim
    assert re.search(r"By `modeseek paper --runs \d+ --seed 0`", page)
    plain = page.replace("\\", "")
    for claim in CLAIMS:
        assert claim.title in plain
        assert claim.test in plain


def test_an_optional_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "geopandas", None)
    model = modeseek.MeanShift(5e4, metric="haversine").fit([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ImportError, match=r"pip install 'modeseek\[maps\]'"):
        modeseek.geo.cluster_centers(model)
