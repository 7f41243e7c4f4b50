"""The picture of turns over time: a lane for each speaker, fainter where it is less sure, the reference below."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from modeseek.diarization.diarizing import Diarization
from modeseek.diarization.extras import pyannote
from modeseek.diarization.turns import Turn, turns_of
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette
from modeseek.plots.style import new_figure, save_figure, style_axes

__all__ = ["plot_timeline", "save_timeline"]

WIDTH, LANE, AROUND = 10.0, 0.42, 1.5
# beyond so many lanes their names are left out
MOST_NAMED = 40
BAR, STRIP = 0.56, 0.14
FAINTEST = 0.15
# shades that are told apart
STEPS = 10


def plot_timeline(
    found: Diarization, *, reference: Any = None, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw who speaks when: a lane for each speaker, and windows the fainter the less sure they are.

    Parameters
    ----------
    found : Diarization
    reference : pyannote.core.Annotation, optional
        The truth, as thin strips below: each true speaker in the lane of the speaker that fits best, those whom nobody
        fits in lanes of their own.
    ax : matplotlib Axes, optional
        Where to draw; None makes a new pyplot figure.
    title : str, optional

    Returns
    -------
    matplotlib Axes
    """
    names = found.names
    lanes = {name: lane for lane, name in enumerate(names)}
    strips = _strips(found, reference, lanes) if reference is not None else []
    n_lanes = max([len(names) - 1, *(lane for lane, _, _ in strips)]) + 1
    if ax is None:
        height = AROUND + LANE * min(max(n_lanes, 3), MOST_NAMED)
        ax = new_figure(WIDTH, height).subplots()
    colours = palette(len(names))
    parts = _parts(found)
    for name in names:
        turns = [turn for turn in parts if turn.speaker == name]
        shade = [FAINTEST + (1 - FAINTEST) * (turn.confidence or 0.0) for turn in turns]
        _draw(ax, turns, lanes[name], BAR, colours[lanes[name]], shade)
    for lane, _, turns in strips:
        _draw(ax, turns, lane, STRIP, TEXT_COLOR, [1.0] * len(turns), below=True)
    others = {lane: name for lane, name, _ in strips if lane >= len(names)}
    _finish(ax, [others.get(lane, names[lane] if lane < len(names) else "") for lane in range(n_lanes)])
    note = "solid: sure of the speaker; faint: not sure"
    if reference is not None:
        note += "; thin strips below: the reference"
    style_axes(ax, x_label=_unit(ax), y_label="", title=title, note=note)
    ax.grid(visible=False, axis="y")
    return ax


def save_timeline(
    path: str | os.PathLike[str], found: Diarization, *, reference: Any = None, title: str | None = None
) -> None:
    """Write the picture to a file; the ending chooses the format, and nothing of pyplot is touched."""
    lanes = found.speakers.n_speakers if reference is None else max(found.speakers.n_speakers, len(reference.labels()))
    figure = Figure(figsize=(WIDTH, AROUND + LANE * min(max(lanes, 3), MOST_NAMED)), layout="constrained")
    plot_timeline(found, reference=reference, ax=figure.subplots(), title=title)
    save_figure(path, figure)


def _parts(found: Diarization) -> list[Turn]:
    """Return turns, cut further where the confidence changes by a step."""
    level = np.round(found.speakers.confidence * STEPS).astype(np.intp)
    names = [name for name in found.names for _ in range(STEPS + 1)]
    return turns_of(found.slices, found.speakers.labels * (STEPS + 1) + level, found.speakers.confidence, names)


def _strips(found: Diarization, reference: Any, lanes: dict[str, int]) -> list[tuple[int, str, list[Turn]]]:
    """Return the reference's turns with the lanes they belong to."""
    fits = pyannote("metrics.diarization").DiarizationErrorRate().optimal_mapping(found.annotation, reference)
    found_as = {str(true): ours for true, ours in _pairs(fits, lanes)}
    free = iter(range(len(lanes), len(lanes) + len(reference.labels())))
    strips = []
    for name in reference.labels():
        turns = [Turn(part.start, part.end, str(name)) for part in reference.label_timeline(name)]
        own = found_as.get(str(name))
        strips.append((lanes[own] if own is not None else next(free), f"{name} (reference)", turns))
    return strips


def _pairs(fits: dict[Any, Any], lanes: dict[str, int]) -> list[tuple[Any, str]]:
    # from the reference's names to ours, whichever way round the mapping came
    return [(b, a) if a in lanes else (a, b) for a, b in fits.items()]


def _draw(
    ax: Axes, turns: list[Turn], lane: int, height: float, colour: str, shade: list[float], *, below: bool = False
) -> None:
    middle = lane + (0.5 * BAR + STRIP if below else 0.0)
    low, high = middle - height / 2, middle + height / 2
    corners = [[(t.start, low), (t.end, low), (t.end, high), (t.start, high)] for t in turns]
    bars = PolyCollection(corners, facecolors=colour, edgecolors="none", antialiaseds=False)
    bars.set_alpha(shade or None)
    ax.add_collection(bars)


def _finish(ax: Axes, names: list[str]) -> None:
    ax.autoscale_view()
    ax.set_ylim(len(names) - 0.3, -0.7)
    ax.margins(x=0.01)
    if len(names) <= MOST_NAMED:
        ax.set_yticks(range(len(names)), names, fontsize="small", color=TEXT_COLOR)
    else:
        ax.set_yticks([])
    ax.tick_params(axis="y", length=0, colors=MUTED_COLOR, labelcolor=TEXT_COLOR)
    ax.xaxis.set_major_locator(MaxNLocator(9, steps=[1, 1.5, 2, 3, 5, 6, 10]))
    ax.xaxis.set_major_formatter(FuncFormatter(_clock))


def _unit(ax: Axes) -> str:
    return "time (minutes:seconds)" if ax.get_xlim()[1] < 3600 else "time (hours:minutes:seconds)"


def _clock(seconds: float, _: Any = None) -> str:
    whole = round(abs(seconds))
    hours, rest = divmod(whole, 3600)
    sign = "-" if seconds < -0.5 else ""
    return sign + (f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}")
