"""Bad input gets an error that names the argument and the remedy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import modeseek
from modeseek import (
    BlurringMeanShift,
    DoublyStochasticMeanShift,
    MeanShift,
    StochasticMeanShift,
    estimate_bandwidth,
)

ALL = [MeanShift, BlurringMeanShift, StochasticMeanShift, DoublyStochasticMeanShift]
X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("data", "match"),
    [
        ([[np.nan, 1.0]], "X contains NaN"),
        ([[np.inf, 1.0]], "X contains infinity"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        ([1.0, 2.0], "Expected 2D array"),
        ([["red"], ["blue"]], "X must hold numbers only"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), "X must hold numbers only.*Drop text columns"),
        (pl.LazyFrame({"a": [1.0, 2.0]}), r"a LazyFrame is a query: pass X\.collect\(\)"),
        ([[1.0 + 2.0j]], "Complex data not supported"),
        ([[1.0, 2.0], [3.0]], "inhomogeneous"),
    ],
)
def test_data(cls, data, match):
    with pytest.raises(ValueError, match=match):
        cls().fit(data)


@pytest.mark.parametrize("cls", ALL)
def test_sparse_data(cls):
    with pytest.raises(TypeError, match=r"[Ss]parse.*dense"):
        cls().fit(csr_array(X))


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1.0, -1.0, 1.0], "sample_weight must not be negative, but row 1"),
        ([0.0, 0.0, 0.0], "sample_weight is zero for every row"),
        ([1.0, np.nan, 1.0], "sample_weight contains NaN"),
        ([1.0, 1.0], "one weight for each row"),
        ([[1.0], [1.0], [1.0]], "1D"),
        (["a", "b", "c"], "sample_weight must be 3 numbers"),
    ],
)
def test_weights(cls, weights, match):
    with pytest.raises(ValueError, match=match):
        cls().fit(X, sample_weight=weights)


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"profile": "biwight"}, "profile must be one of .* Did you mean 'biweight'"),
        ({"metric": "cosinus"}, "metric must be one of .* Did you mean 'cosine'"),
        ({"engine": "brutal"}, "engine must be one of .* Did you mean 'brute'"),
        ({"min_cluster_size": 0}, "min_cluster_size must be a whole number >= 1"),
        ({"tol": -1.0}, "tol must be a finite number >= 0"),
    ],
)
def test_options_of_all(cls, options, match):
    with pytest.raises(ValueError, match=match):
        cls(**options).fit(X)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"h_min": 2.0, "h_max": 1.0}, "h_min must not exceed h_max"),
        ({"h_min": 2.0, "h_max": 1.0, "h_inf": 1.5}, "h_min must not exceed h_max"),
        ({"h_min": 0.2, "h_max": 1.0, "h_inf": 2.0}, r"h_inf must lie in \[h_min, h_max\]"),
        ({"h_min": -1.0}, "h_min must be a finite number > 0"),
        ({"h_max": np.nan}, "h_max must be a finite number > 0"),
        ({"policy": "wlak"}, "policy must be one of .* Did you mean 'walk'"),
        ({"nu": "logarithmic"}, "nu must be 'log-log'"),
        ({"order": "shuffled"}, "order must be one of .* Did you mean 'reshuffled'"),
        ({"batch_size": 0}, "batch_size must be a whole number >= 1"),
        ({"h_min": 1.0, "h_max": 2.0, "tau": 0.5}, r"tau must be below h_min / 2 = 0\.5"),
        ({"max_updates": 0}, "max_updates must be a whole number >= 1"),
        ({"max_time": 0}, "max_time must be a finite number > 0"),
        ({"random_state": -1}, "random_state must be in"),
        ({"n_chains": 0}, "n_chains must be a whole number >= 1; got 0"),
    ],
)
def test_options_of_dsms(options, match):
    with pytest.raises(ValueError, match=match):
        DoublyStochasticMeanShift(**{"random_state": 0, **options}).fit(X)


@pytest.mark.parametrize("n_chains", [True, 2.0, "auto"])
def test_number_of_chains(n_chains):
    with pytest.raises(TypeError, match=f"n_chains must be a whole number >= 1; got {n_chains!r}"):
        DoublyStochasticMeanShift(n_chains=n_chains).fit(X)


def test_dates_in_a_frame():
    """NumPy's message on types without a common one was printed."""
    frame = pd.DataFrame({"x": np.arange(9.0), "day": pd.date_range("2026-01-01", periods=9)})
    for X in (frame, frame.astype(object)):
        with pytest.raises(ValueError, match=r"column 'day' has dates or times\. Convert them to numbers"):
            modeseek.ModeSeek().fit(X)


def test_a_policy_object_brings_its_range():
    from modeseek.meanshift.bandwidth import Uniform

    with pytest.raises(ValueError, match="must be None if policy is an object"):
        DoublyStochasticMeanShift(h_min=0.1, policy=Uniform(0.2, 1.0)).fit(X)
    with pytest.raises(TypeError, match="policy must be a name or an object with"):
        DoublyStochasticMeanShift(policy=3).fit(X)


@pytest.mark.parametrize("cls", ALL[:3])
@pytest.mark.parametrize("bandwidth", [-1.0, np.inf, "wide", True])
def test_bandwidth(cls, bandwidth):
    with pytest.raises((ValueError, TypeError), match="bandwidth must be a"):
        cls(bandwidth).fit(X)


@pytest.mark.parametrize("cls", ALL[1:3])
def test_bandwidth_zero_is_for_mean_shift_only(cls):
    with pytest.raises(ValueError, match="bandwidth must be a finite number > 0"):
        cls(0.0).fit(X)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"seeds": [[0.0]]}, "seeds has 1 features, but X has 2"),
        ({"seeds": [[np.nan, 0.0]]}, "seeds contains NaN"),
        ({"min_bin_freq": 0, "bin_seeding": True}, "min_bin_freq must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"assign_labels": "basins"}, "Did you mean 'basin'"),
    ],
)
def test_options_of_mean_shift(options, match):
    with pytest.raises(ValueError, match=match):
        MeanShift(bandwidth=1.0, **options).fit(X)


@pytest.mark.parametrize("cls", ALL)
def test_a_row_of_zeros_has_no_direction(cls):
    with pytest.raises(ValueError, match="row 0 of X is all zeros"):
        cls(metric="cosine").fit(X)


@pytest.mark.parametrize("options", [{"quantile": 2.0}, {"quantile": -0.1}, {"n_samples": 0}])
def test_estimate_bandwidth(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        estimate_bandwidth(X, **options)
