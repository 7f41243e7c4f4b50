"""Types that are used in every package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from modeseek._common.storable import require, storable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# arrays of floats and of integers; the strings are the dtypes that are accepted when a file is read
Array: TypeAlias = Annotated[NDArray[Any], "float64", "float32", "int64", "uint64"]
IntArray: TypeAlias = Annotated[NDArray[Any], "int64", "int32"]


class Stage(NamedTuple):
    """Progress of one stage of a longer task.

    Attributes
    ----------
    name : str
        Name of the stage.
    done : int
        Completed units.
    total : int, optional
        Number of units; None if unknown.
    unit : str
        The unit, in the plural.
    at_most : bool
        Whether `total` is an upper bound.
    details : tuple of str
        Further facts, the most important first.
    seconds_left : float, optional
        Time left; None to estimate it from the speed so far.

    Examples
    --------
    >>> stage = Stage("labelling", 50, 200, "rows")
    >>> stage.done / stage.total
    0.25
    """

    name: str
    done: int = 0
    total: int | None = None
    unit: str = ""
    at_most: bool = False
    details: tuple[str, ...] = ()
    seconds_left: float | None = None


# a callback that receives the progress of a computation
Watcher: TypeAlias = Callable[[Stage], None]


def _check_geometry(geometry: Geometry) -> None:
    require(geometry.metric in ("euclidean", "cosine", "haversine", "precomputed"), "the metric")


@storable(_check_geometry)
class Geometry(NamedTuple):
    """The space that contains the points.

    Attributes
    ----------
    metric : {"euclidean", "cosine", "haversine", "precomputed"}
        Under "cosine" and "haversine", points are unit vectors. They are normalised after each shift, and distances are
        lengths of chords. The data of "haversine" are latitudes and longitudes in degrees. Under "precomputed", only
        distances are given, and points have no coordinates.
    """

    metric: str = "euclidean"

    @property
    def spherical(self) -> bool:
        """Whether points lie on the unit sphere."""
        return self.metric in ("cosine", "haversine")

    def arc(self, chord: ArrayLike) -> Array:
        """Convert chords c to angles 2 arcsin(c / 2) on the sphere; return Euclidean distances unchanged.

        Engines measure chords, while the certificate adds lengths along the sphere.
        """
        chord = np.asarray(chord, dtype=np.float64)
        return 2.0 * np.arcsin(np.clip(chord / 2.0, 0.0, 1.0)) if self.spherical else chord
