"""Labelled synthetic data sets from many families, seeded and without end."""

from synthetic import (
    contrasts,
    embeddings,
    gaussians,
    hierarchies,
    images,
    measured,
    nongaussian,
    null,
    scenes,
    shapes,
    tables,
)
from synthetic.base import FAMILIES, NULL, Family, Sample, make, prepared

__all__ = [
    "FAMILIES",
    "NULL",
    "Family",
    "Sample",
    "contrasts",
    "embeddings",
    "gaussians",
    "hierarchies",
    "images",
    "make",
    "measured",
    "nongaussian",
    "null",
    "prepared",
    "scenes",
    "shapes",
    "tables",
]
