"""Numbers of all magnitudes, types and offsets: results are correct and do not depend on rotation or translation.

Warnings are errors here (pyproject.toml), so that no RuntimeWarning escapes from any of these fits.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from modeseek import (
    BlurringMeanShift,
    DoublyStochasticMeanShift,
    MeanShift,
    ModeSeek,
    StochasticMeanShift,
    estimate_bandwidth,
)
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import blurring, doubly_stochastic, make_problem, mean_shift, stochastic

SHIFTING = {
    "mean_shift": lambda h, **more: MeanShift(h, **more),
    "blurring": lambda h, **more: BlurringMeanShift(h, **more),
    "stochastic": lambda h, **more: StochasticMeanShift(h, random_state=0, **more),
    "doubly": lambda h, **more: DoublyStochasticMeanShift(h and h / 2, h, random_state=0, **more),
}
ALL = [*SHIFTING, "mode_seek"]
# those that are given no bandwidth; all others find theirs as "doubly" does
AUTOMATIC = ["doubly", "mode_seek"]
ENGINES = ("reference", "brute", "moment_tree", "neighbor_lists")
# to what part of the extent the centres of those that draw nothing agree; climbs end near a mode, not at it
TOLERANCE = {"mean_shift": 1e-5, "blurring": 1e-9}


def model(name, h=None, **more):
    return ModeSeek(random_state=0) if name == "mode_seek" else SHIFTING[name](h, **more)


def blobs(n=20):
    """Three clear clusters at multiples of 2^-10, so that offsets and powers of two are exact."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([0.3 * rng.normal(size=(n, 2)) + at for at in ([0, 0], [6, 0], [0, 6])])
    return np.round(rows * 1024) / 1024, np.repeat(np.arange(3), n)


X, Y = blobs()
H = 2.0


def fitted(name, rows, h=None, **more):
    """Fit, and check the invariants of every fit."""
    found = model(name, h, **more).fit(rows)
    assert found.labels_.shape == (len(rows),)
    assert np.isfinite(found.cluster_centers_).all()
    assert (found.predict(rows) == found.labels_).all()
    low, high = rows.min(axis=0).astype(float), rows.max(axis=0).astype(float)
    room = 1e-5 * np.maximum(np.abs(low), np.abs(high))  # single precision, and offsets
    assert (found.cluster_centers_ >= low - room).all()
    assert (found.cluster_centers_ <= high + room).all()
    return found


@pytest.mark.parametrize("name", AUTOMATIC)
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_scales(name, scale):
    assert adjusted_rand_score(Y, fitted(name, X * scale).labels_) == 1.0
    assert 0 < estimate_bandwidth(X * scale) < 20 * scale


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SHIFTING)
@pytest.mark.parametrize(("scale", "offset"), [(1e-150, 0.0), (1e150, 0.0), (1.0, 1e12), (1e-3, 1e9), (1e140, 1e151)])
def test_scales_and_offsets_on_every_engine(engine, name, scale, offset):
    found = fitted(name, X[::2] * scale + offset, H * scale, engine=engine)
    assert adjusted_rand_score(Y[::2], found.labels_) == 1.0


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("scale", [1.0, 1e145, 1e150])
def test_rows_with_coordinates_above_1e154_have_a_label(name, scale):
    """Squared distances overflow; a k-d tree then finds no neighbour and returns the index n."""
    found = fitted(name, X * scale, H * scale)
    far = np.array([[1e153, 0.0], [1e300, 1e140], [-1.7e308, -1.7e308], [0.0, 1.7e308]])
    labels = found.predict(np.concatenate([X * scale, far]))
    assert (labels[: len(X)] == found.labels_).all()
    assert (labels[len(X) :] >= 0).all()
    assert (labels[len(X) :] < found.n_clusters_).all()
    if scale == 1e150:  # the clusters are distinguishable from there
        assert (labels[[-4, -3, -1]] == found.labels_[[20, 20, 40]]).all()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("extent", [1e-160, 1e160, 5e-321])
def test_extents_whose_squares_overflow_are_refused(name, extent):
    with pytest.raises(ValueError, match=r"squares of such numbers overflow or vanish: divide X by"):
        model(name).fit(X * extent)


