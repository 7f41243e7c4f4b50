"""The harness of the experiments: jobs, seeds and resuming."""

import csv
import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student
from sklearn.cluster import DBSCAN, KMeans

from modeseek import DoublyStochasticMeanShift, StochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Uniform
from modeseek.paper import EXPERIMENTS, compare
from modeseek.paper.against_sms import Clusters, Imbalance, Outliers
from modeseek.paper.bandwidth_range import BandwidthRange
from modeseek.paper.contenders import score
from modeseek.paper.experiment import Experiment, Job, seed_for
from modeseek.paper.intervals import mean_interval
from modeseek.paper.job_list import JobFailed, JobList, Journal, config_json, run_jobs
from modeseek.paper.range_map import RangeMap
from modeseek.paper.rows import Rows
from modeseek.paper.sparse import Sparse
from modeseek.paper.sweep import Sweep

SPARSE = Sparse(sizes=(10, 20), spreads=("std",), sweep=(1.2,))
SMALL = [
    SPARSE,
    Imbalance(ratios=(1, 4), spreads=("std",), sweep=(1.2,), n_per_cluster=15),
    Clusters(numbers=(2, 4), spreads=("std",), sweep=(1.2,), n_per_cluster=15),
    BandwidthRange(spreads=("std",), sweep=(0.6, 1.2), widths=(0.0, 0.4), n_per_cluster=15),
    Sweep(sizes=(10,), spreads=("std",), bandwidths=(0.6, 1.2), h_mins=(0.2,), h_infs=(0.6,), h_maxs=(1.2,)),
    Outliers(shares=(0.0, 0.2), spreads=("std",), sweep=(0.6,), n_per_cluster=10),
    RangeMap(setups=("N = 15",), h_mins=(0.2,), h_maxs=(0.9, 1.6)),
]


@dataclass(frozen=True)
class Counting(Experiment):
    """An experiment that records its jobs."""

    size: int = 4

    name: ClassVar[str] = "counting"
    columns: ClassVar[tuple[str, ...]] = ("place", "run", "value")
    done: ClassVar[list[str]] = []

    def quick(self):
        return self

    def jobs(self, runs):
        return [Job({"place": place}, run) for place in range(self.size) for run in range(runs)]

    def work(self, job, seed):
        self.done.append(job.key)
        if seed == 13 and job.cell["place"] == 2:
            raise ZeroDivisionError("nothing to divide")
        return [{**job.cell, "run": job.run, "value": seed_for(seed, job.cell["place"], job.run) / 3}]

    def draw(self, rows):
        return {}

    def tables(self, rows):
        return []


def csv_of(experiment, *, runs=2, seed=0, n_jobs=None, folder=None):
    plan = JobList([experiment], runs, seed, folder)
    run_jobs(plan, n_jobs=n_jobs)
    return plan.rows(experiment).csv()


# ---------------------------------------- rows


@pytest.mark.parametrize("experiment", SMALL, ids=lambda each: each.name)
def test_rows_are_whole_and_repeat(experiment):
    once = csv_of(experiment, runs=1)
    assert once == csv_of(experiment, runs=1)
    assert once != csv_of(experiment, runs=1, seed=1)
    header, *lines = csv.reader(once.splitlines())
    assert tuple(header) == experiment.columns
    assert all(len(line) == len(experiment.columns) for line in lines)


def test_rows_do_not_depend_on_the_number_of_processes():
    assert csv_of(SMALL[3]) == csv_of(SMALL[3], n_jobs=2)


@pytest.mark.parametrize("experiment", SMALL, ids=lambda each: each.name)
def test_pictures_and_tables_are_those_announced(experiment):
    plan = JobList([experiment], 2, 0)
    run_jobs(plan)
    rows = plan.rows(experiment)
    stems = set(experiment.draw(rows))
    full = set(EXPERIMENTS[experiment.name].captions)
    # with one spread there are fewer pictures
    assert stems
    assert stems <= full
    for table in experiment.tables(rows):
        assert all(len(row) == len(table.header) for row in table.rows)


