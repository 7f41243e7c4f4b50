"""Files of fitted models: arrays and JSON, never pickled; a hostile file can neither run code nor take all memory."""

from modeseek.io.models import MODEL_SUFFIX, Saved, load, read_model, save

__all__ = ["MODEL_SUFFIX", "Saved", "load", "read_model", "save"]
