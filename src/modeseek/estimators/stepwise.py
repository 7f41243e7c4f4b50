"""Fits of the mean shifts that run step by step, for animated displays."""

import numpy as np

from modeseek._common.types import Array
from modeseek.estimators.chain_clusterer import ChainClusterer
from modeseek.estimators.fit_input import data_from_rows
from modeseek.estimators.input_checks import check_rows
from modeseek.estimators.mean_shift import MeanShift
from modeseek.estimators.result import FitData, FitResult
from modeseek.meanshift.chains import Record, Sweeps
from modeseek.meanshift.chains.chain import PartSize


class StepwiseFit:
    """The chain that an estimator runs in `fit`, as an iterator over its sweeps.

    Parameters
    ----------
    model : ChainClusterer
        An estimator with its parameters; it is not changed.
    X : array of shape (n_samples, n_features)
    part_size : callable, optional
        Function without arguments that returns the number of updates after which to yield within a sweep; see `Sweeps`.

    Attributes
    ----------
    data : FitData
        The distinct points and the bandwidths.
    chain : Chain
        The chain, or the first chain if the estimator runs several. For `MeanShift`, no point stops at the path of
        another point, as many points may do in `fit`.
    stopping : Stopping
    sweeps : Sweeps
        The iterator over the sweeps; it records no trace.

    Examples
    --------
    >>> from modeseek import StochasticMeanShift
    >>> fit = StepwiseFit(StochasticMeanShift(1.0, random_state=0), np.array([[0.0], [0.5], [5.0]]))
    >>> [state.k for state, info in fit.sweeps]
    [3]
    >>> fit.result().labels
    array([0, 0, 1])
    """

    def __init__(self, model: ChainClusterer, X: Array, part_size: PartSize | None = None):
        self.model = model
        self.data = prepare_fit(model, X)
        if isinstance(model, MeanShift):
            self.chain, self.stopping = model._make_chain(self.data, scouts=False)
        else:
            self.chain, self.stopping = model._make_chain(self.data)
        self.sweeps = Sweeps(self.chain, self.stopping, record=Record.nothing(), part_size=part_size)

    @property
    def is_whole_fit(self) -> bool:
        """Whether `result` is the result of `fit`: the estimator is not `MeanShift` and runs one chain."""
        return not isinstance(self.model, MeanShift) and self.model._count_chains() == 1

    def result(self) -> FitResult:
        """Return the result for the current state of the chain, without a trace."""
        return self.model._result_of(self.data, self.chain, self.stopping, self.sweeps.result())


def prepare_fit(model: ChainClusterer, X: Array) -> FitData:
    """Return the distinct points and the bandwidths of a fit."""
    geometry = model._check_parameters()
    rows, _ = check_rows(model, X)
    return data_from_rows(model, rows, np.ones(len(rows)), geometry, None)