KINDS = {
    "mixed": (X * [1e-100, 1e100], Y == 2),  # one column decides
    "far column": (X * [1e12, 1.0], Y == 1),
    "denormals beside": (np.column_stack([X, X[:, 0] * 1e-310]), Y),
    "float16": (X.astype(np.float16), Y),
    "float32 offset": ((X + 2**12).astype(np.float32), Y),
    **{f"float32 {scale}": ((X * scale).astype(np.float32), Y) for scale in (1e-36, 1e-11, 1.0, 1e14, 1e37)},
    **{kind: ((X * 4 + 8).astype(kind), Y) for kind in ("int8", "uint8", "int64", "uint64")},
    "one dimension": (X[:, :1], Y == 1),
}


@pytest.mark.parametrize("name", AUTOMATIC)
@pytest.mark.parametrize("kind", KINDS)
def test_mixed_scales_and_kinds(name, kind):
    rows, truth = KINDS[kind]
    assert adjusted_rand_score(truth, fitted(name, rows).labels_) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_mixed_scales_and_kinds_on_every_engine(engine, kind):
    rows, truth = (each[::3] for each in KINDS[kind])
    extent = float(rows.max()) - float(rows.min())
    for name in SHIFTING:
        assert adjusted_rand_score(truth, fitted(name, rows, extent / 3, engine=engine).labels_) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", SHIFTING)
def test_few_and_equal_rows_on_every_engine(engine, name):
    assert fitted(name, np.full((1, 1), 1e12), 1.0, engine=engine).n_clusters_ == 1
    wide = np.tile(X[::10], (1, 5000)) / np.sqrt(5000)
    assert fitted(name, np.full((9, 3), 5e-324), 1.0, engine=engine).n_clusters_ == 1
    for gap in (1e-150, 1e150):
        two = np.array([[0.0], [gap]])
        assert fitted(name, two, gap / 2, engine=engine).n_clusters_ == 2
        assert fitted(name, two, gap * 4, engine=engine).n_clusters_ == 1
    if engine == "moment_tree":
        with pytest.raises(ValueError, match="at most 3 dimensions"):
            fitted(name, wide, H, engine=engine)
        return
    assert adjusted_rand_score(Y[::10], fitted(name, wide, H, engine=engine).labels_) == 1.0


def test_modes_in_ten_thousand_dimensions():
    rows = np.tile(X, (1, 5000)) / np.sqrt(5000)
    assert adjusted_rand_score(Y, fitted("mode_seek", rows).labels_) == 1.0


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("at", [0.0, -0.0, 3.7, 1e12, 1e300, 5e-324])
def test_all_rows_equal(name, at):
    found = fitted(name, np.full((10, 3), at))
    assert found.n_clusters_ == 1
    np.testing.assert_array_equal(found.cluster_centers_, np.full((1, 3), at))


@pytest.mark.parametrize("name", ALL)
def test_one_row_and_two(name):
    one = np.array([[1e12, 5.0]])
    assert fitted(name, one).n_clusters_ == 1
    for gap in (1e-150, 1.0, 1e150):
        assert fitted(name, np.array([[0.0], [gap]])).n_clusters_ in (1, 2)
        if name in SHIFTING:  # too far apart to see each other, and near enough
            assert fitted(name, np.array([[0.0], [gap]]), gap / 2).n_clusters_ == 2
            assert fitted(name, np.array([[0.0], [gap]]), gap * 4).n_clusters_ == 1


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("offset", [2.0**20, -(2.0**40)])  # 1e12
def test_a_translation_does_not_matter(name, offset):
    """The sums are exact, so that labels and states are equal bit for bit; centres are rounded like the data."""
    here, there = fitted(name, X, H), fitted(name, X + offset, H)
    np.testing.assert_array_equal(here.labels_, there.labels_)
    np.testing.assert_allclose(there.cluster_centers_ - offset, here.cluster_centers_, atol=2 * np.spacing(abs(offset)))
    if name not in ("mode_seek", "mean_shift"):
        assert here.n_updates_ == there.n_updates_


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("power", [-400, -7, 400])
def test_scaling_by_a_power_of_two_changes_no_bit(name, power):
    scale = 2.0**power
    for h in (None, H) if name == "doubly" and power > 0 else (H,):
        here, there = fitted(name, X, h), fitted(name, X * scale, h and h * scale)
        np.testing.assert_array_equal(here.labels_, there.labels_)
        if h is None:  # a chosen range: the choice adds constants such as 1e-300 to denominators
            np.testing.assert_allclose(here.cluster_centers_ * scale, there.cluster_centers_, rtol=1e-12)
        else:
            np.testing.assert_array_equal(here.cluster_centers_ * scale, there.cluster_centers_)


