"""Claims about K of DSMS and SMS."""

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from modeseek.paper.claims.base import BOTH, Claim, Finding, H, Measured, Reading, dsms, paired, span, values_at

# K counts as lost where the whole interval of the difference is below this
LOSS = -0.01
# experiment -> the columns of its cells, with their names in the report
COLUMNS = {
    "sparse": {"n_per_cluster": "N"},
    "imbalance": {"sizes": "sizes", "ratio": "ratio"},
    "clusters": {"spacing": "spacing", "n_true": "clusters"},
}


def _no_loss(measured: Measured, reading: Reading, bandwidths: Sequence[float] | None, against: str) -> Finding:
    """Compare K of DSMS in each cell with SMS at the best of `bandwidths`; None means all that were run."""
    found = {}
    for name, rows in measured.items():
        columns = COLUMNS[name]
        for values in product(*(rows.distinct(column) for column in columns)):
            here = rows.where(**dict(zip(columns, values, strict=True)))
            sms = here.where(line="SMS")
            tried = sms.distinct("h") if bandwidths is None else bandwidths
            best = max((values_at(sms, "k", h=h) for h in tried), key=np.mean)
            cell = ", ".join(f"{label} {value}" for label, value in zip(columns.values(), values, strict=True))
            found[cell] = paired(values_at(here, "k", line=dsms(reading)), best)
    worst, lost = min(found, key=lambda cell: found[cell].center), sum(each.high < LOSS for each in found.values())
    return Finding(
        not lost,
        f"K of DSMS less K of {against}: {span([each.center for each in found.values()], 2)}; a loss in {lost} of "
        f"{len(found)} cells, the worst {found[worst].text()} at {worst}",
    )


claim = partial(
    Claim,
    check=partial(_no_loss, bandwidths=[H], against=f"SMS at h = {H:g}"),
    where="comparison with SMS",
    readings=BOTH,
)
CLAIMS: tuple[Claim, ...] = (
    claim(
        "The better count does not cost any K.",
        f"No N at which the whole interval of the paired difference in K to SMS at h = 0.6 is below {LOSS:g}.",
        needs=("sparse",),
    ),
    claim(
        "With unequal clusters DSMS loses no K against SMS.",
        f"In both set-ups, no ratio at which the whole interval of the difference to SMS at h = 0.6 is below {LOSS:g}.",
        needs=("imbalance",),
    ),
    claim(
        "With more clusters DSMS loses no K against SMS.",
        "In both set-ups, no number at which the whole interval of the difference to SMS at h = 0.6 "
        f"is below {LOSS:g}.",
        needs=("clusters",),
    ),
    claim(
        "So DSMS is to be preferred to SMS.",
        "As above over all three figures, against SMS at the best h of our sweep in each cell.",
        check=partial(_no_loss, bandwidths=None, against="SMS at the best h of the sweep in each cell"),
        needs=tuple(COLUMNS),
    ),
)
