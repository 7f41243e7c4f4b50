"""Missing values in every guise, weights of every size, and distances that equal the bandwidth."""

import numpy as np
import pandas as pd
import pytest

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.meanshift.objective import objective

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(center, 0.3, (40, 2)) for center in (0, 4, 8)])
WEIGHTS = rng.uniform(0.5, 2, len(X))
ESTIMATORS = [
    ModeSeek(random_state=0),
    MeanShift(1.0),
    BlurringMeanShift(0.5),
    StochasticMeanShift(0.8, random_state=0),
    DoublyStochasticMeanShift(0.3, 1.5, 0.6, random_state=0),
]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)


def masked(values, *where):
    array = np.ma.array(values.copy())
    for index in where:
        array[index] = np.ma.masked
    return array


def frame(kind):
    table = pd.DataFrame(X, columns=["a", "b"]).astype(kind)
    table.loc[3, "b"] = pd.NA
    return table


MISSING = {
    "masked": masked(X, (3, 1)),
    "masked float32": masked(X.astype(np.float32), (3, 1)),
    "masked integers": masked(X.round().astype(int), (3, 1)),
    "objects": frame(object),
    "array of objects": frame(object).to_numpy(),
    "Float64": frame("Float64"),
    "Arrow": frame("double[pyarrow]"),
}


@pytest.mark.parametrize("kind", MISSING)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict"])
def test_missing_values_are_refused(kind, method):
    """A masked array was clustered with the values below its mask, and NA of pandas raised TypeError."""
    model = MeanShift(1.0)
    if method == "predict":
        model.fit(pd.DataFrame(X, columns=["a", "b"]) if isinstance(MISSING[kind], pd.DataFrame) else X)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        getattr(model, method)(MISSING[kind])


def test_a_mask_that_hides_nothing_changes_nothing():
    assert (MeanShift(1.0).fit(masked(X)).labels_ == MeanShift(1.0).fit(X).labels_).all()


def test_masked_weights_and_points_are_refused():
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        MeanShift(1.0).fit(X, sample_weight=masked(WEIGHTS, 3))
    with pytest.raises(ValueError, match="contains NaN"):
        objective(masked(X, (3, 1)), 1.0)


@each_estimator
@pytest.mark.parametrize("factor", [2.0**-7, 2.0**-330, 2.0**330])
def test_the_unit_of_weights_does_not_matter(estimator, factor):
    """`min_cluster_size=1` was compared with sums of weights, so that weights of 1/n made every row noise."""
    one = estimator.fit(X, sample_weight=WEIGHTS).labels_
    assert one.max() >= 2
    assert (estimator.fit(X, sample_weight=factor * WEIGHTS).labels_ == one).all()


def test_larger_sizes_are_compared_with_summed_weight():
    model = MeanShift(1.0, min_cluster_size=50)
    weights = np.repeat([1.0, 1.5, 2.0], 40)
    assert np.bincount(model.fit(X, sample_weight=weights).labels_ + 1).tolist() == [40, 40, 40]
    assert (MeanShift(1.0, min_cluster_size=2).fit(X, sample_weight=np.full(120, 0.1)).labels_ >= 0).all()


@each_estimator
@pytest.mark.parametrize("weight", [2.0**1000, 1e308, 5e-324])
def test_weights_whose_sums_overflow_or_vanish_are_refused(estimator, weight):
    with pytest.raises(ValueError, match=r"sample_weight must be 0 or between .* row 7 .* only their ratios matter"):
        estimator.fit(X, sample_weight=np.where(np.arange(120) == 7, weight, 1.0))


@pytest.mark.parametrize("estimator", ESTIMATORS[:3], ids=lambda each: type(each).__name__)
def test_weights_at_both_ends_of_the_range(estimator):
    weights = np.where(np.arange(120) % 2, 1e100, 1e-100)
    assert (estimator.fit(X, sample_weight=weights).labels_ >= 0).all()


@pytest.mark.parametrize(("dtype", "step", "place"), [("f4", 0.1, (6, 7)), ("f4", 0.3, (1, 4)), ("f8", 0.1, (1, 6))])
@pytest.mark.parametrize("kind", [MeanShift, BlurringMeanShift])
def test_engines_agree_if_a_distance_of_a_lattice_equals_h(kind, dtype, step, place):
    """One engine divided the squared distance by h^2, the others multiplied it by 1 / h^2, so that they disagreed."""
    point = np.asarray(place, dtype) * np.asarray(step, dtype)
    h = float(np.sqrt(np.square(point.astype(float)).sum()))
    for engine in ("reference", "brute"):
        model = kind(h, profile="flat", engine=engine).fit(np.stack([0 * point, point]))
        assert model.labels_.tolist() == [0, 0]
        assert model.bandwidth_ == h
