"""Pictures: label images by modes of the density over place and colour (`pip install "modeseek[images]"`)."""

from modeseek.images.overlay import overlay
from modeseek.images.segmentation import segment

__all__ = ["overlay", "segment"]
