"""Training of ModeSeek's choice on a tiny grid, from end to end."""

from __future__ import annotations

import numpy as np
import pytest

import train_selection
from choice_network import Sets, TrainingConfig, calibration, chosen_candidates, train_choice
from modeseek.selection.features import FEATURES


@pytest.mark.slow
def test_a_tiny_training_runs_from_end_to_end(tmp_path, monkeypatch, capsys):
    families = ["spherical_blobs", "moons", "one_gaussian", "uniform_box"]
    out, model = str(tmp_path / "features"), tmp_path / "choice.npz"
    for command in (
        ["collect", out, "--sets", "4", "--jobs", "1", "--families", *families],
        ["collect", out, "--sets", "4", "--jobs", "1", "--families", *families],
        ["fit", out, "--epochs", "2", "--networks", "1", "--folds", "2", "--model", str(model)],
        ["judge", out, "--epochs", "2", "--folds", "2", "--fits", "2"],
    ):
        monkeypatch.setattr("sys.argv", ["train_selection.py", *command])
        train_selection.main()
    with np.load(model) as stored:
        assert stored["n_sets"] == 8
    assert "left-out families, null" in capsys.readouterr().out


def test_a_network_learns_which_feature_counts():
    rng, n_sets, each = np.random.default_rng(0), 200, 8
    features = np.full((n_sets * each, len(FEATURES)), np.nan)
    some = [FEATURES.index(name) for name in ("silhouette", "stable", "log_k", "gain")]
    features[:, some] = rng.normal(size=(n_sets * each, len(some)))
    scores = 1 / (1 + np.exp(-3 * features[:, FEATURES.index("silhouette")]))
    owner = np.repeat(np.arange(n_sets), each)
    sets = Sets(
        features, scores, owner, np.maximum.reduceat(scores, owner.searchsorted(range(n_sets))), np.full(n_sets, "")
    )
    choice = train_choice(sets, np.arange(n_sets) < 150, range(1), TrainingConfig(hidden=8, epochs=80, batch=50))
    picked = chosen_candidates(choice.regret(features), owner)[150:]
    assert scores[picked].mean() > sets.ceiling[150:].mean() - 0.05


def test_calibration_makes_predictions_right_on_average():
    rng = np.random.default_rng(1)
    predicted = rng.uniform(0.3, 0.95, 4000)
    scores = np.clip(predicted - 0.2 + rng.normal(0, 0.05, 4000), 0, 1)
    offset, factor = calibration(predicted, scores)
    corrected = 1 / (1 + np.exp(-offset - factor * np.log(predicted / (1 - predicted))))
    assert abs(corrected.mean() - scores.mean()) < 0.02
