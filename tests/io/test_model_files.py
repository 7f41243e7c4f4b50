"""Files of models: what comes back, what is refused, and what a damaged or hostile file can do (nothing)."""

from __future__ import annotations

import dataclasses
import math
from copy import copy
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift
from modeseek._common.storable import STORABLE, storable
from modeseek._common.types import Array
from modeseek._storage.container import DTYPES, read_container, write_container
from modeseek._storage.encoding import NotStorableError
from modeseek._storage.errors import DataError
from modeseek.datasets import paper_mixture
from modeseek.io import load, read_model, save
from modeseek.meanshift.bandwidth import Anchored, Constant, CustomNu, Power, Shrinking, Uniform, Walk
from modeseek.meanshift.chains import Record
from modeseek.meanshift.kernels.profiles import PROFILES, custom_profile
from modeseek.prepare import TablePreparer
from modeseek.sketches import SketchConfig
from pipelines import with_sketch

X, _ = paper_mixture(12, random_state=3)
NEW = np.random.default_rng(0).normal(scale=3.0, size=(40, X.shape[1]))
GOLDEN = Path(__file__).parents[1] / "data"


def alike(a, b) -> bool:
    """Return whether two values are the same to the last bit, of the same types."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and (a.dtype == object or a.tobytes() == b.tobytes())
    if issparse(a):
        return a.shape == b.shape and alike(a.toarray(), b.toarray())
    if dataclasses.is_dataclass(a):
        return all(alike(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    return a == b or (a != a and b != b)


def there_and_back(model, path):
    save(model, path)
    return load(path)


def assert_same(model, back) -> None:
    assert type(back) is type(model)
    assert vars(back).keys() == vars(model).keys()
    for name, value in vars(model).items():
        assert alike(value, vars(back)[name]), name


MODELS = {
    "automatic": DoublyStochasticMeanShift(random_state=0),
    "chains": DoublyStochasticMeanShift(0.2, 1.6, 0.6, n_chains=3, random_state=0, record="all"),
    "grid": StochasticMeanShift(0.6, random_state=0, sketch="grid", min_cluster_size=3),
    "local": StochasticMeanShift(0.6, random_state=np.int64(3), local_scale=True, order="reshuffled"),
    "blurring": BlurringMeanShift(0.6, metric="cosine", record=Record(clumps=2)),
    "climbing": MeanShift(0.6, cluster_all=False, profile="flat"),
    "seeds": MeanShift(0.6, seeds=X[:5], bin_seeding=True, record=["clumps", "gap"]),
    "listed": MeanShift(2.0, seeds=[[0.0, 0.0], [1.0, 2.0]]),
    "sample": MeanShift(0.6, sketch="sample"),
    "modes": ModeSeek(random_state=0),
    "few": ModeSeek(random_state=0, n_clusters=2, metric="cosine"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_models_come_back_whole(name, dtype, tmp_path):
    model = MODELS[name].fit(X.astype(dtype))
    back = there_and_back(model, tmp_path / "a.modeseek")
    assert_same(model, back)
    new = NEW.astype(dtype)
    assert alike(model.predict(new), back.predict(new))
    assert alike(back.predict(X.astype(dtype)), model.predict(X.astype(dtype)))
    if model.result_.memberships is not None:
        assert alike(model.memberships_, back.memberships_)
    if hasattr(model, "tree_"):
        assert alike(model.tree_.cut(0.1), back.tree_.cut(0.1))


@pytest.mark.parametrize("profile", [*PROFILES.values(), *PROFILES])
def test_profiles_that_ship_come_back(profile, tmp_path):
    back = there_and_back(MeanShift(0.6, profile=profile), tmp_path / "a")
    assert back.profile is profile or back.profile == profile


@pytest.mark.parametrize(
    "policy",
    [
        *(Constant(0.6), Shrinking(0.2, 1.6, 0.6), Walk(0.2, 1.6, nu=Power(0.5))),
        *(Uniform(0.2, 1.6), Anchored(0.2, 1.6, 0.6), "walk", "constant"),
    ],
    ids=str,
)
def test_policies_that_ship_come_back(policy, tmp_path):
    range_ = {"h_min": 0.2, "h_max": 1.6} if isinstance(policy, str) else {}
    model = DoublyStochasticMeanShift(policy=policy, nu="1/k^0.5", random_state=1, max_updates=300, **range_)
    assert there_and_back(model, tmp_path / "a").policy == policy


def test_a_stream_goes_on_where_it_was(tmp_path):
    config = SketchConfig(layout_rows=50)

    def restored(model):
        plain = copy(model)
        del plain._sketch_config  # is not part of a file
        return with_sketch(there_and_back(plain, tmp_path / "a"), config)

    for first in (X[:10], NEW, np.concatenate([X, NEW])):
        model = with_sketch(StochasticMeanShift(0.6, random_state=0), config).partial_fit(first)
        back = restored(model)
        for each in (model, back):
            each.partial_fit(X[10:], forget=0.2)
        assert alike(model.finalize().labels_, back.finalize().labels_)
        again = restored(model)
        assert_same(model, again)
        assert alike(again.partial_fit(X).finalize().labels_, model.partial_fit(X).finalize().labels_)


def test_names_of_features_come_back(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["breadth", "ü, \U0001f4c8"])
    model = MeanShift(0.6).fit(frame)
    back = there_and_back(model, tmp_path / "a")
    assert list(back.feature_names_in_) == list(model.feature_names_in_)
    assert alike(back.predict(frame), model.labels_)


class OwnPolicy:
    h_0 = h_min = 0.6

    def draw(self, uniforms, h, k):
        return np.full(len(uniforms), 0.6)

    def upper(self, h, k):
        return 0.6


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            MeanShift(profile=custom_profile(lambda t: (1 - t) ** 3, lambda t: 3 * (1 - t) ** 2)),
            "profile holds functions",
        ),
        (DoublyStochasticMeanShift(nu=lambda k: 1 / k), "nu holds functions"),
        (DoublyStochasticMeanShift(policy=Walk(0.2, 1.0, nu=CustomNu(lambda k: 1 / k))), "policy.nu holds functions"),
        (DoublyStochasticMeanShift(policy=OwnPolicy()), "policy is a .*OwnPolicy"),
        (MeanShift(callbacks=[print]), "callbacks.0 holds functions"),
        (MeanShift(n_jobs=10**6), "n_jobs"),
        (StochasticMeanShift(random_state=np.random.default_rng(0)), "is a generator .*use a seed, as random_state=0"),
        (StochasticMeanShift(random_state=np.random.RandomState(0)), "is a generator .*use a seed, as random_state=0"),
        (make_pipeline(MeanShift()), "save takes one of"),
        (type("Own", (MeanShift,), {})(), "save takes one of"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_cannot_be_saved_says_why(model, words, tmp_path):
    with pytest.raises(TypeError, match=words):
        save(model, tmp_path / "a.modeseek")
    assert list(tmp_path.iterdir()) == []


def test_attributes_of_ones_own_are_refused(tmp_path):
    model = MeanShift(0.6).fit(X)
    model.notes_ = "mine"
    with pytest.raises(TypeError, match="notes_"):
        save(model, tmp_path / "a")


def test_the_preparation_is_kept_and_said(tmp_path):
    rows = X * 9 + 4
    table = {"a": rows[:, 0], "kind": ["u", "v"] * (len(X) // 2), "b": rows[:, 1]}
    preparer = TablePreparer()
    model = MeanShift(0.5).fit(preparer.fit_transform(table))
    save(model, tmp_path / "a", preparer=preparer)
    saved = read_model(tmp_path / "a")
    assert saved.preparer.kept_columns_ == ("a", "b")
    assert alike(saved.predict(table), model.labels_)
    assert alike(saved.predict(rows), model.labels_)
    rows[3, 1] = np.nan
    assert saved.predict({"b": rows[:, 1], "a": rows[:, 0]})[3] == -1
    from modeseek._common.hints import AdviceWarning

    with pytest.warns(AdviceWarning, match="prepared features"):
        load(tmp_path / "a")


def test_a_file_of_format_2_loads():
    """Written when the format was made: later versions read it, or say why not."""
    saved = read_model(GOLDEN / "model-2.modeseek")
    assert saved.written_by == "0.1.0"
    assert saved.model.labels_.tolist() == saved.model.predict([[0.0], [0.1], [5.0]]).tolist() == [0, 0, 1]
    assert saved.model.get_params()["n_chains"] == 2


def test_a_file_of_format_1_is_refused_by_name():
    with pytest.raises(DataError, match=r"has file format 1, but this version of modeseek reads format 2\. "):
        load(GOLDEN / "model-1.modeseek")


def test_types_of_arrays_survive(tmp_path):
    arrays = {f"a{i}": np.array([[0, 1, 1]], dtype) for i, dtype in enumerate(DTYPES)}
    arrays |= {"big": np.array([1.5], ">f8"), "empty": np.empty((0, 3)), "flat": np.float32(2.0)}
    arrays["turned"] = np.arange(6.0).reshape(2, 3).T
    write_container(tmp_path / "a", "example", arrays)
    back = read_container(tmp_path / "a", "example", dict[str, object], "")
    assert all(np.array_equal(back[name], array) for name, array in arrays.items())
    assert all(back[f"a{i}"].dtype == dtype for i, dtype in enumerate(DTYPES))
    assert type(back["flat"]) is np.float32
    with pytest.raises(TypeError, match="z is an array of complex128"):
        write_container(tmp_path / "a", "z", np.array([1j]))
    with pytest.raises(DataError, match="in 5 dimensions"):
        write_container(tmp_path / "a", "z", np.zeros((1,) * 5))
    # what could not be read is not written
    for value, words in (([0] * (1 << 21), "values"), ("a" * (32 << 20), "bytes")):
        with pytest.raises(DataError, match=f"cannot write .* its record has .* {words}, more than"):
            write_container(tmp_path / "b", "example", value)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


class Own(NamedTuple):
    left: int
    right: tuple[float, ...]
    more: dict[str, Array] | None = None


def test_a_class_joins_by_a_decorator(tmp_path):
    own = Own(1, (2.5, math.inf), {"x": np.arange(3)})
    with pytest.raises(NotStorableError, match=r"example is a .*Own, which files cannot hold"):
        write_container(tmp_path / "a", "example", own)
    storable()(Own)
    try:
        write_container(tmp_path / "a", "example", own)
        assert alike(read_container(tmp_path / "a", "example", Own, ""), own)
        for wrong in (own._replace(left=1.5), own._replace(right=[1.0]), own._replace(more={"x": np.zeros(2, bool)})):
            write_container(tmp_path / "a", "example", wrong)
            with pytest.raises(DataError, match=r"is not a valid example; wrong part: .* of Own\. Write it again"):
                read_container(tmp_path / "a", "example", Own, "Write it again.")
    finally:
        del STORABLE["Own"]


# -- the command ------------------------------------------------------------------------------------------------------


def command(*arguments):
    from typer.testing import CliRunner

    from modeseek.cli import app

    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "points.csv"
    lines = [f"p{i},{100 * a!r},{b!r}" for i, (a, b) in enumerate(X.tolist())]
    path.write_text("\n".join(["name,width,height", *lines]) + "\n")
    return path


@pytest.mark.parametrize("options", [[], ["--scale", "none"], ["--metric", "cosine"], ["--out-of-core"]], ids=str)
def test_the_command_saves_and_labels(table, tmp_path, options):
    model, out, again = tmp_path / "a.modeseek", tmp_path / "out.csv", tmp_path / "again.csv"
    status, _, err = command("cluster", table, "--ignore", "name", *options, "--save", model, "-o", out, "-q")
    assert status == 0, err
    saved = read_model(model)
    assert saved.preparer.kept_columns_ == ("width", "height")
    assert saved.preparer.changes_numbers != (options[:1] in (["--scale"], ["--metric"]))
    # columns in another order, and one more
    turned = tmp_path / "turned.csv"
    cells = [line.split(",") for line in table.read_text().splitlines()]
    turned.write_text("\n".join(",".join([row[2], row[0], row[1], "x"]) for row in cells) + "\n")
    turned.write_text(turned.read_text().replace(",x\n", ",more\n", 1))
    status, _, err = command("label", model, turned, "-o", again)
    assert status == 0, err
    clusters = [[line.split(",")[i] for line in path.read_text().splitlines()] for path, i in ((out, 3), (again, 4))]
    assert clusters[0] == clusters[1]


def test_the_command_refuses_what_it_cannot_label(table, tmp_path):
    (tmp_path / "bad.modeseek").write_bytes(b"nothing")
    save(MeanShift(0.6), tmp_path / "unfitted.modeseek")
    preparer = TablePreparer().fit({"width": X[:, 0], "depth": X[:, 1]})
    save(MeanShift(0.6).fit(X), tmp_path / "a.modeseek", preparer=preparer)
    for model, words, *more in [
        ("bad.modeseek", "is not a model"),
        ("gone.modeseek", "cannot read"),
        ("unfitted.modeseek", "is not fitted"),
        ("a.modeseek", "no column 'depth'"),
        ("a.modeseek", "already has a column", "--name", "name"),
        ("a.modeseek", "is also an input file", "-o", table),
    ]:
        status, out, err = command("label", tmp_path / model, table, *more)
        assert (status, out) == (2, "")
        assert words in err
    status, _, err = command("cluster", table, "--save", tmp_path / "a.pkl")
    assert status == 2
    assert "Known: .modeseek" in err
