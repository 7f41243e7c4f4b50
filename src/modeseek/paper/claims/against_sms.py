"""What the paper says of K against SMS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from modeseek.paper.claims.base import (
    BOTH,
    Claim,
    Finding,
    H,
    Measured,
    Reading,
    dsms,
    inside,
    paired,
    span,
    values_at,
)
from modeseek.paper.intervals import Interval
from modeseek.paper.rows import Rows, Value

__all__ = ["CLAIMS"]

WHERE = "comparison with SMS"
# a loss of K counts when its whole interval lies below this
LOSS = -0.01


def _cells(rows: Rows, columns: Sequence[str]) -> Iterator[dict[str, Value]]:
    first, *rest = columns
    for value in rows.distinct(first):
        inner = rows.where(**{first: value})
        yield from ({first: value, **cell} for cell in _cells(inner, rest)) if rest else [{first: value}]


COLUMNS = {"sparse": ["n_per_cluster"], "imbalance": ["sizes", "ratio"], "clusters": ["spacing", "n_true"]}


def _differences(measured: Measured, experiment: str, reading: Reading, h: float | None) -> list[tuple[dict, Interval]]:
    """Return K of DSMS less K of SMS in each cell, at one h or at the h of the sweep with the best mean there."""
    rows = inside(measured, experiment, reading, "spread")
    found = []
    for cell in _cells(rows, COLUMNS[experiment]):
        here = rows.where(**cell)
        sms = here.where(line="SMS")
        tried = [float(each) for each in sms.distinct("h")] if h is None else [h]  # type: ignore[arg-type]
        best = max((values_at(sms, "k", h=each) for each in tried), key=np.mean)
        found.append((cell, paired(values_at(here, "k", line=dsms(reading)), best)))
    return found


def _no_loss(found: Sequence[tuple[dict, Interval]], against: str) -> Finding:
    worst_cell, worst = min(found, key=lambda each: each[1].center)
    lost = [cell for cell, mean in found if mean.high < LOSS]
    where = ", ".join(
        f"{name.replace('n_per_cluster', 'N').replace('n_true', 'clusters')} {value}"
        for name, value in worst_cell.items()
    )
    return Finding(
        not lost,
        f"K of DSMS less K of {against}: {span([mean.center for _, mean in found], 2)}; a loss in {len(lost)} of "
        f"{len(found)} cells, the worst {worst.text()} at {where}",
    )


def _k_when_sparse(measured: Measured, reading: Reading) -> Finding:
    return _no_loss(_differences(measured, "sparse", reading, H), f"SMS at h = {H:g}")


def _k_with_imbalance(measured: Measured, reading: Reading) -> Finding:
    return _no_loss(_differences(measured, "imbalance", reading, H), f"SMS at h = {H:g}")


def _k_with_clusters(measured: Measured, reading: Reading) -> Finding:
    return _no_loss(_differences(measured, "clusters", reading, H), f"SMS at h = {H:g}")


def _preferred(measured: Measured, reading: Reading) -> Finding:
    found = [each for name in COLUMNS for each in _differences(measured, name, reading, None)]
    return _no_loss(found, "SMS at the best h of the sweep in each cell")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "The better count does not cost any K.",
        WHERE,
        f"No N at which the whole interval of the paired difference in K to SMS at h = 0.6 is below {LOSS:g}.",
        ("sparse",),
        BOTH,
        _k_when_sparse,
    ),
    Claim(
        "With unequal clusters DSMS loses no K against SMS.",
        WHERE,
        f"In both set-ups, no ratio at which the whole interval of the difference to SMS at h = 0.6 is below {LOSS:g}.",
        ("imbalance",),
        BOTH,
        _k_with_imbalance,
    ),
    Claim(
        "With more clusters DSMS loses no K against SMS.",
        WHERE,
        "In both set-ups, no number at which the whole interval of the difference to SMS at h = 0.6 "
        f"is below {LOSS:g}.",
        ("clusters",),
        BOTH,
        _k_with_clusters,
    ),
    Claim(
        "So DSMS is to be preferred to SMS.",
        WHERE,
        "As above over all three figures, against SMS at the best h of our sweep in each cell.",
        ("sparse", "imbalance", "clusters"),
        BOTH,
        _preferred,
    ),
)
