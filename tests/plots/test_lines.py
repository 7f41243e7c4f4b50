"""Lines with intervals: lines, ticks, legends and reproducible files."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from modeseek.plots import Band, LineStyle, legend_below, palette, plot_lines, save_figure, style_cycle


@pytest.fixture
def ax():
    return Figure().subplots()


def legend(ax):
    return [text.get_text() for text in ax.get_legend().texts]


def band(x, level=1.0):
    x = np.asarray(x, dtype=float)
    return Band(x, level * x, level * x - 0.5, level * x + 0.5)


def ticks(axis):
    axis.figure.draw_without_rendering()
    return [label.get_text() for label in axis.get_ticklabels()]


def test_lines_are_drawn_as_given(ax):
    given = {"SMS": band([1, 2, 4]), "DSMS": band([1, 3, 4], 2.0)}
    options = {"x_label": "points", "y_label": "K", "title": "birds"}
    assert plot_lines(given, ax=ax, reference=3.0, reference_label="truth", **options) is ax
    assert [ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")] == ["points", "K", "birds"]
    assert legend(ax) == ["SMS", "DSMS", "truth"]
    drawn = {line.get_label(): line for line in ax.lines}
    for name, line in given.items():
        assert_allclose(drawn[name].get_xydata(), np.c_[line.x, line.mean])
    assert set(drawn["truth"].get_ydata()) == {3.0}
    assert drawn["truth"].get_linestyle() == ":"
    # the outline of an interval goes along its lower end and back along its upper end
    outline = ax.collections[0].get_paths()[0].vertices
    for x, low, high in zip(given["SMS"].x, given["SMS"].low, given["SMS"].high, strict=True):
        assert {low, high} <= set(outline[outline[:, 0] == x, 1])


def test_nan_leaves_a_gap_and_a_single_point_has_a_bar(ax):
    x = np.arange(6.0)
    mean = np.array([1, 1, np.nan, 2, np.nan, 3])
    plot_lines({"a": Band(x, mean, mean - 0.25, mean + 0.25)}, ax=ax)
    assert_allclose(ax.lines[0].get_ydata(), mean)
    shaded, bars = ax.collections
    assert not any(2 in path.vertices[:, 0] or 4 in path.vertices[:, 0] for path in shaded.get_paths())
    assert [bar.tolist() for bar in bars.get_segments()] == [[[3, 1.75], [3, 2.25]], [[5, 2.75], [5, 3.25]]]


@pytest.mark.parametrize("log", [False, True])
def test_ticks_are_at_the_values_of_x_if_they_are_few(ax, log):
    plot_lines({"a": band([100, 300]), "b": band([100, 200, 1000])}, ax=ax, log_x=log)
    assert ax.get_xticks().tolist() == [100, 200, 300, 1000]
    assert ticks(ax.xaxis) == ["100", "200", "300", "1,000"]
    assert len(ax.get_xticks(minor=True)) == 0


def test_tick_labels_do_not_overlap(ax):
    plot_lines({"a": band([1, 2, 3, 500, 1000])}, ax=ax)
    assert ax.get_xticks().tolist() == [1, 2, 3, 500, 1000]
    assert ticks(ax.xaxis) == ["1", "", "", "500", "1,000"]


def test_logarithmic_axes_have_plain_numbers(ax):
    x = np.geomspace(1, 1e5, 20)
    plot_lines({"a": Band(x, x / 1e3, x / 2e3, x / 5e2)}, ax=ax, log_x=True, log_y=True)
    for axis in (ax.xaxis, ax.yaxis):
        shown = [label for label in ticks(axis) if label]
        assert len(shown) >= 4
        assert all(set(label) <= set("0123456789.,") for label in shown)
    assert {"1", "10,000"} <= set(ticks(ax.xaxis))


def test_styles_can_be_given_by_name(ax):
    own = LineStyle("#112233", "--", "v", 3.0, 0.5)
    plot_lines({"a": band([1, 2]), "b": band([1, 2])}, ax=ax, styles={"b": own, "in another panel": own})
    first, second = ax.lines
    assert (first.get_color(), first.get_marker()) == (palette(2)[0], "o")
    assert (second.get_color(), second.get_marker(), second.get_linewidth()) == ("#112233", "v", 3.0)
    assert ax.collections[2].get_alpha() == 0.5


@pytest.mark.parametrize("n", [2, 7, 12, 40])
def test_styles_differ_without_color(n):
    styles = style_cycle(n)
    assert len({(style.marker, style.dash) for style in styles}) == n
    assert len({style.color for style in styles}) == n


def test_one_legend_for_all_panels():
    figure = Figure(figsize=(9, 3))
    panels = figure.subplots(2, 2)
    for i, ax in enumerate(panels.ravel()):
        plot_lines({"SMS": band([1, 2]), f"line {i % 2}": band([1, 2])}, ax=ax, reference=1, reference_label="truth")
    below = legend_below(figure, panels)
    assert [text.get_text() for text in below.texts] == ["SMS", "line 0", "line 1", "truth"]
    assert all(ax.get_legend() is None for ax in panels.ravel())
    figure.draw_without_rendering()
    top = below.get_window_extent().ymax
    assert top <= min(ax.get_tightbbox().ymin for ax in panels.ravel())
    assert below.get_window_extent().width <= figure.bbox.width


def test_no_lines_and_no_labels(ax):
    plot_lines({}, ax=ax)
    assert ax.get_legend() is None
    plot_lines({"a": band([])}, ax=ax, legend=False, log_x=True)
    assert ax.get_legend() is None
    ax.figure.draw_without_rendering()


def test_error_names_a_line_of_unequal_lengths(ax):
    with pytest.raises(ValueError, match=r"of line 'SMS' must have the same length; got shapes \(2,\), \(1,\)"):
        plot_lines({"SMS": Band([1, 2], [1], [1, 2], [1, 2])}, ax=ax)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_files_are_reproducible(tmp_path, suffix):
    for name in ("a", "b"):
        figure = Figure(figsize=(6, 3), layout="constrained")
        panels = figure.subplots(1, 2)
        for ax in panels:
            plot_lines({"SMS": band([1, 2, 5]), "DSMS": band([1, 5], 2.0)}, ax=ax, log_x=True, legend=False)
        legend_below(figure, panels)
        save_figure(tmp_path / (name + suffix), figure)
    first, second = ((tmp_path / (name + suffix)).read_bytes() for name in ("a", "b"))
    assert first == second
