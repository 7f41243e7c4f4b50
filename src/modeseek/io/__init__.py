"""Model files. They hold arrays and JSON, and no pickled objects."""

from modeseek._common.storable import storable
from modeseek.io.models import MODEL_SUFFIX, Saved, load, read_model, save

__all__ = ["MODEL_SUFFIX", "Saved", "load", "read_model", "save", "storable"]
