"""Random sequences of calls on each estimator, compared with a model of what an estimator remembers."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache

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
    "ms": MeanShift(1.0),
    "bms": BlurringMeanShift(1.0),
    "sms": StochasticMeanShift(1.0, random_state=0),
    "dsms": DoublyStochasticMeanShift(0.5, 2.0, 1.0, random_state=0),
    "chains": DoublyStochasticMeanShift(0.5, 2.0, 1.0, n_chains=3, random_state=0),
}


@cache
def expected(name, batches, streamed):
    """Return what a new estimator predicts for all data of the same width: the model of `Calls`."""
    model, rows = clone(ESTIMATORS[name]), np.concatenate([DATA[batch] for batch in batches])
    model = model.partial_fit(rows).finalize() if streamed else model.fit(rows)
    return model.labels_, {key: model.predict(X) for key, X in DATA.items() if X.shape[1] == rows.shape[1]}


class Calls(RuleBasedStateMachine):
    """An estimator, and what it must remember: the last successful fit, and the batches since then."""

    name: str

    @initialize()
    def start(self):
        self.model = clone(ESTIMATORS[self.name])
        self.fitted, self.batches = None, ()

    def has_width(self, data):
        """Return whether a batch has the columns of the last fit or of earlier batches."""
        before = [*self.batches, *(self.fitted[0] if self.fitted else ())]
        return all(DATA[data].shape[1] == DATA[batch].shape[1] for batch in before)

    @rule(data=st.sampled_from(sorted(DATA)))
    def fit(self, data):
        self.model.fit(DATA[data])
        self.fitted, self.batches = ((data,), False), ()
        assert (self.model.labels_ == self.model.predict(DATA[data])).all()

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
        if not self.has_width(data):
            with pytest.raises(ValueError, match="features"):
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
        self.fitted = (self.batches, True)

    @precondition(lambda self: self.fitted is not None)
    @rule()
    def interrupt(self):
        """Ctrl-C in a fit leaves the result so far or nothing; `fit` then starts again."""

        def stop(*arguments):
            raise KeyboardInterrupt

        self.model.set_params(callbacks=[stop])
        with pytest.raises(KeyboardInterrupt):
            self.model.fit(DATA["plane"])
        self.model.set_params(callbacks=None)
        if hasattr(self.model, "labels_"):
            assert len(self.model.labels_) == len(DATA["plane"])
            assert self.model.n_features_in_ == 2
            assert len(self.model.predict(DATA["plane"])) == len(DATA["plane"])
        self.fit("plane")

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

    @precondition(lambda self: self.fitted is not None)
    @rule()
    def predict_on_threads(self):
        wanted = expected(self.name, *self.fitted)[1]
        with ThreadPoolExecutor(8) as pool:
            for data, found in [(data, pool.submit(self.model.predict, DATA[data])) for data in [*wanted] * 8]:
                assert (found.result() == wanted[data]).all()

    @invariant()
    def remembers_the_last_success(self):
        if self.fitted is None:
            with pytest.raises(NotFittedError):
                self.model.predict(DATA["plane"])
            assert not hasattr(self.model, "labels_")
            return
        labels, wanted = expected(self.name, *self.fitted)
        assert (self.model.labels_ == labels).all()
        width = DATA[self.fitted[0][0]].shape[1]
        assert self.model.cluster_centers_.shape == (self.model.n_clusters_, width)
        for data, X in DATA.items():
            if data in wanted:
                assert (self.model.predict(X) == wanted[data]).all()
            else:
                with pytest.raises(ValueError, match="features"):
                    self.model.predict(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_calls_in_any_order(name, tmp_path):
    Machine = type(f"Calls_{name}", (Calls,), {"name": name, "folder": tmp_path})
    case = Machine.TestCase()
    case.settings = settings(
        max_examples=6,
        stateful_step_count=12,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],  # a failure is not shortened, which takes minutes
        suppress_health_check=list(HealthCheck),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about so few rows
        case.runTest()
