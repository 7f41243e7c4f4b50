from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from inputs import states
from modeseek.meanshift.components import ComponentConfig, components, diameter_of, gap_of
from modeseek.meanshift.partition import merge_modes, read_off

STATES = states(dimensions=(1, 2, 3, 15, 40))


def naive(points, tau):
    distances = cdist(points, points)
    labels = connected_components(distances < tau)[1]
    groups = [labels == label for label in set(labels)]
    diameter = max(distances[g][:, g].max() for g in groups)
    gap = min((distances[g][:, ~g].min() for g in groups if not g.all()), default=np.inf)
    return labels, diameter, gap


@given(STATES, st.floats(0.01, 2.0), st.booleans(), st.booleans())
def test_components_diameter_and_gap_are_those_of_all_pairs(state, share, clumped, few):
    points = state.points
    if clumped:  # crowds with a little spread, as a chain leaves them
        rng = np.random.default_rng(state.seed)
        points = points[rng.integers(0, len(points), 60)] + rng.normal(size=(60, points.shape[1])) * 1e-3 * state.h
    tau = share * state.h
    labels, diameter, gap = naive(points, tau)
    ours = components(points, tau, ComponentConfig() if few else ComponentConfig(few=0))
    assert len(np.unique(np.column_stack([labels, ours]), axis=0)) == labels.max() + 1 == ours.max() + 1
    assert_allclose(diameter_of(points, ours), diameter, atol=1e-12 * state.h)
    assert_allclose(gap_of(points, ours), gap, atol=1e-12 * state.h)


@pytest.mark.parametrize("d", [2, 16])
@pytest.mark.parametrize(("apart", "stretch"), [(8.0, 1.0), (1.0, 1.0), (0.0, 1.0), (30.0, 10.0), (1e6, 1.0)])
def test_gap_of_many_points_is_the_smallest_distance(apart, stretch, d, rng):
    """Most points of two sets that are far apart are left out before distances are computed."""
    a, b = rng.normal(size=(1100, d)), rng.normal(size=(1000, d))
    a[:, -1] *= stretch
    b[:, 0] += apart
    points, labels = np.concatenate([a, b]) + 1e3, np.repeat([0, 1], [1100, 1000])
    assert_allclose(gap_of(points, labels), cdist(points[:1100], points[1100:]).min(), rtol=1e-12)


def test_labels_from_heavy_to_light_and_centres():
    points = np.array([[0.0], [10.0], [10.1], [20.0]])
    part = read_off(points, np.array([1.0, 1.0, 1.0, 5.0]), 0.2, h_min=1.0, h_upper=1.0)
    assert_array_equal(part.labels, [2, 1, 1, 0])
    assert_allclose(part.centers.ravel(), [20.0, 10.05, 0.0])
    assert_array_equal(part.sizes, [5, 2, 1])
    assert part.n_clusters == 3


def test_merge_modes_takes_the_higher_first():
    positions = np.array([[0.0], [0.5], [3.0]])
    labels, kept = merge_modes(positions, np.array([1.0, 2.0, 1.0]), 1.0)
    assert_array_equal(kept, [1, 2])
    assert_array_equal(labels, [0, 0, 1])


def test_a_long_chain_of_few_points_is_one_component(rng):
    order = rng.permutation(ComponentConfig().few)
    assert (components(0.9 * order[:, None], 1.0) == 0).all()
    broken = 0.9 * order + (order >= 50)
    assert_array_equal(
        components(broken[:, None], 1.0) == components(broken[:, None], 1.0)[0], (order >= 50) == (order[0] >= 50)
    )


@pytest.mark.parametrize("pairs", [0, 1 << 20])
def test_components_in_high_dimension(pairs, rng):
    """From stored pairs, and grown from their first points if there are many close pairs."""
    x = np.concatenate([rng.normal(size=(40, 6)), 0.1 * rng.normal(size=(300, 6)), rng.uniform(2, 4, size=(60, 6))])
    labels = components(x, 0.8, ComponentConfig(close_pairs=pairs))
    close = np.linalg.norm(x[:, None] - x[None], axis=2) < 0.8
    _, expected = connected_components(close)
    assert len(set(zip(labels, expected, strict=True))) == labels.max() + 1 == expected.max() + 1
