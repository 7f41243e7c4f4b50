"""Conversion of Python values to Arrow columns and back, and to cells of text."""

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from modeseek._storage.cells import to_array, to_objects
from modeseek._storage.pyarrow_modules import pa

# larger integers do not fit into a decimal of Arrow
MAX_DECIMAL = 10**76
# mark of a column with values of several types, in the metadata of its field
MIXED = {b"modeseek": b"mixed"}
# types of JSON other than text
VALUES = (bool, int, float, list, dict)


def arrow_table(names: Sequence[str], columns: Iterable[Sequence[Any]]) -> Any:
    """Return columns of Python values as an Arrow table.

    A column with values of several types becomes a column of text. It is marked as mixed in the metadata of its
    field, and `to_values` restores the values. If some of its text looks like a JSON value, such as a number, the
    column has no mark and remains text.

    Examples
    --------
    >>> table = arrow_table(["a", "b"], [[1, "a", True], [1, 2.5, None]])
    >>> table.to_pydict()
    {'a': ['1', 'a', 'true'], 'b': [1.0, 2.5, None]}
    >>> to_values(table.column(0), table.field(0))
    [1, 'a', True]
    """
    arrays = [_arrow_column(column) for column in columns]
    marks = [MIXED if mixed else None for _, mixed in arrays]
    fields = [
        pa.field(name, array.type, metadata=mark) for name, (array, _), mark in zip(names, arrays, marks, strict=True)
    ]
    return pa.table([array for array, _ in arrays], schema=pa.schema(fields))


def _arrow_column(values: Sequence[Any]) -> tuple[Any, bool]:
    """Return values as an Arrow array, and whether it is text from which `to_values` can restore several types."""
    try:
        array = pa.array(values, from_pandas=True)
        # Arrow converts text to bytes if the column also has bytes, and adds missing names to objects
        mixed = pa.types.is_binary(array.type) and any(isinstance(each, str) for each in values)
        nested = pa.types.is_nested(array.type) and all(isinstance(each, list | dict | None) for each in values)
        if not mixed and not (nested and array.to_pylist() != list(values)):
            return array, False
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        pass
    present = [None if _is_null(each) else each for each in values]
    numbers = {type(each) for each in present if each is not None} == {int}
    if numbers and max(abs(each) for each in present if each is not None) < MAX_DECIMAL:
        return pa.array([each if each is None else Decimal(each) for each in present], pa.decimal256(76)), False
    texts = [None if each is None else _mixed_text(each) for each in present]
    # text that looks like a JSON value cannot be distinguished from the value
    mixed = any(isinstance(each, VALUES) for each in present) and not any(
        _json_value(text) is not text
        for text, each in zip(texts, present, strict=True)
        if text is not None and not isinstance(each, VALUES)
    )
    return pa.array(texts, pa.string()), mixed


def _is_null(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or NA and NaT of pandas."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _mixed_text(value: Any) -> str:
    """Return a value as JSON; text, and values of types that JSON lacks, are returned as plain text."""
    if isinstance(value, VALUES):
        return json.dumps(value, default=as_text, ensure_ascii=False)
    return as_text(value)


def _json_value(text: str) -> Any:
    """Return the value that a JSON text represents; return text that is not JSON unchanged."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_text(value: Any) -> str:
    """Return a value as text: bytes as hexadecimal digits."""
    return value.hex() if isinstance(value, bytes) else str(value)


def to_values(column: Any, field: Any) -> list[Any]:
    """Return an Arrow column as Python objects: decimals of scale 0 as integers, mixed columns with their types."""
    values = to_objects(column)
    if pa.types.is_decimal(column.type) and not column.type.scale:
        return [None if each is None else int(each) for each in values]
    if field.metadata is not None and MIXED.items() <= field.metadata.items():
        return [None if each is None else _json_value(each) for each in values]
    return values


def to_cells(column: Any) -> list[Any]:
    """Return an Arrow column as the cells of a text file: nested values as JSON, bytes as hexadecimal digits."""
    if pa.types.is_nested(column.type) or pa.types.is_interval(column.type):
        return [
            None if each is None else json.dumps(each, default=as_text, ensure_ascii=False)
            for each in to_objects(column)
        ]
    cells = to_array(column).tolist()
    return [each.hex() if isinstance(each, bytes) else each for each in cells] if is_bytes(column.type) else cells


def is_bytes(kind: Any) -> bool:
    """Return whether a type is one of bytes."""
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
