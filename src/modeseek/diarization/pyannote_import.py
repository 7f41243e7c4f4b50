"""Import of the optional packages pyannote.core and pyannote.metrics."""

import importlib
from typing import Any


def import_pyannote(name: str) -> Any:
    """Return a module of pyannote, such as "core".

    Raises
    ------
    ImportError
        If the package is not installed; the message names the command to type.
    """
    try:
        return importlib.import_module(f"pyannote.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "pyannote":
            raise
        raise ImportError("modeseek.diarization needs pyannote: pip install 'modeseek[diarization]'") from None
