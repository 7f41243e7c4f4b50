"""Warnings about doubtful settings, and errors about wrong data and parameters."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.hints import AdviceWarning, ScaleWarning
from modeseek.estimators import advice

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 1, (40, 2)), RNG.normal(8, 1, (40, 2))])
ALL = [MeanShift, BlurringMeanShift, StochasticMeanShift, DoublyStochasticMeanShift, ModeSeek]


@pytest.mark.parametrize("cls", [MeanShift, BlurringMeanShift, StochasticMeanShift])
def test_bandwidths_far_off(cls):
    with pytest.warns(AdviceWarning, match=r"every row is a separate cluster: bandwidth=0\.001 is less") as caught:
        cls(bandwidth=0.001).fit(X)
    assert caught[0].filename == __file__
    with pytest.warns(AdviceWarning, match=r"all rows are one cluster: bandwidth=100 .* spread of the data, 5\.68"):
        cls(bandwidth=100.0).fit(X)


def test_all_rows_are_noise():
    with pytest.warns(AdviceWarning, match="all rows are noise: every cluster is smaller than min_cluster_size=1000"):
        ModeSeek(min_cluster_size=1000, random_state=0).fit(X)


def test_good_bandwidths_get_no_advice():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DoublyStochasticMeanShift(0.5, 4.0, 1.5, random_state=0).fit(X)
        StochasticMeanShift(2.0, random_state=0).fit(X)
        ModeSeek(random_state=0).fit(X)
        # as many clusters as points, correctly
        StochasticMeanShift(1.0, random_state=0).fit([[0.0], [10.0], [20.0]])


def test_columns_of_different_scale():
    with pytest.warns(ScaleWarning, match=r"column 1 of X varies .* make_pipeline\(StandardScaler\(\), ModeSeek\(\)\)"):
        ModeSeek(random_state=0).fit(X * [1.0, 1e3])
    with pytest.warns(ScaleWarning, match="column 'income' of X"):
        ModeSeek(random_state=0).fit(pd.DataFrame({"age": X[:, 0], "income": 1e3 * X[:, 1]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ModeSeek(metric="cosine", random_state=0).fit(X * [1.0, 1e3])  # directions have no units
        ModeSeek(random_state=0).fit(np.c_[X[:, :1], np.full(len(X), 7.0)])  # a constant column has no influence


def test_fits_that_take_very_long():
    with pytest.warns(AdviceWarning, match='engine="auto" gives the same labels'):
        advice.advise_on_engine("StochasticMeanShift", "reference", 60_000, 2)
    with pytest.warns(AdviceWarning, match=r"such as X\[::10\]"):
        advice.advise_on_engine("StochasticMeanShift", "brute", 500_000, 2 + 10)
    with pytest.warns(AdviceWarning, match="several gigabytes"):
        advice.advise_on_size("ModeSeek", 1_400_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        advice.advise_on_engine("StochasticMeanShift", "moment_tree", 10**7, 2)
        advice.advise_on_size("ModeSeek", 50_000)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (X[:, 0], r"X has shape \(80,\).*X\.reshape\(-1, 1\)"),
        (np.where(X > 9, np.nan, X), r"contains NaN in 11 of 80 rows; the first is row 43, column 1.*SimpleImputer"),
        (pd.DataFrame({"a": [1.0, np.inf]}), r"infinity.* in 1 of 2 rows; the first is row 1, column 'a'"),
        (pd.DataFrame({"v": [1, 2], "word": ["x", "y"]}), r"could not convert string.*in column 'word'"),
        (X + 1j, "Complex data not supported"),
        ([["a", "b"]], "could not convert string to float: .* in column 0"),
    ],
)
def test_wrong_data(data, says):
    with pytest.raises(ValueError, match=says):
        ModeSeek().fit(data)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_jobs": "all"}, r"n_jobs must be .* -1 for all cores; got 'all'"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "x"}, "random_state must be .* got 'x'"),
        ({"callbacks": print}, r"callbacks must be a list of functions, not a function: write callbacks=\[\.\.\.\]"),
        ({"callbacks": [3]}, r"callbacks must be a list of functions f\(state, info\); got \[3\]"),
    ],
)
def test_wrong_parameters(options, says):
    with pytest.raises((TypeError, ValueError), match=says):
        DoublyStochasticMeanShift(**options).fit(X)


@pytest.mark.parametrize("name", ["n_clusters", "min_clusters"])
def test_more_clusters_than_rows(name):
    with pytest.raises(ValueError, match=f"{name}=500 is larger than the number of distinct rows of X, 80"):
        ModeSeek(**{name: 500}).fit(X)
    ModeSeek(max_clusters=500, random_state=0).fit(X)


@pytest.mark.parametrize("cls", ALL)
def test_the_docstring_describes_every_parameter(cls):
    section = inspect.getdoc(cls).split("Parameters\n---")[1].split("\nAttributes\n---")[0]
    names = [name for line in re.findall(r"^([\w, ]+) : ", section, re.M) for name in line.split(", ")]
    assert sorted(names) == sorted(cls().get_params())


@pytest.mark.parametrize("cls", ALL)
def test_the_docstring_describes_every_attribute(cls):
    section = inspect.getdoc(cls).split("\nAttributes\n---")[1].split("\nSee Also\n---")[0]
    names = {name for line in re.findall(r"^([\w, ]+) : ", section, re.M) for name in line.split(", ")}
    model = cls(**({"n_chains": 2} if "n_chains" in cls().get_params() else {})).fit(X)
    assert {name for name in vars(model) if name.endswith("_")} <= names
