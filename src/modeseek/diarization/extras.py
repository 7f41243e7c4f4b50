"""What the extra `diarization` brings, imported where it is first needed."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["pyannote"]


def pyannote(name: str) -> Any:
    """Return a module of pyannote, such as "core".

    Raises
    ------
    ImportError
        If it is not installed; the message says what to type.
    """
    try:
        return importlib.import_module(f"pyannote.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "pyannote":
            raise
        raise ImportError(
            f"modeseek.diarization needs pyannote.{name.partition('.')[0]}: pip install 'modeseek[diarization]'"
        ) from None
