"""Gaussian mixtures of weighted points by expectation maximization; scikit-learn's takes no weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modeseek._common.types import Array, IntArray

# covariances of the components: "full" differ, "tied" are equal, "ball" are equal multiples of the identity
FORMS = ("full", "tied", "ball")


class GaussianMixture(NamedTuple):
    """A mixture of Gaussians.

    Attributes
    ----------
    weights : (k,) array
    means : (k, d) array
    inverse : (k, d, d) array
        Inverse Cholesky factors of the covariances.
    log_scale : (k,) array
        Logarithms of the determinants of these factors.
    bic : float
        Bayesian information criterion.
    """

    weights: Array
    means: Array
    inverse: Array
    log_scale: Array
    bic: float

    def labels(self, points: Array) -> IntArray:
        """Return the most likely component of each point."""
        from modeseek.selection.gaussian_mixture_loops import most_likely

        return most_likely(points, *self[:4])


def fit_mixture(
    points: Array, weights: Array, labels: IntArray, form: str, *, max_steps: int, tol: float
) -> GaussianMixture | None:
    """Return a mixture fitted from a partition by expectation maximization; None if a component lost its points.

    Parameters
    ----------
    points : (n, d) array
    weights : (n,) array
    labels : (n,) array of int32
        The partition, numbered from 0 without gaps.
    form : str
        One of `FORMS`.
    max_steps : int
    tol : float
        The fit ends when the mean log likelihood improves by less than this.
    """
    from modeseek.selection.gaussian_mixture_loops import expectation_maximization

    k, number = int(labels.max()) + 1, FORMS.index(form)
    mass, means, inverse, log_scale, log_likelihood = expectation_maximization(
        points, weights, labels, k, number, max_steps, tol
    )
    if not np.isfinite(log_likelihood):
        return None
    total = float(weights.sum())
    bic = -2.0 * log_likelihood * total + n_parameters(k, points.shape[1], form) * np.log(total)
    return GaussianMixture(mass, means, inverse, log_scale, float(bic))


def n_parameters(k: int, d: int, form: str) -> int:
    """Return the number of parameters of a mixture of k components in d dimensions."""
    one = d * (d + 1) // 2
    return k * d + k - 1 + {"full": k * one, "tied": one, "ball": 1}[form]
