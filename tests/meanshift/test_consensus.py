from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from typer.testing import CliRunner

import modeseek.meanshift.consensus as consensus_module
from modeseek import DoublyStochasticMeanShift, StochasticMeanShift
from modeseek._common.points import canonical_points
from modeseek._common.types import Geometry
from modeseek.cli.app import app
from modeseek.datasets import paper_mixture
from modeseek.meanshift.chains import Outcome
from modeseek.meanshift.consensus import _average_linkage, consensus, find_fragments, memberships
from modeseek.metrics import rand_agreement

RANDOM = [DoublyStochasticMeanShift, StochasticMeanShift]


@st.composite
def several(draw, most_partitions=6, most_points=25):
    """Partitions of a few points, weights, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, n, k = (draw(st.integers(1, most)) for most in (most_partitions, most_points, 5))
    return rng.integers(0, k, (m, n)), rng.integers(1, 4, n), rng


def noisy(truth, m, share, rng):
    """Partitions in which each point is moved to a random cluster with some probability."""
    astray = rng.random((m, len(truth))) < share
    return np.where(astray, rng.integers(0, truth.max() + 1, astray.shape), truth)


def shares_between(labels, partitions, weights):
    """Return the mean co-association of every two clusters, by its definition."""
    together = np.mean([row[:, None] == row for row in partitions], axis=0)
    of = [labels == c for c in range(labels.max() + 1)]
    return np.array([[np.average(together[a][:, b], weights=np.outer(weights[a], weights[b])) for b in of] for a in of])


# ---------------------------------------- partitions


@given(several())
def test_no_two_clusters_share_more_than_half(given_):
    partitions, weights, _ = given_
    labels = consensus(partitions, weights).labels
    assert set(labels) == set(range(labels.max() + 1))
    shares = shares_between(labels, partitions, weights)
    assert shares[~np.eye(len(shares), dtype=bool)].max(initial=0.0) <= 0.5 + 1e-6
    sizes = np.bincount(labels, weights=weights)
    assert (np.diff(sizes) <= 0).all()


@given(st.integers(2, 20), st.integers(0, 2**32 - 1))
def test_linkage_is_scipys(n, seed):
    """Without ties the order of merging does not matter; a weight of m equals m coincident points."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, n)
    close = np.triu(rng.uniform(0.2, 0.99, (n, n)), 1)
    close += close.T
    copies = np.repeat(np.arange(n), weights)
    apart = 1 - np.where(copies[:, None] == copies, 1.0, close[np.ix_(copies, copies)])
    expected = fcluster(linkage(apart[np.triu_indices(len(copies), 1)], "average"), 0.5, "distance")
    assert rand_agreement(np.repeat(_average_linkage(close.copy(), weights), weights), expected) == 1.0


@given(several(most_partitions=1), st.integers(1, 5))
def test_the_consensus_of_equal_partitions(given_, m):
    partitions, weights, _ = given_
    found = consensus(np.repeat(partitions, m, axis=0), weights)
    assert rand_agreement(found.labels, partitions[0]) == 1.0
    assert found.stability == 1.0
    assert_array_equal(found.memberships, np.eye(found.n_clusters)[found.labels])


@given(several(), st.sampled_from([1, 3, 2000]))
def test_order_and_labels_of_partitions_do_not_matter(given_, max_fragments):
    partitions, weights, rng = given_
    found = consensus(partitions, weights, max_fragments=max_fragments)
    renamed = np.stack([rng.permutation(9)[row] for row in partitions])
    other = consensus(rng.permutation(renamed), weights, max_fragments=max_fragments)
    assert_array_equal(found.labels, other.labels)
    assert_array_equal(found.memberships, other.memberships)
    assert found.stability == pytest.approx(other.stability)


@given(several(), st.sampled_from([1, 3, 2000]))
def test_weights_are_copies(given_, max_fragments):
    partitions, weights, _ = given_
    found = consensus(partitions, weights, max_fragments=max_fragments)
    copies = consensus(np.repeat(partitions, weights, axis=1), max_fragments=max_fragments)
    assert_array_equal(np.repeat(found.labels, weights), copies.labels)
    assert_allclose(np.repeat(found.memberships, weights, axis=0), copies.memberships)
    assert found.stability == pytest.approx(copies.stability)
    aris = [adjusted_rand_score(np.repeat(row, weights), copies.labels) for row in partitions]
    assert copies.stability == pytest.approx(np.mean(aris))


