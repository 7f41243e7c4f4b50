"""Profiles: the shapes of the kernel, which of them the theorems cover, and a check for a user's own.

Definition 1 of the paper: k on [0, 1] is C1, non-increasing, convex, with k' < 0 on [0, 1). The proofs also use
that k extended by zero is C1 on the whole half-line, which needs k(1) = k'(1) = 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

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


class OutsideTheoremsWarning(UserWarning):
    """What was asked for works, but the paper's theorems do not cover it."""


@dataclass(frozen=True)
class Profile:
    """A kernel profile k and its weight G = -k', both functions of t = |u|^2 that vanish for t > 1.

    Attributes
    ----------
    name : str
        What users call it.
    k, weight : callable
        k(t) and G(t) for a number or an array t >= 0.
    proven : bool
        Whether k extended by zero is C1, as the proofs need.
    code : int or None
        Number of the compiled branch; None for a user's own.
    """

    name: str
    k: Callable[[Array], Array] = field(repr=False)
    weight: Callable[[Array], Array] = field(repr=False)
    proven: bool
    code: int | None = field(default=None, repr=False)


FLAT = Profile("flat", formulas.flat_k, formulas.flat_weight, proven=False, code=0)
BIWEIGHT = Profile("biweight", formulas.biweight_k, formulas.biweight_weight, proven=True, code=1)
TRIWEIGHT = Profile("triweight", formulas.triweight_k, formulas.triweight_weight, proven=True, code=2)
QUADWEIGHT = Profile("quadweight", formulas.quadweight_k, formulas.quadweight_weight, proven=True, code=3)
GAUSSIAN = Profile("gaussian", formulas.gaussian_k, formulas.gaussian_weight, proven=False, code=4)

PROFILES = {profile.name: profile for profile in (BIWEIGHT, TRIWEIGHT, QUADWEIGHT, FLAT, GAUSSIAN)}

stored_by_name(Profile, PROFILES)


def get_profile(profile: str | Profile) -> Profile:
    """Return the profile of a name; a `Profile` is passed through.

    Examples
    --------
    >>> get_profile("biweight").proven
    True
    """
    if isinstance(profile, Profile):
        return profile
    return PROFILES[check_choice("profile", profile, PROFILES)]


def custom_profile(k: Callable[[Array], Array], weight: Callable[[Array], Array], *, name: str = "own") -> Profile:
    """Make a profile of one's own functions, checked numerically against Definition 1.

    Parameters
    ----------
    k, weight : callable
        k(t) and G(t) = -k'(t) on [0, 1], for arrays t. Outside [0, 1] they are taken as zero.
    name : str
        A name for messages.

    Returns
    -------
    Profile
        With `proven` set where the extension by zero is C1 too.

    Raises
    ------
    ValueError
        If a clause of Definition 1 fails; the message says which, and where.

    Warns
    -----
    OutsideTheoremsWarning
        If only the extension fails: the profile works, outside the theorems.

    Examples
    --------
    >>> cubic = custom_profile(lambda t: (1 - t) ** 2.5, lambda t: 2.5 * (1 - t) ** 1.5, name="a = 2.5")
    >>> cubic.proven
    True
    """
    definition, extension = failed_clauses(k, weight)
    if definition:
        raise ValueError(f"profile {name!r} is outside Definition 1: " + "; ".join(definition) + ".")
    if extension:
        warnings.warn(
            f"profile {name!r} meets Definition 1 but not the extension that the proofs use: "
            + "; ".join(extension)
            + ". It works, outside the theorems.",
            OutsideTheoremsWarning,
            stacklevel=2,
        )
    return Profile(name, _Inside(k), _Inside(weight), proven=not extension)


@dataclass(frozen=True)
class _Inside:
    """A user's function on [0, 1], zero outside; a class so that it pickles when the function does."""

    function: Callable[[Array], Array]

    def __call__(self, t: Array) -> Array:
        t = np.asarray(t, dtype=np.float64)
        # the function is asked inside its domain only: (1 - t) ** 1.5 has no value for t > 1
        return np.where(t <= 1.0, self.function(np.minimum(t, 1.0)), 0.0)


def failed_clauses(
    k: Callable[[Array], Array], weight: Callable[[Array], Array], *, n_grid: int = 2001
) -> tuple[list[str], list[str]]:
    """Return which clauses of Definition 1 and of its C1 extension fail numerically, in words.

    Parameters
    ----------
    k, weight : callable
        k(t) and G(t) on [0, 1], for arrays t.
    n_grid : int
        Number of points at which the clauses are looked at.

    Returns
    -------
    definition, extension : list of str
        Empty where nothing fails.

    Examples
    --------
    >>> failed_clauses(lambda t: 1 - t, lambda t: 1.0 + 0 * t)
    ([], ["k'(1) must be 0, but it is -1"])
    """
    t = np.linspace(0.0, 1.0, n_grid)
    try:
        values = np.asarray(k(t), dtype=np.float64)
        slopes = -np.asarray(weight(t), dtype=np.float64)
        if values.shape != t.shape or slopes.shape != t.shape:
            raise ValueError(f"shapes {values.shape} and {slopes.shape} came back for {t.shape}")
    except Exception as error:
        return [f"k and weight must take an array of t in [0, 1] and return one as long ({error})"], []
    if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
        return ["k and k' must be finite on [0, 1]"], []

    scale = max(abs(values[0]), np.abs(slopes).max(), np.finfo(float).tiny)
    slack = 1e-9 * scale
    definition = []

    def fails(wrong: Array, where: Array, clause: str) -> None:
        if wrong.any():
            definition.append(f"{clause}, but not at t = {where[np.argmax(wrong)]:.4g}")

    fails(values < -slack, t, "k must be >= 0")
    fails(np.diff(values) > slack, t, "k must be non-increasing")
    fails(slopes[:-1] >= 0, t, "k' must be < 0 on [0, 1)")
    fails(np.diff(slopes) < -slack, t, "k must be convex (k' non-decreasing)")
    # mean value theorem: a difference quotient lies between the slopes at its ends when k' is monotone and is k's
    quotients = np.diff(values) / np.diff(t)
    low, high = np.minimum(slopes[:-1], slopes[1:]), np.maximum(slopes[:-1], slopes[1:])
    rounding = 1e-6 * scale
    fails((quotients < low - rounding) | (quotients > high + rounding), t, "weight must be -k'")
    # a jump does not shrink with the step, a slope does: compare with steps far smaller than the grid's
    steps = np.abs(np.diff(slopes))
    widest = int(np.argmax(steps))
    fine = np.linspace(t[widest], t[widest + 1], n_grid)
    jumps = np.abs(np.diff(np.asarray(weight(fine), dtype=np.float64)))
    if steps[widest] > 1e-3 * scale and jumps.max() > 0.5 * steps[widest]:
        definition.append(f"k must be C1, but k' jumps near t = {t[widest]:.4g}")

    extension = []
    if abs(values[-1]) > slack:
        extension.append(f"k(1) must be 0, but it is {values[-1]:.4g}")
    if abs(slopes[-1]) > slack:
        extension.append(f"k'(1) must be 0, but it is {slopes[-1]:.4g}")
    return definition, extension
