"""The explorer in a browser: load, run, compare, scan, export, by mouse and by keyboard.

Screenshots are written to the folder in MODESEEK_SCREENSHOTS, or to a temporary one.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from waiting import PATIENCE

pytest.importorskip("panel")
api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("needs Chromium: apt-get install chromium", allow_module_level=True)

pytestmark = pytest.mark.slow
CERTIFIED = "Certified: no later update can change the partition."
EVIL = '<img src=x onerror="window.hacked=1">'
FOCUSED = """() => { let e = document.activeElement
  while (e && e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement
  return e ? e.textContent.trim() + "|" + getComputedStyle(e).outlineStyle + "|" + e.tagName : "" }"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Three groups, a text column, and names that look like markup and mathematics."""
    rows = ["width,$$height$$," + EVIL.replace('"', "'")]
    for number in range(60):
        group = number % 3
        rows.append(f"{group * 5 + number / 100},{group * 4 - number / 90},{'abc'[group]}<b>")
    path = tmp_path_factory.mktemp("data") / "things.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@contextlib.contextmanager
def serving(*arguments):
    with socket.socket() as probe:  # a free port, because other processes may serve too
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "modeseek", "explore", "--no-browser", "--port", str(port), *map(str, arguments)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{22}/", server.stdout.readline())
        assert found, server.stderr.read()
        yield found[0], server
    finally:
        server.kill()
        server.communicate()


@pytest.fixture(scope="module")
def address():
    with serving() as (url, _):
        yield url


@pytest.fixture(scope="module")
def browser():
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Open the page; errors on it and requests to other hosts fail the test."""
    opened, wrong = [], []

    def open_page(url, *, width=1280, height=900, dark=False, algorithm="doubly stochastic mean shift"):
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        context.set_default_timeout(1000 * PATIENCE)
        opened.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(f"{line.text} {line.location}") if line.type == "error" else None)
        page.on("request", lambda request: wrong.append(request.url) if _outside(request.url, url) else None)
        page.goto(url)
        button(page, "Run").wait_for()
        assert field(page, "algorithm").input_value() == "ModeSeek (no bandwidth)"
        field(page, "algorithm").select_option(algorithm)
        return page

    yield open_page
    for context in opened:
        context.close()
    assert wrong == []


def _outside(asked, url):
    return not asked.startswith((url, "data:", "blob:"))


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def field(page, name, number=0):
    """Return a field of run A (number 0) or B (number 1)."""
    return page.get_by_label(name, exact=True).nth(number)


def fact(page, name, number=0):
    """Return a value of the status below the scatter plot."""
    entry = page.locator("dl.facts div").filter(has=page.locator("dt", has_text=re.compile(f"^{name}$")))
    entry.nth(number).wait_for()
    return float(entry.nth(number).locator("dd").inner_text().replace(",", ""))


def keep(page, name, tmp_path):
    folder = Path(os.environ.get("MODESEEK_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png", full_page=True)


def fast(page):
    page.get_by_label("speed").select_option("30 sweeps/s")


def download(page, name):
    with page.expect_download() as waiting:
        button(page, name).click()
    return Path(waiting.value.path()), waiting.value.suggested_filename


def test_points_move_and_results_can_be_exported(visit, address, tmp_path):
    page = visit(address)
    button(page, "Step").click()  # one sweep, after which the page waits
    page.get_by_text("Paused.").wait_for()
    before = fact(page, "clumps")
    keep(page, "running", tmp_path)
    fast(page)
    button(page, "Resume").click()
    page.get_by_text(CERTIFIED).wait_for()
    clusters = fact(page, "clusters")
    assert 1 < clusters < before
    assert field(page, "h_max").get_attribute("placeholder").startswith("auto: ")
    keep(page, "ended", tmp_path)
    button(page, "Export").click()
    path, name = download(page, "Labels (CSV)")
    assert name == "the-papers-mixture-clusters.csv"
    lines = path.read_text().splitlines()
    assert lines[0] == "x,y,label,cluster"
    assert len({line.rsplit(",", 1)[1] for line in lines[1:]}) == clusters
    assert download(page, "Figure (PNG)")[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in download(page, "Figure (SVG)")[0].read_bytes()
    code = download(page, "Python code")[0].read_text()
    assert code.strip() == page.get_by_label("Python code", exact=True).last.inner_text().strip()
    keep(page, "export", tmp_path)


def test_pause_step_and_reset(visit, address):
    page = visit(address)
    button(page, "Step").click()
    page.get_by_text("Paused.").wait_for()
    page.wait_for_function(_fact_is("updates", "150"))
    button(page, "Step").click()
    page.wait_for_function(_fact_is("updates", "300"))
    page.get_by_label("speed").select_option("1 sweep/s")
    button(page, "Resume").click()
    button(page, "Pause").click()
    button(page, "Resume").wait_for()
    field(page, "seed").fill("7")
    field(page, "seed").press("Tab")
    button(page, "Restart").wait_for()
    button(page, "Reset").click()
    button(page, "Run").wait_for()
    assert page.locator("dl.facts").count() == 0


def _fact_is(name, value):
    # facts live in shadow roots, which querySelector does not see
    return f"""() => {{ const seen = []; const walk = root => {{ for (const e of root.querySelectorAll("*")) {{
      if (e.shadowRoot) walk(e.shadowRoot)
      if (e.tagName == "DD" && e.previousElementSibling?.textContent == "{name}") seen.push(e.textContent) }} }}
      walk(document); return seen.includes("{value}") }}"""


def test_two_runs_a_scan_and_an_error(visit, address, tmp_path):
    page = visit(address, dark=True)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    fast(page)
    page.get_by_label("compare two runs").check()
    field(page, "algorithm", 1).select_option("mean shift")
    button(page, "Run").click()
    page.get_by_text("ARI between A and B").wait_for()
    keep(page, "two-runs-dark", tmp_path)
    button(page, "Bandwidth scan").click()
    page.get_by_label("number of bandwidths").select_option("8")
    button(page, "Start scan").click()
    page.get_by_text("8 of 8 bandwidths: finished.").wait_for()
    keep(page, "scan-dark", tmp_path)
    page.get_by_label("bandwidth", exact=True).last.select_option(index=6)
    button(page, "Use in run A").click()
    page.get_by_text("press Run.").wait_for()
    assert float(field(page, "h_max").input_value()) > 1.29
    field(page, "h_max").fill("wide")
    field(page, "h_max").press("Tab")
    button(page, "Restart").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "Run A: h_max must be a number > 0, or empty for an automatic value; got 'wide'." in alert.inner_text()
    assert page.get_by_text("ARI between A and B").is_visible()  # the results stay
    keep(page, "error-dark", tmp_path)
    button(page, "Switch to light colours").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_alternatives_are_pictures_that_can_be_clicked(visit, address, tmp_path):
    page = visit(address, algorithm="ModeSeek (no bandwidth)")
    button(page, "Run").click()
    pictures = page.locator(".pictures button")
    pictures.first.wait_for()
    assert pictures.locator("strong").first.text_content().startswith("chosen: ")
    pictures.nth(1).click()
    page.locator(".pictures button[aria-pressed='true']").filter(has_not_text="chosen").wait_for()
    keep(page, "alternative", tmp_path)
    field(page, "n_clusters").fill("2")
    field(page, "n_clusters").press("Tab")
    button(page, "Restart").click()
    page.wait_for_function(_fact_is("clusters", "2"))


def test_a_second_run_can_be_added_during_a_sweep(visit, address):
    page = visit(address)
    for _ in range(3):
        button(page, "Step").click()
        page.get_by_label("compare two runs").check()
        page.get_by_label("compare two runs").uncheck()
    page.get_by_label("compare two runs").check()
    fast(page)
    button(page, "Restart").click()
    page.get_by_text("ARI between A and B").wait_for()


def test_markup_in_a_file_is_escaped(visit, address, table, tmp_path):
    page = visit(address, algorithm="ModeSeek (no bandwidth)")
    page.get_by_label("or a file").set_input_files(table)
    page.get_by_text("things.csv: 60 rows, 2 columns to cluster.").wait_for()
    fast(page)
    button(page, "Run").click()
    assert fact(page, "clusters") == 3
    page.get_by_text("Mean confidence").wait_for()
    assert page.evaluate("window.hacked") is None
    keep(page, "mode-seek", tmp_path)
    button(page, "Export").click()
    lines = download(page, "Labels (CSV)")[0].read_text().splitlines()
    assert lines[0].endswith(",cluster,confidence")
    assert "<b>" in lines[1]
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\nx,y\nz,w\n")
    page.get_by_label("or a file").set_input_files(bad)
    page.get_by_role("alert").filter(has_text="no column is left to cluster").wait_for()
    page.get_by_text("things.csv: 60 rows").wait_for()  # the last data stay


def test_many_points_by_keyboard_on_a_narrow_screen(visit, address, tmp_path):
    page = visit(address, width=390, height=844)
    page.get_by_label("example").select_option("ten blobs (20,000)")
    page.get_by_text("20,000 rows").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    fast(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert "Skip to the run controls" in page.evaluate(FOCUSED)
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Tab")
        words, outline, tag = page.evaluate(FOCUSED).split("|")
        assert outline != "none", words
        if words == "Run":
            break
    assert (words, tag) == ("Run", "BUTTON")
    page.keyboard.press("Enter")
    page.get_by_text(CERTIFIED).wait_for()
    keep(page, "narrow", tmp_path)
    assert 1 < fact(page, "clusters") <= 10


def test_the_server_serves_only_its_page_and_stops_with_ctrl_c(visit, table):
    with serving(table) as (url, server):
        page = visit(url)
        page.get_by_text("60 rows, 2 columns to cluster.").wait_for()
        host, token = url.split("/")[2:4]
        asked = http.client.HTTPConnection(host)
        asked.request(
            "GET",
            f"/{token}/ws",
            headers={
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
                "Origin": "http://elsewhere.example",
            },
        )
        refused = asked.getresponse()
        assert refused.status == 403
        refused.read()
        for path in ("/", "/ws", "/static/js/bokeh.min.js", f"/{token[:-1]}/", "/autoload.js", f"/{token}/../"):
            asked.request("GET", path)
            answer = asked.getresponse()
            assert (answer.status, token in answer.read().decode(errors="replace")) == (404, False), path
        for path in ("../../../../etc/passwd", "..%2f..%2f..%2fetc/passwd", "static/..%2f..%2f..%2fsetup.py"):
            asked.request("GET", f"/{token}/{path}")
            answer = asked.getresponse()
            assert answer.status in (403, 404), path
            answer.read()
        asked.close()
        page.context.close()
        server.send_signal(signal.SIGINT)
        limit = time.monotonic() + PATIENCE
        while server.poll() is None and time.monotonic() < limit:
            time.sleep(0.1)
        out, err = server.communicate()
        assert server.returncode == 0
        assert "ended." in err
        assert "Traceback" not in out + err


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
def test_sigterm_stops_the_server_without_leftovers(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving() as (_, server):
        server.send_signal(signal.SIGTERM)
        out, err = server.communicate(timeout=PATIENCE)
    assert (server.returncode, out, err) == (128 + signal.SIGTERM, "", "")
    assert list(tmp_path.iterdir()) == []
