"""Files under a checksum, as somebody hostile would make them: changed at will, and sealed again.

An input of these harnesses is a record in JSON, a zero byte, and the bytes of the arrays. What makes a file of it
writes lengths and checksum, and fills or cuts the arrays to the size that the record declares, so that the fuzzer is at
once where values are looked at.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import struct
from typing import Any

import numpy as np

from modeseek._storage.container import HEAD, MAGIC, VERSION

__all__ = ["mutated", "opened", "sealed"]

# bytes of arrays that are made up where a record declares them
MOST = 1 << 14
# what a value may turn into
PLAIN = [None, True, False, 0, 1, -1, 2, 3, 1 << 31, 1 << 62, 1 << 63, -(1 << 63), 1 << 200, 0.5, -0.5, 1e308, 5e-324]
PLAIN += [
    "",
    "a",
    "__class__",
    "os.system",
    "flat",
    "nan",
    "CERTIFIED",
    [],
    {},
    [[]],
    {"float": "nan"},
    {"float": "inf"},
]
NUMBERS = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 1e308, -1e308, 1e-160, 1e160]
WHOLES = [0, 1, -1, 2, 7, 1 << 31, (1 << 63) - 1, -(1 << 63)]


def sealed(data: bytes) -> bytes:
    """Return the file with this record and these arrays."""
    text, raw = _parts(data)
    lengths = struct.pack("<IQ", VERSION, len(text))
    return HEAD.pack(MAGIC, VERSION, len(text), hashlib.sha256(lengths + text + raw).digest()) + text + raw


def opened(data: bytes) -> bytes:
    """Return what `sealed` makes this file of."""
    end = HEAD.size + HEAD.unpack(data[: HEAD.size])[2]
    return data[HEAD.size : end] + b"\0" + data[end:]


def mutated(data: bytes, seed: int) -> bytes | None:
    """Return the input with a value of the record, or a number of the arrays, changed; None where it has no record."""
    rng, (text, _, raw) = random.Random(seed), data.partition(b"\0")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if len(raw) >= 8 and rng.random() < 0.4:
            raw = _numbers(raw, rng)
        else:
            _values(record, rng)
    return json.dumps(record).encode() + b"\0" + raw


def _parts(data: bytes) -> tuple[bytes, bytes]:
    text, _, raw = data.partition(b"\0")
    try:
        places = [(str(kind), [int(n) for n in shape]) for _, kind, shape in json.loads(text)["arrays"]]
        declared = sum(math.prod(shape) * np.dtype(kind).itemsize for kind, shape in places)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, SyntaxError):  # the reader is to say so
        return text, raw
    return text, raw[:declared].ljust(declared, b"\0") if 0 <= declared <= MOST else raw


def _numbers(raw: bytes, rng: random.Random) -> bytes:
    at = 8 * rng.randrange(len(raw) // 8)
    new = struct.pack("<d", rng.choice(NUMBERS)) if rng.random() < 0.5 else struct.pack("<q", rng.choice(WHOLES))
    return raw[:at] + new + raw[at + 8 :]


def _values(record: dict[str, Any], rng: random.Random) -> None:
    places = [place for place in _places(record) if place]
    if not places:
        return
    *way, last = rng.choice(places)
    inner: Any = record
    for key in way:
        inner = inner[key]
    kind = rng.randrange(5)
    if kind == 0 and isinstance(inner, dict):
        inner[rng.choice(["_labels", "x", "eval", "points", str(last)])] = inner.pop(last)
    elif kind == 1:
        del inner[last]
    elif kind == 2 and isinstance(inner, list):
        inner.insert(last, inner[last])
    elif kind == 3:  # what stands elsewhere
        other: Any = record
        for key in rng.choice(places):
            other = other[key]
        inner[last] = json.loads(json.dumps(other))
    else:
        inner[last] = rng.choice(PLAIN)


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(each for key, inner in inside for each in _places(inner, (*place, key)))]
