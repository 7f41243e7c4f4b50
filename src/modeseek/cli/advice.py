"""What a reader of the table should know before the work begins."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import numpy as np

from modeseek._common.scaling import dominant
from modeseek._storage import Features

__all__ = ["advice_on"]

# shorter columns may count by chance
FEWEST = 10


def advice_on(features: Features, *, standardise: bool, euclidean: bool) -> Iterator[str]:
    """Yield what looks like a slip: columns that number the rows, and a column that outweighs all others."""
    for name, column in zip(features.names, features.values.T, strict=True):
        if len(features.names) > 1 and len(column) >= FEWEST and (np.diff(column) == 1).all():
            yield (
                f"column '{name}' numbers the rows, and takes part like any other: "
                f"if that is not meant, leave it out with --ignore {shlex.quote(name)}."
            )
    found = None if standardise or not euclidean else dominant(features.values)
    if found is not None:
        column_number, times = found
        yield (
            f"column '{features.names[column_number]}' varies {times:,.0f} times as much as the others, so that it "
            "alone decides the clusters: use --scale standard (the default) if its units are not theirs."
        )
