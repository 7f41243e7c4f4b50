"""Outlier scores beside those of hdbscan, where it is installed."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import roc_auc_score

from modeseek import MeanShift


@pytest.mark.filterwarnings("ignore")
def test_planted_outliers_are_found_as_well_as_by_glosh():
    hdbscan = pytest.importorskip("hdbscan")
    inner, _ = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    far = np.random.default_rng(0).uniform(-8, 17, (15, 2))
    X, planted = np.vstack([inner, far]), np.arange(315) >= 300
    ours = roc_auc_score(planted, MeanShift(4.0).fit(X).outlier_scores_)
    theirs = roc_auc_score(planted, hdbscan.HDBSCAN().fit(X).outlier_scores_)
    assert ours > theirs - 0.02
