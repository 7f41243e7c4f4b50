"""Selection from a graph of nearest neighbours alone, without coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from modeseek._common.neighbors import Neighbors, intrinsic_dimension
from modeseek._common.types import Array
from modeseek.selection.choice import Choice
from modeseek.selection.config import DEFAULT, SelectionConfig
from modeseek.selection.data import SelectionData
from modeseek.selection.features import TABLE
from modeseek.selection.features.data_set import DATA_SET
from modeseek.selection.proposers import PROPOSERS


def graph_data(neighbors: Neighbors, weights: Array) -> SelectionData:
    """Return data without coordinates, from the nearest neighbours of each point and their positive distances."""
    none = np.zeros((len(weights), 0))
    indices, distances = np.ascontiguousarray(neighbors.indices, dtype=np.int32), neighbors.distances
    dimension = float(intrinsic_dimension(neighbors))
    return SelectionData(none, none, none, indices, distances, weights.astype(np.float64), dimension, False)


def graph_config(config: SelectionConfig = DEFAULT) -> SelectionConfig:
    """Return a config without the proposers and refinements that need coordinates.

    Examples
    --------
    >>> graph_config().proposers
    ('modes', 'communities', 'spanning_tree')
    """
    own = tuple(name for name in config.proposers if not PROPOSERS[name].needs_coordinates)
    again = tuple(name for name in config.reproducibility.proposers if name in own)
    return replace(
        config,
        proposers=own,
        refinements=replace(config.refinements, not_refined=tuple(PROPOSERS)),
        reproducibility=replace(config.reproducibility, proposers=again),
    )


def left_out(data: SelectionData, config: SelectionConfig) -> str:
    """Return a phrase that lists what is left out without coordinates; empty if the data have coordinates."""
    if data.has_coordinates:
        return ""
    names = ", ".join(name.replace("_", " ") for name in DEFAULT.proposers if name not in config.proposers)
    return f"; from a graph of {data.n_neighbors} neighbours, without {names} and the features that need coordinates"


def fill_unknown(features: Array, choice: Choice, config: SelectionConfig) -> Array:
    """Return a table of features in which those that need coordinates have a neutral value.

    The networks map the neutral value to 0, the centre of the inputs, and do not count it as missing. Features about
    proposers that are not in the config are filled too.
    """
    absent = tuple(f"agree_{kind}{name}" for name in PROPOSERS if name not in config.proposers for kind in ("", "max_"))
    filled, inputs = (
        features.copy(),
        dict(zip(choice.names, zip(choice.knots, choice.places, strict=True), strict=True)),
    )
    for column, each in enumerate(TABLE):
        if each.graph_only and not each.name.endswith(absent):
            continue
        # features of a candidate are missing for the single cluster, the last row
        rows = slice(None) if column < len(DATA_SET) or each.name.startswith("best_") else slice(-1)
        if each.name in inputs:
            knots, places = inputs[each.name]
            filled[rows, column] = np.interp(0.0, places, knots)
    return filled
