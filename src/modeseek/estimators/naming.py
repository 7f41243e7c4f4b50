"""One name for two things: `summary()`, the table of clusters, and `summary=`, what a fit runs on.

Both are what people type: the first as elsewhere in data science, the second beside `engine`. scikit-learn keeps a
parameter as the attribute of its name, which would hide the method; so this attribute is both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["TableAndOption"]


class TableAndOption:
    """The attribute: called, it makes the table; set, it keeps the parameter; compared, it is the parameter.

    Examples
    --------
    >>> class Model:
    ...     def table(self):
    ...         return "a table"
    ...     summary = TableAndOption(table)
    >>> model = Model()
    >>> model.summary = "auto"
    >>> model.summary == "auto", model.summary(), vars(model)
    (True, 'a table', {'summary': 'auto'})
    """

    def __init__(self, table: Callable[[Any], Any]):
        self._table = table
        self.__doc__ = table.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self._table if owner is None else _Both(vars(owner).get("summary"), owner, self._table)

    def __set__(self, owner: Any, value: Any) -> None:
        vars(owner)["summary"] = value


class _Both:
    def __init__(self, option: Any, owner: Any, table: Callable[[Any], Any]):
        self._option, self._owner, self._table = option, owner, table
        self.__doc__ = table.__doc__

    def __call__(self) -> Any:
        return self._table(self._owner)

    def __eq__(self, other: object) -> bool:
        return bool(self._option == (other._option if isinstance(other, _Both) else other))

    def __hash__(self) -> int:
        return hash(self._option)

    def __repr__(self) -> str:
        return repr(self._option)
