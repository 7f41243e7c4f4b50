"""Bandwidths: policies, the sequences nu, and the draws."""

from modeseek.meanshift.bandwidth.draws import ORDERS, DrawPlan, PolicyBoundsError, SweepDraws, uniforms
from modeseek.meanshift.bandwidth.nu import CustomNu, LogLog, Nu, NuSpec, Power, get_nu
from modeseek.meanshift.bandwidth.policies import (
    POLICIES,
    Absorption,
    Anchored,
    Constant,
    PolicyCode,
    Shrinking,
    Uniform,
    Walk,
    encode_policy,
    make_policy,
)

__all__ = [
    "ORDERS",
    "POLICIES",
    "Absorption",
    "Anchored",
    "Constant",
    "CustomNu",
    "DrawPlan",
    "LogLog",
    "Nu",
    "NuSpec",
    "PolicyBoundsError",
    "PolicyCode",
    "Power",
    "Shrinking",
    "SweepDraws",
    "Uniform",
    "Walk",
    "encode_policy",
    "get_nu",
    "make_policy",
    "uniforms",
]
