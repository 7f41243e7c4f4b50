"""The scripts of the gallery run and draw their figures."""

import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import modeseek.plots

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))
# these take long, and the build of the documentation runs them
LONG = {"plot_compare_algorithms", "plot_timeline", "plot_walk_absorption"}
TESTED = [script for script in SCRIPTS if script.stem not in LONG]


@pytest.fixture
def shown(monkeypatch):
    # collect the figures instead of opening windows
    plt.switch_backend("agg")
    figures = []

    def show():
        for number in plt.get_fignums():
            figure = plt.figure(number)
            figure.canvas.draw()
            figures.append(figure)
            plt.close(figure)

    monkeypatch.setattr(plt, "show", show)
    yield figures
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("script", TESTED, ids=lambda path: path.stem)
def test_script(script, shown, monkeypatch):
    monkeypatch.chdir(GALLERY)
    names = runpy.run_path(str(script))  # a reference to the animation prevents a warning
    n_shown = script.read_text().count("plt.show()")
    assert len(shown) == n_shown
    if "animation" in names:
        plt.show()
        assert len(shown) == 1
    title = script.read_text().splitlines()[1:3]
    assert len(title[0]) == len(title[1])
    assert set(title[1]) == {"="}


def test_every_plot_has_a_script():
    drawn = {name for name in modeseek.plots.__all__ if re.match(r"plot_|animate", name)}
    used = {path.stem if path.stem != "plot_animate" else "animate" for path in SCRIPTS}
    assert drawn <= used
