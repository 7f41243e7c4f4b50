"""The animation of the points of a run."""

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

from modeseek._common.text import counted
from modeseek._common.types import Array
from modeseek._common.validation import check_number
from modeseek._storage.atomic import atomic_path, check_target
from modeseek._storage.errors import DataError
from modeseek.plots.colors import TEXT_COLOR, point_colors
from modeseek.plots.sources import RunSource
from modeseek.plots.style import draw_points, new_figure, style_axes
from modeseek.plots.trajectories import Paths, read_paths

ANIMATION_SUFFIXES = (".gif", ".mp4")
SIZE = (6.4, 5.0)
DPI = 100
MAX_POINTS = 4000
FRAMES_PER_SECOND = 15
LAST_FRAME_SECONDS = 1.5
START_COLOR = "#DDDDDD"
# area of a marker at the end of the run, in square points
END_AREA = 40.0

# function of a time, counted in snapshots: moves the points to their positions then, and returns the changed artists
DrawFrame: TypeAlias = Callable[[float], list[Artist]]


def animate(
    source: RunSource,
    path: str | os.PathLike[str] | None = None,
    *,
    labels: ArrayLike | None = None,
    seconds: float = 6.0,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> FuncAnimation | None:
    """Animate the points of a run, as a GIF or an MP4.

    Points have the colours of their final clusters, and grey dots mark where they started. Between snapshots, points
    move on straight lines; the animation is slower where they move far. If there are more than 4,000 points, a sample
    with at least one point of each cluster is shown, and a note states so.

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        A run that recorded its snapshots: fit with `record=["snapshots"]`.
    path : str or path-like, default=None
        The file to write, with the suffix `.gif` or `.mp4`; `.mp4` needs the program ffmpeg. The file appears only once
        it is complete. If None, no file is written, and the animation is returned.
    labels : array-like of shape (n,), default=None
        Clusters, -1 for noise. By default, the labels of the estimator; all points of a ChainResult have one colour.
    seconds : float, default=6.0
        Duration, without the pause at the end.
    feature_names : sequence of str, default=None
        Labels of the axes for one or two features.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib FuncAnimation or None
        The animation, if `path` is None. In a notebook, `IPython.display.HTML(animation.to_jshtml())` shows it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from modeseek import BlurringMeanShift
    >>> model = BlurringMeanShift(1.0, record=["snapshots"]).fit([[0.0, 0.0], [0.3, 0.1], [5.0, 5.0]])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "animation.gif")
    >>> animate(model, path, seconds=0.5)
    >>> path.read_bytes()[:3]
    b'GIF'
    """
    if path is not None:
        _check_path(path)  # an error should come before the work
    check_number("seconds", seconds)
    paths = read_paths(source, labels, feature_names, MAX_POINTS)
    positions, y_label = paths.positions, paths.axes[-1]
    if positions.shape[2] == 1:
        jitter = np.random.default_rng(1).uniform(-1, 1, (1, positions.shape[1], 1))
        positions, y_label = np.concatenate([positions, np.broadcast_to(jitter, positions.shape)], axis=2), ""
    if path is None:
        figure = new_figure(*SIZE)
    else:
        figure = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
        FigureCanvasAgg(figure)
    ax = figure.subplots()
    draw_frame = _make_scene(ax, paths, positions)
    style_axes(ax, x_label=paths.axes[0], y_label=y_label, title=title, note=paths.note("points"))
    if not y_label:
        ax.set_yticks([])
    # computing the layout for each frame would take longer than drawing the frame
    figure.canvas.draw()
    figure.set_layout_engine("none")
    times = _frame_times(positions, round(seconds * FRAMES_PER_SECOND))
    frames = np.append(times, np.full(round(LAST_FRAME_SECONDS * FRAMES_PER_SECOND), times[-1])).tolist()
    if path is None:
        return FuncAnimation(figure, draw_frame, frames=frames, interval=1000 / FRAMES_PER_SECOND, blit=False)
    with atomic_path(path) as part:
        if part.suffix.lower() == ".gif":
            _write_gif(part, ax, draw_frame, times)
        else:
            animation = FuncAnimation(figure, draw_frame, frames=frames, blit=False)
            animation.save(part, writer=FFMpegWriter(fps=FRAMES_PER_SECOND), dpi=DPI)
    return None


def _check_path(path: str | os.PathLike[str]) -> None:
    suffix = check_target(path, ANIMATION_SUFFIXES).suffix.lower()
    if suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise DataError(
            f"cannot write '{path}': .mp4 needs the program ffmpeg, which was not found; install it "
            "(apt install ffmpeg, brew install ffmpeg or conda install ffmpeg), or use a name that ends in .gif, "
            "which needs no further program."
        )


def _make_scene(ax: Axes, paths: Paths, positions: Array) -> DrawFrame:
    """Draw the static parts, and return the function that draws a frame."""
    n, last = len(paths.labels), len(positions) - 1
    size = float(np.clip(5000 / n, 4, 40))
    draw_points(ax, positions[0], s=min(size, 9), c=START_COLOR, linewidths=0, zorder=1)
    colors = point_colors(paths.labels, paths.clusters, np.ones(n))
    rim = 0.5 if size > 12 else 0.0
    points = draw_points(ax, positions[0], s=size, c=colors, edgecolors="white", linewidths=rim, zorder=3)
    low, high = positions.min(axis=(0, 1)), positions.max(axis=(0, 1))
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + 3 * margin[1])  # space for the text above the points
    text = ax.text(0.015, 0.985, "", transform=ax.transAxes, va="top", color=TEXT_COLOR)
    text.set(family="monospace", fontsize="small")
    k, path = paths.k, paths.run.trace.h
    count = counted(len(paths.clusters), "cluster") if len(paths.clusters) and paths.run.labels is not None else ""

    def draw_frame(time: float) -> list[Artist]:
        before = min(int(time), last)
        after, share = min(before + 1, last), time - before
        points.set_offsets((1 - share) * positions[before] + share * positions[after])
        points.set_sizes([size + (max(size, END_AREA) - size) * time / max(last, 1)])
        update = round((1 - share) * k[before] + share * k[after])
        parts = [f"update {update:>9,}"]
        if path is not None and len(path.k):
            draw = update * path.k[-1] / max(k[-1], 1)  # the updates of a batch share one draw of h
            index = max(int(np.searchsorted(path.k, draw, side="right")) - 1, 0)
            parts.append(f"h = {path.values[index]:.3g}")
        if time >= last and count:
            parts.append(count)
        text.set_text("   ".join(parts))
        return [points, text]

    draw_frame(0.0)
    return draw_frame


