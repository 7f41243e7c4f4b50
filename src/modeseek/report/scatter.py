"""The picture of a page in which rows can be pointed at: numbers for a small script, and a still one below."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.types import Array, IntArray
from modeseek.estimators.display import DOUBTFUL
from modeseek.plots.colors import NOISE_COLOR, palette
from modeseek.plots.projection import components
from modeseek.report.blocks import HtmlBlock
from modeseek.report.findings import separation, traits
from modeseek.report.pictures import Inlined
from modeseek.report.subject import Subject

__all__ = ["ANCHOR", "MOST_POINTS", "scatter"]

# names of rows elsewhere on the page lead there
ANCHOR = "scatter"

MOST_POINTS, LEAST_OF_EACH = 20_000, 20
# what is embedded: features at most, and numbers at most, so that a page stays small
MOST_FEATURES, MOST_NUMBERS, FEWEST_FEATURES = 30, 400_000, 6
MOST_COMPONENTS, MOST_EXTRA, MOST_TRAITS = 5, 8, 6
# single precision holds about seven digits of a column's range
DIGITS = 6.5
PARTS = ("style.css", "data.js", "drawing.js", "pointing.js", "controls.js")

BODY = """<figure class="scatter" id="{anchor}">
<img class="still" src="{uri}" width="{width}" height="{height}" alt="{alt}">
<div class="live" hidden>
<div class="controls">
<label>Across <select class="across"></select></label>
<label>Up <select class="up"></select></label>
<span class="buttons">
<button type="button" class="closer" aria-label="Zoom in" title="Zoom in">+</button>
<button type="button" class="farther" aria-label="Zoom out" title="Zoom out">&minus;</button>
<button type="button" class="reset" title="Show all points again">Reset</button>
</span>
</div>
<div class="stage">
<canvas tabindex="0" role="application" aria-label="{label}" aria-describedby="scatter-help"></canvas>
<div class="tip" role="status"></div>
</div>
<div class="legend" role="group" aria-label="Clusters: press one to hide it or show it again"></div>
<p class="help" id="scatter-help">Point at a row, or tap it, to read it; click to keep it open. Drag to move; zoom with
the buttons, or with the wheel after a click into the plot. <span class="keys">By keyboard: arrows go from row to
row, + and &minus; zoom, 0 shows all.</span> {hollow}</p>
</div>
{caption}</figure>
<script type="application/json" id="scatter-data">{data}</script>
"""


def scatter(subject: Subject, still: Inlined) -> HtmlBlock:
    """Return the picture of a clustering.

    Parameters
    ----------
    subject : Subject
        What to draw.
    still : Inlined
        What shows where no script runs.

    Returns
    -------
    HtmlBlock
        The part of the page, with its script and its rules.
    """
    rows = _sample(subject)
    payload, caption = _payload(subject, rows)
    count = len(subject.clusters)
    label = f"Scatter plot of {len(rows):,} rows in {count:,} {'cluster' if count == 1 else 'clusters'}"
    hollow = "Hollow points are doubtful rows." if subject.doubtful.any() else ""
    html = BODY.format(
        anchor=ANCHOR,
        uri=still.uri,
        width=still.width,
        height=still.height,
        alt=escape(label),
        label=escape(label),
        hollow=hollow,
        caption=f"<figcaption>{escape(caption)}</figcaption>\n" if caption else "",
        data=_json(payload),
    )
    style, *scripts = ((files("modeseek.report") / "picture" / name).read_text(encoding="utf-8") for name in PARTS)
    # one function, so that its names are its own
    script = "\n".join(['"use strict";', "(function () {", *scripts, "})();"])
    return HtmlBlock(html, caption, style, script)


def _sample(subject: Subject) -> IntArray:
    """Return the rows to draw: all, or a random choice in which every cluster has a few."""
    n = subject.n_rows
    if n <= MOST_POINTS:
        return np.arange(n)
    order = np.random.default_rng(0).permutation(n)
    labels = subject.labels[order]
    by_label = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[by_label], labels[by_label])
    rank = np.empty(n, dtype=np.intp)
    rank[by_label] = np.arange(n) - starts
    first = np.argsort(rank >= LEAST_OF_EACH, kind="stable")[:MOST_POINTS]
    return np.sort(order[first])


def _payload(subject: Subject, rows: IntArray) -> tuple[dict[str, Any], str]:
    """Return what the script is given, and the caption that says what of the data it is."""
    n_features = len(subject.features)
    budget = max(FEWEST_FEATURES, MOST_NUMBERS // len(rows))
    shown = np.arange(n_features)
    if n_features > min(MOST_FEATURES, budget):
        shown = np.array(sorted(_telling(subject, min(MOST_FEATURES, budget))))
    axes = [] if n_features <= 2 else _components(subject, rows)
    n_components = len(axes)
    axes += [
        {"name": subject.features[j], "feature": True, **_packed(subject.original[:, j], rows)} for j in shown.tolist()
    ]
    payload = {
        "total": subject.n_rows,
        "first": subject.first_row,
        "rows": None if len(rows) == subject.n_rows else _binary(rows.astype("<u4")),
        "names": None if subject.row_names is None else [subject.row_names[i] for i in rows],
        "clusters": _clusters(subject, {j: n_components + k for k, j in enumerate(shown.tolist())}),
        "labels": _binary(np.where(subject.labels < 0, len(subject.clusters), subject.labels)[rows].astype("<u4")),
        "confidence": None if subject.confidence is None else _binary(subject.confidence[rows].astype("<f4")),
        "doubtful": DOUBTFUL,
        "n_doubtful": int(subject.doubtful.sum()),
        "axes": axes,
        "n_features": n_features,
        # the first two components, or features; -1 is a histogram
        "start": [0, 1 if len(axes) > 1 else -1],
        "extra": [{"name": each.name, **_coded([each.cells[i] for i in rows])} for each in subject.extra[:MOST_EXTRA]],
    }
    return payload, _caption(subject, len(rows), len(shown), n_components)


def _telling(subject: Subject, count: int) -> list[int]:
    """Return features by which clusters differ: of each cluster in turn the best, then what separates all of them."""
    told = [[each.feature for each in apart] for apart in traits(subject, MOST_TRAITS)]
    in_turn = [apart[rank] for rank in range(MOST_TRAITS) for apart in told if rank < len(apart)]
    rest = np.argsort(-separation(subject), kind="stable").tolist()
    return list(dict.fromkeys([*in_turn, *rest]))[:count]


def _caption(subject: Subject, n_drawn: int, n_shown: int, n_components: int) -> str:
    parts = []
    if n_components:
        parts.append("Principal components are those of the data as clustered.")
    if n_drawn < subject.n_rows:
        parts.append(
            f"A random {n_drawn:,} of {subject.n_rows:,} rows are drawn, of every cluster at least "
            f"{LEAST_OF_EACH} where it has so many."
        )
    if n_shown < len(subject.features):
        parts.append(f"Of {len(subject.features):,} features {n_shown} by which clusters differ can be chosen.")
    return " ".join(parts)


def _components(subject: Subject, rows: IntArray) -> list[dict[str, Any]]:
    found = components(subject.X, MOST_COMPONENTS)
    places = found.apply(subject.X)
    return [
        {
            "name": f"principal component {j + 1} ({held:.0%} of variance)",
            "short": f"PC {j + 1} ({held:.0%})",
            "feature": False,
            **_packed(column, rows),
        }
        for j, (column, held) in enumerate(zip(places.T, found.shares, strict=True))
    ]


def _clusters(subject: Subject, places: dict[int, int]) -> list[dict[str, Any]]:
    """Return name, size and colour of each cluster, and where among the axes the features are that set it apart."""
    colours, sizes, told = palette(len(subject.clusters)), subject.sizes, traits(subject, MOST_TRAITS)
    listed: list[dict[str, Any]] = [
        {
            "name": f"cluster {name}",
            "size": int(size),
            "colour": colour.lower(),
            "traits": [places[each.feature] for each in apart if each.feature in places],
        }
        for name, size, colour, apart in zip(subject.clusters, sizes, colours, told, strict=True)
    ]
    if subject.n_noise:
        listed.append({"name": "noise", "size": subject.n_noise, "colour": NOISE_COLOR.lower(), "noise": True})
    return listed


def _packed(column: Array, rows: IntArray) -> dict[str, Any]:
    """Return a column as single-precision numbers on [-1, 1], with the way back and the decimals that can be shown."""
    low, high = float(column.min()), float(column.max())
    # halves first: the sum of huge numbers would overflow
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    half = half if half > 0 else 1.0
    return {
        "middle": middle,
        "half": half,
        "decimals": _decimals(column[rows], max(half, abs(middle) * 1e-9)),
        "data": _binary(((column[rows] - middle) / half).astype("<f4")),
    }


def _decimals(values: Array, half: float) -> int | None:
    """Return the fewest decimals that show all values, as far as they can be told apart; None if digits are better."""
    most = floor(DIGITS - log10(half))
    if not 0 <= most <= 12 or np.abs(values).max() >= 1e12:
        return None
    for decimals in range(min(most, 5) + 1):
        if np.allclose(np.round(values, decimals), values, rtol=0, atol=half * 1e-9):
            return decimals
    # no end in sight: as many as matter beside the range
    return min(most, max(0, 4 - ceil(log10(half))))


def _coded(cells: Sequence[str]) -> dict[str, Any]:
    """Return a column of text as its distinct values and the place of each row's among them."""
    places = {value: i for i, value in enumerate(dict.fromkeys(cells))}
    return {"values": list(places), "codes": _binary(np.array([places[cell] for cell in cells], dtype="<u4"))}


def _binary(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _json(payload: dict[str, Any]) -> str:
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # no text from the data can end the element or begin another
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
