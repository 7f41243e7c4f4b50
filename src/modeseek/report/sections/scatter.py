"""The section "Scatter plot": an interactive plot of the rows, drawn by a script, with a static image as fallback."""

import base64
from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.sphere import map_axes
from modeseek._common.text import counted
from modeseek._common.types import Array, IntArray
from modeseek._storage.atomic import temporary_folder
from modeseek.estimators import ModeSeek
from modeseek.estimators.alternatives import chosen_one, listed_alternatives
from modeseek.estimators.matching import matched_labels
from modeseek.estimators.table import DOUBTFUL
from modeseek.plots.clusters import plot_clusters
from modeseek.plots.colors import NOISE_COLOR, palette
from modeseek.plots.projection import principal_components
from modeseek.plots.sources import sample_rows
from modeseek.plots.style import file_figure, save_figure, without_math
from modeseek.report.blocks import Block, Heading, HtmlBlock
from modeseek.report.cluster_traits import feature_separation, named_rows
from modeseek.report.images import EmbeddedImage, embed_image
from modeseek.report.rendering import read_static, render_template
from modeseek.report.report_data import SCATTER_ANCHOR, ReportData

MAX_POINTS = 20_000
MIN_POINTS_PER_CLUSTER = 20
# limits on what is embedded, which keep the file small
MAX_FEATURES = 30
MIN_FEATURES = 6
MAX_NUMBERS = 400_000
MAX_COMPONENTS = 5
MAX_EXTRA_COLUMNS = 8
MAX_TRAITS = 6
# decimal digits of a column's range that single precision resolves
DIGITS = 6.5
SCRIPTS = ("data", "drawing", "pointing", "coloring", "legend", "alternatives", "saving", "controls")
# colours of a text column
N_CATEGORY_COLORS = 12


def scatter_section(data: ReportData) -> list[Block]:
    """Return the plot: its data as JSON, the scripts that draw it, and a static image for browsers without scripts."""
    sample = sample_rows(data.labels, MAX_POINTS, MIN_POINTS_PER_CLUSTER)
    rows = np.union1d(sample, named_rows(data))
    features = _choose_features(data, len(sample))
    components = _component_axes(data, rows) if len(data.features) > 2 else []
    caption = _caption(data, len(sample), len(features), bool(components))
    html = render_template(
        "scatter.html.j2",
        anchor=SCATTER_ANCHOR,
        image=_static_image(data),
        label=f"Scatter plot of {counted(len(rows), 'row')} in {counted(data.table.n_clusters, 'cluster')}",
        limit=DOUBTFUL if data.doubtful.any() else None,
        caption=caption,
        payload=_payload(data, rows, features, components),
    )
    # the scripts share one function scope
    script = "\n".join(
        ['"use strict";', "(function () {", *(read_static(f"scatter/{name}.js") for name in SCRIPTS), "})();"]
    )
    return [Heading("Scatter plot"), HtmlBlock(html, caption, read_static("scatter.css"), script)]


def _static_image(data: ReportData) -> EmbeddedImage:
    figure = file_figure()
    plot_clusters(
        data.labels,
        data.original if len(data.features) <= 2 else data.X,
        confidence=None if data.confidence is None else np.clip(data.confidence, 0, 1),
        feature_names=[without_math(name) for name in data.features],
        ax=figure.subplots(),
    )
    with temporary_folder() as folder:
        save_figure(folder / "static.png", figure)
        return embed_image("static", folder)


