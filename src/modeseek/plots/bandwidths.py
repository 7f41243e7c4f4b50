"""The plot of the bandwidths of a run."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from modeseek.meanshift.chains import Series
from modeseek.meanshift.types import BandwidthPolicy
from modeseek.plots.colors import MUTED_COLOR, TEXT_COLOR, palette
from modeseek.plots.sources import Run, RunSource, read_run
from modeseek.plots.style import DASHED, log_ticks, new_axes, style_axes

# uniform numbers from the whole of [0, 1) show which bandwidths a policy can draw
PROBES = np.array([0.0, 0.25, 0.5, 0.75, 1.0 - 2.0**-53])
# smallest distance between the labels at the right of the axes, as a share of the height of the axes
LABEL_DISTANCE = 0.055


def plot_bandwidths(source: RunSource, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw the bandwidth of each update, the range from which it is drawn, and the limit h_inf of this range.

    The axis of the updates is logarithmic, because the range changes most at the start. If the draws are independent of
    each other, the band is the range of the next draw, which may shrink towards h_inf. If each draw depends on the
    previous one, as for the policy "walk", a line connects the draws, and the band is the whole range [h_min, h_max].

    Parameters
    ----------
    source : fitted estimator, or ChainResult
        The run. Of several chains, the first is drawn.
    ax : matplotlib Axes, default=None
        The axes to draw on; None creates a pyplot figure.
    title : str, default=None
        A title.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from modeseek import DoublyStochasticMeanShift
    >>> model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=0).fit([[0.0], [0.3], [5.0]])
    >>> ax = plot_bandwidths(model, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['h_min 0.2', 'h_inf 0.6', 'h_max 1.6']
    """
    run = read_run(source)
    path = run.recorded("h")
    ax = new_axes() if ax is None else ax
    color = palette(1)[0]
    last = max(int(path.k[-1]), 2)
    ends = _draw_range(ax, run, last, color)
    size = float(np.clip(3000 / len(path.k), 5, 22))
    ax.scatter(path.k, path.values, s=size, color=color, linewidths=0, alpha=0.75, zorder=3)
    if run.settings.policy is not None and not _draws_are_independent(run.settings.policy):
        ax.plot(path.k, path.values, color=color, linewidth=1.2, zorder=3)
    ax.set_xscale("log")
    ax.set_xlim(0.85, last * 1.15)
    ax.margins(y=0.07)
    if np.ptp(path.values) <= 1e-9 * path.values[0] and not ends:
        ax.set_ylim(0, 2 * path.values[0])
    x_label = "update k" if run.settings.single_updates else "draw k"
    style_axes(ax, x_label=x_label, y_label="bandwidth h", title=title, note=_note(run, path))
    log_ticks(ax.xaxis, 1.0, float(last))
    _label_range(ax, ends)
    return ax


def _draws_are_independent(policy: BandwidthPolicy) -> bool:
    """Return whether the next draw does not depend on the current bandwidth."""
    first = policy.draw(PROBES, policy.h_0, 0)
    return all(np.array_equal(policy.draw(PROBES, h, 0), first) for h in (policy.h_min, *first[:3]))


def _draw_range(ax: Axes, run: Run, last: int, color: str) -> dict[str, float]:
    """Draw the band of possible draws and lines at the ends of the range; return the ends by name.

    Nothing is drawn for a policy that always draws the same bandwidth.
    """
    policy, settings = run.settings.policy, run.settings
    ends = {name: h for name, h in settings.bandwidths.items() if name != "bandwidth"}
    if policy is None or not ends:
        return {}
    k = np.unique(np.geomspace(1, last, 300).astype(np.int64))
    low = np.full(len(k), ends["h_min"])
    high = np.full(len(k), ends["h_max"])
    if _draws_are_independent(policy):
        draws = np.array([[policy.draw(np.array([u]), policy.h_0, int(i) - 1)[0] for u in PROBES] for i in k])
        low, high = draws.min(axis=1), draws.max(axis=1)
    if (low == high).all():
        return {}
    ax.fill_between(k, low, high, color=color, alpha=0.12, linewidth=0, zorder=1)
    for name, h in ends.items():
        limit = name == "h_inf"
        style = ":" if limit else DASHED
        ax.axhline(h, color=TEXT_COLOR if limit else MUTED_COLOR, linewidth=1.0, linestyle=style, zorder=2)
    return ends


def _label_range(ax: Axes, ends: dict[str, float]) -> None:
    """Write the ends of the range to the right of the axes, moved apart if they would overlap."""
    side = blended_transform_factory(ax.transAxes, ax.transData)
    y, (low, high) = -np.inf, ax.get_ylim()
    for name, h in ends.items():
        y = max(h, y + LABEL_DISTANCE * (high - low))
        color = TEXT_COLOR if name == "h_inf" else MUTED_COLOR
        ax.text(1.015, y, f"{name} {h:.3g}", transform=side, va="center", fontsize="small", color=color)


def _note(run: Run, path: Series) -> str:
    parts = []
    if len(path.k) < path.k[-1]:
        parts.append(f"{len(path.k):,} of {path.k[-1]:,} draws shown")
    if len(np.unique(path.values)) == 1:
        parts.append(f"h = {path.values[0]:.4g} in all updates")
    return "; ".join([*parts, *filter(None, [run.which])])
