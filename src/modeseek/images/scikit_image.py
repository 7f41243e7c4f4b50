"""The optional dependency scikit-image."""

from importlib.util import find_spec


def require_scikit_image() -> None:
    """Raise an ImportError that names the command to type if scikit-image is not installed."""
    if find_spec("skimage") is None:
        raise ImportError('images need scikit-image: pip install "modeseek[images]"')
