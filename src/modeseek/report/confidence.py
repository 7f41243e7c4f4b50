"""How sure the rows are of their clusters, as a small drawing."""

from __future__ import annotations

import numpy as np

from modeseek._common.types import Array
from modeseek.estimators.display import DOUBTFUL
from modeseek.report.blocks import HtmlBlock

__all__ = ["confidence_histogram"]

N_BINS = 20
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 232, 12, 12, 26, 46
# a bar of one row beside thousands is still seen
LEAST_HEIGHT = 2.5

CSS = """
.histogram svg { display: block; width: 100%; max-width: 44rem; height: auto; font-family: var(--sans); }
.histogram text { fill: var(--faint); font-size: 12px; }
.histogram .sure { fill: #0072b2; }
.histogram .unsure { fill: var(--paper); stroke: #0072b2; stroke-width: 1.5; }
.histogram .axis { stroke: var(--rule); }
.histogram .limit { stroke: var(--faint); stroke-dasharray: 4 3; }
.histogram .counts { fill: var(--ink); font-size: 11px; }
@media screen and (prefers-color-scheme: dark) {
  .histogram .sure { fill: #56b4e9; }
  .histogram .unsure { stroke: #56b4e9; }
}
@media (max-width: 40rem) { .histogram .counts { font-size: 17px; } .histogram text { font-size: 18px; } }
"""


def confidence_histogram(confidence: Array) -> HtmlBlock:
    """Return a histogram of confidences in [0, 1]; bars of doubtful rows are hollow.

    Examples
    --------
    >>> print(confidence_histogram(np.array([1.0, 0.97, 0.52])).text)
    Confidence of 3 rows: 1 from 0.50 to 0.55, 2 from 0.95 to 1.00.
    """
    # by whole numbers: 0.75 * 20 is 15, and rounding must not put a row below the limit beside one above it
    bins = np.clip(np.floor(confidence * N_BINS + 1e-9).astype(np.intp), 0, N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    filled = [
        f"{count:,} from {k / N_BINS:.2f} to {(k + 1) / N_BINS:.2f}" for k, count in enumerate(counts.tolist()) if count
    ]
    text = f"Confidence of {len(confidence):,} {'row' if len(confidence) == 1 else 'rows'}: {', '.join(filled)}."
    html = (
        f'<figure class="histogram">\n<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text}">\n'
        f"{_bars(counts.tolist())}{_scale()}</svg>\n"
        f"<figcaption>How many rows have which confidence. Rows below {DOUBTFUL:g}, hollow, count as doubtful."
        "</figcaption>\n</figure>\n"
    )
    return HtmlBlock(html, text, CSS)


def _bars(counts: list[int]) -> str:
    step, tall = (WIDTH - LEFT - RIGHT) / N_BINS, HEIGHT - TOP - BOTTOM
    drawn = ""
    for k, count in enumerate(counts):
        if not count:
            continue
        height = max(LEAST_HEIGHT, tall * count / max(counts))
        x, y = LEFT + k * step, HEIGHT - BOTTOM - height
        kind = "unsure" if (k + 1) / N_BINS <= DOUBTFUL else "sure"
        drawn += (
            f'<rect class="{kind}" x="{x + 1.5:.1f}" y="{y:.1f}" width="{step - 3:.1f}" height="{height:.1f}">'
            f"<title>{k / N_BINS:.2f} to {(k + 1) / N_BINS:.2f}: {count:,}</title></rect>\n"
            f'<text class="counts" x="{x + step / 2:.1f}" y="{y - 5:.1f}" text-anchor="middle">{count:,}</text>\n'
        )
    return drawn


def _scale() -> str:
    wide, floor = WIDTH - LEFT - RIGHT, HEIGHT - BOTTOM
    limit = LEFT + DOUBTFUL * wide
    drawn = (
        f'<line class="axis" x1="{LEFT}" y1="{floor}" x2="{WIDTH - RIGHT}" y2="{floor}"/>\n'
        f'<line class="limit" x1="{limit:.1f}" y1="{TOP - 12}" x2="{limit:.1f}" y2="{floor}"/>\n'
    )
    for at in (0.0, 0.25, 0.5, 0.75, 1.0):
        anchor = {0.0: "start", 1.0: "end"}.get(at, "middle")
        drawn += f'<text x="{LEFT + at * wide:.1f}" y="{floor + 18}" text-anchor="{anchor}">{at:g}</text>\n'
    return drawn + f'<text x="{LEFT + wide / 2:.1f}" y="{HEIGHT - 6}" text-anchor="middle">confidence</text>\n'
