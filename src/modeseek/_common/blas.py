"""Matrix products on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
# one entry for each active block in any thread: the first restores the earlier setting, all others are None
_active: list[Any] = []


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit matrix products to one BLAS thread inside a block: for small products, more threads only take up cores.

    The number of threads is a setting of the whole process. Blocks may overlap in several threads: the first one
    changes the setting, and the last one restores it.
    """
    with _lock:
        _active.append(_libraries().limit(limits=1, user_api="blas") if not _active else None)
    try:
        yield
    finally:
        with _lock:
            # the entry that restores the earlier setting is removed last
            entry = _active.pop()
            if entry is not None:
                entry.restore_original_limits()
