"""The page of a clustering in a browser: pointing, keys, choices and phones."""

import csv
import shutil

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from modeseek import ModeSeek
from modeseek.cli import app
from modeseek.report import write_report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")]
playwright = pytest.importorskip("playwright.sync_api")

X, _ = make_blobs(120, 4, centers=3, cluster_std=0.5, random_state=1)


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
    write_report(path, ModeSeek(random_state=0).fit(X), X, row_names=names, extra={"</script><b>": ["</dl>"] * len(X)})
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """Return what opens the page; whatever it asks of the network or complains about fails the test."""
    contexts, complaints = [], []

    def at(width, **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, **options))
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


def ink(page):
    """Return how many pixels of the plot are drawn."""
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
    canvas, tip = page.locator("canvas"), page.locator(".tip")
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
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    wanted = page.locator(".tip strong").text_content()
    frame, tip = page.locator("canvas").bounding_box(), page.locator(".tip").bounding_box()
    page.keyboard.press("Escape")
    # the tip stands 16 pixels beside its point and 24 above it
    for x in (tip["x"] - 16, tip["x"] + tip["width"] + 16):
        page.mouse.move(x, tip["y"] + 24)
        page.wait_for_timeout(50)
        if page.locator(".tip").is_visible() and page.locator(".tip strong").text_content() == wanted:
            break
    else:
        pytest.fail("the mouse did not find the row")
    page.mouse.move(frame["x"] + 2, frame["y"] + 2)
    assert not page.locator(".tip").is_visible()


def test_clusters_are_hidden_and_shown(opened):
    page = opened(1280)
    before = ink(page)
    page.get_by_role("button", name="none", exact=True).click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
    empty = ink(page)
    page.get_by_role("button", name="cluster 1 ·").click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(100)
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
        page.wait_for_timeout(100)
        start = ink(page)
        page.locator(".closer").click()
        page.wait_for_timeout(100)
        closer = ink(page)
        page.locator(".reset").click()
        page.wait_for_timeout(100)
        assert ink(page) == start != closer


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_sticks_out_and_a_tap_shows_the_row(scheme, opened):
    page = opened(390, has_touch=True, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "Tap a point" in page.locator(".tip").text_content()
    assert (page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)") == (
        scheme == "light"
    )
    page.locator("canvas").focus()
    page.keyboard.press("ArrowDown")
    assert "<i>row" in page.locator(".tip").text_content()


def test_without_scripts_there_is_a_picture(opened):
    page = opened(1280, java_script_enabled=False)
    assert page.locator("img.still").is_visible()
    assert not page.locator("canvas").is_visible()
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
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != page_file.as_uri() else None)
    page.goto(page_file.as_uri())
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator(".tip")
    assert EVIL in tip.locator("strong").text_content()
    assert f"x {EVIL}" in tip.locator("dt").all_text_contents()
    assert page.locator("main").text_content().count(EVIL) >= 3
    assert page.evaluate("window.hacked") is None
    assert page.locator("[onerror], [onload]").count() == 0
    assert [each for each in wrong if not each.startswith("data:")] == []
    page.close()
