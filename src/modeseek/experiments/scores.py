"""What is measured of one clustering, and the mean of many with its interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import t as student
from sklearn import config_context
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from modeseek.experiments.rows import Row
from modeseek.metrics import acp, alp, k_score
from modeseek.types import Array, IntArray

__all__ = ["LEVEL", "MEASURES", "Mean", "mean_of", "score"]

LEVEL = 0.90
# column -> what a reader calls it
MEASURES = {
    "n_clusters": "clusters",
    "n_singletons": "clusters of one point",
    "acp": "ACP",
    "alp": "ALP",
    "k": "K",
    "k_weighted": "K weighted by size",
    "ari": "ARI",
    "ami": "AMI",
}


def score(truth: IntArray, labels: IntArray) -> Row:
    """Compare found labels with the true ones; -1 is noise, and each such point counts as a cluster of its own.

    Examples
    --------
    >>> score(np.array([0, 0, 1, 1]), np.array([0, 0, 1, -1]))["n_clusters"]
    3
    """
    noise = labels == -1
    own = np.where(noise, labels.max() + 1 + np.cumsum(noise), labels)
    sizes = np.unique(own, return_counts=True)[1]
    # labels are ours, and small: checking them again would take longer than the scores
    with config_context(assume_finite=True, skip_parameter_validation=True):
        agreement = adjusted_rand_score(truth, own), adjusted_mutual_info_score(truth, own)
    return {
        "n_clusters": len(sizes),
        "n_singletons": int((sizes == 1).sum()),
        "acp": acp(truth, own),
        "alp": alp(truth, own),
        "k": k_score(truth, own),
        "k_weighted": k_score(truth, own, weighted=True),
        "ari": float(agreement[0]),
        "ami": float(agreement[1]),
    }


class Mean(NamedTuple):
    """A mean and its interval, at 90 % by Student's t; that of a single value is unknown, NaN."""

    mean: float
    low: float
    high: float

    def text(self, digits: int = 2) -> str:
        """Return the mean with its interval.

        Examples
        --------
        >>> Mean(4.0, 3.5, 4.5).text(1)
        '4.0 [3.5, 4.5]'
        """
        if np.isnan(self.low):
            return f"{self.mean:.{digits}f}"
        return f"{self.mean:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def mean_of(values: Array, level: float = LEVEL) -> Mean:
    """Return mean and interval: mean -+ t s / sqrt(m), s the standard deviation of the m values.

    Examples
    --------
    >>> mean_of(np.array([3.0, 4.0, 5.0])).text(1)
    '4.0 [2.3, 5.7]'
    """
    m = len(values)
    if m == 0:
        return Mean(np.nan, np.nan, np.nan)
    mean = float(values.mean())
    if m == 1:
        return Mean(mean, np.nan, np.nan)
    half = float(student.ppf((1 + level) / 2, m - 1) * values.std(ddof=1) / np.sqrt(m))
    return Mean(mean, mean - half, mean + half)
