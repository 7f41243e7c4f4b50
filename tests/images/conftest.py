"""Images that several tests use."""

import importlib.util
from pathlib import Path

import pytest
from skimage import data

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def scene():
    """The still life of the examples: the image, and the true region of each pixel."""
    spec = importlib.util.spec_from_file_location("still_life", EXAMPLES / "still_life.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scene()


@pytest.fixture(scope="session")
def noisy():
    """A small photograph whose regions cross every border between bands."""
    return data.coffee()[::3, ::3]
