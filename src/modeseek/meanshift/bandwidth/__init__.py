"""Bandwidths: policies, the sequences nu that bound their changes, and the random draws of chains."""

from modeseek.meanshift.bandwidth.draws import ORDERS, DrawPlan, PolicyBoundsError, SweepDraws, uniforms
from modeseek.meanshift.bandwidth.local_factor import LocalFactor, LocalFactorError
from modeseek.meanshift.bandwidth.nu import CustomNu, LogLog, Nu, NuSpec, Power, get_nu
from modeseek.meanshift.bandwidth.policies import (
    POLICIES,
    Anchored,
    Constant,
    PolicyCode,
    Shrinking,
    Uniform,
    encode_policy,
    make_policy,
)
from modeseek.meanshift.bandwidth.walks import Absorption, GeneralWalk, Law, Walk, law_of

__all__ = [
    "ORDERS",
    "POLICIES",
    "Absorption",
    "Anchored",
    "Constant",
    "CustomNu",
    "DrawPlan",
    "GeneralWalk",
    "Law",
    "LocalFactor",
    "LocalFactorError",
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
    "law_of",
    "make_policy",
    "uniforms",
]
