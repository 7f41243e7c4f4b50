"""The scatter plot of the report: its axes, rows and colours."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from test_clustering_report import BLOBS, given, integers, numbers, page
from test_clustering_report import blobs as blobs

from modeseek import ModeSeek
from modeseek.estimators.alternatives import listed_alternatives
from modeseek.plots.projection import principal_components
from modeseek.report import write_report


@pytest.mark.parametrize(("d", "start"), [(1, [0, -1]), (2, [0, 1]), (5, [0, 1])])
def test_axes(d, start, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, d)) * np.arange(1, d + 1)
    _, _, payload = page(tmp_path, given(np.arange(40) % 2), X)
    assert payload["start"] == start
    features = [axis for axis in payload["axes"] if axis["feature"]]
    assert len(features) == d
    np.testing.assert_allclose(np.column_stack([numbers(axis) for axis in features]), X, atol=1e-5)
    found = principal_components(X, 5)
    if d > 2:
        first = payload["axes"][0]
        assert first["name"] == f"principal component 1 ({found.shares[0]:.0%} of variance)"
        np.testing.assert_allclose(numbers(first), found.apply(X)[:, 0], atol=1e-5)
    else:
        assert len(payload["axes"]) == d


def test_longitude_is_horizontal_and_latitude_vertical(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    _, _, payload = page(tmp_path, given(np.arange(40) % 2), X, feature_names=["Latitude", "lng"])
    assert [payload["axes"][j]["name"] for j in payload["start"]] == ["lng", "Latitude"]


def test_alternatives_are_embedded_in_order_with_the_colours_of_matching_clusters(tmp_path):
    X, _ = make_blobs(300, 2, centers=5, cluster_std=1.6, random_state=4)
    model = ModeSeek(random_state=0).fit(X)
    _, _, payload = page(tmp_path, model, X)
    listed = listed_alternatives(model)
    assert [each["name"] for each in payload["partitions"]] == [f"{each.n_clusters} clusters" for each in listed]
    for each, candidate in zip(payload["partitions"], listed, strict=True):
        assert adjusted_rand_score(integers(each["labels"]), candidate.labels) == 1
        assert [cluster["size"] for cluster in each["clusters"]] == np.bincount(integers(each["labels"])).tolist()
        assert payload["clusters"][0]["color"] in [cluster["color"] for cluster in each["clusters"]]


def test_principal_components_equal_a_singular_value_decomposition():
    X = np.random.default_rng(1).normal(size=(50, 4)) @ np.diag([4.0, 2, 1, 0.5])
    found = principal_components(X, 9)
    _, singular, vectors = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(found.shares, singular**2 / (singular**2).sum())
    np.testing.assert_allclose(np.abs(found.vectors.T @ vectors.T), np.eye(4), atol=1e-8)
    assert (found.vectors[np.abs(found.vectors).argmax(axis=0), np.arange(4)] > 0).all()


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([39.1, 40.25, 36.0], 2), ([3750.0, 5000.0], 0), ([1 / 3, 2 / 3, 0.1], 4), ([1e15, 2e15], None), ([7.5, 7.5], 1)],
)
def test_decimals_show_values_as_given(values, decimals, tmp_path):
    X = np.column_stack([values, np.arange(len(values))])
    _, _, payload = page(tmp_path, given([0] * len(values)), X)
    axis = payload["axes"][0]
    assert axis["decimals"] == decimals
    if decimals is not None:
        np.testing.assert_array_equal(np.round(numbers(axis), decimals), np.round(values, decimals))


def test_wide_data_embed_the_features_in_which_clusters_differ(tmp_path):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(90, 300)), np.arange(90) % 3
    X[:, 250] += 20 * (labels == 1)
    X[:, 17] -= 20 * (labels == 2)
    _, reader, payload = page(tmp_path, given(labels), X)
    names = [axis["name"] for axis in payload["axes"] if axis["feature"]]
    assert len(names) == 30
    assert {"feature 17", "feature 250"} <= set(names)
    assert payload["n_features"] == 300
    assert "The lists offer the 30 of 300 features in which the clusters differ most." in reader.text
    places = [[payload["axes"][j]["name"] for j in cluster["traits"]] for cluster in payload["clusters"]]
    assert places[1][0] == "feature 250"
    assert places[2][0] == "feature 17"


def test_large_data_are_sampled_and_stay_below_five_megabytes(tmp_path):
    n, small = 25_000, [7, 70, 700]
    labels = np.arange(n) % 12
    labels[small] = 12
    X = np.random.default_rng(0).normal(size=(n, 10))
    model = given(labels, confidence=np.linspace(0, 2, n).clip(max=1))
    _, reader, payload = page(tmp_path, model, X, first_row=1, extra={"kind": ["a", "b"] * (n // 2)})
    rows = integers(payload["rows"])
    assert 20_000 <= len(rows) == len(set(rows)) <= 20_043
    assert set(small) <= set(rows)
    # the typical rows and the doubtful rows that the tables list are in the plot
    named = [int(attributes["data-row"]) for attributes in reader.all("a") if "data-row" in attributes]
    assert len(named) == 43
    assert set(named) <= set(rows)
    assert (integers(payload["labels"]) == 12).sum() == 3
    axis = next(axis for axis in payload["axes"] if axis["name"] == "feature 0")
    np.testing.assert_allclose(numbers(axis), X[rows, 0], atol=1e-5)
    assert "a random sample of 20,000 of 25,000 rows" in reader.text
    assert (payload["total"], payload["first"]) == (n, 1)
    wide = np.random.default_rng(0).normal(size=(n, 60))
    write_report(tmp_path / "wide.html", model, wide)
    assert all(each.stat().st_size < 5_000_000 for each in tmp_path.iterdir())


def test_static_image_for_browsers_without_scripts(blobs, tmp_path):
    _, reader, _ = page(tmp_path, blobs, BLOBS)
    (image,) = reader.all("img")
    assert image["src"].startswith("data:image/png;base64,")
    assert image["alt"] == "Scatter plot of 300 rows in 5 clusters"
    (live,) = [attributes for attributes in reader.all("div") if attributes.get("class") == "live"]
    assert "hidden" in live
