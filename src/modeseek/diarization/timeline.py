"""Plot of turns over time: a lane for each speaker, and optionally the reference."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from modeseek.diarization.diarization import Diarization
from modeseek.diarization.pyannote_import import import_pyannote
from modeseek.diarization.turns import Turn, make_turns
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette
from modeseek.plots.style import new_figure, save_figure, style_axes

# sizes in inches
FIGURE_WIDTH = 10.0
LANE_HEIGHT = 0.42
MARGINS_HEIGHT = 1.5
# with more lanes, the names of speakers are omitted
MAX_NAMED_LANES = 40
# heights in units of a lane
BAR_HEIGHT = 0.56
STRIP_HEIGHT = 0.14
MIN_ALPHA = 0.15
# number of steps of confidence that are drawn with different alpha
CONFIDENCE_STEPS = 10


def plot_timeline(
    found: Diarization, *, reference: Any = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Plot the turns of each speaker in a lane; bars are more transparent where the confidence is lower.

    Parameters
    ----------
    found : Diarization
    reference : pyannote.core.Annotation, optional
        Reference turns, drawn as thin strips. A reference speaker is drawn in the lane of the best matching speaker,
        or in an additional lane if there is no match.
    ax : matplotlib Axes, optional
        Axes to draw on. Default: a new pyplot figure.
    title : str, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * rng.normal(size=(40, 8))
    >>> times = np.column_stack([np.arange(40.0), np.arange(1.0, 41.0)])
    >>> from modeseek.diarization import find_turns
    >>> ax = plot_timeline(find_turns(voices, times), title="A talk")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['SPEAKER_00', 'SPEAKER_01']
    """
    lanes = _lanes(found, reference)
    if ax is None:
        ax = new_figure(FIGURE_WIDTH, _figure_height(len(lanes))).subplots()
    colors = palette(len(found.names))
    pieces = _pieces_of_equal_confidence(found)
    for lane, name in enumerate(found.names):
        turns = [turn for turn in pieces if turn.speaker == name]
        alpha = [MIN_ALPHA + (1 - MIN_ALPHA) * (turn.confidence or 0.0) for turn in turns]
        _draw_bars(ax, turns, lane, BAR_HEIGHT, colors[lane], alpha)
    for lane, (_, true) in enumerate(lanes):
        if true is not None:
            turns = [Turn(part.start, part.end, str(true)) for part in reference.label_timeline(true)]
            _draw_bars(ax, turns, lane + 0.5 * BAR_HEIGHT + STRIP_HEIGHT, STRIP_HEIGHT, TEXT_COLOR, [1.0] * len(turns))
    _style_lanes(ax, [name for name, _ in lanes])
    note = "solid: high confidence; faint: low confidence"
    if reference is not None:
        note += "; thin strips: the reference"
    unit = "minutes:seconds" if ax.get_xlim()[1] < 3600 else "hours:minutes:seconds"
    style_axes(ax, x_label=f"time ({unit})", y_label="", title=title, note=note)
    ax.grid(visible=False, axis="y")
    return ax


def save_timeline(
    path: str | os.PathLike[str], found: Diarization, *, reference: Any = None, title: str | None = None
) -> None:
    """Write the plot to a file without using pyplot; the suffix of the file name selects the format.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> voices = np.repeat(np.eye(8)[:2], 20, axis=0) + 0.1 * rng.normal(size=(40, 8))
    >>> times = np.column_stack([np.arange(40.0), np.arange(1.0, 41.0)])
    >>> from modeseek.diarization import find_turns
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "talk.png")
    >>> save_timeline(path, find_turns(voices, times))
    >>> os.path.getsize(path) > 0
    True
    """
    n_lanes = max(found.speakers.n_speakers, 0 if reference is None else len(reference.labels()))
    figure = Figure(figsize=(FIGURE_WIDTH, _figure_height(n_lanes)), layout="constrained")
    plot_timeline(found, reference=reference, ax=figure.subplots(), title=title)
    save_figure(path, figure)


def _figure_height(n_lanes: int) -> float:
    return MARGINS_HEIGHT + LANE_HEIGHT * min(max(n_lanes, 3), MAX_NAMED_LANES)


def _lanes(found: Diarization, reference: Any) -> list[tuple[str, Any]]:
    """Return the name and the reference speaker (or None) of each lane, from the top."""
    if reference is None:
        return [(name, None) for name in found.names]
    metric = import_pyannote("metrics.diarization").DiarizationErrorRate()
    # {found speaker: reference speaker}
    matches = metric.optimal_mapping(reference, found.annotation)
    unmatched = [name for name in reference.labels() if name not in matches.values()]
    lanes = [(name, matches.get(name)) for name in found.names]
    return [*lanes, *((f"{name} (reference)", name) for name in unmatched)]


def _pieces_of_equal_confidence(found: Diarization) -> list[Turn]:
    levels = CONFIDENCE_STEPS + 1
    level = np.round(found.speakers.confidence * CONFIDENCE_STEPS).astype(np.intp)
    names = [name for name in found.names for _ in range(levels)]
    return make_turns(found.trimmed, found.speakers.labels * levels + level, found.speakers.confidence, names)


def _draw_bars(ax: Axes, turns: Sequence[Turn], y: float, height: float, color: str, alpha: list[float]) -> None:
    low, high = y - height / 2, y + height / 2
    corners = [[(t.start, low), (t.end, low), (t.end, high), (t.start, high)] for t in turns]
    bars = PolyCollection(corners, facecolors=color, edgecolors="none", antialiaseds=False)
    bars.set_alpha(alpha or None)
    ax.add_collection(bars)


def _style_lanes(ax: Axes, names: list[str]) -> None:
    ax.autoscale_view()
    ax.set_ylim(len(names) - 0.3, -0.7)
    ax.margins(x=0.01)
    if len(names) <= MAX_NAMED_LANES:
        ax.set_yticks(range(len(names)), names, fontsize="small", color=TEXT_COLOR)
    else:
        ax.set_yticks([])
    ax.tick_params(axis="y", length=0, colors=MUTED_COLOR, labelcolor=TEXT_COLOR)
    ax.xaxis.set_major_locator(MaxNLocator(9, steps=[1, 1.5, 2, 3, 5, 6, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(_clock))


def _clock(seconds: float, _: Any = None) -> str:
    minutes, rest = divmod(round(abs(seconds)), 60)
    sign = "-" if seconds < -0.5 else ""
    return sign + (f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}")
