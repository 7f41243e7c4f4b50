"""Recorded traces of estimators, in the units and rows of the data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.meanshift.chains import Record
from modeseek.report import fit_code

X = paper_mixture(15, random_state=0)[0] + [100.0, -7.0]
FIXED = [MeanShift, BlurringMeanShift, StochasticMeanShift]


def make(cls, **options):
    seed = {} if cls in (MeanShift, BlurringMeanShift) else {"random_state": 0}
    widths = {"bandwidth": 0.8} if cls in FIXED else {"h_min": 0.2, "h_max": 1.6, "h_inf": 0.6}
    return cls(**widths, **seed, **options)


@pytest.mark.parametrize("cls", [*FIXED, DoublyStochasticMeanShift])
def test_snapshots_are_rows_of_the_data(cls):
    rows = np.concatenate([X, X[:4]])[::-1]
    model = make(cls, record=["snapshots", "clumps", "gap"]).fit(rows)
    snapshots = model.trace_.snapshots
    assert snapshots.values.shape[1:] == rows.shape
    assert_allclose(snapshots.values[0], rows, rtol=1e-12)
    assert_allclose(snapshots.values[-1], model.points_)
    assert (snapshots.k[0], snapshots.k[-1]) == (0, model.n_updates_)
    assert model.trace_.clumps.values[-1] == model.partition_.n_clusters
    assert model.trace_.diameter is None
    assert model.trace_.h is not None


@pytest.mark.parametrize("cls", [*FIXED, DoublyStochasticMeanShift])
def test_recording_changes_nothing(cls):
    plain, watched = make(cls).fit(X), make(cls, record="all").fit(X)
    assert_array_equal(plain.points_, watched.points_)
    assert plain.trace_.snapshots is None
    assert watched.trace_.diameter.values[-1] == pytest.approx(watched.partition_.diameter)
    assert clone(watched).record == "all"
    assert "record" not in fit_code(watched)


def test_rows_of_weight_zero_move_with_their_nearest_point():
    weights = np.ones(len(X))
    weights[3] = 0
    model = make(BlurringMeanShift, record="snapshots").fit(X, sample_weight=weights)
    assert model.trace_.snapshots.values.shape[1] == len(X)


def test_climbers_from_seeds():
    model = make(MeanShift, seeds=X[:5] + 0.01, record="snapshots").fit(X)
    assert_allclose(model.trace_.snapshots.values[0], X[:5] + 0.01)
    assert_allclose(model.trace_.snapshots.values[-1], model.points_)


def test_directions():
    model = make(StochasticMeanShift, metric="cosine", record="snapshots").fit(X[:, ::-1])
    assert_allclose(np.linalg.norm(model.trace_.snapshots.values, axis=2), 1.0)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_first_of_several_chains_records(n_jobs):
    alone = make(DoublyStochasticMeanShift, record="snapshots").fit(X)
    several = make(DoublyStochasticMeanShift, record="snapshots", n_chains=3, n_jobs=n_jobs).fit(X)
    assert_array_equal(alone.trace_.snapshots.values, several.trace_.snapshots.values)


def test_recording_intervals():
    model = make(BlurringMeanShift, record=Record(snapshots=2, h=None)).fit(X)
    assert model.trace_.h is None
    assert set(np.diff(model.trace_.snapshots.k)[:-1]) == {2 * len(X)}


def test_invalid_records():
    with pytest.raises(ValueError, match=r"record must be one of .* got 'snapshot'. Did you mean 'snapshots'\?"):
        make(BlurringMeanShift, record=["snapshot"]).fit(X)
    with pytest.raises(ValueError, match="record must be one of 'all', 'h', 'shift', 'clumps', 'diameter', 'gap'"):
        make(MeanShift, record=["objective"]).fit(X)
    with pytest.raises(ValueError, match="record has objective=1, which this algorithm cannot record"):
        make(MeanShift, record=Record(objective=1)).fit(X)
