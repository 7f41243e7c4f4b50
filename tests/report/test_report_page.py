"""The page of a clustering in a browser: pointing, keys, choices and phones."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from modeseek import ModeSeek
from modeseek.cli import app
from modeseek.estimators.alternatives import listed_alternatives
from modeseek.report import write_report
from waiting import PATIENCE

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")]
playwright = pytest.importorskip("playwright.sync_api")

CANVAS = ".stage canvas"
X, GROUPS = make_blobs(120, 4, centers=3, cluster_std=0.5, random_state=1)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    names = [f"<i>row {i}</i>" for i in range(len(X))]
    write_report(
        path,
        ModeSeek(random_state=0).fit(X),
        X,
        row_names=names,
        extra={"</script><b>": ["</dl>"] * len(X), "group": GROUPS},
    )
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """Return what opens the page; whatever it asks of the network or complains about fails the test."""
    contexts, complaints = [], []

    def at(width, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
        contexts[-1].set_default_timeout(1000 * PATIENCE)
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
        page.goto(address)
        return page

    yield at
    for context in contexts:
        context.close()
    assert complaints == []


def painted(page):
    """Wait until the page has drawn its scheduled frames."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def ink(page):
    """Return how many pixels of the plot are drawn."""
    painted(page)
    return page.evaluate(
        """() => {
          const canvas = document.querySelector("canvas"), copy = document.createElement("canvas");
          [copy.width, copy.height] = [canvas.width, canvas.height];
          const context = copy.getContext("2d", { willReadFrequently: true });
          context.drawImage(canvas, 0, 0);
          const data = context.getImageData(0, 0, copy.width, copy.height).data;
          return data.reduce((sum, value, i) => sum + (i % 4 === 3 && value > 0), 0);
        }"""
    )


def test_pointing_at_a_row_shows_it(opened):
    page = opened(1280)
    canvas, tip = page.locator(CANVAS), page.locator(".tip")
    assert not tip.is_visible()
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert tip.is_visible()
    first = tip.locator("strong").text_content()
    assert first.startswith("<i>row ")
    shown = dict(zip(tip.locator("dt").all_text_contents(), tip.locator("dd").all_text_contents(), strict=True))
    assert shown["</script><b>"] == "</dl>"
    row = int("".join(filter(str.isdigit, first)))
    np.testing.assert_allclose([float(shown[f"feature {j}"]) for j in range(4)], X[row], atol=5e-4)
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert tip.locator("strong").text_content() != first
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_the_mouse_finds_the_same_row_as_the_keys(opened):
    page = opened(1280)
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowRight")
    wanted = page.locator(".tip strong").text_content()
    frame = page.locator(CANVAS).bounding_box()
    x, y = map(int, page.locator(".tip").get_attribute("data-point").split())
    page.keyboard.press("Escape")
    page.mouse.move(frame["x"] + x, frame["y"] + y)
    painted(page)
    assert page.locator(".tip strong").text_content() == wanted
    page.mouse.move(frame["x"] + 2, frame["y"] + 2)
    assert not page.locator(".tip").is_visible()


def test_clusters_are_hidden_and_shown(opened):
    page = opened(1280)
    before = ink(page)
    page.get_by_role("button", name="none", exact=True).click()
    page.mouse.move(5, 5)
    empty = ink(page)
    page.get_by_role("button", name="cluster 1 ·").click()
    page.mouse.move(5, 5)
    assert empty < ink(page) < before
    assert page.get_by_role("button", name="cluster 1 ·").get_attribute("aria-pressed") == "true"
    assert page.get_by_role("button", name="cluster 0 ·").get_attribute("aria-pressed") == "false"


def test_the_name_of_a_row_leads_to_it(opened):
    page = opened(1280)
    page.get_by_role("button", name="none", exact=True).click()
    link = page.locator("main a[data-row]").last
    link.click()
    assert page.locator(".tip strong").text_content() == link.text_content()
    assert page.locator(".tip").is_visible()
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"
    assert page.get_by_role("button", name="cluster 0 ·").get_attribute("aria-pressed") == "true"


