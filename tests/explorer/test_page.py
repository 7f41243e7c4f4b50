"""The page without a browser."""

import numpy as np
import pytest
from explorer_runs import wait_until

from modeseek.explorer import from_bytes

pytest.importorskip("panel")
from modeseek.explorer.page.explorer_page import ExplorerPage


def test_many_points_are_drawn_small_by_webgl(rng):
    rows = "".join(f"{x},{y}\n" for x, y in rng.normal(size=(4000, 2)).tolist())
    page = ExplorerPage(from_bytes("many.csv", b"x,y\n" + rows.encode()))
    scatter = page.panels[0].scatter
    assert scatter.plot.output_backend == "webgl"
    assert scatter._points.data["x"].dtype == np.float32
    assert len(scatter._points.data["x"]) == 4000
    assert scatter._glyph.glyph.size == 3.0
    page.close()


def test_actions_run_at_the_next_tick_and_errors_leave_the_run():
    page = ExplorerPage(from_bytes("<i>.csv", b"x,y\n0,0\n0.1,0\n5,5\n5,5.1\n"))
    assert "&lt;i&gt;.csv" in page.data_form.summary.object
    page.pace.value = float("inf")
    page.run_button.clicks += 1
    page.tick()
    wait_until(lambda: page.panels[0].thread is not None and page.panels[0].thread.ended)
    page.tick()
    assert page.run_button.label == "Run again"
    page.data_form.columns.value = []
    page.tick()
    assert "select at least one" in page.message.object
    assert page.panels[0].thread is not None
    page.close()
