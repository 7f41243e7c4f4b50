"""Make the screenshot of docs/report.md: the report on the penguins, with the pointer over a doubtful row.

python examples/report_picture.py docs/images/report.png

This needs Chromium and the package playwright.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from typer.testing import CliRunner

from modeseek.cli import app

PENGUINS = Path(__file__).parent / "penguins.csv"
# the first row in the table of doubtful rows
ROW = "xpath=//h3[contains(., 'Doubtful rows')]/following::a[starts-with(., 'row ')]"


def main(path: str) -> None:
    """Write the report, open it, click on the most doubtful row, and take the screenshot."""
    report = Path(tempfile.mkdtemp(), "penguins.html")
    options = ["--ignore", "species", "--n-clusters", "3", "--report", str(report), "-q"]
    assert CliRunner().invoke(app, ["cluster", str(PENGUINS), *options]).exit_code == 0
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1560})
        page.goto(report.as_uri())
        page.locator(ROW).first.click()
        page.mouse.move(1270, 5)
        page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        page.wait_for_timeout(300)
        page.screenshot(path=path)
        browser.close()
    Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
