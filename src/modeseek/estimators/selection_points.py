"""Conversions between the points of a fit and the points on which the selection of `ModeSeek` runs."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from modeseek._common.points import Points
from modeseek._common.rounding import SpreadPoints
from modeseek._common.types import IntArray
from modeseek._common.validation import MIN_WEIGHT
from modeseek.estimators.result import FitData
from modeseek.meanshift.consensus import counterparts
from modeseek.selection import Selection


def weighted_by_rows(data: FitData) -> Points:
    """Return the points with weights that can be read as numbers of rows, which the selection needs.

    Weights that are all whole numbers are not changed. Other weights may have any unit; they are divided by the mean
    weight of a row.
    """
    points, rows = data.points, data.points.inverse if data.sketch_points is None else data.sketch_points
    weights = points.weights
    if (weights < 2.0**53).all() and (weights == np.rint(weights)).all():  # floats of 2^53 or more are always whole
        return points
    return points._replace(weights=np.maximum(weights / (weights.sum() / len(rows)), MIN_WEIGHT))


def of_distinct_points(found: Selection, spread: SpreadPoints) -> Selection:
    """Return the selection for distinct points: each gets the label of most of its copies in `spread`."""

    def majority(labels: IntArray) -> IntArray:
        return counterparts(spread.origin, labels, spread.points.weights)[spread.first]

    candidates = []
    for each in found.candidates:
        kept, labels = np.unique(majority(each.labels), return_inverse=True)
        candidates.append(each._replace(labels=labels, n_clusters=len(kept)))
    return replace(
        found,
        labels=majority(found.labels),
        memberships=csr_array(spread.mean(found.memberships.toarray())),
        votes=(),
        candidates=tuple(candidates),
    )