def _frame_times(positions: Array, n_frames: int) -> Array:
    """Return the time of each frame, counted in snapshots; more frames lie where points move far.

    Examples
    --------
    >>> _frame_times(np.array([0.0, 1.0, 1.0])[:, None, None], 5)
    array([0.  , 0.25..., 0.50..., 0.76..., 2.  ])
    """
    if len(positions) == 1:
        return np.zeros(1)
    moved = np.sqrt(np.linalg.norm(np.diff(positions, axis=0), axis=2).mean(axis=1))
    # a minimum duration for snapshots without movement
    duration = moved + 0.02 * (moved.max() or 1.0)
    clock = np.concatenate([[0.0], np.cumsum(duration)])
    times = np.interp(np.linspace(0, clock[-1], max(n_frames, 2)), clock, np.arange(len(positions)))
    times[-1] = len(positions) - 1
    return times


def _write_gif(path: Path, ax: Axes, draw_frame: DrawFrame, times: Array) -> None:
    """Write a GIF, drawing the static parts once; matplotlib's writers would draw them for each frame."""
    canvas = ax.figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    for artist in draw_frame(float(times[0])):
        artist.set_animated(True)
    canvas.draw()
    background = canvas.copy_from_bbox(ax.figure.bbox)
    frames = []
    for time in times.tolist():
        canvas.restore_region(background)
        for artist in draw_frame(time):
            ax.draw_artist(artist)
        frames.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    duration = [round(1000 / FRAMES_PER_SECOND)] * (len(frames) - 1) + [round(1000 * LAST_FRAME_SECONDS)]
    # one palette for all frames is faster, and keeps colours constant
    colors = Image.fromarray(np.concatenate([frames[0], frames[len(frames) // 2], frames[-1]])).quantize()
    images = [Image.fromarray(frame).quantize(palette=colors, dither=Image.Dither.NONE) for frame in frames]
    images[0].save(path, save_all=True, append_images=images[1:], duration=duration, loop=0)
