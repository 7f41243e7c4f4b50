"""The optional dependency of this room."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["need_scikit_image"]


def need_scikit_image() -> None:
    """Raise a clear error where scikit-image is missing."""
    if find_spec("skimage") is None:
        raise ImportError('pictures need scikit-image: pip install "modeseek[images]"')
