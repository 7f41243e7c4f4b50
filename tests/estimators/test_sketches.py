"""Fits on a sketch: close to the exact fit, independent of batches, and announced by a warning."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.hints import AdviceWarning
from modeseek.sketches import SketchConfig
from pipelines import with_sketch

X, Y = make_blobs(2400, centers=5, cluster_std=0.7, random_state=3)
MODELS = {
    "dsms": DoublyStochasticMeanShift(random_state=0),
    "sms": StochasticMeanShift(2.0, random_state=0),
    "bms": BlurringMeanShift(2.0),
    "ms": MeanShift(2.0),
    "modeseek": ModeSeek(random_state=0),
}
# where the choice of a range, which takes most of the time, is not what is tested
RANGE = {"h_min": 0.5, "h_inf": 1.5, "h_max": 2.5}
FEW_FIRST_ROWS = SketchConfig(layout_rows=500)


def model(name, **options):
    return clone(MODELS[name]).set_params(**options)


@pytest.mark.parametrize("name", MODELS)
def test_near_the_exact_fit(name):
    kind = "sample" if name == "modeseek" else "grid"
    found = model(name, sketch=kind).fit(X)
    exact = model(name, sketch=None).fit(X)
    assert adjusted_rand_score(found.labels_, exact.labels_) > 0.98
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    assert found.sketch_.weight == len(X)
    assert not hasattr(exact, "sketch_")


@pytest.mark.parametrize("name", MODELS)
def test_batches_give_what_one_array_gives(name):
    options = {"sketch": "sample" if name == "modeseek" else "grid"} | (RANGE if name == "dsms" else {})
    whole = with_sketch(model(name, **options), FEW_FIRST_ROWS).fit(X)
    for cuts in ([800, 840], np.arange(280, 2400, 280)):
        batches = with_sketch(model(name, **options), FEW_FIRST_ROWS)
        for batch in np.split(X, cuts):
            batches.partial_fit(batch)
        np.testing.assert_array_equal(batches.finalize().predict(X), whole.labels_)
        assert len(batches.labels_) == len(batches.sketch_.points)


def test_later_batches_in_any_order():
    first, *rest = np.split(X, [600, 1000, 1800])
    labels = []
    for order in ((0, 1, 2), (2, 0, 1)):
        found = with_sketch(model("dsms", sketch="grid", **RANGE), FEW_FIRST_ROWS).partial_fit(first)
        for number in order:
            found.partial_fit(rest[number])
        labels.append(found.finalize().predict(X))
    np.testing.assert_array_equal(*labels)


def test_auto_warns_of_a_sketch():
    # the few distinct rows of a sample that has them all need no cells
    def small(**options):
        return with_sketch(model("dsms", **options, **RANGE), SketchConfig(max_rows=1000, sample_rows=1500))

    with pytest.warns(AdviceWarning, match=r"clusters a sketch, .* cells for 2,400 rows.*sketch=None") as caught:
        found = small().fit(X)
    assert caught[0].filename == __file__
    assert found.sketch_.resolution <= 1 / 16
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(sketch="grid").fit(X)
        assert not hasattr(small(sketch=None).fit(X), "sketch_")
        small().fit(X[:900])


def test_resolution():
    fine = model("sms", sketch="grid", resolution=1 / 64).fit(X)
    coarse = model("sms", sketch="grid", resolution=1 / 4).fit(X)
    assert fine.sketch_.resolution <= 1 / 64 < coarse.sketch_.resolution <= 1 / 4
    assert len(coarse.sketch_.points) < len(fine.sketch_.points)


def test_light_cells_are_updated_as_often_as_heavy_ones():
    """Drawn by weight, the isolated point would be updated once in 200,000 updates."""
    heavy = np.repeat(X[:200], 1000, axis=0)
    lone = X[:1] + np.array([60.0, 0.0])
    found = model("dsms", h_min=0.5, h_inf=0.8, h_max=2.0, sketch="grid").fit(np.concatenate([heavy, lone]))
    assert found.outcome_.converged
    assert found.n_updates_ < 200 * len(found.sketch_.points)
    assert (found.labels_ == found.labels_[-1]).sum() == 1


def test_weights_equal_repetition():
    times = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = model("dsms", sketch="grid", **RANGE).fit(X, sample_weight=times)
    # the grid comes from the first rows, and so it may differ: the clusters are nearly the same
    copied = model("dsms", sketch="grid", **RANGE).fit(np.repeat(X, times, axis=0))
    assert adjusted_rand_score(weighted.predict(X), copied.predict(X)) > 0.98
    assert weighted.sketch_.weight == times.sum()


@pytest.mark.parametrize("kind", ["grid", "sample"])
def test_rows_of_weight_zero_do_not_change_the_grid(kind):
    """Far rows of weight 0 come first: they would set other cells."""
    rows, weights = X[:2000].copy(), np.random.default_rng(0).integers(0, 3, 2000)
    weights[:200] = weights[1200:1500] = 0
    rows[:200] *= 50
    whole = with_sketch(model("dsms", sketch=kind, **RANGE), FEW_FIRST_ROWS).fit(rows, sample_weight=weights)
    batches = with_sketch(clone(whole), FEW_FIRST_ROWS)
    for at in range(0, 2000, 100):
        batches.partial_fit(rows[at : at + 100], sample_weight=weights[at : at + 100])
    np.testing.assert_array_equal(batches.finalize().predict(rows), whole.labels_)
    np.testing.assert_array_equal(batches.sketch_.points, whole.sketch_.points)


def test_only_rows_of_weight_zero():
    weightless = model("sms").partial_fit(X[:9], sample_weight=np.zeros(9))
    weightless.partial_fit(X[:9], sample_weight=0, forget=0.5)
    with pytest.raises(ValueError, match="all rows so far have a sample_weight of zero"):
        weightless.finalize()
    assert weightless.partial_fit(X[:9]).finalize().sketch_.weight == 9
    with pytest.raises(ValueError, match="or are forgotten"):
        weightless.partial_fit(X[:9], sample_weight=0, forget=1.0).finalize()


def test_forgetting():
    left, right = X[Y == 0], X[Y == 1]
    stream = model("sms", sketch="grid", min_cluster_size=20).partial_fit(left)
    assert stream.finalize().n_clusters_ == 1
    stream.partial_fit(right)
    both = clone(stream).partial_fit(left).partial_fit(right).finalize()
    assert both.n_clusters_ == stream.finalize().n_clusters_ == 2
    stream.partial_fit(right, forget=1.0)
    assert stream.finalize().n_clusters_ == 1
    assert stream.sketch_.weight == len(right)


def test_a_sample_in_many_dimensions():
    wide, y = make_blobs(800, n_features=16, centers=4, random_state=0)
    found = model("dsms", h_min=6.0, h_inf=10.0, h_max=15.0).partial_fit(wide).finalize()
    assert found.sketch_.resolution is None
    assert adjusted_rand_score(y, found.predict(wide)) > 0.98
    with pytest.raises(ValueError, match='Use sketch="sample"'):
        model("dsms", sketch="grid", **RANGE).fit(wide)


def test_cosine():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(at, 0.1, (500, 3)) for at in ([1, 0, 0], [0, 1, 0], [0, 0, 1])])
    rows *= rng.uniform(1, 9, (1500, 1))
    found = model("dsms", h_min=0.2, h_inf=0.4, h_max=0.6, metric="cosine", sketch="grid").fit(rows)
    assert found.n_clusters_ == 3
    np.testing.assert_array_equal(found.predict(7 * rows), found.labels_)


def test_the_parameter_survives_clone_and_pickle():
    found = model("dsms", sketch="grid", **RANGE)
    assert clone(found).get_params() == found.get_params()
    assert "sketch='grid'" in repr(found)
    found = pickle.loads(pickle.dumps(found.fit(X)))
    assert found.summary().shape[0] == found.n_clusters_
    assert found.sketch_.weight == len(X)


def test_mistakes():
    with pytest.raises(ValueError, match="sketch must be one of"):
        model("dsms", sketch="cells").fit(X)
    with pytest.raises(ValueError, match=r"pass batches of rows to partial_fit\(X\) first"):
        model("dsms").finalize()
    with pytest.raises(ValueError, match="forget must be in"):
        model("dsms").partial_fit(X, forget=2.0)
    with pytest.raises(ValueError, match="resolution must be"):
        model("dsms", sketch="grid", resolution=0.0).fit(X)
    with pytest.raises(ValueError, match='use sketch="sample"'):
        model("modeseek", sketch="grid").fit(X)
    with pytest.raises(ValueError, match="features"):
        model("dsms").partial_fit(X).partial_fit(X[:, :1])
