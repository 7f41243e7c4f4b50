"""Links of the Markdown pages lead somewhere, every page is in the contents, and the API page has every public name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path

import pytest

import modeseek

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), ROOT / "benchmarks/README.md", ROOT / "examples/README.md"])
# those whose public names the API page must have, one and all
MODULES = (
    *("datasets", "diarization", "images", "io", "meanshift.bandwidth", "meanshift.chains"),
    *(
        "meanshift.kernels.profiles",
        "meanshift.objective",
        "meanshift.theory",
        "metrics",
        "paper",
        "pipeline",
        "plots",
        "prepare",
    ),
    *("report", "scorers", "selection.bandwidths", "sketches"),
)

# in `__all__` for other packages of modeseek, but of no use to users
INTERNAL = {
    *("SweepDraws", "DrawPlan", "PolicyCode", "encode_policy", "ClimbConfig", "rebuild_trace"),
    *("GridCells", "DaskRows", "Grid", "SketchLayout", "joblib_on_dask", "dask_errors", "is_dask"),
}


def links(text: str) -> list[str]:
    """Return the targets of links and pictures, code left out."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "`code`", text)
    return re.findall(r"\]\(([^()\s]+)\)", text)


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub gives to headings: lower case, no punctuation, hyphens for spaces."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.replace("`", "").replace("*", "")).replace("\\_", "_")
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        number = 1
        while (name := slug if number == 1 else f"{slug}-{number - 1}") in found:
            number += 1
        found.add(name)
    return found


def broken(page: Path, text: str) -> list[str]:
    """Return the relative links of a page that lead nowhere."""
    bad = []
    for link in links(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        known = target.exists() and target.is_relative_to(ROOT)
        if known and anchor:
            known = anchor in anchors(text if target == page else target.read_text(encoding="utf-8"))
        if not known:
            bad.append(link)
    return bad


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_found():
    text = "# One\n## Two, *or* `three`\n[a](#two-or-three) [b](theory.md#the-certificate)"
    text += "[c](gone.md) [d](#two) [e](theory.md#no)"
    assert broken(DOCS / "index.md", text) == ["gone.md", "#two", "theory.md#no"]


def contents(page: str) -> set[str]:
    """Return all pages below one in the contents."""
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", (DOCS / f"{page}.md").read_text(encoding="utf-8"), re.M | re.S)
    names = {line for tree in trees for line in tree.split("\n") if line and not line.startswith(":")}
    below = {name for name in names if (DOCS / f"{name}.md").is_file()}
    return names.union(*(contents(name) for name in below))


def test_every_page_is_in_the_contents():
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} == contents("index") - {"gallery/index"}


def api_names() -> list[str]:
    """Return the names on the API page, with their modules."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    modules = re.findall(r"currentmodule:: (\S+)\n.*?:nosignatures:\n\n(.*?)```", page, re.S)
    return [f"{module}.{name}" for module, names in modules for name in names.split()]


def test_the_api_page_has_every_public_name():
    """A new public name belongs on docs/api.md, under its module, or to INTERNAL."""
    page, listed = (DOCS / "api.md").read_text(encoding="utf-8"), set(api_names())
    missing = []
    for name in [n for n in modeseek.__all__ if n[0] != "_"] + [
        f"{module}.{n}" for module in MODULES for n in names_of(module) if n not in INTERNAL
    ]:
        thing = modeseek
        for part in name.split("."):
            thing = getattr(thing, part)
        called = inspect.isclass(thing) or inspect.isfunction(thing)
        if not (
            f"modeseek.{name}" in listed if called else f"`{name.split('.')[-1]}`" in page or inspect.ismodule(thing)
        ):
            missing.append(f"modeseek.{name}")
    assert missing == []


