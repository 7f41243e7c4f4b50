"""Random Gaussian mixtures with known labels: the paper's mixture, one of unequal sizes, and one of many components."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from modeseek._common.types import Array, IntArray
from modeseek._common.validation import check_choice, check_integer, check_number, seed_of

__all__ = ["imbalanced_mixture", "many_clusters", "paper_mixture"]

PAPER_CENTERS = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
PAPER_SPREAD = 0.65
PAPER_SPACING = 2.0
SPREADS = ("std", "variance")
SIZES = ("graded", "one small")


def paper_mixture(n_per_cluster: int = 50, *, spread: str = "std", random_state: Any = None) -> tuple[Array, IntArray]:
    """Draw points from the paper's mixture of three round Gaussians in the plane.

    Component j is N(m_j, s^2 I) with m_0 = (1, 1), m_1 = (-1, -1), m_2 = (1, -1). The paper's value 0.65 is used as s
    (`spread="std"`) or as s^2 (`spread="variance"`).

    Parameters
    ----------
    n_per_cluster : int, default=50
        Number of points of each component.
    spread : {"std", "variance"}, default="std"
        Whether 0.65 is the standard deviation s or the variance s^2 (s = 0.806). The paper's table gives the covariance
        as 0.65 I, which is "variance"; the components then overlap much more.
    random_state : int, Generator, RandomState or None, default=None
        Pass an integer for the same points each time.

    Returns
    -------
    X : (3 * n_per_cluster, 2) float64 array
        The points, component by component.
    y : (3 * n_per_cluster,) integer array
        The component of each point.

    Examples
    --------
    >>> X, y = paper_mixture(50, random_state=0)
    >>> X.shape, np.bincount(y)
    ((150, 2), array([50, 50, 50]))
    """
    n = check_integer("n_per_cluster", n_per_cluster, low=1)
    return _gaussians(PAPER_CENTERS, np.full(3, n), spread, random_state)


def imbalanced_mixture(
    ratio: float,
    n_per_cluster: int = 50,
    *,
    sizes: str = "graded",
    spread: str = "std",
    random_state: Any = None,
) -> tuple[Array, IntArray]:
    """Draw points from the paper's mixture with components of unequal sizes.

    The sizes have the proportions ratio : sqrt(ratio) : 1 for `sizes="graded"`, and ratio : ratio : 1 for
    `sizes="one small"`. They are rounded by the largest remainder method, and add up to 3 * n_per_cluster for every
    ratio. `ratio=1` gives exactly the points of `paper_mixture`.

    Parameters
    ----------
    ratio : float
        Largest size over smallest size, >= 1.
    n_per_cluster : int, default=50
        Average number of points of a component.
    sizes : {"graded", "one small"}, default="graded"
        Size of the second component: between those of the other two ("graded"), or equal to the largest ("one small").
    spread : {"std", "variance"}, default="std"
        Meaning of the paper's 0.65; see `paper_mixture`.
    random_state : int, Generator, RandomState or None, default=None
        Pass an integer for the same points each time.

    Returns
    -------
    X : (3 * n_per_cluster, 2) float64 array
        The points, component by component.
    y : (3 * n_per_cluster,) integer array
        The component of each point; 0 is the largest, at (1, 1), and 2 the smallest, at (1, -1).

    Examples
    --------
    >>> X, y = imbalanced_mixture(16, 70, random_state=0)
    >>> np.bincount(y)
    array([160,  40,  10])
    """
    n = check_integer("n_per_cluster", n_per_cluster, low=1)
    ratio = check_number("ratio", ratio, low=1.0, strict=False)
    middle = np.sqrt(ratio) if check_choice("sizes", sizes, SIZES) == "graded" else ratio
    counts = _split(3 * n, np.array([ratio, middle, 1.0]))
    if counts.min() < 1:
        raise ValueError(
            f"ratio={ratio:g} leaves no point for the smallest component of {3 * n} points in all: "
            "use a smaller ratio or a larger n_per_cluster."
        )
    return _gaussians(PAPER_CENTERS, counts, spread, random_state)


def many_clusters(
    n_clusters: int,
    n_per_cluster: int = 50,
    *,
    spacing: float = PAPER_SPACING,
    spread: str = "std",
    random_state: Any = None,
) -> tuple[Array, IntArray]:
    """Draw points from many round Gaussians with centres on a square grid.

    Component j is N(m_j, s^2 I) with m_j = spacing * (column, row), on a grid of ceil(sqrt(n_clusters)) columns that is
    filled row by row and centred on the origin. The distance between neighbouring centres is always `spacing`, by
    default the paper's 2. Neighbouring clusters therefore overlap equally for any number of clusters.

    Parameters
    ----------
    n_clusters : int
        Number of components.
    n_per_cluster : int, default=50
        Number of points of each component.
    spacing : float, default=2.0
        Distance between neighbouring centres.
    spread : {"std", "variance"}, default="std"
        Meaning of the paper's 0.65; see `paper_mixture`.
    random_state : int, Generator, RandomState or None, default=None
        Pass an integer for the same points each time.

    Returns
    -------
    X : (n_clusters * n_per_cluster, 2) float64 array
        The points, component by component.
    y : (n_clusters * n_per_cluster,) integer array
        The component of each point.

    Examples
    --------
    >>> X, y = many_clusters(10, 20, random_state=0)
    >>> X.shape, np.unique(y).size
    ((200, 2), 10)
    """
    n_clusters = check_integer("n_clusters", n_clusters, low=1)
    n = check_integer("n_per_cluster", n_per_cluster, low=1)
    spacing = check_number("spacing", spacing)
    n_columns = int(np.ceil(np.sqrt(n_clusters)))
    rows, columns = np.divmod(np.arange(n_clusters), n_columns)
    middle = np.array([n_columns - 1, rows[-1]]) / 2
    centers = spacing * (np.column_stack([columns, rows]) - middle)
    return _gaussians(centers, np.full(n_clusters, n), spread, random_state)


def paper_std(spread: str) -> float:
    """Return the standard deviation of the paper's Gaussians for an interpretation of its 0.65.

    Examples
    --------
    >>> paper_std("std"), round(paper_std("variance"), 3)
    (0.65, 0.806)
    """
    check_choice("spread", spread, SPREADS)
    return PAPER_SPREAD if spread == "std" else float(np.sqrt(PAPER_SPREAD))


def _gaussians(centers: Array, sizes: IntArray, spread: str, random_state: Any) -> tuple[Array, IntArray]:
    std = paper_std(spread)
    rng = np.random.default_rng(seed_of(random_state))
    y = np.repeat(np.arange(len(sizes)), sizes)
    return centers[y] + std * rng.standard_normal((len(y), centers.shape[1])), y


def _split(total: int, proportions: ArrayLike) -> IntArray:
    """Return integers with the given sum and proportions, by the largest remainder method."""
    exact = np.asarray(proportions, dtype=np.float64)
    exact = total * exact / exact.sum()
    sizes = np.floor(exact).astype(np.int64)
    # a stable sort: among equal remainders, the larger component comes first
    leftover = np.argsort(sizes - exact, kind="stable")[: total - sizes.sum()]
    sizes[leftover] += 1
    return sizes