@given(several())
def test_memberships_add_up_and_agree_with_the_labels(given_):
    partitions, weights, _ = given_
    found = consensus(partitions, weights)
    assert found.memberships.shape == (partitions.shape[1], found.n_clusters)
    assert_allclose(found.memberships.sum(axis=1), 1.0)
    assert_array_equal(found.memberships.argmax(axis=1), found.labels)


def test_one_point():
    found = consensus([[3], [0]])
    assert (found.labels.tolist(), found.memberships.tolist(), found.stability) == ([0], [[1.0]], 1.0)


def test_half_is_not_enough_and_more_is():
    assert consensus([[0, 0, 1, 1], [0, 1, 0, 1]]).n_clusters == 4
    assert consensus([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]).labels.tolist() == [0, 0, 1, 1]


def test_the_consensus_uses_weights():
    """Points 0 and 1 share 4 of 5, point 2 shares 3 with point 1 and 2 with point 0: the heavier of them decides."""
    partitions = [[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 1]]
    assert consensus(partitions, [1, 2, 1]).labels.tolist() == [0, 0, 0]
    assert consensus(partitions, [2, 1, 1]).labels.tolist() == [0, 0, 1]


def test_the_consensus_is_better_than_single_partitions():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2, 3], [60, 40, 30, 20])
    partitions = noisy(truth, 25, 0.15, rng)
    found = consensus(partitions)
    assert_array_equal(found.labels, truth)
    assert max(rand_agreement(row, truth) for row in partitions) < 0.9
    # of those that go astray, a quarter go where they were
    assert found.memberships[np.arange(150), truth].mean() == pytest.approx(0.85 + 0.15 / 4, abs=0.02)


@pytest.mark.parametrize("max_fragments", [5, 40, 150])
def test_linkage_in_rounds_is_close_to_exact_linkage(max_fragments, monkeypatch):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 12, 600)
    partitions = noisy(truth, 10, 0.1, rng)
    assert len(find_fragments(partitions, np.ones(600)).weights) > 300
    sizes, original = [], consensus_module._co_association

    def watched(labels):
        sizes.append(labels.shape[1])
        return original(labels)

    monkeypatch.setattr(consensus_module, "_co_association", watched)
    found = consensus(partitions, max_fragments=max_fragments)
    assert max(sizes) <= max_fragments
    assert rand_agreement(found.labels, consensus(partitions).labels) > 0.95
    assert_allclose(found.memberships.sum(axis=1), 1.0)


def test_memory_stays_bounded():
    """20,000 fragments and 20,000 clusters: a matrix of all pairs would take 3 GB."""
    partitions = np.stack([np.arange(20_000), np.arange(20_000)[::-1]])
    assert consensus(partitions, max_fragments=500).shares.nnz == 20_000


def test_rounds_in_which_no_fragment_joins_a_group():
    partitions = np.stack([np.arange(50), np.arange(50)[::-1]])
    assert consensus(partitions, max_fragments=7).labels.tolist() == list(range(50))


@pytest.mark.parametrize("max_fragments", [1, 2, 2000])
def test_lighter_fragments_join_only_above_one_half(max_fragments):
    """Point 3 shares two of five chains with the heavy fragment, point 4 three."""
    partitions = [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 2], [0, 0, 0, 1, 2]]
    assert consensus(partitions, max_fragments=max_fragments).labels.tolist() == [0, 0, 0, 1, 0]


def test_blocks_of_lighter_fragments_do_not_matter():
    partitions = noisy(np.repeat([0, 1, 2], 50), 9, 0.2, np.random.default_rng(2))
    fragments = find_fragments(partitions, np.ones(150))
    heavy, light = fragments.labels[:, :10], fragments.labels[:, 10:]
    given = light, heavy, np.arange(10) // 2, fragments.weights[:10]
    whole = consensus_module._closest_group(*given)
    assert (whole >= 0).any()
    assert_array_equal(consensus_module._closest_group(*given, block=20), whole)


def test_votes_of_some_points():
    shares = memberships(
        np.array([0, 0, 1, 1]),
        [(np.arange(4), np.array([0, 0, 1, 1])), (np.array([0, 2, 3]), np.array([4, 9, 9]))],
    ).toarray()
    assert_array_equal(shares, np.eye(2)[[0, 0, 1, 1]])