def _choose_features(data: ReportData, n_drawn: int) -> list[int]:
    """Return the features to embed: all, or those in which clusters differ most.

    The distinguishing features of the clusters come first, one of each cluster in turn.
    """
    limit = min(MAX_FEATURES, max(MIN_FEATURES, MAX_NUMBERS // n_drawn))
    if len(data.features) <= limit:
        return list(range(len(data.features)))
    traits = [[trait.feature for trait in traits] for traits in data.table.traits(data.scaling.factor, MAX_TRAITS)]
    in_turn = [features[rank] for rank in range(MAX_TRAITS) for features in traits if rank < len(features)]
    rest = np.argsort(-feature_separation(data), kind="stable").tolist()
    return sorted(list(dict.fromkeys([*in_turn, *rest]))[:limit])


def _payload(
    data: ReportData, rows: IntArray, features: Sequence[int], components: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the input of the script `data.js`."""
    axes = components + [
        {"name": data.features[j], "feature": True, **_pack_column(data.original[:, j], rows)} for j in features
    ]
    return {
        "total": data.table.n_rows,
        "first": data.first_row,
        "rows": None if len(rows) == data.table.n_rows else _encode(rows.astype("<u4")),
        "names": None if data.row_names is None else [data.row_names[i] for i in rows],
        "clusters": _clusters(data, {j: len(components) + k for k, j in enumerate(features)}),
        "labels": _encode(np.where(data.labels < 0, data.table.n_clusters, data.labels)[rows].astype("<u4")),
        "confidence": None if data.confidence is None else _encode(data.confidence[rows].astype("<f4")),
        "doubtful": DOUBTFUL,
        "n_doubtful": int(data.doubtful.sum()),
        "axes": axes,
        "n_features": len(data.features),
        "start": _start_axes(data, len(axes)),
        **_partitions(data, rows),
        "palette": [color.lower() for color in palette(N_CATEGORY_COLORS)],
        "extra": [
            {"name": column.name, **_pack_texts([column.cells[i] for i in rows])}
            for column in data.extra[:MAX_EXTRA_COLUMNS]
        ],
    }


def _start_axes(data: ReportData, n_axes: int) -> list[int]:
    """Return the axes at the start, horizontal and vertical; -1 is a histogram."""
    if len(data.features) == 2:
        return list(map_axes(data.features) or (0, 1))
    return [0, 1 if n_axes > 1 else -1]


def _partitions(data: ReportData, rows: IntArray) -> dict[str, Any]:
    """Return the names of the chosen partition, and its alternatives with the labels of the rows."""
    chosen = {"name": counted(data.table.n_clusters, "cluster"), "note": ""}
    if not isinstance(data.estimator, ModeSeek):
        return {"chosen": chosen, "partitions": []}
    if data.table.n_clusters > 1 and (own := chosen_one(data.estimator)) is not None:
        chosen["note"] = f"expected agreement {own.expected_agreement:.2f}"
    listed = []
    for each in listed_alternatives(data.estimator):
        numbers, labels = np.unique(matched_labels(each.labels, data.labels), return_inverse=True)
        # matched clusters have the colours of the chosen ones
        colors = [*palette(data.table.n_clusters), *palette(int(numbers.max()) + 1)[data.table.n_clusters :]]
        listed.append(
            {
                "name": counted(each.n_clusters, "cluster"),
                "note": f"expected agreement {each.expected_agreement:.2f}",
                "labels": _encode(labels[rows].astype("<u4")),
                "clusters": [
                    {"name": f"cluster {k}", "size": int(size), "color": colors[number].lower()}
                    for k, (number, size) in enumerate(zip(numbers, np.bincount(labels), strict=True))
                ],
            }
        )
    return {"chosen": chosen, "partitions": listed}


def _caption(data: ReportData, n_drawn: int, n_embedded: int, has_components: bool) -> str:
    parts = []
    if has_components:
        parts.append("Principal components are computed from the data as clustered.")
    if n_drawn < data.table.n_rows:
        parts.append(
            f"The plot shows a random sample of {n_drawn:,} of {data.table.n_rows:,} rows, with at least "
            f"{MIN_POINTS_PER_CLUSTER} rows of each cluster (all rows of smaller clusters), and the rows that the "
            "tables below name."
        )
    if n_embedded < len(data.features):
        parts.append(
            f"The lists offer the {n_embedded} of {len(data.features):,} features in which the clusters differ most."
        )
    return " ".join(parts)


def _component_axes(data: ReportData, rows: IntArray) -> list[dict[str, Any]]:
    components = principal_components(data.X, MAX_COMPONENTS)
    return [
        {
            "name": components.axes[j],
            "short": f"PC {j + 1} ({share:.0%})",
            "feature": False,
            **_pack_column(column, rows),
        }
        for j, (column, share) in enumerate(zip(components.apply(data.X).T, components.shares, strict=True))
    ]


def _clusters(data: ReportData, axis_of: dict[int, int]) -> list[dict[str, Any]]:
    """Return name, size, color and distinguishing features (as indices of axes) of each cluster, noise last."""
    listed: list[dict[str, Any]] = [
        {
            "name": f"cluster {swatch.text}",
            "size": int(size),
            "color": swatch.color.lower(),
            "traits": [axis_of[trait.feature] for trait in traits if trait.feature in axis_of],
        }
        for swatch, size, traits in zip(
            data.swatches, data.table.sizes, data.table.traits(data.scaling.factor, MAX_TRAITS), strict=True
        )
    ]
    if data.table.n_noise:
        listed.append({"name": "noise", "size": data.table.n_noise, "color": NOISE_COLOR.lower(), "noise": True})
    return listed


def _pack_column(column: Array, rows: IntArray) -> dict[str, Any]:
    """Return a column as single-precision numbers in [-1, 1], with offset, scale and the number of decimals."""
    low, high = float(column.min()), float(column.max())
    # halved before they are added, since the sum of huge numbers would overflow
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    half = half if half > 0 else 1.0
    return {
        "middle": middle,
        "half": half,
        "decimals": _decimals(column[rows], max(half, abs(middle) * 1e-9)),
        "data": _encode(((column[rows] - middle) / half).astype("<f4")),
    }


def _decimals(values: Array, half: float) -> int | None:
    """Return the number of decimals that shows all values to the precision of the packed numbers.

    None stands for six significant digits.
    """
    most = floor(DIGITS - log10(half))
    if not 0 <= most <= 12 or np.abs(values).max() >= 1e12:
        return None
    for decimals in range(min(most, 5) + 1):
        if np.allclose(np.round(values, decimals), values, rtol=0, atol=half * 1e-9):
            return decimals
    return min(most, max(0, 4 - ceil(log10(half))))


def _pack_texts(cells: Sequence[str]) -> dict[str, Any]:
    """Return a column of text as its distinct values and the index of each row's value."""
    index = {value: i for i, value in enumerate(dict.fromkeys(cells))}
    return {"values": list(index), "codes": _encode(np.array([index[cell] for cell in cells], dtype="<u4"))}


def _encode(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