def examples(thing: object) -> list[str]:
    """Return the lines of the examples of an object and of its methods."""
    members = vars(thing).values() if inspect.isclass(thing) else ()
    texts = [inspect.getdoc(each) or "" for each in (thing, *members)]
    return [line for text in texts for line in text.splitlines() if line.lstrip().startswith((">>>", "..."))]


def test_everything_on_the_api_page_has_an_example():
    """Its own, or one of another object on the page that uses it. Exceptions need none."""
    things = {}
    for name in api_names():
        module, _, last = name.rpartition(".")
        things[name] = getattr(importlib.import_module(module), last)
    used = {word for thing in things.values() for line in examples(thing) for word in re.findall(r"\w+", line)}
    without = {
        name.rpartition(".")[2]
        for name, thing in things.items()
        if not examples(thing)
        and name.rpartition(".")[2] not in used
        and not (inspect.isclass(thing) and issubclass(thing, BaseException))
    }
    assert without == set()


def load(path: str):
    """Return a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_site_that_needs_the_network_is_found(tmp_path):
    site = load(".ci/site.py")
    (tmp_path / "good.html").write_text(
        '<a href="https://x.org">x</a><h1 id="top">t</h1><a href="#top">t</a><img src="a.png">'
    )
    assert site.faults(tmp_path) == []
    (tmp_path / "bad.html").write_text(
        '<script src="https://cdn.x.org/a.js"></script><link rel="stylesheet" href="//x.org/a.css">'
        '<style>@import "https://x.org/b.css";</style><img srcset="a.png 1x, http://x.org/a.png 2x">'
        '<a href="good.html#bottom">b</a><a href="gone.html">g</a><link rel="canonical" href="https://x.org">'
    )
    (tmp_path / "a.css").write_text(
        "@font-face { src: url('https://x.org/f.woff') } p { background: url(data:image/png;base64,A) }"
    )
    assert site.faults(tmp_path) == [
        "bad.html: loads https://cdn.x.org/a.js",
        "bad.html: loads //x.org/a.css",
        "bad.html: loads https://x.org/b.css",
        "bad.html: loads http://x.org/a.png",
        "bad.html: no anchor for good.html#bottom",
        "bad.html: no file for gone.html",
        "a.css: loads https://x.org/f.woff",
    ]


def test_docstrings_become_markup():
    """Bars and trailing underscores are text, code is left alone, and an equation stands as it is."""
    lines = ["Sum |x| of labels_, by", "", "    S = |x_|,", "", "with `points_` and more.", ""]
    load("docs/_extensions/plain_docstrings.py").as_markup(None, "function", "f", None, None, lines)
    assert [line for line in lines if line] == [
        *("Sum \\|x\\| of labels\\_, by", "::", "    S = |x_|,", "with `points_` and more."),
    ]


def names_of(module: str) -> list[str]:
    return importlib.import_module(f"modeseek.{module}").__all__


def test_the_readme_has_the_table_of_the_quality_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- quality -->\n(.*?)<!-- end of quality -->", readme, re.S)
    assert table.startswith("\n| kind |")
    message = "run python benchmarks/quality.py --table benchmarks/results/quality.csv --report docs/quality.md"
    assert table in (DOCS / "quality.md").read_text(encoding="utf-8"), message


def test_the_quick_start_quotes_what_the_command_prints():
    printed = json.loads((ROOT / "tests/golden_commands.json").read_text("utf-8"))["texts"]["penguins"]["stdout"]
    message = next(line for line in printed if line.startswith("modeseek: ")).partition("; # s")[0]
    page = " ".join((DOCS / "quick-start.md").read_text("utf-8").split())
    for line in [message, *(" ".join(line.split()) for line in printed if "--n-clusters 5" in line)]:
        assert line in page


def test_the_page_of_the_command_line_is_current():
    sys.path.insert(0, str(DOCS / "_extensions"))
    try:
        import command_page
    finally:
        sys.path.pop(0)
    assert command_page.PAGE.read_text("utf-8") == command_page.page(), "run docs/_extensions/command_page.py"