def test_the_share_of_the_own_cluster_is_the_largest():
    everyone = np.arange(5)
    elsewhere = np.array([0, 0, 1, 1, 1])
    shares = memberships(np.array([0, 0, 0, 1, 1]), [(everyone, elsewhere)] * 3).toarray()
    assert_allclose(shares[2], [0.5, 0.5])
    assert shares[2].argmax() == 0


@pytest.mark.parametrize(
    ("partitions", "options", "match"),
    [
        ([0, 1], {}, r"partitions must be an array of non-negative integers.* got shape \(2,\)"),
        ([[0.5, 1.0]], {}, "partitions must be an array of non-negative integers"),
        ([[0, -1]], {}, "partitions must be an array of non-negative integers"),
        (np.empty((0, 3), dtype=int), {}, "partitions must be"),
        ([[0, 1]], {"weights": [1, 0]}, "weights must be positive, but that of point 1 is 0"),
        ([[0, 1]], {"weights": [1.0]}, "expected"),
        ([[0, 1]], {"max_fragments": 0}, "max_fragments must be"),
    ],
)
def test_bad_input(partitions, options, match):
    with pytest.raises(ValueError, match=match):
        consensus(partitions, **options)


# ---------------------------------------- agreement with weights


@given(several(most_partitions=1), st.integers(0, 10**6))
def test_weighted_agreement_is_that_of_copies(given_, seed):
    [first], weights, _ = given_
    second = np.random.default_rng(seed).integers(0, 4, len(first))
    expected = adjusted_rand_score(np.repeat(first, weights), np.repeat(second, weights))
    assert rand_agreement(first, second, weights.astype(float)) == pytest.approx(expected)
    assert rand_agreement(first, first, weights * 0.01) == 1.0


# ---------------------------------------- estimators


X, _ = paper_mixture(30, random_state=3)
RANGES = {
    DoublyStochasticMeanShift: {"h_min": 0.2, "h_max": 1.6, "h_inf": 0.6},
    StochasticMeanShift: {"bandwidth": 0.9},
}


def make(cls, **options):
    return cls(**{"random_state": 0, "n_chains": 5, **RANGES[cls], **options})


@pytest.mark.slow
@parametrize_with_checks([cls(n_chains=2) for cls in RANDOM])
def test_sklearn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", RANDOM)
def test_labels_are_what_the_chains_agree_on(cls):
    alone, model = make(cls, n_chains=1).fit(X), make(cls).fit(X)
    assert_array_equal(model.chain_labels_[0], alone.labels_)
    assert_array_equal(model.trace_.h.values, alone.trace_.h.values)
    assert len({tuple(labels) for labels in model.chain_labels_}) > 1
    order = np.argsort(canonical_points(X, np.ones(len(X)), Geometry()).inverse)
    assert_array_equal(model.labels_[order], consensus(model.chain_labels_[:, order]).labels)
    assert model.stability_ == pytest.approx(np.mean([rand_agreement(c, model.labels_) for c in model.chain_labels_]))
    assert 0 < model.stability_ < 1
    assert_array_equal(model.memberships_.argmax(axis=1), model.labels_)
    assert_array_equal(model.confidence_, model.memberships_.max(axis=1))
    assert model.confidence_.min() < 1
    assert model.n_updates_ > alone.n_updates_
    assert model.outcome_ is Outcome.CERTIFIED
    assert model.partition_.certified
    assert np.isnan(model.partition_.gap)
    assert model.points_.shape == X.shape
    assert_array_equal(model.predict(X), model.labels_)
    assert (np.abs(model.cluster_centers_[0] - X[model.labels_ == 0].mean(axis=0)) < 0.5).all()


@pytest.mark.parametrize("cls", RANDOM)
@pytest.mark.parametrize("options", [{}, {"batch_size": 8}, {"metric": "cosine"}])
def test_any_number_of_jobs_gives_the_same(cls, options):
    data = X - X.mean(axis=0)
    models = [make(cls, n_jobs=n_jobs, **options).fit(data) for n_jobs in (None, 2, 3)]
    for model in models[1:]:
        assert_array_equal(model.chain_labels_, models[0].chain_labels_)
        assert_array_equal(model.memberships_, models[0].memberships_)
        assert_array_equal(model.points_, models[0].points_)


