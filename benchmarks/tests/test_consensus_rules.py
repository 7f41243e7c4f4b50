"""The script that compares rules of consensus: its table has every rule, and ours agrees with the estimator."""

from __future__ import annotations

import pytest
from sklearn.metrics import adjusted_rand_score

import consensus
from modeseek import DoublyStochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.metrics import rand_agreement


def test_the_table_has_every_rule_for_each_number_of_chains():
    X, y = paper_mixture(30, random_state=3)
    model = DoublyStochasticMeanShift(0.2, 1.6, 0.6, n_chains=16, random_state=0).fit(X)
    start = {"set": "mixture, N = 30", "n": len(X), "d": 2, "algorithm": "DSMS", "machine": "none"}
    rows = list(consensus.judged(start, y, model))
    assert [row["chains"] for row in rows] == [1] + [8] * 4 + [16] * 4
    [ours] = [row for row in rows if "fragments" in row]
    assert ours["ari"] == pytest.approx(adjusted_rand_score(y, model.labels_))
    assert ours["agreement"] == pytest.approx(model.stability_)
    assert rows[6]["agreement"] >= ours["agreement"] - 1e-9  # this rule searches for the best cut of the same tree
    assert "| average linkage above 1/2 | 16 |" in consensus.report(rows)
    for rule in consensus.RULES.values():
        assert rand_agreement(rule(model.chain_labels_[[0] * 3]), model.chain_labels_[0]) == 1.0
