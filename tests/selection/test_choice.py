"""The choice among candidates: inputs, scores, reasons, and the model that ships."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from modeseek.selection.choice import REASONS, Choice, context_weights, load_choice, probabilities
from modeseek.selection.features import FEATURES


def random_agreement(rng: np.random.Generator, n: int) -> np.ndarray:
    half = np.triu(rng.uniform(-0.1, 1.0, size=(n, n)), 1)
    half[:, -1] = 0.0
    return half + half.T + np.eye(n)


def random_table(rng: np.random.Generator, n: int, missing: float = 0.2) -> np.ndarray:
    table = rng.normal(size=(n, len(FEATURES)))
    table[rng.random(table.shape) < missing] = np.nan
    return table


def linear_choice(weights: dict[str, float]) -> Choice:
    """A choice whose score is a weighted sum of features between -1 and 1."""
    names = tuple(weights)
    grid = np.array([-1.0, 1.0])
    d = len(names)
    w1 = np.concatenate([np.eye(d), -np.eye(d)], axis=1)[None]
    w2 = np.eye(2 * d)[None]
    last = np.array([*weights.values()])
    w3 = np.concatenate([last, -last])[None, :, None]
    layers = (w1, np.zeros((1, 2 * d)), w2, np.zeros_like(w2), np.zeros((1, 2 * d)), w3, np.zeros((1, 1)))
    return Choice(names, (), (grid,) * d, (grid,) * d, layers)


@pytest.mark.parametrize(
    ("n_points", "place"), [(10, 0.0), (60, 0.0), (np.sqrt(60 * 100), 0.5), (100, 1.0), (1000, 3.0), (3000, 3.0)]
)
def test_the_scores_are_those_of_a_plain_loop_over_networks(n_points, place):
    choice, table = load_choice(), random_table(np.random.default_rng(0), 7)
    agreement = random_agreement(np.random.default_rng(1), 7)
    table[:, FEATURES.index("log_n")] = np.log(n_points)
    inputs = choice.encode(table)
    expected = np.zeros(7)
    for w1, b1, w2, v2, b2, w3, b3 in zip(*choice.layers, strict=True):
        first = np.array([[max(0.0, x @ w1[:, j] + b1[j]) for j in range(w1.shape[1])] for x in inputs])
        for i in range(7):
            weights = np.array([max(0.0, each) ** 4 for each in agreement[i]]) if i < 6 else np.arange(7) < 6
            context = (weights[:, None] * first).sum(axis=0) / weights.sum()
            second = [max(0.0, first[i] @ w2[:, j] + context @ v2[:, j] + b2[j]) for j in range(w2.shape[1])]
            expected[i] += (np.array(second) @ w3 + b3)[0] / len(choice.layers[0])
    np.testing.assert_allclose(choice.raw_scores(table, agreement), expected, rtol=1e-9, atol=1e-9)
    expected[-1] += np.interp(place, [0, 1, 2, 3], choice.single_bonus)
    np.testing.assert_allclose(choice.scores(table, agreement), expected, rtol=1e-9, atol=1e-9)
    table[:, FEATURES.index("spherical")] = 1.0
    bonus = choice.scores(table, agreement)[-1] - choice.raw_scores(table, agreement)[-1]
    assert bonus == pytest.approx(choice.single_bonus[-1], abs=1e-9)


def test_probabilities_sum_to_one_and_follow_the_scores():
    scores, sharpness = np.array([3.0, 1.0, 700.0, -700.0, 5.0]), np.array([0.5, 0.1])
    found = probabilities(scores, sharpness)
    assert found.sum() == pytest.approx(1.0)
    assert found[2] == pytest.approx(1.0, abs=1e-5)
    level = probabilities(np.array([3.0, 1.0, 3.0]), sharpness)
    assert level[2] == pytest.approx(1 / (2 + np.exp(-1)))
    assert level[0] / level[1] == pytest.approx(np.exp(0.2))
    np.testing.assert_array_equal(probabilities(np.array([-4.0]), sharpness), [1.0])


def test_inputs_are_interpolated_clipped_and_flagged():
    choice = replace(linear_choice({"silhouette": 1.0, "stable": 1.0}), flags=("gain",))
    table = np.full((3, len(FEATURES)), np.nan)
    table[:, FEATURES.index("silhouette")] = [0.5, 7.0, np.nan]
    table[:2, FEATURES.index("gain")] = 3.0
    np.testing.assert_array_equal(choice.encode(table), [[0.5, 0, 0], [1.0, 0, 0], [0, 0, 1]])


def test_reasons_name_the_features_that_decide():
    choice = linear_choice({"silhouette": 2.0, "stable": 1.0, "dip8_mean": 1.0, "log_k": -3.0})
    table = np.zeros((2, len(FEATURES)))
    for name, one, other in (
        ("silhouette", 0.9, 0.1),
        ("stable", 0.5, 0.2),
        ("dip8_mean", 0.0, 0.5),
        ("log_k", 0.1, 0.1),
    ):
        table[:, FEATURES.index(name)] = one, other
    compact, stable = "the clusters are more compact", "it is reproduced better on subsamples"
    assert choice.reasons(table, np.eye(2), 0, 1) == [compact, stable]
    assert choice.reasons(table, np.eye(2), 0, 1, limit=1) == [compact]
    assert choice.reasons(table, np.eye(2), 1, 0) == ["the density is lower between clusters"]
    assert choice.reasons(table, np.eye(2), 0, 0) == []


def test_reasons_divide_the_difference_of_the_scores_in_one_context():
    choice, rng = load_choice(), np.random.default_rng(3)
    both = choice.encode(random_table(rng, 2, missing=0.0))
    context = choice._context(both, np.eye(2))[:, :1]
    steps = (np.arange(4000) + 0.5)[:, None] / 4000
    shares = choice._gradient(both[0] + steps * (both[1] - both[0]), context).mean(axis=0) * (both[1] - both[0])
    scores = choice._scores(both, context)
    assert shares.sum() == pytest.approx(scores[1] - scores[0], rel=1e-3)


def test_a_pool_without_candidates_has_a_context():
    np.testing.assert_array_equal(context_weights(np.eye(1)), [[1.0]])


def test_every_feature_of_the_model_belongs_to_one_reason():
    for name in load_choice().names:
        plain = name.removeprefix("rank_").removeprefix("best_")
        assert sum(plain.startswith(starts) for starts in REASONS.values()) == 1, name


def test_the_model_is_small_and_the_one_that_the_model_card_describes():
    model = resources.files("modeseek.selection").joinpath("choice.npz").read_bytes()
    assert len(model) <= 2**20
    assert hashlib.sha256(model).hexdigest() in (Path(__file__).parents[2] / "docs" / "model-card.md").read_text()
