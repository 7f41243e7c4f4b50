"""Claims of the paper's theory, as far as runs can test them."""

from dataclasses import replace
from functools import partial

import numpy as np

from modeseek._common.types import Array
from modeseek.meanshift.bandwidth import Walk, make_policy
from modeseek.meanshift.chains import doubly_stochastic, make_problem
from modeseek.meanshift.kernels.profiles import BIWEIGHT
from modeseek.paper.absorption import AbsorptionWalks
from modeseek.paper.claims.base import SPREADS, Claim, Finding, Measured, Reading, readings
from modeseek.paper.contenders import POLICIES
from modeseek.paper.experiment import Hyperparameters
from modeseek.paper.gradient import GradientNorm, last_norms
from modeseek.paper.intervals import half_width, wilson
from modeseek.paper.updates import Updates

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
        "are below 0 by more than the rigorous margin",
    )


def _gradient_vanishes(measured: Measured, reading: Reading) -> Finding:
    rows = measured["gradient"]
    norms = last_norms(rows)
    small, config = int((norms < SMALL_GRADIENT).sum()), GradientNorm()
    return Finding(
        small == len(norms),
        f"the norm is below {SMALL_GRADIENT:g} in {small} of {len(norms)} runs, {config.after} sweeps after the "
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
    small = int((last < SMALL_GRADIENT).sum())
    return Finding(
        small == len(last),
        f"in {small} of {len(last)} runs, the block of the point that moves is below {SMALL_GRADIENT:g} in a whole "
        f"sweep, {Updates().after} sweeps after the certificate; at the first update its median is "
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


claim = partial(Claim, readings=readings(policy=POLICIES, spread=SPREADS))
by_policy = partial(Claim, readings=readings(policy=POLICIES))
CLAIMS: tuple[Claim, ...] = (
    by_policy(
        "as k tends to infinity, the bandwidths sequence (h_k) will almost cover a whole range of values between two "
        "bounds h_min and h_max fixed by the user",
        f"After many draws, most walks are inside the range, or draws cover at least {COVERED:.0%} of it.",
        _covers_the_range,
        section="4.3, Influence of the bandwidth range",
        needs=("absorption",),
    ),
    claim(
        "L_h(X^(k+1)) > L_h(X^(k)) provided X^(k+1) ≠ X^(k)",
        "Both inequalities of Proposition 1 hold for every point at states along runs, at the next bandwidth.",
        _updates_increase,
        section="3.1, Proposition 1",
        needs=("updates",),
    ),
    claim(
        "a critical point of L is a state satisfying an ideal clustering condition: two points either coincide, or are "
        "distant from h at least",
        "At the data and at the final clusters as coincident points, for bandwidths below and above the gap, the "
        "gradient is zero exactly if the distances meet the condition.",
        _critical_states,
        section="2.1, Theorem 1",
        needs=("updates",),
    ),
    claim(
        "the sequence (L_{h_k}(X^(k))) is a discrete-time positive submartingale",
        "No state whose mean change is below 0 by the rigorous margin, at most one 90 % interval in twenty below 0.",
        _rises_in_the_mean,
        section="3.1, Proposition 2",
        about="proven for walk",
        needs=("submartingale",),
    ),
    claim(
        "for any DSMS sample process it holds a.s. that ∇_{i_k} L_{h_{k+1}}(X^(k)) → 0",
        "At the end of every run, some sweeps after its certificate, the block of the point that moves is below "
        f"{SMALL_GRADIENT:g} in a whole sweep.",
        _moved_blocks_vanish,
        section="3.1, Corollary 1",
        about="proven for walk",
        needs=("updates",),
    ),
    by_policy(
        "P[(T_{k_0+p} < ∞) A_{k_0}] ≤ (1 - 1/n)^p",
        "From a state in which one point has a long gradient, the share of runs in which the event occurs is not "
        "significantly above the bound, for any p.",
        _lemma_1,
        section="3.2, Lemma 1",
        needs=("updates",),
    ),
    claim(
        "the DSMS sequence satisfies a.s. that ‖∇^(k)_{h_{k+1}}‖ → 0",
        f"At the end of every run, some sweeps after its certificate, the longest block is below {SMALL_GRADIENT:g}.",
        _gradient_vanishes,
        section="3.2, Proposition 3",
        about="proven for walk",
        needs=("gradient",),
    ),
    claim(
        "a.s. the points x_1^(k), ..., x_n^(k) belong to fixed clusters for sufficiently large k",
        "Every run ends with the certificate: no later update can change the partition.",
        _settles,
        section="3.2, Theorem 2",
        about="proven for walk",
        needs=("certificate",),
    ),
    by_policy(
        "each SMS step costs linearly in n since we shift only one point at a time, a property which is shared by DSMS",
        "The number of weights evaluated in one update of the plain engine grows like n.",
        _linear_cost,
        section="3.3, Practical Convergence Diagnosis",
        needs=("certificate",),
    ),
    claim(
        "In practice, whenever a sufficient number of points have a sufficiently small last shift, the algorithm "
        "stops. Such a practice is justified by the conclusions of propositions 1 and 3",
        "Stopped when every last shift is below 10^-6, no run has other clusters than the final ones.",
        _small_shifts_suffice,
        section="3.3, Practical Convergence Diagnosis",
        needs=("certificate",),
    ),
)
