"""Bandwidths: policies, the sequences nu, and the draws."""

from modeseek.meanshift.bandwidth.draws import ORDERS, Drawn, DrawPlan, uniforms
from modeseek.meanshift.bandwidth.nu import LogLog, Nu, NuSpec, OwnNu, Power, get_nu
from modeseek.meanshift.bandwidth.policies import (
    POLICIES,
    Absorption,
    Anchored,
    Constant,
    Recipe,
    Shrinking,
    Uniform,
    Walk,
    make_policy,
    recipe_of,
)

__all__ = [
    "ORDERS",
    "POLICIES",
    "Absorption",
    "Anchored",
    "Constant",
    "DrawPlan",
    "Drawn",
    "LogLog",
    "Nu",
    "NuSpec",
    "OwnNu",
    "Power",
    "Recipe",
    "Shrinking",
    "Uniform",
    "Walk",
    "get_nu",
    "make_policy",
    "recipe_of",
    "uniforms",
]
