"""What a synthetic data set is, and the registry of families."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["FAMILIES", "NULL", "Family", "Sample", "family", "make", "prepared"]

Array: TypeAlias = NDArray[np.float64]
NULL = "null"


class Sample(NamedTuple):
    """One labelled data set.

    Attributes
    ----------
    X : (n, d) array
    y : (n,) integer array
        The cluster of each row; -1 marks background noise, which is left out of scores.
    metric : {"euclidean", "cosine"}
    bayes : (n,) integer array or None
        Labels by the Bayes rule, where the density is known: no method does better on average.
    """

    X: Array
    y: NDArray[np.intp]
    metric: str = "euclidean"
    bayes: NDArray[np.intp] | None = None


class Family(NamedTuple):
    """A named generator of data sets.

    Attributes
    ----------
    name : str
    group : str
        The kind of data; families of the group "null" have a single cluster.
    generate : callable
        Function of a random generator that returns a `Sample`.
    """

    name: str
    group: str
    generate: Callable[[np.random.Generator], Sample]


FAMILIES: dict[str, Family] = {}


def family(group: str) -> Callable[[Callable[[np.random.Generator], Sample]], Callable[[np.random.Generator], Sample]]:
    """Register the decorated function as a family of the given group."""

    def register(generate: Callable[[np.random.Generator], Sample]) -> Callable[[np.random.Generator], Sample]:
        FAMILIES[generate.__name__] = Family(generate.__name__, group, generate)
        return generate

    return register


def make(name: str, seed: int, *, few: bool = False, change: bool = False) -> Sample:
    """Return the data set of a family for a seed, with its rows in random order.

    With `few`, only 20 to 200 rows at random are kept. With `change`, the set is changed at random (`changes`).
    """
    from synthetic.changes import changed

    # the name enters the seed, so that two families never share their random numbers
    rng = np.random.default_rng([seed, *name.encode()])
    sample = FAMILIES[name].generate(rng)
    if change:
        sample = changed(rng, sample, FAMILIES[name].generate.__module__)
    order = rng.permutation(len(sample.X))
    if few:
        order = order[: int(20 * 10 ** rng.random())]
    bayes = None if sample.bayes is None else sample.bayes[order]
    return Sample(np.asarray(sample.X, np.float64)[order], np.asarray(sample.y)[order], sample.metric, bayes)


def prepared(sample: Sample) -> Array:
    """Return the rows as a user would pass them: standardized columns, or unit vectors under the cosine metric."""
    if sample.metric == "cosine":
        return sample.X / np.linalg.norm(sample.X, axis=1, keepdims=True)
    spread = sample.X.std(axis=0)
    return (sample.X - sample.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
