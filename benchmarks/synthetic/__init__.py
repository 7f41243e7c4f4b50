"""Labelled synthetic data sets from many families, seeded and without end."""

from synthetic import embeddings, gaussians, hierarchies, images, nongaussian, null, scenes, shapes, tables
from synthetic.base import FAMILIES, NULL, Family, Sample, make, prepared

__all__ = [
    "FAMILIES",
    "NULL",
    "Family",
    "Sample",
    "embeddings",
    "gaussians",
    "hierarchies",
    "images",
    "make",
    "nongaussian",
    "null",
    "prepared",
    "scenes",
    "shapes",
    "tables",
]
