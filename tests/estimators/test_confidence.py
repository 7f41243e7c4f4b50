"""Confidence and the stability of clusters: calibration, definitions and special cases."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from modeseek import DoublyStochasticMeanShift, ModeSeek
from modeseek.cli.app import app
from modeseek.datasets import paper_mixture
from modeseek.meanshift.consensus import cluster_stability, consensus, counterparts
from modeseek.metrics import best_jaccard

APART, Y = make_blobs([60, 50, 40], centers=[(0, 0), (30, 0), (0, 30)], random_state=0)


def kept(labels, votes):
    """Return for each row the number of votes in which it kept its cluster, and the number of its votes."""
    stayed, seen = np.zeros((2, len(labels)))
    for rows, found in votes:
        stayed[rows] += counterparts(found, labels[rows]) == labels[rows]
        seen[rows] += 1
    return stayed, seen


def error(confidence, stayed, seen, edges=(0, 0.6, 0.8, 0.95, 1.1)):
    """Return the mean absolute difference between confidence and kept share, over bins."""
    which = np.digitize(confidence, edges)
    return sum(abs((confidence * seen - stayed)[which == b].sum()) for b in np.unique(which)) / seen.sum()


# ---------------------------------------- confidence


def test_confidence_is_the_share_of_new_fits_that_keep_a_row():
    results = []
    for seed in range(3):
        X, _ = make_blobs(200, centers=[(-2, 0), (2, 0)], random_state=seed)
        model, rng = ModeSeek(random_state=0).fit(X), np.random.default_rng(seed)
        assert model.n_clusters_ == 2
        shares = [rng.permutation(200)[:140] for _ in range(5)]
        again = [ModeSeek(random_state=100 + i).fit(X[rows]).labels_ for i, rows in enumerate(shares)]
        results.append((model.confidence_, *kept(model.labels_, zip(shares, again, strict=True))))
    confidence, stayed, seen = map(np.concatenate, zip(*results, strict=True))
    assert error(confidence, stayed, seen) < 0.04
    # better than a confidence of 1 for all rows; rows of low confidence change their cluster more often
    assert error(confidence, stayed, seen) < error(np.ones(600), stayed, seen)
    doubtful = confidence < 0.9
    assert stayed[doubtful].sum() / seen[doubtful].sum() < stayed[~doubtful].sum() / seen[~doubtful].sum() - 0.1


def test_confidence_is_the_share_of_new_chains_that_keep_a_row():
    X, _ = paper_mixture(30, random_state=3)
    options = {"h_min": 0.2, "h_max": 1.6, "h_inf": 0.6}
    model = DoublyStochasticMeanShift(**options, n_chains=16, random_state=0).fit(X)
    fresh = DoublyStochasticMeanShift(**options, n_chains=32, random_state=1).fit(X).chain_labels_
    stayed, seen = kept(model.labels_, [(np.arange(len(X)), labels) for labels in fresh])
    assert model.confidence_.min() < 0.9
    assert error(model.confidence_, stayed, seen) < 0.05


def test_memberships_of_a_mixture_agree_with_the_labels():
    X, _ = paper_mixture(20, random_state=500)
    model = ModeSeek(min_clusters=2, random_state=0).fit(X)
    assert_allclose(model.memberships_.sum(axis=1), 1.0)
    assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)


# ---------------------------------------- stability of clusters


@given(st.integers(0, 2**32 - 1))
def test_jaccard_by_its_definition(seed):
    rng = np.random.default_rng(seed)
    labels, found = rng.integers(0, 4, 20), rng.integers(0, 3, 20)
    weights = rng.integers(1, 4, 20)
    expected = [
        max(weights[(labels == c) & (found == q)].sum() / weights[(labels == c) | (found == q)].sum() for q in range(3))
        if (labels == c).any()
        else 0.0
        for c in range(labels.max() + 1)
    ]
    assert_allclose(best_jaccard(labels, found, weights), expected)
    repeated = best_jaccard(np.repeat(labels, weights), np.repeat(found, weights))
    assert_allclose(repeated, expected)


def test_votes_without_points_of_a_cluster_do_not_count():
    labels = np.array([0, 0, 1, 1])
    votes = [(np.array([0, 1]), np.array([0, 0])), (np.arange(4), np.array([0, 0, 0, 1]))]
    assert_allclose(cluster_stability(labels, votes), [(1 + 2 / 3) / 2, 1 / 2])
    assert_array_equal(cluster_stability(labels, []), [1.0, 1.0])


def test_separate_clusters_are_perfectly_stable():
    model = ModeSeek(random_state=0).fit(APART)
    assert_array_equal(model.cluster_stability_, np.ones(3))
    chains = DoublyStochasticMeanShift(0.5, 6.0, 2.0, n_chains=4, random_state=0).fit(APART)
    assert_array_equal(chains.cluster_stability_, np.ones(chains.n_clusters_))


def test_an_arbitrary_split_is_unstable():
    found = []
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(300, 2))
        split = ModeSeek(min_clusters=5, random_state=0).fit(X)
        assert split.n_clusters_ >= 5
        assert split.cluster_stability_.shape == (split.n_clusters_,)
        assert ((split.cluster_stability_ >= 0) & (split.cluster_stability_ <= 1)).all()
        found.append(split.cluster_stability_.mean())
    assert np.mean(found) < 0.75


def test_stability_of_merged_clusters():
    # no proposer proposes 11 of 16 clear clusters
    X, _ = make_blobs(
        320, centers=[[10.0 * i, 10.0 * (i // 4) ** 2] for i in range(16)], cluster_std=0.5, random_state=0
    )
    merged = ModeSeek(n_clusters=11, random_state=0).fit(X)
    assert "merged from: 16 clusters" in merged.message_
    assert merged.cluster_stability_.shape == (11,)
    assert merged.cluster_stability_.min() > 0.9


def test_stability_has_the_order_of_the_labels_without_noise():
    X = np.random.default_rng(0).normal(size=(300, 2))
    whole = ModeSeek(min_clusters=5, random_state=0).fit(X)
    model = ModeSeek(min_clusters=5, min_cluster_size=40, random_state=0).fit(X)
    assert 1 < model.n_clusters_ < whole.n_clusters_
    assert len(set(whole.cluster_stability_)) > 1
    assert_array_equal(model.cluster_stability_, whole.cluster_stability_[: model.n_clusters_])


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 1.0]] * 4])
def test_very_few_rows(X):
    model = ModeSeek().fit(X)
    assert_array_equal(model.cluster_stability_, [1.0])
    assert_array_equal(model.confidence_, np.ones(len(X)))


def test_weights_equal_repetition_for_confidence():
    X, _ = make_blobs(90, centers=3, cluster_std=1.1, center_box=(-5, 5), random_state=1)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = ModeSeek(min_clusters=2, random_state=0).fit(X, sample_weight=weights)
    repeated = ModeSeek(min_clusters=2, random_state=0).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.cluster_stability_, repeated.cluster_stability_)
    assert_allclose(np.repeat(weighted.confidence_, weights), repeated.confidence_)


def test_cluster_stability_of_a_consensus():
    rng = np.random.default_rng(0)
    partitions = np.where(rng.random((6, 40)) < 0.2, rng.integers(0, 3, (6, 40)), np.repeat([0, 1, 2, 2], 10))
    found = consensus(partitions)
    expected = np.mean([best_jaccard(found.labels, row) for row in partitions], axis=0)
    assert_allclose(found.cluster_stability, expected)
    assert found.cluster_stability.max() < 1


def test_one_chain_has_no_cluster_stability():
    X, _ = paper_mixture(10, random_state=0)
    model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, n_chains=2, random_state=0).fit(X).set_params(n_chains=1).fit(X)
    assert not hasattr(model, "cluster_stability_")


def test_the_command_shows_the_stability(tmp_path):
    np.savetxt(tmp_path / "a.csv", APART, delimiter=",", header="a,b", comments="")
    options = ["--json", str(tmp_path / "out.json"), "--seed", "0"]
    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["cluster", str(tmp_path / "a.csv"), *options])
    assert result.exit_code == 0, result.output
    assert "stability" in next(line for line in result.output.splitlines() if "confidence" in line)
    clusters = json.loads((tmp_path / "out.json").read_text())["clusters"]
    assert [cluster["stability"] for cluster in clusters] == [1.0, 1.0, 1.0]
