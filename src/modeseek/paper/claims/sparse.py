"""What the paper says of few points in each cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from modeseek.paper.claims.base import (
    BOTH,
    EACH_SPREAD,
    Claim,
    Finding,
    H,
    Measured,
    Reading,
    dsms,
    inside,
    paired,
    sizes_of,
    span,
    values_at,
)
from modeseek.paper.intervals import Interval
from modeseek.paper.lines import FIXED
from modeseek.paper.rows import Rows, Value

__all__ = ["CLAIMS"]

WHERE = "performance on underrepresented clusters"
TRUE = 3
SPARSE_TO, PLENTY_FROM = 50, 100


def _far_closer(measured: Measured, reading: Reading, names: Sequence[str], factor: float) -> Finding:
    rows = inside(measured, "sparse", reading, "spread")
    holds, parts = True, []
    for name in names:
        worst = 0.0
        for n in sizes_of(rows):
            own = np.abs(values_at(rows, "n_clusters", n_per_cluster=n, line=dsms(reading)) - TRUE).mean()
            other = np.abs(values_at(rows, "n_clusters", n_per_cluster=n, line=name, h=H) - TRUE).mean()
            worst = max(worst, float(own / max(other, 1e-12)))
        holds &= worst < factor
        parts.append(f"{worst:.2f} of that of {name}")
    return Finding(holds, f"DSMS's mean distance from {TRUE} clusters is at most {' and '.join(parts)}, over all N")


def _outperforms(measured: Measured, reading: Reading) -> Finding:
    return _far_closer(measured, reading, ["SMS", "MS"], 0.5)


def _better_than_bms(measured: Measured, reading: Reading) -> Finding:
    return _far_closer(measured, reading, ["BMS"], 1.0)


def _gaps(rows: Rows, dsms: str, name: str, sizes: Sequence[int]) -> list[Interval]:
    return [
        paired(
            values_at(rows, "n_clusters", n_per_cluster=n, line=name, h=H),
            values_at(rows, "n_clusters", n_per_cluster=n, line=dsms),
        )
        for n in sizes
    ]


def _distinct_when_sparse(measured: Measured, reading: Reading) -> Finding:
    rows = inside(measured, "sparse", reading, "spread")
    sizes = [n for n in sizes_of(rows) if n <= SPARSE_TO]
    gaps = {name: _gaps(rows, dsms(reading), name, sizes) for name in FIXED}
    text = "; ".join(f"{name} finds {span([gap.center for gap in each])} clusters more" for name, each in gaps.items())
    return Finding(all(gap.low > 0 for each in gaps.values() for gap in each), f"N = {sizes[0]} to {sizes[-1]}: {text}")


def _closes_with_size(measured: Measured, reading: Reading) -> Finding:
    rows = inside(measured, "sparse", reading, "spread")
    few = [n for n in sizes_of(rows) if n <= SPARSE_TO]
    many = [n for n in sizes_of(rows) if n > PLENTY_FROM]
    holds, parts = True, []
    for name in FIXED:
        before, after = (
            float(np.mean([gap.center for gap in _gaps(rows, dsms(reading), name, sizes)])) for sizes in (few, many)
        )
        holds &= after < before
        parts.append(f"{name} {before:.1f} then {after:.1f}")
    return Finding(
        holds, f"clusters more than DSMS, mean over N <= {SPARSE_TO} and over N > {PLENTY_FROM}: " + ", ".join(parts)
    )


def _more_pieces_when_fewer(measured: Measured, reading: Reading) -> Finding:
    rows = inside(measured, "sparse", reading, "spread")
    sizes = sizes_of(rows)
    holds, parts = True, []
    for name in ("MS", "BMS"):
        counts = {n: values_at(rows, "n_clusters", n_per_cluster=n, line=name, h=H).mean() for n in sizes}
        holds &= max(counts, key=lambda n: counts[n]) == sizes[0]
        parts.append(f"{name} {_by_size(counts)}")
    return Finding(holds, "; ".join(parts))


def _sms_more_robust(measured: Measured, reading: Reading) -> Finding:
    rows = inside(measured, "sparse", reading, "spread")
    sizes = [n for n in sizes_of(rows) if n <= SPARSE_TO]
    holds, parts = True, []
    for name in ("MS", "BMS"):
        more = [
            paired(
                values_at(rows, "n_clusters", n_per_cluster=n, line="SMS", h=H),
                values_at(rows, "n_clusters", n_per_cluster=n, line=name, h=H),
            )
            for n in sizes
        ]
        holds &= all(each.high < 0 for each in more)
        parts.append(f"than {name} {span([each.center for each in more])}")
    return Finding(holds, f"clusters that SMS finds more at N = {sizes[0]} to {sizes[-1]}: {', '.join(parts)}")


def _by_size(means: Mapping[int, float]) -> str:
    return ", ".join(f"{mean:.1f} at N = {n}" for n, mean in means.items())


def _stable_count(measured: Measured, reading: Reading) -> Finding:
    rows = inside(measured, "sparse", reading, "spread")
    means = {n: values_at(rows, "n_clusters", n_per_cluster=n, line=dsms(reading)).mean() for n in sizes_of(rows)}
    return Finding(all(3.0 <= mean <= 6.5 for mean in means.values()), f"mean clusters {_by_size(means)}")


def _fewer_left_over(measured: Measured, reading: Reading) -> Finding:
    rows = inside(measured, "sparse", reading, "spread")
    lines: dict[str, dict[str, Value]] = {"DSMS": {"line": dsms(reading)}, "SMS": {"line": "SMS", "h": H}}
    means = {
        name: [values_at(rows, "n_singletons", n_per_cluster=n, **line).mean() for n in sizes_of(rows)]
        for name, line in lines.items()
    }
    holds = all(own < other for own, other in zip(means["DSMS"], means["SMS"], strict=True))
    return Finding(holds, f"clusters of one point: DSMS {span(means['DSMS'])}, SMS {span(means['SMS'])}, over all N")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "DSMS estimates the number of clusters far better than SMS and MS.",
        WHERE,
        "At every N, DSMS's mean distance from three clusters is less than half that of SMS and of MS at h = 0.6.",
        ("sparse",),
        BOTH,
        _outperforms,
    ),
    Claim(
        "DSMS estimates the number of clusters better than BMS.",
        WHERE,
        "At every N, DSMS's mean distance from three clusters is less than that of BMS at h = 0.6.",
        ("sparse",),
        BOTH,
        _better_than_bms,
    ),
    Claim(
        "With 10 to 50 points in each cluster the others find distinctly more clusters than DSMS.",
        WHERE,
        f"At every N up to {SPARSE_TO}, the interval of the paired difference is above 0 for MS, BMS and SMS.",
        ("sparse",),
        BOTH,
        _distinct_when_sparse,
    ),
    Claim(
        "With more than 100 points in each cluster the difference is smaller.",
        WHERE,
        f"For MS, BMS and SMS, the mean surplus over DSMS is smaller over N > {PLENTY_FROM} than over "
        f"N <= {SPARSE_TO}.",
        ("sparse",),
        BOTH,
        _closes_with_size,
    ),
    Claim(
        "MS and BMS break data into more clusters as points become fewer.",
        WHERE,
        "For both, the mean count is largest at the smallest N.",
        ("sparse",),
        EACH_SPREAD,
        _more_pieces_when_fewer,
    ),
    Claim(
        "SMS is more robust to local noise than MS and BMS, though it breaks data up too.",
        WHERE,
        f"SMS finds fewer clusters than MS and BMS at every N up to {SPARSE_TO} (paired, the whole interval).",
        ("sparse",),
        EACH_SPREAD,
        _sms_more_robust,
    ),
    Claim(
        "DSMS's count is stable over the whole range of N.",
        WHERE,
        "The mean count is between 3 and 6.5 at every N.",
        ("sparse",),
        BOTH,
        _stable_count,
    ),
    Claim(
        "A random bandwidth gathers points that others leave alone as outliers.",
        WHERE,
        "DSMS has fewer clusters of one point than SMS at h = 0.6, at every N.",
        ("sparse",),
        BOTH,
        _fewer_left_over,
    ),
)
