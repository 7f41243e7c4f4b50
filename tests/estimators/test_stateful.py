"""Random sequences of calls on each estimator, compared with a model of what an estimator remembers."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from modeseek import BlurringMeanShift, DoublyStochasticMeanShift, MeanShift, ModeSeek, StochasticMeanShift, io

rng = np.random.default_rng(0)
DATA = {
    "plane": np.concatenate([rng.normal(center, 0.3, (10, 2)) for center in (1, 5)]),
    "space": np.concatenate([rng.normal(center, 0.3, (8, 3)) for center in (1, 4, 7)]),
    "point": np.full((3, 2), 2.0),
    "float32": rng.normal(3, 1, (12, 2)).astype(np.float32),
}
REFUSED = {
    "missing": (np.full((4, 2), np.nan), {}),
    "one dimension": (np.ones(5), {}),
    "no rows": (np.ones((0, 2)), {}),
    "text": (np.array([["a", "b"]]), {}),
    "negative weight": (np.ones((3, 2)), {"sample_weight": [1, -1, 1]}),
    "too few weights": (np.ones((3, 2)), {"sample_weight": [1.0]}),
    "too large": (np.array([[1e300], [-1e300]]), {}),
}
ESTIMATORS = {
    "modeseek": ModeSeek(random_state=0),
    "cosine": ModeSeek(metric="cosine", random_state=0),
    "haversine": ModeSeek(metric="haversine", random_state=0),
    "ms": MeanShift(1.0),
    "ms haversine": MeanShift(100.0, metric="haversine"),
    "bms": BlurringMeanShift(1.0),
    "sms": StochasticMeanShift(1.0, random_state=0),
    "dsms": DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0),
    "chains": DoublyStochasticMeanShift(0.5, 2.0, 1.0, n_chains=3, random_state=0),
}


class Fit(NamedTuple):
    """A successful fit: the data, and whether they were given at once, in batches, or once with weights of 2."""

    batches: tuple[str, ...]
    how: str


@cache
def expected(name, fit):
    """Return the labels, and what a new estimator predicts for all data of the same width: the model of `Calls`."""
    model, rows = clone(ESTIMATORS[name]), np.concatenate([DATA[batch] for batch in fit.batches])
    # a weight of 2 equals two copies
    model.fit(np.concatenate([rows, rows]) if fit.how == "weights" else rows)
    if fit.how == "stream":
        model = clone(model).partial_fit(rows).finalize()
    return model.labels_[: len(rows)], {key: model.predict(X) for key, X in DATA.items() if X.shape[1] == rows.shape[1]}


class Calls(RuleBasedStateMachine):
    """An estimator, and what it must remember: the last successful fit, and the batches since then."""

    name: str

    @initialize()
    def start(self):
        self.model = clone(ESTIMATORS[self.name])
        self.fitted, self.batches = None, ()

    def accepts(self, data):
        """Return whether the metric has a meaning for the data."""
        return DATA[data].shape[1] == 2 or "haversine" not in self.name

    def has_width(self, data):
        """Return whether a batch has the columns of the last fit or of earlier batches."""
        before = [*self.batches, *(self.fitted.batches if self.fitted else ())]
        return all(DATA[data].shape[1] == DATA[batch].shape[1] for batch in before)

    @rule(data=st.sampled_from(sorted(DATA)), weights=st.booleans())
    def fit(self, data, weights):
        X = DATA[data]
        given = {"sample_weight": np.full(len(X), 2.0)} if weights else {}
        if not self.accepts(data):
            with pytest.raises(ValueError, match="haversine"):
                self.model.fit(X, **given)
            return
        self.model.fit(X, **given)
        self.fitted, self.batches = Fit((data,), "weights" if weights else "fit"), ()
        assert (self.model.labels_ == self.model.predict(X)).all()

    @rule()
    def fit_on_threads(self):
        """Other estimators, fitted at the same time, change nothing here, and each other's results neither."""
        names = [data for data in DATA if self.accepts(data)]
        with ThreadPoolExecutor(4) as pool:
            fits = [(data, pool.submit(clone(self.model).fit, DATA[data])) for data in names * 2]
        for data, fit in fits:
            assert (fit.result().labels_ == expected(self.name, Fit((data,), "fit"))[0]).all()

    @rule(reason=st.sampled_from(sorted(REFUSED)), method=st.sampled_from(["fit", "partial_fit"]))
    def refuse(self, reason, method):
        X, options = REFUSED[reason]
        if method == "partial_fit" and reason == "too large" and self.name != "cosine":
            return  # a batch may be of any extent; `finalize` refuses it
        if self.name == "cosine" and reason == "too large":
            return  # directions have no extent
        with pytest.raises(ValueError):  # noqa: PT011 (seven messages)
            getattr(self.model, method)(X, **options)

    @rule(parameter=st.sampled_from([("min_cluster_size", 0), ("n_jobs", 0), ("metric", "taxi")]))
    def refuse_parameters(self, parameter):
        name, value = parameter
        before = self.model.get_params()[name]
        self.model.set_params(**{name: value})
        with pytest.raises(ValueError, match=name):
            self.model.fit(DATA["plane"])
        self.model.set_params(**{name: before})

    @rule(data=st.sampled_from(sorted(DATA)))
    def partial_fit(self, data):
        if not self.has_width(data) or not self.accepts(data):
            with pytest.raises(ValueError, match=r"features|haversine"):
                self.model.partial_fit(DATA[data])
            return
        self.model.partial_fit(DATA[data])
        self.batches += (data,)

    @rule()
    def finalize(self):
        if not self.batches:
            with pytest.raises(ValueError, match="nothing to cluster"):
                self.model.finalize()
            return
        self.model.finalize()
        self.fitted = Fit(self.batches, "stream")

    @precondition(lambda self: self.fitted is not None)
    @rule(after=st.integers(0, 3))
    def interrupt(self, after):
        """Ctrl-C in a fit leaves the result so far or nothing; `fit` then starts again."""
        left = iter(range(after))

        def stop(*arguments):
            if next(left, None) is None:
                raise KeyboardInterrupt

        self.model.set_params(callbacks=[stop])
        # a fit may have fewer steps
        with suppress(KeyboardInterrupt):
            self.model.fit(DATA["plane"])
        self.model.set_params(callbacks=None)
        if hasattr(self.model, "labels_"):
            assert len(self.model.labels_) == len(DATA["plane"])
            assert self.model.n_features_in_ == 2
            assert len(self.model.predict(DATA["plane"])) == len(DATA["plane"])
        self.fit("plane", weights=False)

    @rule(how=st.sampled_from(["save", "pickle", "copy"]))
    def replace(self, how):
        if how == "pickle":
            self.model = pickle.loads(pickle.dumps(self.model))
        elif how == "copy":
            self.model = copy.deepcopy(self.model)
        elif self.fitted or self.batches:
            path = self.folder / "m.modeseek"
            io.save(self.model, path)
            self.model = io.load(path)

    @precondition(lambda self: self.fitted or self.batches)
    @rule(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def load_damaged(self, at, bit):
        """A file with one bit changed is refused, and the estimator stays as it is."""
        path = self.folder / "damaged.modeseek"
        io.save(self.model, path)
        content = bytearray(path.read_bytes())
        content[int(at * len(content))] ^= 1 << bit
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged\.modeseek"):
            io.load(path)

    @precondition(lambda self: self.fitted is not None)
    @rule()
    def change_parameters(self):
        """Parameters count for the next fit only."""
        before = self.model.get_params()
        self.model.set_params(min_cluster_size=5, n_jobs=2)
        self.remembers_the_last_success()
        self.model.set_params(**{name: before[name] for name in ("min_cluster_size", "n_jobs")})

    @precondition(lambda self: self.fitted is not None)
    @rule()
    def read_on_threads(self):
        """Predictions, tables and files that are made at the same time."""
        wanted = expected(self.name, self.fitted)[1]
        table, page = self.model.summary(), self.model._result_html()
        with ThreadPoolExecutor(8) as pool:
            found = [(data, pool.submit(self.model.predict, DATA[data])) for data in [*wanted] * 8]
            tables = [pool.submit(self.model.summary) for _ in range(4)]
            pages = [pool.submit(self.model._result_html) for _ in range(4)]
            files = [pool.submit(io.save, self.model, self.folder / f"{n}.modeseek") for n in range(4)]
        for data, each in found:
            assert (each.result() == wanted[data]).all()
        assert all(repr(each.result()) == repr(table) for each in tables)
        assert all(each.result() == page for each in pages)
        assert all(each.result() is None for each in files)
        assert len({(self.folder / f"{n}.modeseek").read_bytes() for n in range(4)}) == 1

    @invariant()
    def remembers_the_last_success(self):
        if self.fitted is None:
            with pytest.raises(NotFittedError):
                self.model.predict(DATA["plane"])
            assert not hasattr(self.model, "labels_")
            return
        labels, wanted = expected(self.name, self.fitted)
        assert (self.model.labels_ == labels).all()
        width = DATA[self.fitted.batches[0]].shape[1]
        assert self.model.cluster_centers_.shape == (self.model.n_clusters_, width)
        for data, X in DATA.items():
            if data in wanted:
                assert (self.model.predict(X) == wanted[data]).all()
            else:
                with pytest.raises(ValueError, match="features"):
                    self.model.predict(X)


def play(name, folder, examples, steps):
    Machine = type(f"Calls_{name}", (Calls,), {"name": name, "folder": folder})
    case = Machine.TestCase()
    case.settings = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],  # a failure is not shortened, which takes minutes
        suppress_health_check=list(HealthCheck),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about so few rows
        case.runTest()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_calls_in_any_order(name, tmp_path):
    play(name, tmp_path, 6, 12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_many_calls_in_any_order(name, tmp_path):
    play(name, tmp_path, 20, 40)
