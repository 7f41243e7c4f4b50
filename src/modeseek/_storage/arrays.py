"""All arrays of a NumPy file, by name and as they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._storage.binary import load_numpy, member_of
from modeseek._storage.errors import DataError
from modeseek._storage.reading import check_source

__all__ = ["read_arrays"]


def read_arrays(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """Read the arrays of an NPZ file, or the one of an NPY file under the name X; nothing is ever unpickled.

    Raises
    ------
    DataError
        If the file is missing, damaged, or holds Python objects.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "speech.npz")
    >>> np.savez(path, X=np.ones((3, 2)), times=np.zeros((3, 2)))
    >>> {name: array.shape for name, array in read_arrays(path).items()}
    {'X': (3, 2), 'times': (3, 2)}
    """
    target, name = Path(path), f"'{os.fspath(path)}'"
    check_source(target, name)
    try:
        with target.open("rb") as file:
            loaded = load_numpy(file, name)
            if isinstance(loaded, np.ndarray):
                return {"X": loaded}
            return {each: member_of(loaded, each, name) for each in loaded.files}
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}.") from None
