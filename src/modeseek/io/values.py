"""Values as JSON with arrays beside it, and back.

Numbers, text, true, false, null and lists stand for themselves. Everything else is an object with one member, whose
name says what it is; names that are not known here are refused, and none is ever looked up anywhere else.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from modeseek.io.kinds import KINDS, check_kind, expect
from modeseek.meanshift.chains import Outcome
from modeseek.meanshift.kernels.profiles import PROFILES, Profile
from modeseek.selection.modes import MergeTree, merge_tree
from modeseek.sketches import Sample, SketchPoints

__all__ = ["Unsaved", "decoded", "encoded"]

BY_NAME = {kind.__name__: kind for kind in KINDS}
ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Unsaved(TypeError):
    """A value that a file of a model does not hold."""


def encoded(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a value as JSON; its arrays are put into `arrays`.

    Parameters
    ----------
    value : object
    name : str
        What it is called, for its arrays and for messages.
    arrays : dict

    Examples
    --------
    >>> arrays = {}
    >>> encoded((1, np.arange(2), float("inf")), "a", arrays)
    {'tuple': [1, {'array': 'a.1'}, {'float': 'inf'}]}
    >>> decoded({"tuple": [1, {"array": "a.1"}, {"float": "inf"}]}, arrays)
    (1, array([0, 1]), inf)
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) in (list, tuple):
        items = [encoded(each, f"{name}.{i}", arrays) for i, each in enumerate(value)]
        return items if type(value) is list else {"tuple": items}
    if isinstance(value, np.generic):
        arrays[name] = np.asarray(value)
        return {"scalar": name}
    if type(value) is np.ndarray:
        if value.dtype == object and value.ndim == 1 and all(type(each) is str for each in value):
            return {"strings": value.tolist()}
        if value.dtype.kind not in "biuf":
            raise Unsaved(f"{name} is an array of {value.dtype}, and files of models hold numbers: convert it first.")
        arrays[name] = value
        return {"array": name}
    return _object(value, name, arrays)


def _object(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    kind = type(value)
    if isinstance(value, Profile) and value is PROFILES.get(value.name):
        return {"Profile": value.name}
    if kind not in KINDS:
        raise Unsaved(_why(value, name))
    if kind is Outcome:
        return {"Outcome": value.name}
    if kind is csr_array:
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr, "shape": tuple(value.shape)}
        parts = {part: np.asarray(each, np.int64) if part[:3] == "ind" else each for part, each in parts.items()}
        parts["shape"] = tuple(int(each) for each in value.shape)
    else:
        parts = {part: getattr(value, part) for part in KINDS[kind][0]}
    return {kind.__name__: {part: encoded(each, f"{name}.{part}", arrays) for part, each in parts.items()}}


def _why(value: Any, name: str) -> str:
    if isinstance(value, Profile) or (callable(value) and not isinstance(value, type)):
        return (
            f"{name} holds functions of your own ({value!r}), and files of models hold no code: keep what makes it in "
            "a module, save the model with one that ships or with None, and set yours again after loading."
        )
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        kind = type(value).__name__
        return f"{name} is a generator in use ({kind}): give a whole number instead, set_params({name}=0)."
    if type(value).__module__.startswith("dask"):
        return f"{name} lies with Dask's workers: bring it here first, model.{name} = model.{name}.compute()."
    return (
        f"{name} is a {type(value).__module__}.{type(value).__name__}, which files of models do not hold: they hold "
        "numbers, text, lists and NumPy arrays, and the profiles and policies that ship."
    )


def decoded(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the value that `encoded` took apart.

    Raises
    ------
    ValueError, TypeError, KeyError
        If it is none.
    """
    if isinstance(value, list):
        return [decoded(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    expect(len(value) == 1, "one name for a value")
    ((name, inner),) = value.items()
    if name == "float":
        return ODD[inner]
    if name == "tuple":
        expect(isinstance(inner, list), "a tuple")
        return tuple(decoded(each, arrays) for each in inner)
    if name == "scalar":
        expect(arrays[inner].ndim == 0, "a scalar")
        return arrays[inner][()]
    if name == "array":
        return arrays[inner]
    if name == "strings":
        expect(isinstance(inner, list) and all(isinstance(each, str) for each in inner), "strings")
        found = np.empty(len(inner), dtype=object)
        found[:] = inner
        return found
    if name == "Profile":
        return PROFILES[inner]
    if name == "Outcome":
        return Outcome[inner]
    return _made(BY_NAME[name], inner, arrays)


def _made(kind: Any, inner: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    expect(isinstance(inner, dict), f"the parts of {kind.__name__}")
    parts = {part: decoded(each, arrays) for part, each in inner.items()}
    if kind is csr_array:
        return _sparse(parts)
    kinds, law = KINDS[kind]
    check_kind(parts, kinds, kind.__name__)
    if kind is MergeTree:
        # counted anew, after what it is counted from has been looked at
        tree = parts.pop("point_tree")
        expect(len(parts["weights"]) == len(tree.heights), "weights of a tree")
        rows = parts["inverse"]
        expect(not len(rows) or (rows.min() >= 0 and rows.max() < len(tree.heights)), "rows of a tree")
        made: Any = merge_tree(tree, **parts)
    elif kind is SketchPoints:
        source = parts["source"]
        points = source.rows if isinstance(source, Sample) else source.means
        expect(np.isfinite(points).all(), "points of a summary")
        made = SketchPoints(source, points, source.counts, parts["resolution"], parts["weight"])
    else:
        made = kind(**parts)
    law(made)
    return made


def _sparse(parts: dict[str, Any]) -> csr_array:
    expect(set(parts) == {"data", "indices", "indptr", "shape"}, "the parts of a sparse array")
    shape = parts["shape"]
    pair = isinstance(shape, tuple) and len(shape) == 2 and all(type(n) is int and 0 <= n < 1 << 62 for n in shape)
    expect(pair, "the shape of a sparse array")
    for part in ("indices", "indptr"):
        expect(isinstance(parts[part], np.ndarray) and parts[part].dtype == np.int64, "indices of a sparse array")
    expect(isinstance(parts["data"], np.ndarray) and parts["data"].dtype == np.float64, "shares")
    # before SciPy shortens whole numbers that it takes to be in range
    indices, indptr = parts["indices"], parts["indptr"]
    expect(indices.ndim == indptr.ndim == parts["data"].ndim == 1 and len(indptr) == shape[0] + 1, "a sparse array")
    expect(not indices.size or (indices.min() >= 0 and indices.max() < shape[1]), "columns of a sparse array")
    expect(indptr[0] == 0 and indptr[-1] == len(indices) == len(parts["data"]), "rows of a sparse array")
    expect((np.diff(indptr) >= 0).all(), "rows of a sparse array")
    made = csr_array((parts["data"], indices, indptr), shape=shape)
    KINDS[csr_array][1](made)
    return made
