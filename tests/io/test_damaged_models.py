"""Model files that are damaged or hostile: they are refused, or harmless."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_model_files import MODELS, NEW, X

from modeseek import MeanShift, StochasticMeanShift
from modeseek._common.resources import limit_memory
from modeseek._storage.container import DTYPES, HEAD, MAGIC, VERSION
from modeseek._storage.errors import DataError
from modeseek.io import load, save


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for name in ("chains", "grid", "sample", "modes"):
        save(MODELS[name].fit(X), folder / name)
        found[name] = (folder / name).read_bytes()
    stream = StochasticMeanShift(0.6, random_state=0).partial_fit(X).finalize()
    save(stream, folder / "stream")
    return found | {"stream": (folder / "stream").read_bytes()}


def sealed(record, raw: bytes, *, version: int = VERSION) -> bytes:
    """Return a file with a right checksum, as somebody hostile would make it."""
    text = record if isinstance(record, bytes) else json.dumps(record).encode()
    lengths = struct.pack("<IQ", version, len(text))
    return HEAD.pack(MAGIC, version, len(text), hashlib.sha256(lengths + text + raw).digest()) + text + raw


def opened(data: bytes):
    _, _, length, _ = HEAD.unpack(data[: HEAD.size])
    return json.loads(data[HEAD.size : HEAD.size + length]), data[HEAD.size + length :]


QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(st.sampled_from(["chains", "grid", "modes"]), st.floats(0, 1), st.integers(1, 255))
def test_a_flipped_byte_is_found(files, tmp_path, name, where, by):
    data = bytearray(files[name])
    data[min(int(where * len(data)), len(data) - 1)] ^= by
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(DataError):
        load(tmp_path / "a")


@QUICK
@given(st.sampled_from(["chains", "grid", "modes"]), st.floats(0, 1), st.binary(max_size=64))
def test_a_file_cut_short_or_grown_is_found(files, tmp_path, name, where, more):
    data = files[name]
    cut = data[: int(where * len(data))] + more
    (tmp_path / "a").write_bytes(cut)
    if cut != data:
        with pytest.raises(DataError):
            load(tmp_path / "a")
    (tmp_path / "a").write_bytes(data + more + b"!")
    with pytest.raises(DataError):
        load(tmp_path / "a")


@QUICK
@given(st.binary(max_size=400))
def test_anything_else_is_no_model(tmp_path, data):
    for content in (data, MAGIC + data, sealed(data, b"")):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(DataError):
            load(tmp_path / "a")


def leaves(value, path=()):
    """Yield the places of all values in a record."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from leaves(inner, (*path, key))


PLAIN = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)),
    st.sampled_from([2**63, -(2**63), 2**200, "points", "__class__", "os.system", [], {}, [[]], *DTYPES]),
    st.sampled_from([{"array": "model.state.result.labels"}, {"dict": {}}, {"PointTree": {}}, {"float": "nan"}]),
    st.sampled_from([{"Outcome": "CERTIFIED"}, {"Profile": "flat"}, {"eval": "1"}, {"strings": [1]}]),
    st.sampled_from([{"Grid": {"exponent": 0, "offset": {"tuple": [1]}, "limit": 10**15}}, {"csr_array": {}}]),
)


def survives(path) -> None:
    """Load; whatever comes back can be asked, and answers or refuses in a known way."""
    try:
        model = load(path)
    except DataError:
        return
    try:
        labels = model.predict(NEW)
        assert labels.min() >= -1
        assert labels.max() < max(model.n_clusters_, 1)
        if hasattr(model, "tree_"):
            model.tree_.cut(0.5)
        if "_stream" in vars(model):
            model.partial_fit(NEW)
    # what an estimator says of parameters that it cannot work with
    except (ValueError, TypeError, AttributeError):
        pass


@settings(parent=QUICK, max_examples=120)
@given(st.data())
def test_hostile_records_are_refused_or_harmless(files, tmp_path, data):
    record, raw = opened(files[data.draw(st.sampled_from(list(files)))])
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from([path for path in leaves(record) if path]))
        inner = record
        for key in way:
            inner = inner[key]
        if isinstance(inner, dict) and data.draw(st.booleans()):
            inner[data.draw(st.sampled_from(["_labels", "x", "eval", str(last)]))] = inner.pop(last)
        else:
            inner[last] = deepcopy(data.draw(PLAIN))  # a list that is put into itself has no end
    (tmp_path / "a").write_bytes(sealed(record, raw))
    survives(tmp_path / "a")


@settings(parent=QUICK, max_examples=100)
@given(st.data())
def test_hostile_arrays_are_refused_or_harmless(files, tmp_path, data):
    record, raw = opened(files[data.draw(st.sampled_from(list(files)))])
    bad, start = bytearray(raw), 0
    chosen = data.draw(st.sampled_from(record["arrays"]))
    for name, dtype, shape in record["arrays"]:
        array = np.frombuffer(raw, dtype, int(np.prod(shape)), start).copy()
        if [name, dtype, shape] == chosen and len(array):
            most = 2 ** (8 * int(dtype[2]) - 2) if dtype[1] != "f" else 2**62
            odd = [0, 1, most, len(array)] + ([-1, -most] if dtype[1] != "u" else [])
            odd += [np.nan, np.inf, -np.inf, 1e308, 5e-324] if dtype[1] == "f" else []
            where = data.draw(st.integers(0, len(array) - 1))
            array[where : where + data.draw(st.sampled_from([1, len(array)]))] = data.draw(st.sampled_from(odd))
            bad[start : start + array.nbytes] = array.tobytes()
        start += array.nbytes
    (tmp_path / "a").write_bytes(sealed(record, bytes(bad)))
    survives(tmp_path / "a")