def test_a_row_is_what_the_estimator_gives():
    rows = Rows(SPARSE.columns, SPARSE.rows_of(Job({"spread": "std", "n_per_cluster": 20}, 3), 5))
    X, y = paper_mixture(20, random_state=seed_for(5, 3, 0))
    chance = seed_for(5, 3, 1)
    for model, where in (
        (StochasticMeanShift(0.6, random_state=chance), {"line": "SMS", "h": 0.6}),
        (DoublyStochasticMeanShift(0.2, 1.6, 0.6, random_state=chance), {"line": "DSMS shrinking"}),
        (DoublyStochasticMeanShift(0.2, 1.6, 0.6, policy="walk", random_state=chance), {"line": "DSMS walk"}),
    ):
        own = rows.where(**where)
        assert len(own) == 1
        assert own["n_clusters"][0] == model.fit(X).n_clusters_
        assert own["k"][0] == score(y, model.labels_)["k"]
        assert own["sweeps"][0] == model.n_updates_ / 60


def test_bandwidths_that_suit_no_data_are_told_by_rows_alone():
    """Warnings are errors here, and h = 50 is larger than the extent of the data."""
    experiment = Sparse(sizes=(3,), sweep=(50.0,), spreads=("std",))
    run_jobs(plan := JobList([experiment], 1, 0))
    assert set(plan.rows(experiment).where(h=50.0)["n_clusters"]) == {1}


def test_a_range_of_no_width_is_sms_at_the_best_bandwidth():
    experiment = SMALL[3]
    rows = Rows(experiment.columns, experiment.rows_of(Job({"spread": "std"}, 0), 0))
    tried = rows.where(line="SMS")
    assert tried["h"].tolist() == list(experiment.sweep)
    h = float(tried["h"][np.argmax(tried["k"])])
    X, _ = paper_mixture(15, random_state=seed_for(0, 0, 0))
    # judged by other draws than those that chose it
    labels = StochasticMeanShift(h, random_state=seed_for(0, 0, 2)).fit(X).n_clusters_
    assert rows.where(line="DSMS shrinking", width=0.0)["n_clusters"].tolist() == [labels, labels]
    wide = rows.where(width=0.4)
    assert_allclose(wide["h_max"] - wide["h_min"], 0.4)
    assert ((wide["h_min"] <= h) & (h <= wide["h_max"])).all()


def test_more_runs_add_jobs_and_change_none():
    for experiment in (*SMALL, *(each.quick() for each in EXPERIMENTS.values())):
        few, many = ([job.key for job in experiment.jobs(runs)] for runs in (2, 4))
        assert len(set(many)) == len(many)
        assert set(few) <= set(many)


def test_noise_counts_as_clusters_of_one_point():
    row = score(np.array([0, 0, 0, 1]), np.array([0, 0, -1, -1]))
    assert (row["n_clusters"], row["n_singletons"]) == (3, 2)
    assert row["acp"] == 1.0


def test_interval_is_student_s():
    values = np.random.default_rng(0).normal(size=20)
    found = mean_interval(values)
    low, high = student.interval(0.9, 19, values.mean(), values.std(ddof=1) / np.sqrt(20))
    assert_allclose(found, (values.mean(), low, high))
    assert np.isnan(mean_interval(values[:1]).low)


def test_numbers_survive_the_file():
    value = 0.1 + 0.2
    rows = Rows(["a", "b"], [{"a": value, "b": None}])
    assert rows.csv() == f"a,b\n{value!r},\n"
    assert np.isnan(rows["b"][0])


# ---------------------------------------- interruption


def test_an_interrupted_run_goes_on_and_ends_with_the_same_rows(tmp_path):
    whole = csv_of(Counting(), runs=3)
    plan = JobList([Counting()], 3, 0, tmp_path)
    left = iter(range(5))

    def advance(cost):
        if next(left, None) is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(plan, advance=advance)
    assert len(JobList([Counting()], 3, 0, tmp_path).left()) == 6
    Counting.done.clear()
    assert csv_of(Counting(), runs=3, folder=tmp_path) == whole
    assert len(Counting.done) == 6


