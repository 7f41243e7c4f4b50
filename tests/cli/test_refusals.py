"""What the command refuses, and what it says then."""

import os

import numpy as np
import pytest

from commands import DSMS, RANGE, inside, refused, run
from commands import data as data
from modeseek import ModeSeek

TEXTS = [
    ("", "is empty"),
    ("a,b\n", "has a header but no rows"),
    ("a,b\n1,2\n3\n", "line 3: expected 2 fields as in line 1, found 1"),
    ("a,b\n1,2\n3,nan\n", "row 2 (line 3) has a missing value in column 'b': correct it"),
    ("a,b\n1,2\n,3\n", "row 2 (line 3) has a missing value in column 'a'"),
    ("a,b\n1,2\n3,inf\n", "row 2 (line 3) has an infinite value in column 'b'"),
    ("a,b\n1,u\n3,v\n", "column 'b' is not numeric: row 1 (line 2) has 'u'. To continue, leave it out with --ignore b"),
    ("s\nu\nv\n", "column 's' is not numeric"),
]


@pytest.mark.parametrize(("text", "message"), TEXTS)
def test_bad_text(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    outputs = ["-o", tmp_path / "out.csv", "--plot", tmp_path / "out.png"]
    refused(message, "cluster", tmp_path / "a.csv", "--strict", *outputs)
    assert inside(tmp_path) == ["a.csv"]
    refused(message, "cluster", "-", "--strict", stdin=text)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_arrays(value, tmp_path):
    np.save(tmp_path / "a.npy", [[1.0], [2.0], [value]])
    refused("row 3 has", "cluster", tmp_path / "a.npy", "--missing", "error", "-o", tmp_path / "out.npy")
    np.save(tmp_path / "a.npy", np.array([1j, 2]))
    refused("complex numbers", "cluster", tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.empty((0, 2)))
    refused("it is empty", "cluster", tmp_path / "a.npy")
    assert inside(tmp_path) == ["a.npy"]


USAGE = [
    (["--columns", "widht"], "no column 'widht'. Did you mean 'width'?"),
    (["--ignore", "nmae"], "no column 'nmae'. Did you mean 'name'?"),
    (["--algorithm", "dsm"], "--algorithm must be one of 'modeseek', 'dsms', 'sms', 'bms', 'ms'; got 'dsm'. Did"),
    (["--scale", "standart"], "'robust', 'log', 'none'; got 'standart'. Did you mean 'standard'?"),
    (
        ["--missing", "medain"],
        "--missing must be one of 'drop', 'median', 'error'; got 'medain'. Did you mean 'median'",
    ),
    (["--encode", "hot"], "--encode must be one of 'drop', 'onehot'; got 'hot'"),
    (
        ["--metric", "cosin"],
        "metric must be one of 'euclidean', 'cosine', 'haversine'; got 'cosin'. Did you mean 'cosine'?",
    ),
    ([*DSMS, "--profile", "biwieght"], "Did you mean 'biweight'?"),
    ([*DSMS, "--policy", "shrinkin"], "Did you mean 'shrinking'?"),
    ([*DSMS, "--nu", "log"], "nu must be"),
    ([*DSMS, "--order", "randm"], "Did you mean 'random'?"),
    ([*DSMS, "--engine", "brut"], "Did you mean 'brute'?"),
    ([*DSMS, "--h-min", "2", "--h-max", "1"], "h_min must not exceed h_max"),
    ([*DSMS, "--h-min", "0.5", "--h-max", "1", "--h-inf", "3"], "h_inf must lie in [h_min, h_max]"),
    ([*DSMS, "--h-min", "-1", "--h-max", "1"], "h_min must be a finite number > 0"),
    ([*DSMS, "--h-min", "nan", "--h-max", "1"], "h_min must be a finite number > 0"),
    ([*RANGE, "--tau", "0.2"], "tau must be below h_min / 2"),
    ([*DSMS, "--tol", "-1"], "tol must be"),
    ([*DSMS, "--max-updates", "0"], "max_updates must be"),
    ([*DSMS, "--max-time", "0"], "max_time must be"),
    (["--min-cluster-size", "0"], "'--min-cluster-size'"),
    (["--algorithm", "dsms", "--chains", "0"], "'--chains'"),
    (["--algorithm", "ms", "--chains", "3"], "--chains is not an option of --algorithm ms: leave it out, or use"),
    (["--seed", "-1"], "'--seed'"),
    (["--jobs", "0"], "--jobs must not be 0"),
    (["--h-min", "small"], "'--h-min'"),
    (
        [*DSMS, "--bandwidth", "1"],
        "--bandwidth is not an option of --algorithm dsms: dsms has a range of bandwidths; use --h-min",
    ),
    (
        ["--algorithm", "sms", "--h-inf", "1"],
        "--h-inf is not an option of --algorithm sms: sms has one bandwidth; use --bandwidth",
    ),
    (
        ["--algorithm", "bms", "--order", "random"],
        "--order is not an option of --algorithm bms: leave it out, or use --algorithm dsms or sms",
    ),
    (["--algorithm", "sms", "--bandwidth", "0"], "bandwidth must be"),
    (["--h-max", "1"], "--h-max is an option of another algorithm: add --algorithm dsms."),
    (["--bandwidth", "1"], "--bandwidth is an option of another algorithm: add --algorithm sms, bms or ms."),
    (["--max-time", "1"], "--max-time is an option of another algorithm: add --algorithm dsms, sms or bms."),
    (
        ["--algorithm", "modeseek", "--policy", "walk"],
        "--policy is not an option of --algorithm modeseek: leave it out, or use",
    ),
    (
        [*DSMS, "--n-clusters", "3"],
        "--n-clusters is not an option of --algorithm dsms: leave it out, or use --algorithm modeseek.",
    ),
    (["--n-clusters", "0"], "'--n-clusters'"),
    (["--min-clusters", "5", "--max-clusters", "2"], "min_clusters=5 is larger than max_clusters=2"),
    (["--n-clusters", "two"], "'--n-clusters'"),
    (["--plto", "a.png"], "--plto"),
    (["-o", "-", "--json", "-"], "both write to standard output"),
    (["--name", "width"], "already has a column 'width': choose another name with --name"),
    (["--name", ""], "--name must not be empty"),
]


@pytest.mark.parametrize(("options", "message"), USAGE)
def test_bad_usage(options, message, data, tmp_path):
    given = [] if "-o" in options else ["-o", tmp_path / "out.csv"]
    columns = [] if {"--columns", "--ignore"} & set(options) else ["--ignore", "name"]
    refused(message, "cluster", data, *columns, *given, *options)
    assert inside(tmp_path) == ["points.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "{0}/no/out.csv"], "there is no folder"),
        (["-o", "{0}"], "it is a folder"),
        (["-o", "{0}/out.cvs"], "unknown ending '.cvs'. Did you mean '.csv'?"),
        (["-o", "{0}/out.npy"], "column 'name' is not numeric, and NPY holds numbers only"),
        (["--plot", "{0}/out.pgn"], "unknown ending '.pgn'. Did you mean '.png'?"),
        (["--plot", "{0}/no/out.png"], "there is no folder"),
        (["--json", "{0}/out.csv"], "Known: .json"),
        (["--report", "{0}/out.pdf"], "unknown ending '.pdf'. Known: .html"),
        (["--report", "{0}/no/out.html"], "there is no folder"),
    ],
)
def test_targets_are_checked_before_the_work(options, message, data, tmp_path, monkeypatch):
    def fit(self, X):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(ModeSeek, "fit", fit)
    refused(message, "cluster", data, "--ignore", "name", *[option.format(tmp_path) for option in options])
    assert inside(tmp_path) == ["points.csv"]


def test_cosine_needs_directions(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,1\n0,0\n")
    refused("row 2 (line 3) is all zeros", "cluster", tmp_path / "a.csv", "--metric", "cosine")


def test_missing_file(data, tmp_path):
    refused("Did you mean 'points.csv'?", "cluster", tmp_path / "pionts.csv")
    refused("is a folder", "cluster", tmp_path)
    refused("Missing argument 'FILE'", "cluster")
    refused("No such command", "clutser")


def test_an_existing_column_is_not_written_over(tmp_path):
    (tmp_path / "a.csv").write_text("x,cluster\n1,5\n2,6\n")
    options = ["cluster", tmp_path / "a.csv", "--columns", "x", *RANGE, "-o", tmp_path / "b.csv"]
    refused("already has a column 'cluster': choose another name with --name", *options)
    assert run(*options, "--name", "found")[0] == 0
    assert (tmp_path / "b.csv").read_text().startswith("x,cluster,found\n1,5,")


def test_a_failed_write_leaves_nothing(data, tmp_path, monkeypatch):
    def replace(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)
    refused("No space left on device", "cluster", data, "--ignore", "name", "-o", tmp_path / "out.csv")
    assert inside(tmp_path) == ["points.csv"]
