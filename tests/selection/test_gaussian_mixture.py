"""Gaussian mixtures of weighted points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from modeseek.selection.gaussian_mixture import FORMS, fit_mixture, n_parameters


def two_groups(seed=0, n=120, d=3):
    rng = np.random.default_rng(seed)
    labels = np.arange(n, dtype=np.int32) % 2
    return rng.normal(size=(n, d)) + 2.0 * labels[:, None], labels


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("steps", [1, 2])
def test_steps_are_the_formulas(form, steps):
    X, start = two_groups(3, n=60, d=2)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    found = fit_mixture(X, weights, start, form, max_steps=steps, tol=-np.inf)
    total, shares = weights.sum(), np.eye(2)[start]
    center = weights @ X / total
    floor = 1e-3 * (weights @ np.square(X - center)).mean() / total
    for _ in range(steps):
        parts = weights[:, None] * shares
        mass = parts.sum(axis=0)
        means = (parts.T @ X) / mass[:, None]
        scatter = np.array([(parts[:, c, None] * (X - means[c])).T @ (X - means[c]) for c in range(2)])
        pooled = scatter.sum(axis=0) / total
        ball = np.eye(2) * np.trace(pooled) / 2
        covariances = scatter / mass[:, None, None] if form == "full" else [pooled if form == "tied" else ball] * 2
        covariances = np.array(covariances) + floor * np.eye(2)
        logs = np.column_stack(
            [
                np.log(mass[c] / total)
                - 0.5 * np.einsum("ij,jk,ik->i", X - means[c], np.linalg.inv(covariances[c]), X - means[c])
                - 0.5 * np.linalg.slogdet(2 * np.pi * covariances[c])[1]
                for c in range(2)
            ]
        )
        likelihood = np.log(np.exp(logs).sum(axis=1))
        shares = np.exp(logs - likelihood[:, None])
    assert_allclose(found.weights, mass / total)
    assert_allclose(found.means, means)
    assert_allclose(found.bic, -2 * weights @ likelihood + n_parameters(2, 2, form) * np.log(total))
    assert_array_equal(found.labels(X), logs.argmax(axis=1))


def test_a_weight_is_a_repeated_point():
    X, start = two_groups(2)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    one = fit_mixture(X, weights.astype(float), start, "full", max_steps=20, tol=1e-6)
    other = fit_mixture(
        np.repeat(X, weights, axis=0), np.ones(weights.sum()), np.repeat(start, weights), "full", max_steps=20, tol=1e-6
    )
    assert_allclose(one.means, other.means)
    assert_allclose(one.bic, other.bic)


@pytest.mark.parametrize("form", FORMS)
def test_parameters_are_counted(form):
    k, d = 3, 4
    covariances = {"full": k * d * (d + 1) / 2, "tied": d * (d + 1) / 2, "ball": 1}[form]
    assert n_parameters(k, d, form) == k * d + (k - 1) + covariances


def test_a_lost_component_gives_no_fit():
    X = np.concatenate([np.random.default_rng(0).normal(size=(50, 1)), [[0.0]]])
    start = np.array([0] * 50 + [1], dtype=np.int32)
    weights = np.append(np.ones(50), 1e-7)
    assert fit_mixture(X, weights, start, "full", max_steps=5, tol=0.0) is None


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_units_change_nothing(scale):
    X, start = two_groups()
    plain = fit_mixture(X, np.ones(len(X)), start, "full", max_steps=20, tol=1e-3)
    scaled = fit_mixture(X * scale, np.ones(len(X)), start, "full", max_steps=20, tol=1e-3)
    assert_array_equal(plain.labels(X), scaled.labels(X * scale))
