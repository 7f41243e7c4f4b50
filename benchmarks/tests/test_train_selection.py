"""Training of ModeSeek's choice on a tiny grid, from end to end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

import train_selection
from choice_network import Sets, TrainingConfig, _slope, decide, fit_sharpness, scores_of, train_choice
from modeseek.selection.features import FEATURES


@pytest.mark.slow
def test_a_tiny_training_runs_from_end_to_end(tmp_path, monkeypatch, capsys):
    families = ["spherical_blobs", "moons", "one_gaussian", "uniform_box"]
    out, model = str(tmp_path / "features"), tmp_path / "choice.npz"
    for command in (
        ["collect", out, "--sets", "4", "--jobs", "1", "--families", *families],
        ["collect", out, "--sets", "4", "--jobs", "1", "--few", "--change", "--families", *families],
        ["fit", out, "--epochs", "2", "--networks", "1", "--model", str(model)],
        ["fit", out, "--epochs", "2", "--networks", "2", "--add", "--model", str(model)],
        ["judge", out, "--epochs", "2", "--folds", "2", "--fits", "2", "--table", str(tmp_path / "families.csv")],
    ):
        monkeypatch.setattr("sys.argv", ["train_selection.py", *command])
        train_selection.main()
    with np.load(model) as stored:
        assert stored["n_sets"] == 16
        assert len(stored["layer0"]) == 3
    printed = capsys.readouterr().out
    assert "left-out families, all rows, null" in printed
    assert "sharpness, fitted on left-out families" in printed
    assert "sets are called one cluster" in printed
    assert "actual" in printed
    assert (tmp_path / "families.csv").read_text().count("moons") == 1


def collected(rng: np.random.Generator, n_sets: int, each: int) -> Sets:
    """Random sets whose candidates are better the larger their silhouette is; no two candidates agree."""
    features = np.full((n_sets * each, len(FEATURES)), np.nan)
    some = [FEATURES.index(name) for name in ("silhouette", "stable", "log_k", "gain")]
    features[:, some] = rng.normal(size=(n_sets * each, len(some)))
    features[:, FEATURES.index("log_n")] = np.log(300)
    scores = 1 / (1 + np.exp(-3 * features[:, FEATURES.index("silhouette")]))
    ceiling = scores.reshape(n_sets, each).max(axis=1)
    agreement = np.tile(np.eye(each).ravel(), n_sets)
    owner, name, no = np.repeat(np.arange(n_sets), each), np.full(n_sets, ""), np.zeros(n_sets, dtype=bool)
    return Sets(features, scores, owner, ceiling, name, no, no, agreement)


def test_the_derivative_of_the_loss_is_that_of_differences():
    rng, config = np.random.default_rng(0), TrainingConfig()
    scores, y, agreement = rng.normal(size=7), rng.random(7), rng.random((7, 7))
    agreement = (agreement + agreement.T) / 2
    chosen = softmax(config.beta * agreement @ softmax(scores))
    weight = (chosen + 1 / 7) / 2

    def loss(scores):
        p = softmax(scores)
        expected = agreement @ p
        error = config.error_weight * (weight * np.square(expected - y)).sum()
        return error - softmax(config.beta * expected) @ y - config.guide_weight * p @ y

    steps = 1e-6 * np.eye(7)
    numeric = [(loss(scores + step) - loss(scores - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(_slope(scores, y, agreement, config), numeric, atol=1e-7)


@pytest.mark.slow
def test_a_network_learns_which_feature_counts():
    sets = collected(np.random.default_rng(0), 200, 8)
    choice = train_choice(sets, np.arange(200) < 150, range(1), TrainingConfig(hidden=8, epochs=80, batch=50))
    found = decide(scores_of(choice, sets), sets, np.array([1.0, 1.0]), np.zeros(4))
    assert found.score[150:].mean() > sets.ceiling[150:].mean() - 0.05


def test_the_sharpness_of_scores_that_are_log_probabilities_is_about_one():
    rng, n_sets, each = np.random.default_rng(1), 3000, 3
    sets = collected(rng, n_sets, each)
    scores = rng.normal(size=(n_sets, each))
    chances = softmax(scores, axis=1)
    truth = (chances.cumsum(axis=1) < rng.random((n_sets, 1))).sum(axis=1)
    sets = sets._replace(scores=np.eye(each)[truth].ravel(), name=np.array(["family"] * n_sets))
    found = fit_sharpness(scores.ravel(), sets, truth == each - 1, np.zeros(4))
    np.testing.assert_allclose(found, 1.0, atol=0.2)
