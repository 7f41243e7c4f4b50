"""Claims about K of DSMS and SMS, and about outliers."""

from collections.abc import Mapping
from itertools import product

from modeseek._common.types import Array
from modeseek.paper.claims.base import (
    AS_IN_PAPER,
    BOTH_SEARCHED,
    LIMITS,
    SMS_SEARCHED,
    Claim,
    Finding,
    Measured,
    Reading,
    by_policy_and_spread,
    claim,
    paired,
    searched,
    sizes_of,
    span,
)
from modeseek.paper.rows import Rows

# experiment -> the columns of its cells, with their names in the report
COLUMNS = {
    "sparse": {"n_per_cluster": "N"},
    "imbalance": {"sizes": "sizes", "ratio": "ratio"},
    "clusters": {"spacing": "spacing", "n_true": "clusters"},
}


def _cells(measured: Measured) -> dict[str, Rows]:
    """Return the rows of each cell of the experiments, by a description of the cell."""
    found = {}
    for name, rows in measured.items():
        columns = COLUMNS[name]
        for values in product(*(rows.distinct(column) for column in columns)):
            cell = ", ".join(f"{label} {value}" for label, value in zip(columns.values(), values, strict=True))
            found[cell] = rows.where(**dict(zip(columns, values, strict=True)))
    return found


def _compare(found: Mapping[str, tuple[Array, Array]], *, better: bool = False) -> Finding:
    """Test in each cell that K of DSMS is not lower than K of SMS; `better` also requires a higher K in some cell."""
    gaps = {cell: paired(own, other) for cell, (own, other) in found.items()}
    worst = min(gaps, key=lambda cell: gaps[cell].center)
    lost = sum(gap.high < -LIMITS.alike for gap in gaps.values())
    kept = sum(gap.low > -LIMITS.alike for gap in gaps.values())
    won = sum(gap.low > 0 for gap in gaps.values())
    return Finding(
        kept == len(gaps) and (won > 0 or not better),
        f"K of DSMS less K of SMS: {span([gap.center for gap in gaps.values()], 2)}; no loss in {kept}, a loss in "
        f"{lost} and a gain in {won} of {len(gaps)} cells, the worst {gaps[worst].text()} at {worst}",
        undecided=not lost and (kept < len(gaps)),
    )


def _no_loss(measured: Measured, reading: Reading) -> Finding:
    return _compare({cell: searched(rows, reading, "k") for cell, rows in _cells(measured).items()})


def _same_budget(measured: Measured, reading: Reading) -> Finding:
    both = {**reading, "sms": BOTH_SEARCHED}
    return _compare({cell: searched(rows, both, "k") for cell, rows in _cells(measured).items()}, better=True)


def _better_when_scarce(measured: Measured, reading: Reading) -> Finding:
    rows = measured["sparse"]
    few = [n for n in sizes_of(rows) if n <= LIMITS.few]
    gaps = {n: paired(*searched(rows.where(n_per_cluster=n), reading, "ari")) for n in few}
    text = ", ".join(f"{gap.text()} at N = {n}" for n, gap in gaps.items())
    return Finding(all(gap.low > 0 for gap in gaps.values()), f"ARI of DSMS less ARI of SMS: {text}")


def _resilient(measured: Measured, reading: Reading) -> Finding:
    """Test ARI with the most outliers, the loss of ARI that these cause, and ARI with few points in each cluster."""
    rows = measured["outliers"]
    most = rows.sorted("share")[-1]
    own, other = searched(rows.where(share=most), reading, "ari")
    clean = searched(rows.where(share=0.0), reading, "ari")[0]
    level, loss = paired(own, other), paired(own, clean)
    scarce = _better_when_scarce(measured, reading)
    resilient = level.low > 0 and loss.low > -LIMITS.resilient
    return Finding(
        bool(resilient and scarce.holds),
        f"outliers: {'yes' if resilient else 'no'}, with {most:.0%} of them ARI on the other points is "
        f"{own.mean():.2f}, {level.text()} above SMS, and {loss.text()} above that without them; scarcity: "
        f"{'yes' if scarce.holds else 'no'}, {scarce.figures}",
    )


ALL_SMS = (AS_IN_PAPER, SMS_SEARCHED, BOTH_SEARCHED)
FAIR = by_policy_and_spread(sms=(AS_IN_PAPER, BOTH_SEARCHED))
CLAIMS: tuple[Claim, ...] = (
    claim("no-loss-sparse", _no_loss, ["sparse"], by_policy_and_spread(sms=(AS_IN_PAPER, SMS_SEARCHED))),
    claim(
        "no-loss-imbalance", _no_loss, ["imbalance"], by_policy_and_spread(sizes=("graded", "one small"), sms=ALL_SMS)
    ),
    claim("no-loss-clusters", _no_loss, ["clusters"], by_policy_and_spread(spacing=(2.0, 4.0), sms=ALL_SMS)),
    claim("preferred-over-sms", _same_budget, list(COLUMNS)),
    claim("identifies-sparse-clusters", _better_when_scarce, ["sparse"], FAIR),
    claim("resilient", _resilient, ["outliers", "sparse"], FAIR),
)
