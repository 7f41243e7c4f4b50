"""Kernel profiles, and a check of user-defined ones.

Definition 1 of the paper: k on [0, 1] is C1, non-increasing and convex, with k' < 0 on [0, 1). The proofs also use the
extension of k by zero. `Profile.convex` and `Profile.smooth` tell whether the extension is convex and C1; see
docs/theory.md.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np

from modeseek._common.storable import stored_by_name
from modeseek._common.types import Array
from modeseek._common.validation import check_choice
from modeseek.meanshift.kernels import formulas

__all__ = [
    "BIWEIGHT",
    "FLAT",
    "GAUSSIAN",
    "PROFILES",
    "QUADWEIGHT",
    "TRIWEIGHT",
    "OutsideTheoremsWarning",
    "Profile",
    "custom_profile",
    "failed_clauses",
    "get_profile",
]

# number of points at which the clauses of Definition 1 are checked
GRID_POINTS = 2001


class OutsideTheoremsWarning(UserWarning):
    """The computation works, but the paper's theorems do not cover it."""


@dataclass(frozen=True)
class Profile:
    """A kernel profile k and its weight G = -k', both functions of t = |u|^2 that are zero for t > 1.

    Attributes
    ----------
    name : str
    k, weight : callable
        k(t) and G(t) for a number or an array t >= 0.
    convex : bool
        Whether k extended by zero is convex on [0, inf), which requires k(1) = 0.
    smooth : bool
        Whether k extended by zero is C1 as well, which requires k'(1) = 0.
    code : int or None
        Number by which compiled code selects the profile; None for a user-defined profile.

    Examples
    --------
    >>> BIWEIGHT.name, float(BIWEIGHT.k(0.5)), float(BIWEIGHT.weight(0.5)), BIWEIGHT.smooth
    ('biweight', 0.25, 1.0, True)
    """

    name: str
    k: Callable[[Array], Array] = field(repr=False)
    weight: Callable[[Array], Array] = field(repr=False)
    convex: bool
    smooth: bool
    code: int | None = field(default=None, repr=False)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        # a copy of a library profile is the same object, because files store these profiles by name
        return (get_profile, (self.name,)) if PROFILES.get(self.name) is self else super().__reduce_ex__(protocol)


BIWEIGHT = Profile("biweight", formulas.biweight_k, formulas.biweight_weight, convex=True, smooth=True, code=1)
TRIWEIGHT = Profile("triweight", formulas.triweight_k, formulas.triweight_weight, convex=True, smooth=True, code=2)
QUADWEIGHT = Profile("quadweight", formulas.quadweight_k, formulas.quadweight_weight, convex=True, smooth=True, code=3)
FLAT = Profile("flat", formulas.flat_k, formulas.flat_weight, convex=True, smooth=False, code=0)
GAUSSIAN = Profile("gaussian", formulas.gaussian_k, formulas.gaussian_weight, convex=False, smooth=False, code=4)

PROFILES = {profile.name: profile for profile in (BIWEIGHT, TRIWEIGHT, QUADWEIGHT, FLAT, GAUSSIAN)}

stored_by_name(Profile, PROFILES)


def get_profile(profile: str | Profile) -> Profile:
    """Return the profile with a given name; a `Profile` is returned unchanged.

    Examples
    --------
    >>> get_profile("biweight").smooth
    True
    """
    if isinstance(profile, Profile):
        return profile
    return PROFILES[check_choice("profile", profile, PROFILES)]


def custom_profile(k: Callable[[Array], Array], weight: Callable[[Array], Array], *, name: str = "own") -> Profile:
    """Return a user-defined profile after a numerical check of Definition 1.

    Parameters
    ----------
    k, weight : callable
        k(t) and G(t) = -k'(t) on [0, 1], for arrays t. Outside [0, 1] they are taken as zero.
    name : str
        Name of the profile in messages.

    Raises
    ------
    ValueError
        If a clause of Definition 1 fails. The message names the clause and the t at which it fails.

    Warns
    -----
    OutsideTheoremsWarning
        If only the extension by zero is not C1. The profile can be used, but not all theorems cover it.

    Examples
    --------
    >>> profile = custom_profile(lambda t: (1 - t) ** 2.5, lambda t: 2.5 * (1 - t) ** 1.5, name="a = 2.5")
    >>> profile.smooth
    True
    """
    definition, extension = failed_clauses(k, weight)
    if definition:
        raise ValueError(f"profile {name!r} violates Definition 1: " + "; ".join(definition) + ".")
    if extension:
        warnings.warn(
            f"profile {name!r} meets Definition 1 but not the extension that the proofs use: "
            + "; ".join(extension)
            + ". You can use it, but the theorems do not cover it.",
            OutsideTheoremsWarning,
            stacklevel=2,
        )
    ends = np.abs(np.asarray(k(np.array([0.0, 1.0])), dtype=np.float64))
    convex = not extension or bool(ends[1] <= 1e-9 * ends[0])
    return Profile(name, ZeroOutside(k), ZeroOutside(weight), convex=convex, smooth=not extension)


