"""Checkpoints that are damaged, hostile or of another run: they are refused and stay unchanged."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from test_checkpoint import ESTIMATORS, RANGE, X, fitted, read, write

from modeseek import DoublyStochasticMeanShift, MeanShift
from modeseek._storage.container import HEAD, MAGIC, VERSION
from modeseek._storage.errors import DataError
from modeseek.io import save
from modeseek.meanshift.bandwidth import Shrinking
from modeseek.meanshift.chains import Checkpoint, Stopping, doubly_stochastic, make_problem, run


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "run.ckpt"
    chain = doubly_stochastic(make_problem(X[:8]), Shrinking(**RANGE), seed=0)
    run(chain, Stopping(0.01, max_sweeps=2), checkpoint=Checkpoint(path))
    return path


def test_every_flipped_byte_is_detected(small):
    whole = small.read_bytes()
    read(small)
    with small.open("r+b", buffering=0) as file:
        for place, byte in enumerate(whole):
            for mask in (0xFF, 1 << (place % 8)):
                os.pwrite(file.fileno(), bytes([byte ^ mask]), place)
                with pytest.raises(DataError):
                    read(small)
            os.pwrite(file.fileno(), bytes([byte]), place)
    assert read(small).runs


def test_truncated_and_extended_files_are_detected(small):
    whole = small.read_bytes()
    small.write_bytes(whole + b"\0")
    for size in (len(whole) + 1, *reversed(range(len(whole)))):
        os.truncate(small, size)
        with pytest.raises(DataError):
            read(small)


def test_a_damaged_checkpoint_is_refused_and_unchanged(tmp_path):
    path, make = tmp_path / "run.ckpt", ESTIMATORS["dsms"]
    fitted(make, path)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 4
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=r"run.ckpt' is damaged: .* or remove it to start the run from the beginning"):
        fitted(make, path)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize(
    "header",
    [
        {"arrays": [["x", "<f8", [1 << 60]]]},
        {"arrays": [["x", "<f8", [1 << 40, 1 << 40]]]},
        {"arrays": [["x", "<f8", [0, 10**30]]]},
        {"arrays": [["x", "<f8", [-1, -1]]]},
        {"arrays": [["x", "|O", [1]]]},
        {"arrays": [["x", "<f8", [0] * 200]]},
        {"arrays": [["x", "<f8", 3]]},
        {"arrays": [["", "<f8", [1]]]},
        {"arrays": {"x": 1}},
        {"runs": []},
        [],
        3,
    ],
)
def test_a_hostile_file_with_a_valid_checksum_is_refused(header, tmp_path):
    seal(tmp_path / "a", json.dumps(header).encode(), b"12345678")
    with pytest.raises(DataError, match="is damaged"):
        fitted(ESTIMATORS["dsms"], tmp_path / "a")


def test_huge_and_deeply_nested_records_are_refused(tmp_path):
    for text, length in ((b"{}", (1 << 64) - 1), (b"{}", 3), (b"[" * 100_000, None), (b"", None), (b"\1", None)):
        seal(tmp_path / "a", text, b"", length)
        with pytest.raises(DataError, match="is damaged"):
            fitted(ESTIMATORS["dsms"], tmp_path / "a")


def seal(path, text, raw, length=None):
    """Write a manipulated file with a valid checksum."""
    length = len(text) if length is None else length
    digest = hashlib.sha256(struct.pack("<IQ", VERSION, length) + text + raw).digest()
    path.write_bytes(HEAD.pack(MAGIC, VERSION, length, digest) + text + raw)


@pytest.mark.slow
def test_ten_thousand_chains_fit(tmp_path):
    """The record of this many runs is much longer than that of any model."""
    path, n = tmp_path / "a", 10_000
    chain = doubly_stochastic(make_problem(X[:2]), Shrinking(**RANGE), seed=0)
    run(chain, Stopping(0.01, max_sweeps=1), checkpoint=Checkpoint(path))
    stored = read(path)
    write(path, stored._replace(runs=stored.runs * n))
    back = read(path)
    assert len(back.runs) == n
    for number in (0, n - 1):
        assert_array_equal(back.runs[number].state.points, stored.runs[0].state.points)


def test_a_valid_file_with_other_runs_is_refused(tmp_path):
    path, make = tmp_path / "run.ckpt", ESTIMATORS["dsms"]
    fitted(make, path)
    stored = read(path)
    (only,) = stored.runs
    for runs in ((), (only, only), (only._replace(state=only.state._replace(points=np.zeros((3, 2)))),)):
        write(path, stored._replace(runs=runs))
        with pytest.raises(DataError, match="does not fit; wrong part"):
            fitted(make, path)
    for value in ({}, 7, only, stored._replace(runs=(7,)), stored._replace(identity=3)):
        write(path, value)
        with pytest.raises(DataError, match="is not a valid checkpoint; wrong part"):
            fitted(make, path)
    write(path, stored._replace(identity={}))
    with pytest.raises(DataError, match="was made by modeseek None"):
        fitted(make, path)


class Own:
    """A policy without fields that list its parameters."""

    h_0 = h_min = 0.6

    def __init__(self, top):
        self.top = top

    def draw(self, uniforms, h, k):
        return 0.6 + (self.top - 0.6) * uniforms

    def upper(self, h, k):
        return self.top


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"data": X + np.linspace(0, 1e-9, len(X))[:, None]}, "belongs to other data"),
        ({"data": X[:-1]}, "number of points was 120 and is now 119"),
        ({"data": X.astype(np.float32)}, "type of the data was float64 and is now float32"),
        ({"h_max": 1.7}, "h_max of the policy was 1.6 and is now 1.7"),
        ({"nu": "1/k"}, "policy draws other"),
        ({"policy": "uniform"}, "policy was Shrinking and is now Uniform"),
        ({"random_state": 1}, "seed was 0 and is now 1"),
        ({"order": "reshuffled"}, "order was random and is now reshuffled"),
        ({"batch_size": 2}, "batch_size was 1 and is now 2"),
        ({"engine": "reference"}, "engine was brute and is now reference"),
        ({"profile": "triweight"}, "profile was biweight and is now triweight"),
        ({"metric": "cosine"}, "metric was euclidean and is now cosine"),
        ({"tau": 0.01}, "tau was 0.05 and is now 0.01"),
        ({"tol": 1e-3}, "threshold was"),
        ({"record": "gap"}, "record of clumps was 1 and is now None"),
        ({"n_chains": 2}, "number of chains was 1 and is now 2"),
        ({"local_scale": True}, "local scales differ"),
    ],
)
def test_checkpoints_of_other_data_or_settings_are_refused(other, reason, tmp_path):
    path = tmp_path / "run.ckpt"
    fitted(ESTIMATORS["dsms"], path)
    before = path.read_bytes()
    with pytest.raises(DataError, match=reason):
        fitted(ESTIMATORS["dsms"], path, **other)
    assert path.read_bytes() == before


def test_checkpoints_of_other_weights_or_custom_policies_are_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    make = partial(DoublyStochasticMeanShift, random_state=0, checkpoint=path)
    make(policy=Own(1.0)).fit(X)
    with pytest.raises(DataError, match="policy draws other bandwidths"):
        make(policy=Own(1.1)).fit(X)
    with pytest.raises(DataError, match="the weights differ"):
        make(policy=Own(1.0)).fit(X, sample_weight=np.arange(1.0, 121.0))


def test_checkpoints_of_other_mean_shifts_are_refused(tmp_path):
    path, make = tmp_path / "run.ckpt", ESTIMATORS["ms"]
    fitted(make, path)
    for other, reason in (({"tol": 1e-3}, "tol was 1e-07 and is now 0.001"), ({"seeds": X[:4]}, "its seeds differ")):
        with pytest.raises(DataError, match=reason):
            fitted(make, path, **other)


def test_checkpoints_of_another_version_are_refused(tmp_path, monkeypatch):
    path, make = tmp_path / "run.ckpt", ESTIMATORS["dsms"]
    fitted(make, path)
    monkeypatch.setattr("modeseek.meanshift.chains.identity.__version__", "9.9")
    with pytest.raises(DataError, match=r"made by modeseek .*, and this is 9.9"):
        fitted(make, path)
    data = path.read_bytes()
    for head, reason in (
        (MAGIC + struct.pack("<I", 7), "a newer modeseek wrote it"),
        (MAGIC + struct.pack("<I", 1), "has file format 1"),
        (b"\x89MODECKPT\r\n\x1a" + struct.pack("<I", 1), "has file format 1"),
    ):
        path.write_bytes(head + data[len(head) :])
        with pytest.raises(DataError, match=reason):
            fitted(make, path)
    for other in (b"label,x\n1,2\n" * 9, b"", MAGIC):
        path.write_bytes(other)
        with pytest.raises(DataError, match="is not a checkpoint of modeseek"):
            fitted(make, path)
    save(MeanShift(0.6), path)
    with pytest.raises(DataError, match="holds a model, not a checkpoint"):
        fitted(make, path)