def test_axes_zoom_and_histogram(opened):
    page = opened(1280)
    assert page.locator(".across option").count() == 8
    for values in (("4", "6"), ("5", "-1")):
        page.select_option(".across", values[0])
        page.select_option(".up", values[1])
        start = ink(page)
        page.locator(".closer").click()
        closer = ink(page)
        page.locator(".reset").click()
        assert ink(page) == start != closer


def test_the_box_of_a_row_does_not_cover_its_cluster(opened):
    page = opened(1280)
    page.locator(CANVAS).focus()
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown") * 3:
        page.keyboard.press(key)
        stage, tip = page.locator(".stage").bounding_box(), page.locator(".tip").bounding_box()
        x, y = map(int, page.locator(".tip").get_attribute("data-point").split())
        left, top = tip["x"] - stage["x"], tip["y"] - stage["y"]
        assert not (left <= x <= left + tip["width"] and top <= y <= top + tip["height"])
        assert left >= 0
        assert left + tip["width"] <= stage["width"] + 1


def test_colours_of_columns_and_a_saved_picture(opened):
    page = opened(1280)
    names = page.locator(".paint option").all_text_contents()
    assert {"cluster", "feature 3", "group", "confidence"} <= set(names)
    pixels = "document.querySelector('.stage canvas').toDataURL()"
    before = page.evaluate(pixels)
    page.select_option(".paint", label="feature 3")
    assert page.locator(".legend .scale").text_content().startswith("feature 3: ")
    assert page.evaluate(pixels) != before
    page.select_option(".paint", label="group")
    assert sorted(page.locator(".legend .swatch").locator("..").all_text_contents()) == ["0 · 40", "1 · 40", "2 · 40"]
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save picture").click()
    assert waiting.value.suggested_filename == "clusters.png"
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")
    page.select_option(".paint", label="cluster")
    page.mouse.move(5, 5)
    painted(page)
    assert page.evaluate(pixels) == before


def visit(browser, path, width=1280):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(path.as_uri())
    return page


def test_alternatives_are_pictures_that_can_be_clicked(browser, tmp_path):
    points, _ = make_blobs(300, 2, centers=5, cluster_std=1.6, random_state=4)
    model = ModeSeek(random_state=0).fit(points)
    others = [f"{each.n_clusters} clusters" for each in listed_alternatives(model)]
    assert others
    write_report(tmp_path / "page.html", model, points)
    page = visit(browser, tmp_path / "page.html")
    pictures = page.locator(".pictures button")
    assert pictures.locator("strong").all_text_contents() == [f"chosen: {model.n_clusters_} clusters", *others]
    pictures.nth(1).click()
    assert [each.get_attribute("aria-pressed") for each in pictures.all()[:2]] == ["false", "true"]
    assert page.locator(".legend .swatch:not(.ring)").count() == listed_alternatives(model)[0].n_clusters
    pictures.nth(0).click()
    assert page.locator(".legend .swatch:not(.ring)").count() == model.n_clusters_
    page.close()


def test_outliers_are_marked_at_the_edge(browser, tmp_path):
    points = np.random.default_rng(0).normal(size=(400, 2))
    points[7], points[11, 1] = [90, 2], -300
    write_report(tmp_path / "page.html", ModeSeek(n_clusters=2, random_state=0).fit(points), points)
    page = visit(browser, tmp_path / "page.html")
    assert page.locator(".outside").text_content().startswith("2 rows lie far outside")
    page.get_by_role("button", name="Show all points").click()
    assert page.locator(".outside").text_content() == "All points are shown. Leave out outliers"
    page.close()


