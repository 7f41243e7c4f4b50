"""The data and settings that determine the result of runs. A checkpoint with other data or settings is refused."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np

from modeseek._common.types import Array
from modeseek._common.version import __version__
from modeseek.meanshift.bandwidth import DrawPlan
from modeseek.meanshift.chains.chain import Chain
from modeseek.meanshift.chains.stopping import Stopping
from modeseek.meanshift.chains.trace import Record
from modeseek.meanshift.types import BandwidthPolicy, ProfileLike

# part of the error message for each entry that is a checksum, if it differs
CHECKSUMS = {
    "points": "it belongs to other data (the points differ)",
    "weights": "it belongs to other data (the weights differ)",
    "start": "its seeds differ",
    "scales": "its local scales differ",
    "weights of the profile": "its profile has other weights",
    "draws of the policy": "its policy draws other bandwidths",
    "other chains": "the chains after the first differ",
}


def identity(chains: Sequence[Chain], stopping: Stopping, record: Record) -> dict[str, Any]:
    """Return everything that determines the result of runs, as plain values by name.

    Limits on updates, sweeps and time, and the number of threads, are not included: a resumed run may change them.
    """
    first, *others = (_of_chain(chain) for chain in chains)
    found = {
        "version": __version__,
        "number of chains": len(chains),
        **first,
        "other chains": _digest(json.dumps(others).encode()),
        **{name: getattr(stopping, name) for name in ("tau", "threshold", "fraction", "rule")},
        **{f"record of {name}": value for name, value in asdict(record).items()},
    }
    # in the form in which a file returns it, without tuples
    return dict(json.loads(json.dumps(found)))


def difference(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return how the identity of a checkpoint differs from that of a run, as a clause; "" if it does not.

    Examples
    --------
    >>> difference({"tau": 0.1}, {"tau": 0.2})
    'tau was 0.1 and is now 0.2'
    """
    for name in [*now, *then]:
        was, is_ = then.get(name), now.get(name)
        if name == "version" and was != is_:
            return f"it was made by modeseek {was}, and this is {is_}"
        if was != is_:
            return CHECKSUMS.get(name, f"{name} was {was} and is now {is_}")
    return ""


def _of_chain(chain: Chain) -> dict[str, Any]:
    problem, plan = chain.problem, chain.plan
    n, d = problem.points.shape
    return {
        "algorithm": chain.name,
        "number of points": n,
        "number of features": d,
        "type of the data": str(problem.points.dtype),
        "metric": problem.geometry.metric,
        "points": _checksum(problem.points),
        "weights": _checksum(problem.weights),
        "start": _checksum(chain.init().points),
        "profile": problem.profile.name,
        "weights of the profile": _probe_profile(problem.profile),
        "engine": problem.engine.name,
        **(chain.parameters or {}),
        **({} if plan is None else _of_plan(plan)),
    }


def _of_plan(plan: DrawPlan) -> dict[str, Any]:
    named = {name: getattr(plan, name) for name in ("seed", "chain", "order", "batch_size")}
    return {
        "policy": type(plan.policy).__name__,
        **_numbers_of(plan.policy),
        "draws of the policy": _probe_policy(plan.policy),
        **{name: value if isinstance(value, str) else int(value) for name, value in named.items()},
        "scales": _checksum(plan.local_scales),
    }


def _numbers_of(policy: BandwidthPolicy) -> dict[str, float]:
    """Return the numeric fields of a policy by name; empty if it is no dataclass."""
    names: list[str] = [field.name for field in fields(policy)] if is_dataclass(policy) else []
    values = {f"{name} of the policy": getattr(policy, name) for name in names}
    return {name: float(value) for name, value in values.items() if isinstance(value, float | int)}


def _probe_policy(policy: BandwidthPolicy) -> str:
    """Identify a policy by some of its draws: a custom policy need not list its parameters."""
    uniforms = (np.arange(16) + 0.5) / 16
    drawn = [np.asarray(policy.draw(uniforms.copy(), policy.h_0, k), dtype=np.float64) for k in (0, 1000)]
    ends = [policy.h_0, policy.h_min, *(policy.upper(policy.h_0, k) for k in (0, 1000))]
    return _digest(np.concatenate([*drawn, np.array(ends, dtype=np.float64)]).tobytes())


def _probe_profile(profile: ProfileLike) -> str:
    return _digest(np.asarray(profile.weight(np.linspace(0.0, 1.25, 41)), dtype=np.float64).tobytes())


def _checksum(array: Array | None) -> str | None:
    if array is None:
        return None
    return _digest(f"{array.dtype.str} {array.shape} ".encode(), np.ascontiguousarray(array))


def _digest(*pieces: Any) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
