"""Sweeps over bandwidths, and their plateaus."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek.estimators import BandwidthSweep, sweep_bandwidths

X, _ = make_blobs([40, 30, 20], centers=[(0, 0), (6, 0), (0, 6)], random_state=0)


def test_plateaus_of_a_sweep():
    sweep = BandwidthSweep(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.zeros((5, 1)), np.array([9, 3, 3, 1, 1]))
    nine, three, one = sweep.plateaus()
    assert (nine.n_clusters, three.n_clusters, one.n_clusters) == (9, 3, 1)
    assert_allclose([nine.low, nine.high, three.high, one.high], [1.0, 2**0.5, 2**2.5, 16.0])
    assert three.lifetime == pytest.approx(4.0)
    assert (three.first, three.last) == (1, 2)
    assert sweep.longest() == three
    assert BandwidthSweep(np.ones(1), np.zeros((1, 1)), np.ones(1, int)).longest() is None


@pytest.mark.parametrize("cls", [MeanShift, BlurringMeanShift, StochasticMeanShift, DoublyStochasticMeanShift])
def test_a_sweep_equals_single_fits(cls):
    estimator = cls() if cls in (MeanShift, BlurringMeanShift) else cls(random_state=0)
    if cls is DoublyStochasticMeanShift:
        estimator.set_params(h_min=0.5, h_inf=1.0, h_max=2.0)
    sweep = sweep_bandwidths(X, [2.0, 1.0], estimator=estimator)
    assert_array_equal(sweep.bandwidths, [1.0, 2.0])
    if cls is DoublyStochasticMeanShift:
        alone = estimator.set_params(h_min=1.0, h_inf=2.0, h_max=4.0).fit(X)
    else:
        assert estimator.bandwidth is None
        alone = estimator.set_params(bandwidth=2.0).fit(X)
    assert_array_equal(sweep.labels[1], alone.labels_)
    assert sweep.n_clusters[1] == alone.n_clusters_


def test_default_grid_ends_with_one_cluster():
    sweep = sweep_bandwidths(X, n_bandwidths=12)
    assert len(sweep.bandwidths) == 12
    assert sweep.n_clusters[0] > 10
    assert sweep.n_clusters[-1] == 1
    assert sweep.longest().n_clusters == 3
    for rows in (np.zeros((5, 2)), np.zeros((1, 2)), [[0.0], [1.0]]):
        assert sweep_bandwidths(rows, n_bandwidths=3).n_clusters[-1] == 1


def test_invalid_arguments():
    with pytest.raises(ValueError, match="bandwidths must be a list of finite numbers > 0"):
        sweep_bandwidths(X, [1.0, -1.0])
    for bad in (ModeSeek(), KMeans()):
        with pytest.raises(TypeError, match=r"estimator must be a MeanShift, .*got"):
            sweep_bandwidths(X, [1.0], estimator=bad)