def test_a_torn_line_is_done_again(tmp_path):
    whole = csv_of(Counting(), folder=tmp_path)
    journal = Journal(tmp_path, Counting(), 0)
    journal.path.write_text(journal.path.read_text()[:-20])
    Counting.done.clear()
    assert csv_of(Counting(), folder=tmp_path) == whole
    assert len(Counting.done) == 1


def test_more_runs_use_what_is_there(tmp_path):
    csv_of(Counting(), runs=2, folder=tmp_path)
    Counting.done.clear()
    assert csv_of(Counting(), runs=3, folder=tmp_path) == csv_of(Counting(), runs=3)
    assert Counting.done[:4] == [f"place={place}/run=2" for place in range(4)]


def test_set_ups_do_not_mix(tmp_path):
    names = {
        Journal(tmp_path, experiment, seed).path
        for experiment in (
            Counting(),
            Counting(size=5),
            SPARSE,
            replace(SPARSE, settings=replace(SPARSE.settings, h=0.7)),
        )
        for seed in (0, 1)
    }
    assert len(names) == 8


def test_a_failed_job_is_named_and_the_others_are_kept(tmp_path):
    with pytest.raises(JobFailed, match=r"counting, place=2/run=0, seed 13: ZeroDivisionError: nothing to divide"):
        csv_of(Counting(), seed=13, folder=tmp_path)
    assert len(JobList([Counting()], 2, 13, tmp_path).left()) == 4


def test_the_journal_goes_when_the_results_are_there(tmp_path):
    plan = JobList([Counting()], 2, 0, tmp_path)
    run_jobs(plan)
    assert list(tmp_path.iterdir())
    plan.forget()
    assert not list(tmp_path.iterdir())


def test_config_has_every_field():
    config = json.loads(config_json(SPARSE))
    assert config["settings"]["threshold"] == 1e-6
    assert config["sizes"] == [10, 20]


# ---------------------------------------- lines of one's own


@pytest.mark.slow
def test_own_lines_join_the_figure(tmp_path):
    mine = {"k-means": KMeans(3, n_init=2), "scan": DBSCAN(0.4), "uniform": Uniform(0.2, 1.6)}
    compared = compare(mine, runs=2, quick=True)
    means = compared.means("n_clusters")
    assert means["k-means"] == 3.0
    assert set(mine) <= set(means)
    assert {"SMS, h = 0.6", "SMS, h = 1.2", "DSMS shrinking"} <= set(means)
    # the paper's lines are untouched by their new neighbours
    plan = JobList([Sparse().quick()], 2, 0)
    run_jobs(plan)
    alone = plan.rows(Sparse().quick()).where(line="DSMS walk").csv()
    assert compared.rows.where(line="DSMS walk").csv() == alone
    labels = [text.get_text() for text in compared.figures()["sparse"].legends[0].texts]
    assert {"k-means", "scan", "uniform"} <= set(labels)
    page = compared.write(tmp_path / "mine")
    assert page.is_file()
    assert "k-means" in (tmp_path / "mine" / "report.md").read_text()


def test_own_policy_is_dsms_under_it():
    compared = compare({"uniform": Uniform(0.3, 1.2)}, "imbalance", runs=1, quick=True, seed=3)
    row = compared.rows.where(line="uniform", sizes="graded", spread="std", ratio=1)
    X, _ = paper_mixture(50, random_state=seed_for(3, 0, 0))
    model = DoublyStochasticMeanShift(policy=Uniform(0.3, 1.2), random_state=seed_for(3, 0, 1)).fit(X)
    assert row["n_clusters"][0] == model.n_clusters_


@pytest.mark.parametrize(
    ("lines", "figure", "error"),
    [
        ({"mine": 3}, "sparse", "line 'mine' must be a scikit-learn clusterer"),
        ({"mine": KMeans}, "sparse", "an instance"),
        ({"SMS": KMeans(3)}, "sparse", "'SMS' is in the figure already"),
        ({"mine": KMeans(3)}, "spars", "Did you mean 'sparse'"),
        ({}, "sparse", "lines is empty"),
    ],
)
def test_bad_lines_are_refused(lines, figure, error):
    with pytest.raises((TypeError, ValueError), match=error):
        compare(lines, figure, runs=1)
