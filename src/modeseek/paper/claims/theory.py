"""Claims of the paper's theory, as far as runs can test them."""

from dataclasses import replace
from functools import partial

import numpy as np

from modeseek._common.types import Array
from modeseek.meanshift.bandwidth import Walk, make_policy
from modeseek.meanshift.chains import doubly_stochastic, make_problem
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.paper.absorption import AbsorptionWalks
from modeseek.paper.claims.base import LIMITS, Claim, Finding, Measured, Reading, claim, readings
from modeseek.paper.contenders import POLICIES
from modeseek.paper.experiment import Hyperparameters
from modeseek.paper.gradient import GradientNorm, last_norms
from modeseek.paper.intervals import half_width, wilson
from modeseek.paper.submartingale import ROUNDING
from modeseek.paper.updates import Updates


def _rises_in_the_mean(measured: Measured, reading: Reading) -> Finding:
    states = measured["submartingale"].where(kind="state")
    half = [half_width(std, int(n)) for std, n in zip(states["std"], states["next_updates"], strict=True)]
    below = int((states["mean"] + np.array(half) < -ROUNDING).sum())
    refuted = int((states["mean"] + states["margin"] < 0).sum())
    # if the true mean is 0, one interval in twenty lies below 0 by chance
    return Finding(
        refuted == 0 and below <= 0.05 * len(states),
        f"at {len(states):,} states, {below:,} intervals of the mean change of L lie below 0, and {refuted:,} means "
        "are below 0 by more than the rigorous margin",
    )


def _gradient_vanishes(measured: Measured, reading: Reading) -> Finding:
    rows = measured["gradient"]
    norms = last_norms(rows)
    small, config = int((norms < LIMITS.small_gradient).sum()), GradientNorm()
    return Finding(
        small == len(norms),
        f"the norm is below {LIMITS.small_gradient:g} in {small} of {len(norms)} runs, {config.after} sweeps after the "
        f"certificate or later; the largest is {norms.max():.2g}, at the start it was at most "
        f"{rows.where(sweep=0)['norm'].max():.2g}; the latest certificate came after {rows['certificate'].max():.0f} "
        "sweeps",
    )


def _updates_increase(measured: Measured, reading: Reading) -> Finding:
    rows = measured["updates"].where(kind="update")
    violations, total = rows["count"].sum(), rows["runs"].sum()
    return Finding(
        violations == 0,
        f"{violations:.0f} violations in {total:,.0f} updates; the increase of L_h is at least "
        f"{np.nanmin(rows['gain']):.2f} times its lower bound, and the gradient at most {np.nanmax(rows['bound']):.2f} "
        "times its upper bound",
    )


def _critical_states(measured: Measured, reading: Reading) -> Finding:
    rows = measured["updates"].where(kind="state")
    critical, separated = rows["critical"] == 1, rows["separated"] == 1
    return Finding(
        bool((critical == separated).all() and critical.any() and not critical.all()),
        f"at {len(rows):,} pairs of a state and a bandwidth, {int(critical.sum()):,} gradients are zero, and "
        f"{int((critical == separated).sum()):,} agree with the distances",
    )


def _moved_blocks_vanish(measured: Measured, reading: Reading) -> Finding:
    first = measured["updates"].where(kind="path", k=0)["selected"]
    last = measured["updates"].where(kind="last")["selected"]
    bound = np.nanmax(measured["updates"].where(kind="update")["corollary"])
    small = int((last < LIMITS.small_gradient).sum())
    return Finding(
        small == len(last),
        f"in {small} of {len(last)} runs, the block of the point that moves is below {LIMITS.small_gradient:g} in a "
        f"whole sweep, {Updates().after} sweeps after the certificate; at the first update its median is "
        f"{np.median(first):.2g}; the inequality of the proof holds with a ratio of at most {bound:.2f}",
    )


def _lemma_1(measured: Measured, reading: Reading) -> Finding:
    counts, bound, total = Updates().lemma(measured["updates"], str(reading["policy"]))
    share = wilson(counts, total, level=0.9999)
    tight = int(np.argmax(counts / total / bound))
    return Finding(
        bool((share.low <= bound).all()),
        f"no share of {total:,} runs is significantly above its bound for p up to {len(bound) - 1}; the closest is "
        f"{counts[tight] / total:.4f} with a bound of {bound[tight]:.4f} at p = {tight}",
    )


def _linear_cost(measured: Measured, reading: Reading) -> Finding:
    """Count the evaluations of the weight function in one update of the reference engine."""
    counts = {}
    for n in (100, 1000):
        seen: list[int] = []

        def counting(t: Array, seen: list[int] = seen) -> Array:
            seen.append(np.size(t))
            return BIWEIGHT.weight(t)

        profile = replace(BIWEIGHT, weight=counting, code=None)
        problem = make_problem(np.random.default_rng(0).random((n, 2)), profile=profile, engine="reference")
        policy = make_policy(str(reading["policy"]), 0.2, 1.6, 0.6)
        chain = doubly_stochastic(problem, policy, seed=0)
        chain.sweep(chain.init())
        counts[n] = sum(seen) / n
    text = ", ".join(f"{each:g} at n = {n}" for n, each in counts.items())
    return Finding(
        bool(np.isclose(counts[1000] / counts[100], 10, rtol=0.02)), f"weights evaluated in an update: {text}"
    )


def _settles(measured: Measured, reading: Reading) -> Finding:
    rows = measured["certificate"]
    certified = len(rows.where(certificate_outcome="CERTIFIED"))
    sweeps = rows["certificate"]
    return Finding(
        certified == len(rows),
        f"{certified:,} of {len(rows):,} runs reached a partition that no later update can change, half of them within "
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
        low, high = AbsorptionWalks(settings=given).shrinking(given.max_updates)
        share = (high - low) / (given.h_max - given.h_min)
        return Finding(
            share >= LIMITS.covered, f"draw 10^7 is uniform on {low:.2f} to {high:.2f}, {share:.0%} of the range"
        )
    paths = measured["absorption"].where(kind="path", nu="log-log")
    arrived = paths["absorbed_at"]
    inside = float(np.isnan(arrived).mean())
    formula = Walk(given.h_min, given.h_max, given.h_inf).absorption()
    return Finding(
        inside >= LIMITS.covered,
        f"of {len(paths):,} walks {inside:.1%} are still inside the range after {paths['k'].max():,.0f} draws, half "
        f"are at an end for good by draw {np.nanmedian(arrived):.0f}; {formula.message}",
    )


by_policy = partial(claim, readings=readings(policy=POLICIES))
CLAIMS: tuple[Claim, ...] = (
    by_policy("covers-the-range", _covers_the_range, ["absorption"]),
    claim("updates-increase", _updates_increase, ["updates"]),
    claim("critical-states", _critical_states, ["updates"]),
    claim("submartingale", _rises_in_the_mean, ["submartingale"]),
    claim("moved-blocks-vanish", _moved_blocks_vanish, ["updates"]),
    by_policy("lemma-1", _lemma_1, ["updates"]),
    claim("gradient-vanishes", _gradient_vanishes, ["gradient"]),
    claim("clusters-settle", _settles, ["certificate"]),
    by_policy("linear-cost", _linear_cost, ["certificate"]),
    claim("small-shifts-suffice", _small_shifts_suffice, ["certificate"]),
)
