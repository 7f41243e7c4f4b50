"""Conversion of values to JSON and a dictionary of arrays, and back.

Numbers, text, true, false, null and lists stand for themselves. Everything else is a JSON object with one member. The
name of the member is the kind of value: one of the kinds in `decode`, or a class of the registry
`modeseek._common.storable`.
"""

import math
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Protocol, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from modeseek._common.storable import STORABLE, STORED_BY_NAME, require

ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
Arrays = dict[str, NDArray[Any]]


class NotStorableError(TypeError):
    """A value that files cannot hold.

    Attributes
    ----------
    name : str
        Path to the value, such as "policy.nu".
    value : object
    """

    def __init__(self, name: str, value: object):
        self.name, self.value = name, value
        kind = type(value)
        message = (
            f"{name} is a {kind.__module__}.{kind.__name__}, which files cannot hold: they hold numbers, text, "
            "lists, NumPy arrays, and classes that are registered by modeseek.io.storable."
        )
        if isinstance(value, np.ndarray):
            message = f"{name} is an array of {value.dtype}, and files hold numbers: convert it first."
        elif kind.__name__ in STORED_BY_NAME or (callable(value) and not isinstance(value, type)):
            message = (
                f"{name} holds functions of your own ({value!r}), and files hold no code: define it in a module, save "
                "a built-in one or None instead, and set yours again after loading."
            )
        elif isinstance(value, (np.random.Generator, np.random.RandomState)):
            parameter = name.rpartition(".")[2]
            message = f"{name} is a generator ({kind.__name__}), whose state changes: use a seed, as {parameter}=0."
        super().__init__(message)


def distinct_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise a `ValueError` if a name is repeated, as only one of its values would be kept."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has two values with the same name")
    return found


def encode(value: Any, name: str, arrays: Arrays) -> Any:
    """Return a value as JSON, and add its arrays to `arrays` under names that begin with `name`.

    Raises
    ------
    NotStorableError
        If the value, or a part of it, is of a kind that files cannot hold.

    Examples
    --------
    >>> arrays = {}
    >>> encode((1, np.arange(2), float("inf")), "a", arrays)
    {'tuple': [1, {'array': 'a.1'}, {'float': 'inf'}]}
    >>> decode({"tuple": [1, {"array": "a.1"}, {"float": "inf"}]}, arrays)
    (1, array([0, 1]), inf)
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if kind in (list, tuple):
        items = [encode(each, f"{name}.{i}", arrays) for i, each in enumerate(value)]
        return items if kind is list else {"tuple": items}
    if kind is dict and all(type(key) is str for key in value):
        return {"dict": {key: encode(each, f"{name}.{key}", arrays) for key, each in value.items()}}
    if kind is np.ndarray and value.dtype == object and all(type(each) is str for each in value.flat):
        return {"strings": value.tolist()}
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biuf":
        arrays[name] = np.asarray(value)
        return {"array" if kind is np.ndarray else "scalar": name}
    if kind.__name__ in STORED_BY_NAME:
        for key, each in STORED_BY_NAME[kind.__name__].items():
            if each is value:
                return {kind.__name__: key}
    entry = STORABLE.get(kind.__name__)
    if entry is None or entry.kind is not kind:
        raise NotStorableError(name, value)
    if isinstance(value, Enum):
        return {kind.__name__: int(value) if isinstance(value, int) else value.name}
    return {kind.__name__: {part: encode(getattr(value, part), f"{name}.{part}", arrays) for part in entry.hints()}}


def decode(value: Any, arrays: Arrays) -> Any:
    """Return the value that was passed to `encode`.

    Raises
    ------
    ValueError, TypeError, KeyError
        If `value` is not a result of `encode`, or if its parts have wrong types or do not fit together.
    """
    if isinstance(value, list):
        return [decode(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    require(len(value) == 1, "an object with several names")
    ((name, inner),) = value.items()
    if name == "float":
        return ODD_FLOATS[inner]
    if name == "tuple":
        return tuple(decode(list(inner), arrays))
    if name == "dict":
        return {key: decode(each, arrays) for key, each in dict(inner).items()}
    if name == "strings":
        require(all(isinstance(each, str) for each in inner), "strings")
        return np.fromiter(inner, dtype=object, count=len(inner))
    if name == "array":
        return arrays[inner]
    if name == "scalar":
        require(arrays[inner].ndim == 0, "scalar")
        return arrays[inner][()]
    if name in STORED_BY_NAME:
        return STORED_BY_NAME[name][inner]
    return _restore(name, inner, arrays)


def _restore(name: str, inner: Any, arrays: Arrays) -> Any:
    kind, make, _, check = entry = STORABLE[name]
    if issubclass(kind, Enum):
        return kind(inner) if issubclass(kind, int) else kind[inner]
    hints = entry.hints()
    # fields that did not exist in an older version get their defaults
    optional = set(getattr(kind, "_field_defaults", ()))
    if is_dataclass(kind):
        optional |= {each.name for each in fields(kind) if each.default is not MISSING}
    complete = isinstance(inner, dict) and inner.keys() <= hints.keys() <= inner.keys() | optional
    require(complete, f"the parts of {name}")
    parts = {part: decode(each, arrays) for part, each in inner.items()}
    for part, each in parts.items():
        require(check_type(each, hints[part]), f"{part} of {name}")
    value = make(**parts)
    if check is not None:
        check(value)
    return value


def check_type(value: Any, hint: Any) -> bool:
    """Return whether a value is of an annotated type.

    Examples
    --------
    >>> check_type((1, 2.5), tuple[float, ...]), check_type(None, int | None), check_type(True, int)
    (True, True, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(check_type(value, each) for each in inner)
    if origin is Annotated:  # `Array` and `IntArray`
        return isinstance(value, np.ndarray) and value.dtype.name in inner[1:]
    if origin is tuple:
        hints = inner[:1] * len(value) if inner[-1] is Ellipsis and isinstance(value, tuple) else inner
        return isinstance(value, tuple) and len(value) == len(hints) and all(map(check_type, value, hints))
    if origin is list:
        return isinstance(value, list) and all(check_type(each, inner[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(check_type(each, inner[1]) for each in value.values())
    if hint in (int, float):
        real = isinstance(value, (int, np.integer)) or (hint is float and isinstance(value, (float, np.floating)))
        return real and not isinstance(value, bool)
    if hint is None or hint is NoneType:
        return value is None
    if Protocol in hint.__mro__:
        return type(value).__name__ in STORABLE
    return isinstance(value, (bool, np.bool_) if hint is bool else hint)
