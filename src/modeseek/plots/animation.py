"""A film of the points settling."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from matplotlib.animation import FFMpegWriter, FuncAnimation
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_number
from modeseek._storage import DataError, atomic_path, check_target
from modeseek.plots.colors import TEXT_COLOR, point_colors
from modeseek.plots.run_source import Run, Watched, given_labels, recorded, some_rows, watch
from modeseek.plots.style import new_figure, style_axes
from modeseek.plots.trajectories import paths_of

__all__ = ["ANIMATION_SUFFIXES", "animate"]

ANIMATION_SUFFIXES = (".gif", ".mp4")
SIZE, DOTS = (6.4, 5.0), 100
MOST_POINTS = 4000
FRAMES_PER_SECOND = 15
# seconds for which the last picture stays
STAYS = 1.5
SHADOW = "#DDDDDD"
# area of points that have come together, in square points
LARGE = 40.0

# puts points where they are at a time, and returns what it moved
Step: TypeAlias = Callable[[float], list[Artist]]


def animate(
    source: Run,
    path: str | os.PathLike[str] | None = None,
    *,
    labels: ArrayLike | None = None,
    seconds: float = 6.0,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> FuncAnimation | None:
    """Make a film of the points settling, as a GIF or an MP4.

    Points have the colours of the clusters that they end in, and grey dots stay where they were. Between two snapshots
    they glide in straight lines, and time runs as fast as needed to see them move. Above 4,000 points some are shown,
    of each cluster one at least, and the film says so.

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        A chain that recorded its snapshots: fit with `record=["snapshots"]`.
    path : str or path-like, default=None
        The file to write, whole or not at all: `.gif`, or `.mp4`, which needs the program ffmpeg. None writes nothing
        and returns the animation.
    labels : array-like of shape (n,), default=None
        Clusters, -1 for noise. None: the estimator's; of a ChainResult all points have one colour.
    seconds : float, default=6.0
        How long it takes, without the last picture.
    feature_names : sequence of str, default=None
        Labels of the axes for one and two features.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib FuncAnimation or None
        The animation, where no path is given. In a notebook, `IPython.display.HTML(animation.to_jshtml())` shows it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from modeseek import BlurringMeanShift
    >>> model = BlurringMeanShift(1.0, record=["snapshots"]).fit([[0.0, 0.0], [0.3, 0.1], [5.0, 5.0]])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "film.gif")
    >>> animate(model, path, seconds=0.5)
    >>> path.read_bytes()[:3]
    b'GIF'
    """
    if path is not None:
        _check_film(path)  # before the work of drawing
    check_number("seconds", seconds)
    run = watch(source)
    snapshots = recorded(run, "snapshots")
    mine = given_labels(run, labels, snapshots.values.shape[1])
    rows = some_rows(mine, MOST_POINTS)
    paths, names = paths_of(snapshots.values, rows, feature_names)
    if paths.shape[2] == 1:
        height = np.broadcast_to(np.random.default_rng(1).uniform(-1, 1, (1, len(rows), 1)), paths.shape)
        paths, names = np.concatenate([paths, height], axis=2), (*names, "")
    figure = new_figure(*SIZE) if path is None else _plain_figure()
    ax = figure.subplots()
    note = _note(run, rows, mine)
    step = _scene(ax, run, paths, mine[rows], np.unique(mine[mine != -1]))
    style_axes(ax, x_label=names[0], y_label=names[1], title=title, note=note)
    if names[1] == "":
        ax.set_yticks([])
    # laid out once: it would take longer than the drawing of each picture
    figure.canvas.draw()
    figure.set_layout_engine("none")
    times = _times(paths, round(seconds * FRAMES_PER_SECOND))
    frames = np.concatenate([times, np.full(round(STAYS * FRAMES_PER_SECOND), times[-1])]).tolist()
    if path is None:
        return FuncAnimation(figure, step, frames=frames, interval=1000 / FRAMES_PER_SECOND, blit=False)
    with atomic_path(path) as part:
        if part.suffix.lower() == ".gif":
            _write_gif(part, ax, step, times)
        else:
            film = FuncAnimation(figure, step, frames=frames, blit=False)
            film.save(part, writer=FFMpegWriter(fps=FRAMES_PER_SECOND), dpi=DOTS)
    return None


def _check_film(path: str | os.PathLike[str]) -> None:
    suffix = check_target(path, ANIMATION_SUFFIXES).suffix.lower()
    if suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise DataError(
            f"cannot write '{path}': .mp4 needs the program ffmpeg, which was not found; install it "
            "(apt install ffmpeg, brew install ffmpeg or conda install ffmpeg), or give a name that ends in .gif, "
            "which needs nothing more."
        )


def _plain_figure() -> Figure:
    figure = Figure(figsize=SIZE, dpi=DOTS, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _write_gif(path: Path, ax: Axes, step: Step, times: Array) -> None:
    """Write the pictures; what does not move is drawn once, which matplotlib's own writers would do for each."""
    canvas = ax.figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    for artist in step(float(times[0])):
        artist.set_animated(True)
    canvas.draw()
    background = canvas.copy_from_bbox(ax.figure.bbox)
    pictures = []
    for time in times.tolist():
        canvas.restore_region(background)
        for artist in step(time):
            ax.draw_artist(artist)
        pictures.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    duration = [round(1000 / FRAMES_PER_SECOND)] * (len(pictures) - 1) + [round(1000 * STAYS)]
    # one palette for all: many times faster than one for each, and colours stay what they are
    shades = Image.fromarray(np.concatenate([pictures[0], pictures[len(pictures) // 2], pictures[-1]])).quantize()
    images = [Image.fromarray(each).quantize(palette=shades, dither=Image.Dither.NONE) for each in pictures]
    images[0].save(path, save_all=True, append_images=images[1:], duration=duration, loop=0)


def _scene(ax: Axes, run: Watched, paths: Array, labels: IntArray, clusters: IntArray) -> Step:
    """Draw what stays, and return what puts the points where they are at a time, counted in snapshots."""
    n = len(labels)
    x, y = paths[0].T
    size = float(np.clip(5000 / n, 4, 40))
    ax.scatter(x, y, s=min(size, 9), c=SHADOW, linewidths=0, zorder=1)
    colours = point_colors(labels, clusters, np.ones(n))
    rim = size > 12
    points = ax.scatter(x, y, s=size, c=colours, edgecolors="white", linewidths=0.5 if rim else 0.0, zorder=3)
    # room for the words above the points
    low, high = paths.min(axis=(0, 1)), paths.max(axis=(0, 1))
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + 3 * margin[1])
    words = ax.text(
        0.015, 0.985, "", transform=ax.transAxes, va="top", color=TEXT_COLOR, family="monospace", fontsize="small"
    )
    k, path = recorded(run, "snapshots").k, run.trace.h
    count = f"{len(clusters):,} cluster" + "s" * (len(clusters) != 1)
    known = bool(clusters.size) and run.labels is not None

    def step(time: float) -> list[Artist]:
        before = min(int(time), len(paths) - 1)
        after = min(before + 1, len(paths) - 1)
        share = time - before
        points.set_offsets((1 - share) * paths[before] + share * paths[after])
        points.set_sizes([size + (max(size, LARGE) - size) * time / max(len(paths) - 1, 1)])
        now = round((1 - share) * k[before] + share * k[after])
        said = [f"update {now:>9,}"]
        if path is not None and len(path.k):
            draw = now * path.k[-1] / max(k[-1], 1)  # of several at once there is one draw
            at = max(int(np.searchsorted(path.k, draw, side="right")) - 1, 0)
            said.append(f"h = {path.values[at]:.3g}")
        if time >= len(paths) - 1 and known:
            said.append(count)
        words.set_text("   ".join(said))
        return [points, words]

    step(0.0)
    return step


def _times(paths: Array, n_frames: int) -> Array:
    """Return the time of each frame, counted in snapshots, so that points seem to move at a speed that can be followed.

    Examples
    --------
    >>> _times(np.array([0.0, 1.0, 1.0])[:, None, None], 5)
    array([0.  , 0.25..., 0.50..., 0.76..., 2.  ])
    """
    if len(paths) == 1:
        return np.zeros(1)
    moved = np.sqrt(np.linalg.norm(np.diff(paths, axis=0), axis=2).mean(axis=1))
    # even where nothing moves, time goes on
    pace = moved + 0.02 * (moved.max() or 1.0)
    clock = np.concatenate([[0.0], np.cumsum(pace)])
    times = np.interp(np.linspace(0, clock[-1], max(n_frames, 2)), clock, np.arange(len(paths)))
    times[-1] = len(paths) - 1
    return times


def _note(run: Watched, rows: IntArray, labels: IntArray) -> str:
    parts = []
    if len(rows) < len(labels):
        parts.append(f"{len(rows):,} of {len(labels):,} points shown")
    if run.n_chains > 1:
        parts.append(f"the first of {run.n_chains} chains, colours by what they agree on")
    return "; ".join(parts)
