"""What a run is a run of: data and settings by name, so that a checkpoint of another is refused with the reason."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np

from modeseek._common.types import Array
from modeseek._common.version import __version__
from modeseek.meanshift.bandwidth import DrawPlan
from modeseek.meanshift.chains.algorithms import Chain
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.chains.trace import Record
from modeseek.meanshift.types import BandwidthPolicy, ProfileLike

__all__ = ["difference", "identity"]

# settings that are checksums, and what to say where they differ
SUMS = {
    "points": "it is of other data (the points differ)",
    "weights": "it is of other data (the weights differ)",
    "start": "it is of other starts of climbers",
    "scales": "it is of other scales of the points",
    "weights of the profile": "its profile has other weights",
    "draws of the policy": "its policy draws other bandwidths",
    "other chains": "the chains after the first differ",
}


def identity(chains: Sequence[Chain], stopping: Stopping, record: Record) -> dict[str, Any]:
    """Return all that decides what runs find, as plain values by name.

    Limits on updates, sweeps and time, and the number of threads, are not among it: they say how far and how fast.
    """
    sums = _Sums()
    first, *others = (_of_chain(chain, sums) for chain in chains)
    found = {
        "version": __version__,
        "number of chains": len(chains),
        **first,
        "other chains": _sum(json.dumps(others).encode()),
        **{name: getattr(stopping, name) for name in ("tau", "threshold", "fraction", "rule")},
        **{f"record of {name}": value for name, value in asdict(record).items()},
    }
    return dict(json.loads(json.dumps(found)))


def difference(then: Any, now: Mapping[str, Any]) -> str:
    """Say how the identity of a checkpoint differs from that of a run; "" where it does not.

    Examples
    --------
    >>> difference({"tau": 0.1}, {"tau": 0.2})
    'tau was 0.1 and is 0.2 now'
    """
    if not isinstance(then, dict):
        return "it does not say what it is of"
    for name in [*now, *then]:
        was, is_ = then.get(name), now.get(name)
        if name == "version" and was != is_:
            return f"it was made by modeseek {was}, and this is {is_}"
        if was != is_:
            return SUMS.get(name, f"{name} was {was} and is {is_} now")
    return ""


class _Sums:
    """Checksums of arrays; several chains share theirs."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Array, str]] = {}

    def of(self, array: Array | None) -> str | None:
        if array is None:
            return None
        if id(array) not in self._found:
            shape = f"{array.dtype.str} {array.shape} ".encode()
            # the array is kept, so that nothing else can come to have its id
            self._found[id(array)] = array, _sum(shape, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return self._found[id(array)][1]


def _of_chain(chain: Chain, sums: _Sums) -> dict[str, Any]:
    problem = chain.problem
    assert problem.engine is not None
    n, d = problem.points.shape
    found = {
        "algorithm": chain.name,
        "number of points": n,
        "number of features": d,
        "type of the data": str(problem.points.dtype),
        "metric": problem.geometry.metric,
        "points": sums.of(problem.points),
        "weights": sums.of(problem.weights),
        "start": sums.of(chain.init().points),
        "profile": problem.profile.name,
        "weights of the profile": _probe_profile(problem.profile),
        "engine": problem.engine.name,
        **(chain.parameters or {}),
    }
    return found if chain.plan is None else {**found, **_of_plan(chain.plan, sums)}


def _of_plan(plan: DrawPlan, sums: _Sums) -> dict[str, Any]:
    named = {name: getattr(plan, name) for name in ("seed", "chain", "order", "batch_size")}
    return {
        "policy": type(plan.policy).__name__,
        **_of_policy(plan.policy),
        "draws of the policy": _probe_policy(plan.policy),
        **{name: value if isinstance(value, str) else int(value) for name, value in named.items()},
        "scales": sums.of(plan.scales),
    }


def _of_policy(policy: BandwidthPolicy) -> dict[str, Any]:
    """Return the numbers of a policy by name, where it says what they are."""
    names: list[str] = [field.name for field in fields(policy)] if is_dataclass(policy) else []
    values = {f"{name} of the policy": getattr(policy, name) for name in names}
    return {name: float(value) for name, value in values.items() if isinstance(value, float | int)}


def _probe_policy(policy: BandwidthPolicy) -> str:
    """Tell policies apart by what they draw: one of a user's own need not say what it is made of."""
    uniforms = (np.arange(16) + 0.5) / 16
    drawn = [np.asarray(policy.draw(uniforms.copy(), policy.h_0, k), dtype=np.float64) for k in (0, 1000)]
    ends = [policy.h_0, policy.h_min, *(policy.upper(policy.h_0, k) for k in (0, 1000))]
    return _sum(np.concatenate([*drawn, np.array(ends, dtype=np.float64)]).tobytes())


def _probe_profile(profile: ProfileLike) -> str:
    weights = np.asarray(profile.weight(np.linspace(0.0, 1.25, 41)), dtype=np.float64)
    return _sum(np.ascontiguousarray(weights).tobytes())


def _sum(*pieces: Any) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