def test_a_short_legend_states_what_is_missing(browser, tmp_path):
    points = np.repeat(np.arange(30.0)[:, None] * [1, 7], 4, axis=0)
    write_report(tmp_path / "page.html", DBSCAN(0.5, min_samples=1).fit(points), points)
    page = visit(browser, tmp_path / "page.html")
    assert page.get_by_role("button", name="10 others, not listed").is_visible()
    page.get_by_role("button", name="List all 30").click()
    assert page.get_by_role("button", name="cluster 29 ·").is_visible()
    assert not page.get_by_role("button", name="not listed").is_visible()
    page.close()


def test_wide_tables_scroll_within_the_page(browser, tmp_path):
    names = [f"a rather long name of a feature, number {j}" for j in range(12)]
    points = np.random.default_rng(0).normal(size=(60, 12))
    points[:30] += 8
    kinds = {f"a column with the name {k}": [f"{k} is {i % 3}" for i in range(60)] for k in range(6)}
    write_report(tmp_path / "page.html", ModeSeek(random_state=0).fit(points), points, feature_names=names, extra=kinds)
    for width in (390, 900, 1280):
        page = visit(browser, tmp_path / "page.html", width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()


def test_the_table_of_clusters_fits(browser, tmp_path):
    """Below 1300 pixels, the stability and the typical row were cut off."""
    rng, names = np.random.default_rng(0), ["Retourenquote", "Zufriedenheit", "Jahresumsatz"]
    points, labels = rng.normal(size=(90, 3)), np.repeat([0, 1, 2], 30)
    points[np.arange(90), labels] += 20
    extra = {"Kanal": ["Telefon", "Filiale"] * 45, "Newsletter": ["ja", "nein", "nein"] * 30}
    model = ModeSeek(random_state=0).fit(points)
    write_report(tmp_path / "page.html", model, 100 * points, feature_names=names, extra=extra)
    for width in (390, 800, 1000, 1300):
        page = visit(browser, tmp_path / "page.html", width)
        assert page.evaluate("[...document.querySelectorAll('.scroll')].every((e) => e.scrollWidth <= e.clientWidth)")
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_sticks_out_and_a_tap_shows_the_row(scheme, opened):
    page = opened(390, has_touch=True, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "Tap a point" in page.locator(".tip").text_content()
    assert (page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)") == (
        scheme == "light"
    )
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowDown")
    assert "<i>row" in page.locator(".tip").text_content()


def test_without_scripts_there_is_a_picture(opened):
    page = opened(1280, java_script_enabled=False)
    assert page.locator("img.still").is_visible()
    assert not page.locator(CANVAS).is_visible()
    assert not page.locator(".copy").is_visible()


EVIL = "<script>window.hacked = 1</script><img src=x onerror=window.hacked=1>"


def test_a_table_with_scripts_in_its_cells_shows_them_as_text(browser, tmp_path):
    """In names of columns and rows, in cells, in the file's own name and in that of the new column."""
    names = ["", f"x {EVIL}", "y", "'\"><svg onload=window.hacked=1>"]
    with (tmp_path / "a<img src=x onerror=window.hacked=1>.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows([f"{i}{EVIL}", i % 3 * 9 + i / 50, i / 30, f"{EVIL}{i % 2}"] for i in range(60))
    page_file = tmp_path / "page.html"
    options = ["--ignore", names[3], "-q", "--name", EVIL, "--report", str(page_file)]
    done = CliRunner().invoke(app, ["cluster", stream.name, *options])
    assert done.exit_code == 0, done.output
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != page_file.as_uri() else None)
    page.goto(page_file.as_uri())
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator(".tip")
    assert EVIL in tip.locator("strong").text_content()
    assert f"x {EVIL}" in tip.locator("dt").all_text_contents()
    assert page.locator("main").text_content().count(EVIL) >= 3
    assert page.evaluate("window.hacked") is None
    assert page.locator("[onerror], [onload]").count() == 0
    assert [each for each in wrong if not each.startswith("data:")] == []
    page.close()
