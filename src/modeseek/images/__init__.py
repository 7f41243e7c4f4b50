"""Segmentation of images and volumes (`pip install "modeseek[images]"`)."""

from modeseek.images.config import SegmentConfig
from modeseek.images.napari_layers import label_layers
from modeseek.images.overlay import overlay
from modeseek.images.segmentation import segment

__all__ = ["SegmentConfig", "label_layers", "overlay", "segment"]
