"""Refinements of candidates: absorption of small clusters, expectation maximization, spherical k-means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array

from modeseek._common.distances import BLOCK
from modeseek._common.threads import run_each
from modeseek._common.types import Array, IntArray
from modeseek.selection.config import RefinementsConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.gaussian_mixture import FORMS, fit_mixture, n_parameters
from modeseek.selection.proposers.base import ABSORBED, REFINED, SPHERICAL, Proposal
from modeseek.selection.proposers.samples import draw

# candidates refined by expectation maximization have this name instead of the name of a proposer
REFINED_NAME = "refined"


def absorb_small(data: SelectionData, proposals: Sequence[Proposal], config: RefinementsConfig) -> list[Proposal]:
    """Return variants of the proposals with small clusters: small clusters are merged into the clusters around them."""
    from modeseek.selection.partition_loops import fill

    least = max(config.least_weight, config.least_share * data.total_weight)
    width = min(config.n_absorbing, data.n_neighbors)
    found = []
    for each in proposals:
        if each.proposer not in config.absorbed:
            continue
        sizes = data.weight_of_each(each.labels)
        small = sizes < least
        mostly_small = len(data) >= config.many_points and 2 * sizes[small].sum() > data.total_weight
        if small.any() and not small.all() and not mostly_small:
            gaps = np.where(small[each.labels], np.int32(-1), each.labels)
            found.append(each._replace(labels=fill(gaps, data.indices, width), variant=ABSORBED))
    return found


def refine_as_mixtures(
    data: SelectionData,
    candidates: Sequence[Proposal],
    rng: np.random.Generator,
    config: RefinementsConfig,
    n_jobs: int | None = None,
) -> list[Proposal]:
    """Return the components of Gaussian mixtures that start from candidates; see `RefinementsConfig` for which ones."""
    rows = draw(len(data), config.max_points, rng)
    sources = [
        each
        for each in candidates
        if each.proposer not in config.not_refined and each.labels.max() < config.max_components
    ]
    step = max(1, len(sources) // config.max_refined)
    starts = [each.labels for each in sources[::step][: config.max_refined]]
    found = run_each(lambda labels: refine_as_mixture(data, labels, rows, config), starts, n_jobs)
    return [Proposal(REFINED_NAME, labels, variant=REFINED) for labels in found if labels is not None]


def refine_as_mixture(
    data: SelectionData, labels: IntArray, rows: IntArray, config: RefinementsConfig
) -> IntArray | None:
    """Return the components of a mixture that starts from a partition and is fitted to `rows`; None if it fails."""
    from modeseek.selection.partition_loops import compact

    x = np.ascontiguousarray(data.coordinates[rows])
    start, k = compact(labels[rows])
    enough = [form for form in FORMS if 2 * n_parameters(k, x.shape[1], form) <= len(rows)]
    if k < 2 or not enough:
        return None
    fitted = fit_mixture(x, data.weights[rows], start, enough[0], max_steps=config.max_steps, tol=1e-3)
    return None if fitted is None else fitted.labels(data.coordinates)


def refine_as_directions(
    data: SelectionData, candidates: Sequence[Proposal], config: RefinementsConfig, n_jobs: int | None = None
) -> list[Proposal]:
    """Return candidates refined by spherical k-means, if points are unit vectors."""
    if not data.spherical:
        return []
    x = data.points.astype(np.float32, copy=False)

    def refine(candidate: Proposal) -> Proposal:
        labels = spherical_k_means(x, candidate.labels, config.max_spherical_steps)
        return candidate._replace(labels=labels, variant=SPHERICAL)

    return list(run_each(refine, (each for each in candidates if each.labels.max() < config.max_directions), n_jobs))


def spherical_k_means(x: Array, labels: IntArray, max_steps: int, block_size: int = BLOCK) -> IntArray:
    """Assign unit vectors, in single precision, to the nearest mean direction of a cluster until nothing changes."""
    for _ in range(max_steps):
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
        # the product adds up the rows of each cluster in order, much faster than `np.add.at`
        directions = csc_array((np.ones(len(x), dtype=x.dtype), labels, np.arange(len(x) + 1, dtype=np.int32))) @ x
        directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-12)
        new = np.empty_like(labels)
        step = max(1, block_size // len(directions))
        for i in range(0, len(x), step):
            new[i : i + step] = (x[i : i + step] @ directions.T).argmax(axis=1)
        if (new == labels).all():
            break
        labels = new
    return labels