def test_declared_sizes_are_held_against_the_file(tmp_path, files):
    """Nothing is allocated for an array that the file has no room for."""
    record, raw = opened(files["chains"])
    for shape in ([10**12], [2**40, 2**40], [0, 10**18], [-1], [2**63], [1.5], [True], "x", [1] * 9):
        changed = {**record, "arrays": [["model.a", "<f8", shape], *record["arrays"][1:]]}
        (tmp_path / "a").write_bytes(sealed(changed, raw))
        with limit_memory(1e8), pytest.raises(DataError, match="damaged"):
            load(tmp_path / "a")


def test_a_sparse_file_that_says_it_is_huge_takes_no_memory(tmp_path):
    record = {"arrays": [["x", "<f8", [1 << 40]]]}
    text = json.dumps(record).encode()
    with (tmp_path / "a").open("wb") as file:
        file.write(HEAD.pack(MAGIC, VERSION, len(text), bytes(32)) + text)
        file.truncate(HEAD.size + len(text) + (8 << 40))
    with pytest.raises(DataError, match=r"8\.8|10\.6 TB"):
        load(tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON"),
        (b'{"arrays": [], "kind": "model", "value": ' + b"[" * 900 + b"]" * 900 + b"}", "not JSON|wrong part"),
        (b'{"arrays": [], "estimator": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"arrays": [], "x": NaN}', "not JSON"),
        (b'{"arrays": [], "arrays": []}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b" " * ((32 << 20) + 1), "longer"),
        (b"[" + b"[]," * (1 << 21) + b"1]", "more than 2,097,152"),
        (b'"' + b'\\"' * (1 << 20), "not JSON"),  # quotes that end nothing: looking for the end of each took hours
        (b'{"arrays": [], "kind": "model"}', "wrong part: 'value'"),
        (b'{"arrays": [], "kind": "model", "value": {"Preparation": 1}}', "wrong part"),
        (b'{"arrays": [], "kind": "checkpoint", "value": 1}', "holds a checkpoint, not a model"),
        (b'{"arrays": [["a", "|O", [1]]]}', "has an unsupported type"),
        (b'{"arrays": [["", "<f8", [0]]]}', "no valid name"),
        (b'{"arrays": [["a", "<f8", [0]], ["a", "<f8", [0]]]}', "same name"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_json_is_refused(text, words, tmp_path):
    (tmp_path / "a").write_bytes(sealed(text, b""))
    with pytest.raises(DataError, match=words):
        load(tmp_path / "a")


def test_a_tree_that_goes_in_circles_is_refused(files, tmp_path):
    """Compiled code follows targets without looking where it is."""
    record, raw = opened(files["modes"])
    at = sum(
        int(np.prod(shape)) * np.dtype(dtype).itemsize
        for name, dtype, shape in record["arrays"][
            : [each[0] for each in record["arrays"]].index("model.state.result.tree.point_tree.target")
        ]
    )
    n = len(X)
    target = np.frombuffer(raw, "<i8", n, at).copy()
    for circle in (np.roll(np.arange(n), 1), np.full(n, 10**6), np.where(target == target, n - 1 - np.arange(n), 0)):
        changed = raw[:at] + circle.astype("<i8").tobytes() + raw[at + 8 * n :]
        (tmp_path / "a").write_bytes(sealed(record, changed))
        with pytest.raises(DataError, match="tree"):
            load(tmp_path / "a")


def test_other_versions_say_so(files, tmp_path):
    record, raw = opened(files["chains"])
    (tmp_path / "a").write_bytes(sealed(record, raw, version=3))
    with pytest.raises(DataError, match="a newer modeseek wrote it"):
        load(tmp_path / "a")
    params = record["value"]["StoredModel"]["params"]["dict"]
    params["depth"] = 3
    (tmp_path / "a").write_bytes(sealed(record, raw))
    with pytest.raises(DataError, match="parameters that this version does not have, depth"):
        load(tmp_path / "a")
    # one that an older version did not have is at its default
    del params["depth"], params["resolution"]
    (tmp_path / "a").write_bytes(sealed(record, raw))
    assert load(tmp_path / "a").resolution == 1 / 16


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "hills.modeseek").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    for path, words in [
        (tmp_path, "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "hill.modeseek", "Did you mean 'hills.modeseek'"),
        (tmp_path / "hills.modeseek", "is not a model"),
        ("a\0b", "cannot read"),
    ]:
        with pytest.raises(DataError, match=words):
            load(path)


def test_nothing_half_written_is_left(tmp_path, monkeypatch):
    """A disk that is full leaves the model that was there."""
    save(MeanShift(0.6).fit(X), tmp_path / "a")
    before = (tmp_path / "a").read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(DataError, match="No space left"):
        save(MeanShift(0.9).fit(X), tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == before