@pytest.mark.parametrize("cls", RANDOM)
def test_order_of_rows_and_copies_do_not_matter(cls, rng):
    model = make(cls).fit(X)
    order = rng.permutation(len(X))
    assert_array_equal(make(cls).fit(X[order]).memberships_, model.memberships_[order])
    weights = rng.integers(0, 3, len(X))
    weighted, copies = make(cls).fit(X, sample_weight=weights), make(cls).fit(np.repeat(X, weights, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, weights), copies.labels_)
    assert_array_equal(np.repeat(weighted.memberships_, weights, axis=0), copies.memberships_)
    assert weighted.stability_ == copies.stability_
    aris = [adjusted_rand_score(labels, copies.labels_) for labels in copies.chain_labels_]
    assert copies.stability_ == pytest.approx(np.mean(aris))


@pytest.mark.parametrize("cls", RANDOM)
def test_small_clusters_become_noise(cls):
    whole, model = make(cls).fit(X), make(cls, min_cluster_size=10).fit(X)
    assert model.n_clusters_ < whole.n_clusters_
    assert_array_equal(model.labels_ >= 0, whole.labels_ < model.n_clusters_)
    assert model.memberships_.shape == (len(X), model.n_clusters_)
    assert_allclose(model.memberships_.sum(axis=1), model.labels_ >= 0)


def test_cosine_centres_and_points_are_directions():
    model = make(StochasticMeanShift, bandwidth=0.4, metric="cosine").fit(X - X.mean(axis=0))
    assert_allclose(np.linalg.norm(model.points_, axis=1), 1.0)
    assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1.0)


def test_a_refit_with_one_chain_removes_the_consensus():
    model = make(DoublyStochasticMeanShift).fit(X).set_params(n_chains=1).fit(X)
    for name in ("memberships_", "confidence_", "stability_", "chain_labels_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("cls", RANDOM)
def test_limits_hold_for_each_chain(cls):
    with pytest.warns(ConvergenceWarning, match="limit on updates .* labels_ are the consensus of 5 chains"):
        model = make(cls, max_updates=len(X)).fit(X)
    assert model.outcome_ is Outcome.UPDATE_LIMIT
    assert not model.partition_.certified
    assert model.n_updates_ == 5 * len(X)


def test_after_an_interruption_chains_that_had_ended_count():
    alone = make(DoublyStochasticMeanShift, n_chains=2).fit(X)
    sweeps = []

    def stop(state, info):
        sweeps.append(state.k)
        if sweeps.count(len(X)) == 3:  # the third chain's first sweep
            raise KeyboardInterrupt

    model = make(DoublyStochasticMeanShift, callbacks=[stop])
    with pytest.raises(KeyboardInterrupt, match=r"interrupted .* the consensus of 2 of 5 chains"):
        model.fit(X)
    assert model.outcome_ is Outcome.INTERRUPTED
    assert_array_equal(model.chain_labels_, alone.chain_labels_)
    assert_array_equal(model.memberships_, alone.memberships_)
    assert model.n_updates_ == alone.n_updates_ + len(X)


def test_if_no_chain_had_ended_those_that_had_begun_count():
    def stop(state, info):
        if state.k >= 3 * len(X):
            raise KeyboardInterrupt

    model = make(DoublyStochasticMeanShift, callbacks=[stop])
    with pytest.raises(KeyboardInterrupt, match="the consensus of 1 of 5 chains"):
        model.fit(X)
    assert len(model.chain_labels_) == 1
    assert_array_equal(model.labels_, model.chain_labels_[0])


# ---------------------------------------- the command


def test_the_command_writes_confidence(tmp_path):
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", header="a,b", comments="")
    options = [
        "--algorithm",
        "dsms",
        "--scale",
        "none",
        "--h-min",
        "0.2",
        "--h-max",
        "1.6",
        "--h-inf",
        "0.6",
        "--chains",
        "5",
    ]
    files = ["-o", str(tmp_path / "out.csv"), "--json", str(tmp_path / "out.json")]
    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["cluster", str(tmp_path / "a.csv"), *options, *files])
    assert result.exit_code == 0, result.output
    model = make(DoublyStochasticMeanShift).fit(np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1))
    assert f"5 chains, stability {model.stability_:.2f}" in result.output
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "a,b,cluster,confidence"
    written = np.array([line.split(",")[2:] for line in lines[1:]], dtype=float)
    assert_array_equal(written[:, 0], model.labels_)
    assert_allclose(written[:, 1], model.confidence_)
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["stability"] == pytest.approx(model.stability_)
    assert (record["gap"], record["settings"]["n_chains"]) == (None, 5)