@dataclass(frozen=True)
class ZeroOutside:
    """A function on [0, 1], extended by zero; a class, so that it can be pickled if the function can."""

    function: Callable[[Array], Array]

    def __call__(self, t: Array) -> Array:
        t = np.asarray(t, dtype=np.float64)
        # evaluated inside the domain only: (1 - t) ** 1.5 is NaN for t > 1
        return np.where(t <= 1.0, self.function(np.minimum(t, 1.0)), 0.0)


def failed_clauses(k: Callable[[Array], Array], weight: Callable[[Array], Array]) -> tuple[list[str], list[str]]:
    """Check numerically whether a profile satisfies Definition 1 and its C1 extension; describe the clauses that fail.

    Parameters
    ----------
    k, weight : callable
        k(t) and G(t) on [0, 1], for arrays t.

    Returns
    -------
    definition, extension : list of str
        Empty if no clause fails.

    Examples
    --------
    >>> failed_clauses(lambda t: 1 - t, lambda t: 1.0 + 0 * t)
    ([], ["k'(1) must be 0, but it is -1"])
    """
    t = np.linspace(0.0, 1.0, GRID_POINTS)
    try:
        values = np.asarray(k(t), dtype=np.float64)
        slopes = -np.asarray(weight(t), dtype=np.float64)
        if values.shape != t.shape or slopes.shape != t.shape:
            raise ValueError(f"they returned shapes {values.shape} and {slopes.shape} for {t.shape}")
    except Exception as error:
        return [f"k and weight must take an array of t in [0, 1] and return one of the same length ({error})"], []
    if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
        return ["k and k' must be finite on [0, 1]"], []

    scale = max(abs(values[0]), np.abs(slopes).max(), np.finfo(float).tiny)
    slack = 1e-9 * scale
    definition = []

    def check(fails: Array, where: Array, clause: str) -> None:
        if fails.any():
            definition.append(f"{clause}, but not at t = {where[np.argmax(fails)]:.4g}")

    check(values < -slack, t, "k must be >= 0")
    check(np.diff(values) > slack, t, "k must be non-increasing")
    check(slopes[:-1] >= 0, t, "k' must be < 0 on [0, 1)")
    check(np.diff(slopes) < -slack, t, "k must be convex (k' non-decreasing)")
    # mean value theorem: if k' is monotone, a difference quotient of k lies between the slopes at its ends
    quotients = np.diff(values) / np.diff(t)
    low, high = np.minimum(slopes[:-1], slopes[1:]), np.maximum(slopes[:-1], slopes[1:])
    rounding = 1e-6 * scale
    check((quotients < low - rounding) | (quotients > high + rounding), t, "weight must be -k'")
    # on a much finer grid, a jump of k' keeps its size while a steep slope becomes small steps
    steps = np.abs(np.diff(slopes))
    widest = int(np.argmax(steps))
    fine = np.linspace(t[widest], t[widest + 1], GRID_POINTS)
    jumps = np.abs(np.diff(np.asarray(weight(fine), dtype=np.float64)))
    if steps[widest] > 1e-3 * scale and jumps.max() > 0.5 * steps[widest]:
        definition.append(f"k must be C1, but k' jumps near t = {t[widest]:.4g}")

    extension = []
    if abs(values[-1]) > slack:
        extension.append(f"k(1) must be 0, but it is {values[-1]:.4g}")
    if abs(slopes[-1]) > slack:
        extension.append(f"k'(1) must be 0, but it is {slopes[-1]:.4g}")
    return definition, extension