@pytest.mark.parametrize("name", ALL)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=3)
def test_the_order_of_rows_changes_no_bit(name, seed):
    """Draws depend on the rank of a row among the sorted rows, not on its index."""
    order = np.random.default_rng(seed).permutation(len(X))
    here, there = fitted(name, X, H), fitted(name, X[order], H)
    np.testing.assert_array_equal(here.labels_[order], there.labels_)
    np.testing.assert_array_equal(here.cluster_centers_, there.cluster_centers_)


@pytest.mark.parametrize("name", ALL)
@given(
    seed=st.integers(0, 2**32 - 1), d=st.sampled_from([2, 3, 5]), size=st.floats(-140, 140), far=st.floats(-1e3, 1e3)
)
@example(seed=0, d=5, size=115.78125, far=803.0)  # rounding of the offset was a direction to ModeSeek
@settings(max_examples=3)
def test_rotation_scaling_and_translation_do_not_matter(name, seed, d, size, far):
    """The same clusters, and centres within `TOLERANCE`."""
    rng, scale = np.random.default_rng(seed), 10.0**size
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    rows = np.pad(X, ((0, 0), (0, d - 2)))
    columns = rng.permutation(d)
    moved = ((rows @ turn)[:, columns] + far) * scale
    here, there = fitted(name, rows, H), fitted(name, moved, H * scale)
    assert adjusted_rand_score(here.labels_, there.labels_) == 1.0
    if name in TOLERANCE:
        expected = ((here.cluster_centers_ @ turn)[:, columns] + far) * scale
        found = there.cluster_centers_
        nearest = np.abs(expected[:, None] / scale - found / scale).max(axis=2).min(axis=1)
        assert nearest.max() <= TOLERANCE[name] * (10 + abs(far))


# to what part of the extent a state agrees after some sweeps with the same draws
SAME_DRAWS = 1e-9
CHAINS = {
    "mean_shift": lambda to, h: mean_shift(to, h, tol=1e-9),
    "blurring": blurring,
    "stochastic": lambda to, h: stochastic(to, h, seed=1),
    "doubly": lambda to, h: doubly_stochastic(to, Shrinking(h / 4, h, h / 2), seed=1),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CHAINS)
@given(seed=st.integers(0, 2**32 - 1), d=st.sampled_from([1, 2, 3, 6]))
@settings(max_examples=3)
def test_states_move_with_the_data(name, engine, seed, d):
    """Chains draw row indices, so that rotation, translation, scaling and the order of columns do not matter."""
    rng = np.random.default_rng(seed)
    d = min(d, 3) if engine == "moment_tree" else d  # as it says
    rows = rng.normal(size=(30, d))
    turn, columns = np.linalg.qr(rng.normal(size=(d, d)))[0], rng.permutation(d)
    ways = [
        (lambda x: x @ turn, 1.0),
        (lambda x: x + 100.0, 1.0),
        (lambda x: x * 3e149, 3e149),
        (lambda x: x * 3e-149, 3e-149),
        (lambda x: x[:, columns], 1.0),
    ]
    here = after_sweeps(name, engine, rows, 1.5)
    for way, scale in ways:
        there = after_sweeps(name, engine, way(rows), 1.5 * scale)
        np.testing.assert_allclose(there / scale, way(here) / scale, rtol=0, atol=SAME_DRAWS * np.ptp(rows))


def after_sweeps(name, engine, rows, h, sweeps=4):
    chain = CHAINS[name](make_problem(rows, engine=engine), h)
    state = chain.init()
    for _ in range(sweeps):
        state, _ = chain.sweep(state)
    return state.points
