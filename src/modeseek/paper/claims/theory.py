"""Claims of the paper's theory, as far as runs can test them."""

from functools import partial

import numpy as np

from modeseek.meanshift.bandwidth import Walk
from modeseek.paper.absorption import Absorption
from modeseek.paper.claims.base import Claim, Finding, Measured, Reading, readings
from modeseek.paper.contenders import POLICIES
from modeseek.paper.hyperparameters import Hyperparameters
from modeseek.paper.intervals import half_width

# mean changes of L, divided by its upper bound, below this are rounding errors
ROUNDING = 1e-14
# norms of the gradient below this count as 0
SMALL_GRADIENT = 1e-6
# share of the range that counts as nearly the whole range
COVERED = 0.8


def _rises_in_the_mean(measured: Measured, reading: Reading) -> Finding:
    states = measured["submartingale"].where(kind="state")
    half = [half_width(std, int(n)) for std, n in zip(states["std"], states["next_updates"], strict=True)]
    below = int((states["mean"] + np.array(half) < -ROUNDING).sum())
    refuted = int((states["mean"] + states["margin"] < 0).sum())
    # if the true mean is 0, one interval in twenty lies below 0 by chance
    return Finding(
        refuted == 0 and below <= 0.05 * len(states),
        f"at {len(states):,} states, {below:,} intervals of the mean change of L lie below 0, and {refuted:,} means "
        "are below 0 by more than a margin that supposes nothing",
    )


def _gradient_vanishes(measured: Measured, reading: Reading) -> Finding:
    rows = measured["gradient"]
    last = rows["sweep"].max()
    norms = rows.where(sweep=int(last))["norm"]
    small = int((norms < SMALL_GRADIENT).sum())
    return Finding(
        small == len(norms),
        f"the norm is below {SMALL_GRADIENT:g} after {last:.0f} sweeps in {small} of {len(norms)} runs; the largest is "
        f"{norms.max():.2g}, at the start it was at most {rows.where(sweep=0)['norm'].max():.2g}",
    )


def _settles(measured: Measured, reading: Reading) -> Finding:
    rows = measured["certificate"]
    certified = len(rows.where(certificate_outcome="CERTIFIED"))
    sweeps = rows["certificate"]
    return Finding(
        certified == len(rows),
        f"{certified:,} of {len(rows):,} runs came to a partition that no later update can change, half of them within "
        f"{np.median(sweeps):.0f} sweeps, the slowest after {sweeps.max():,.0f}",
    )


def _small_shifts_suffice(measured: Measured, reading: Reading) -> Finding:
    rows = measured["certificate"]
    other = int((rows["ari"] < 1).sum())
    ratio = np.median(rows["shifts"] / np.maximum(rows["certificate"], 1))
    return Finding(
        other == 0,
        f"it stopped {other:,} of {len(rows):,} runs at other clusters than the final ones, and took {ratio:.1f} times "
        "as many sweeps as the certificate (median)",
    )


def _covers_the_range(measured: Measured, reading: Reading) -> Finding:
    # the distribution of h does not depend on the data: the walk is simulated, shrinking has a formula
    given = Hyperparameters()
    if reading["policy"] == "shrinking":
        low, high = Absorption(settings=given).shrinking(given.max_updates)
        share = (high - low) / (given.h_max - given.h_min)
        return Finding(share >= COVERED, f"draw 10^7 is uniform on {low:.2f} to {high:.2f}, {share:.0%} of the range")
    paths = measured["absorption"].where(kind="path", nu="log-log")
    arrived = paths["absorbed_at"]
    inside = float(np.isnan(arrived).mean())
    formula = Walk(given.h_min, given.h_max, given.h_inf).absorption()
    return Finding(
        inside >= COVERED,
        f"of {len(paths):,} walks {inside:.1%} are still inside the range after {paths['k'].max():,.0f} draws, half "
        f"are at an end for good by draw {np.nanmedian(arrived):.0f}; {formula.message}",
    )


claim = partial(Claim, where="theoretical results", readings=readings(policy=POLICIES))
CLAIMS: tuple[Claim, ...] = (
    claim(
        "With the slow nu the bandwidths go on to cover nearly the whole range.",
        f"After many draws, most walks are inside the range, or draws cover at least {COVERED:.0%} of it.",
        _covers_the_range,
        where="influence of the bandwidth range",
        needs=("absorption",),
    ),
    claim(
        "L_h rises in the mean from every state (submartingale; the paper proves it for walk).",
        "No state whose mean change is below 0 by the rigorous margin, at most one 90 % interval in twenty below 0.",
        _rises_in_the_mean,
        needs=("submartingale",),
    ),
    claim(
        "The gradient of L_h tends to 0 (the paper proves it for walk).",
        f"At the end of every run, the longest block of the gradient is below {SMALL_GRADIENT:g}.",
        _gradient_vanishes,
        needs=("gradient",),
    ),
    claim(
        "After finitely many updates the clusters stay as they are (the paper proves it for walk).",
        "Every run ends with the certificate: no later update can change the partition.",
        _settles,
        needs=("certificate",),
    ),
    claim(
        "In practice a run can stop when the last shifts are small.",
        "Stopped when every last shift is below 10^-6, no run has other clusters than the final ones.",
        _small_shifts_suffice,
        needs=("certificate",),
    ),
)
