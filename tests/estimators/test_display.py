"""Display of fitted estimators in notebooks and terminals, and data frames as input."""

from __future__ import annotations

import builtins
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rich.console import Console
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift

ALL = [MeanShift, BlurringMeanShift, StochasticMeanShift, DoublyStochasticMeanShift, ModeSeek]
BLOBS = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)[0]
FRAME = pd.DataFrame(BLOBS, columns=["size", "share"])


def seeded(cls):
    """Return an estimator that gives the same result every time."""
    return cls(random_state=0) if "random_state" in cls().get_params() else cls()


def printed(model):
    out = io.StringIO()
    Console(file=out, width=80).print(model)
    return out.getvalue()


# ---------------------------------------- summary


@pytest.mark.parametrize("cls", ALL)
def test_a_row_for_each_cluster(cls):
    model = seeded(cls).fit(FRAME)
    table = model.summary()
    assert table.index.tolist() == list(range(model.n_clusters_))
    assert table.index.name == "cluster"
    np.testing.assert_array_equal(table["size"], np.bincount(model.labels_))
    assert table["share"].sum() == pytest.approx(1)
    # features may have the names of other columns
    np.testing.assert_array_equal(table[["center_size", "center_share"]], model.cluster_centers_)
    assert ("confidence" in table) == (cls is ModeSeek)
    assert "weight" not in table


def test_noise_is_last_and_has_no_centre():
    X = np.vstack([BLOBS, [[100.0, 100.0], [-100.0, 100.0]]])
    model = DoublyStochasticMeanShift(1.0, 4.0, 2.0, n_chains=3, min_cluster_size=2, random_state=0).fit(X)
    table = model.summary()
    assert table.index.tolist() == [*range(model.n_clusters_), -1]
    noise = table.loc[-1]
    assert noise["size"] == (model.labels_ == -1).sum() >= 2
    assert noise[["confidence", "stability", "center_x0", "center_x1"]].isna().all()
    assert table.loc[0, "confidence"] == pytest.approx(model.confidence_[model.labels_ == 0].mean())
    np.testing.assert_array_equal(table["stability"][:-1], model.cluster_stability_)
    assert table["doubtful"].sum() == ((model.confidence_ < 0.75) & (model.labels_ >= 0)).sum()
    assert table["size"].dtype.kind == table["doubtful"].dtype.kind == "i"


def test_summary_of_noise_only():
    model = MeanShift(1.0, min_cluster_size=10).fit([[0.0], [9.0]])
    assert model.summary()["size"].to_dict() == {-1: 2}
    assert "0 clusters in 2 rows, 2 of them noise" in printed(model)


def test_weights_have_a_column():
    weights = np.where(np.arange(len(BLOBS)) % 2, 3.0, 1.0)
    table = MeanShift(4.0).fit(BLOBS, sample_weight=weights).summary()
    assert table["weight"].sum() == weights.sum()
    assert table["size"].sum() == len(BLOBS)


def test_summary_needs_a_fit_and_pandas(monkeypatch):
    with pytest.raises(NotFittedError):
        ModeSeek().summary()
    model, original = MeanShift(4.0).fit(BLOBS), builtins.__import__

    def without_pandas(name, *rest):
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match=r"summary\(\) needs pandas: pip install pandas"):
        model.summary()


# ---------------------------------------- reprs


@pytest.mark.parametrize("cls", ALL)
def test_html_shows_the_diagram_and_the_result(cls):
    assert repr(cls()) == f"{cls.__name__}()"
    model = seeded(cls)
    before = repr(model)
    assert "clusters in" not in model._repr_html_()
    model.fit(BLOBS)
    html = model._repr_html_()
    assert "sk-top-container" in html
    assert f"<b>{model.n_clusters_} clusters in 150 rows</b>" in html
    bundle = model._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/html"].count("clusters in 150 rows") == 1
    assert bundle["text/plain"] == repr(model) == before
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
    assert "sk-top-container" in estimator_html_repr(make_pipeline(StandardScaler(), model))


def test_text_is_escaped():
    model = ModeSeek(random_state=0).fit(BLOBS)
    model.result_ = replace(model.result_, message="<script>alert(1)</script>")
    assert "<script>alert" not in model._result_html()
    assert "&lt;script&gt;" in model._result_html()


@pytest.mark.parametrize("cls", ALL)
def test_rich_prints_the_call_and_the_clusters(cls):
    assert printed(cls()).strip() == f"{cls.__name__}()"
    model = seeded(cls).fit(BLOBS)
    text = printed(model)
    assert text.startswith(f"{model!r}\n{model.n_clusters_} clusters in 150 rows\n")
    assert model.n_clusters_ == 3
    for share in np.bincount(model.labels_) / 150:
        assert f" {share:.1%} " in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_of_many_clusters_the_largest_are_shown():
    model = MeanShift(0.1).fit(np.repeat(np.arange(30.0), np.arange(1, 31))[:, None])
    text = printed(model)
    assert "and 20 smaller clusters" in text
    assert "6.5%" in text  # the largest
    assert "and 20 smaller clusters" in model._repr_html_()


# ---------------------------------------- frames


@pytest.mark.parametrize("cls", ALL)
def test_frames_of_pandas_and_polars(cls):
    plain = seeded(cls).fit(BLOBS)
    for frame in (FRAME, pl.DataFrame(BLOBS, schema=["size", "share"])):
        model = seeded(cls).fit(frame)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        np.testing.assert_array_equal(model.predict(frame), plain.labels_)
        assert model.feature_names_in_.tolist() == ["size", "share"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_pipelines_of_data_frames(output):
    pipeline = make_pipeline(StandardScaler(), DoublyStochasticMeanShift(random_state=0)).set_output(transform=output)
    labels = pipeline.fit_predict(FRAME)
    assert isinstance(labels, np.ndarray)
    np.testing.assert_array_equal(pipeline.predict(FRAME), labels)
    assert pipeline[-1].feature_names_in_.tolist() == ["size", "share"]
    assert {"center_size", "center_share"} <= set(pipeline[-1].summary())
    assert not hasattr(clone(pipeline)[-1], "labels_")
