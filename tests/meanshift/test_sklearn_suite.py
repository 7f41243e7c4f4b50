"""scikit-learn's own tests of mean shift, run on modeseek."""

import inspect

import numpy as np
import pytest
import sklearn.cluster.tests.test_mean_shift as suite

import modeseek

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Binning data failed"),
]


class DropIn(modeseek.MeanShift):
    """`MeanShift` with the kernel, the labels and the bandwidth of scikit-learn."""

    def __init__(self, bandwidth=None, **parameters):
        super().__init__(bandwidth, profile="flat", assign_labels="nearest", **parameters)

    def fit(self, X, y=None, sample_weight=None):
        if self.bandwidth is None:
            self.bandwidth = modeseek.estimate_bandwidth(X)
        return super().fit(X, y, sample_weight)


@pytest.fixture(params=["all names", "the class"], autouse=True)
def _replace_names(request, monkeypatch):
    names = {"MeanShift": DropIn}
    if request.param == "all names":
        names |= {name: getattr(modeseek, name) for name in ("mean_shift", "get_bin_seeds")}
    for name, value in names.items():
        monkeypatch.setattr(suite, name, value)


@pytest.fixture(params=[np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def global_dtype(request):
    return request.param


@pytest.fixture
def global_random_seed():
    return 42


TESTS = {name: test for name, test in inspect.getmembers(suite, inspect.isfunction) if name.startswith("test_")}
globals().update(TESTS)


def test_the_suite_is_complete():
    assert {"test_meanshift_all_orphans", "test_max_iter", "test_bin_seeds"} <= TESTS.keys()
