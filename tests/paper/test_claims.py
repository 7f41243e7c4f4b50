"""Claims of the paper are decided by the rows of the experiments."""

import numpy as np
import pytest

from modeseek.paper.claims import CLAIMS, Claim, Finding, judge, reading_name
from modeseek.paper.claims.base import BOTH, SPREADS, paired, readings, values_at
from modeseek.paper.contenders import RESULT_COLUMNS
from modeseek.paper.rows import Rows
from modeseek.paper.scores import MEASURES

RUNS = 6
SCORES = dict.fromkeys(MEASURES, 0.5)


def made(counts, *, k=None):
    """Return rows of `sparse` in which each contender finds a number of clusters, a function of N and spread."""
    rows = []
    rng = np.random.default_rng(0)
    for spread in ("std", "variance"):
        for n in (10, 50, 200):
            for run in range(RUNS):
                for (line, h), count in counts.items():
                    cell = {"spread": spread, "n_per_cluster": n, "run": run, "line": line, "h": h}
                    found = {"n_clusters": count(n, spread) + rng.integers(0, 2), "k": (k or {}).get(line, 0.5)}
                    rows.append({**cell, **SCORES, **found, "sweeps": 10.0, "outcome": "certified"})
    return {"sparse": Rows(("spread", "n_per_cluster", "run", *RESULT_COLUMNS), rows)}


def many(n, spread):
    return 20


def few(n, spread):
    return 3


def lines(walk):
    fixed = {(name, 0.6): many for name in ("MS", "BMS", "SMS")}
    return {**fixed, ("DSMS shrinking", 0.6): few, ("DSMS walk", 0.6): walk}


def verdict(text, measured):
    claim = next(each for each in CLAIMS if each.text.startswith(text))
    found = judge(claim, measured)
    return f"{found.verdict} {found.under}".strip()


@pytest.mark.parametrize(
    ("walk", "expected"),
    [
        (few, "holds"),
        (many, "holds only under shrinking"),
        (lambda n, spread: 3 if spread == "std" else 30, "holds only under shrinking; 0.65 as standard deviation"),
    ],
)
def test_verdicts_follow_the_rows(walk, expected):
    assert verdict("DSMS estimates the number of clusters far better", made(lines(walk))) == expected


def test_no_reading_at_all():
    rows = made({**lines(many), ("DSMS shrinking", 0.6): many})
    assert verdict("DSMS estimates the number of clusters far better", rows) == "does not hold"
    assert verdict("DSMS's count is stable", rows) == "does not hold"


def test_loss_of_k_needs_a_whole_interval():
    good = made(lines(few), k={"DSMS shrinking": 0.495, "DSMS walk": 0.495})
    assert verdict("The better count does not cost", good) == "holds"  # a loss of 0.005 is below what counts
    bad = made(lines(few), k={"DSMS shrinking": 0.45, "DSMS walk": 0.6})
    assert verdict("The better count does not cost", bad) == "holds only under walk"


def test_growing_with_fewer_points():
    grows = {**lines(few), ("MS", 0.6): lambda n, spread: 200 // n, ("BMS", 0.6): lambda n, spread: 300 // n}
    assert verdict("MS and BMS break data", made(grows)) == "holds"
    assert verdict("MS and BMS break data", made({**grows, ("BMS", 0.6): lambda n, spread: n})) == "does not hold"


def test_a_claim_without_its_experiment_is_left_out():
    assert judge(CLAIMS[-1], made(lines(few))) is None


def test_differences_are_taken_run_by_run():
    rows = Rows(["run", "line", "k"], [{"run": run, "line": line, "k": value} for run, line, value in SCRAMBLED])
    difference = paired(values_at(rows, "k", line="a"), values_at(rows, "k", line="b"))
    # unpaired, the spread of the runs would hide a difference of 0.1
    assert difference.low == pytest.approx(0.1)
    assert difference.high == pytest.approx(0.1)


SCRAMBLED = [(2, "a", 0.9), (0, "a", 0.1), (1, "a", 0.5), (0, "b", 0.0), (1, "b", 0.4), (2, "b", 0.8)]


def test_every_claim_is_told_apart_and_tested():
    assert len({claim.text for claim in CLAIMS}) == len(CLAIMS) >= 10
    assert all(claim.test and claim.where and claim.needs and claim.readings for claim in CLAIMS)


def test_readings_are_named_by_what_they_share():
    claim = Claim("x", "y", by_spread, "z", (), readings(policy=["a", "b"], spread=["std", "variance"]))
    found = judge(claim, {})
    assert (found.verdict, found.under, found.kind) == ("holds only under", "0.65 as variance", "partly")
    assert reading_name(BOTH[0]) == "shrinking, 0.65 as standard deviation"


def test_several_groups_of_readings_are_named_shortly():
    def check(measured, reading):
        return Finding(reading["policy"] == "a" or reading == {"policy": "b", "spread": "std", "place": "paper"}, "")

    claim = Claim("x", "y", check, "z", (), readings(policy=["a", "b"], spread=SPREADS, place=["middle", "paper"]))
    assert judge(claim, {}).under == "a; 0.65 as standard deviation, h_inf 2/7 up"


def by_spread(measured, reading):
    return Finding(reading["spread"] == "variance", "")
