"""The registry of file formats, by the endings of file names; each module of a format registers itself."""

from __future__ import annotations

import os

from modeseek._common.hints import did_you_mean
from modeseek._storage.errors import UnknownFormatError
from modeseek._storage.formats.base import Format
from modeseek._storage.input_file import STANDARD_STREAM, split_endings, split_part

# formats by the ending of file names
FORMATS: dict[str, Format] = {}
# endings of files that cannot be read; PANDAS maps those that pandas can read to the names of its functions
PANDAS = {".h5": "hdf", ".hdf5": "hdf", ".pkl": "pickle", ".dta": "stata", ".sav": "spss", ".sas7bdat": "sas"}
IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp", ".gif")
SOUNDS = (".wav", ".mp3", ".flac", ".ogg", ".m4a", ".opus")


def register_format(new: Format) -> None:
    """Register a format for its endings; it replaces formats that were registered for these endings before."""
    FORMATS.update(dict.fromkeys(new.suffixes, new))


def format_of(path: str | os.PathLike[str]) -> Format:
    """Return the format that is registered for the ending of a file; "-" (a standard stream) is delimited text.

    Examples
    --------
    >>> format_of("birds.CSV").name, format_of("-").name, format_of("birds.pq").name
    ('delimited text', 'delimited text', 'Parquet')
    """
    source = split_part(path)[0]
    suffix, compression = (".csv", "") if source == STANDARD_STREAM else split_endings(source)
    if suffix in FORMATS and not (compression and FORMATS[suffix].magic):
        return FORMATS[suffix]
    raise UnknownFormatError(os.fspath(path), suffix, FORMATS, _conversion(suffix, compression))


def input_format(path: str | os.PathLike[str]) -> Format:
    """Return the format of a file to read; a file without an ending is read as text.

    Examples
    --------
    >>> input_format("birds").name
    'delimited text'
    """
    return format_of(path) if split_endings(split_part(path)[0])[0] else FORMATS[".csv"]


def _conversion(suffix: str, compression: str) -> str:
    """Return advice for a file with an unsupported ending; "" if there is none."""
    if suffix in FORMATS:
        return f"{FORMATS[suffix].name} cannot be read while it is compressed ({compression}): unpack it first."
    if suffix == ".numbers":
        return "Save the sheet as CSV (in the spreadsheet: Save as, CSV UTF-8)."
    if suffix in PANDAS:
        return f"Convert it once, in Python: pandas.read_{PANDAS[suffix]}(...).to_parquet('data.parquet')."
    if suffix in IMAGES:
        return "It is an image: modeseek.images.segment finds its regions."
    if suffix == ".modeseek":
        return "It is a saved model, not a table: modeseek.io.load reads it."
    if suffix in SOUNDS:
        return "It is a recording: modeseek.diarization.diarize takes embeddings of its windows, from a speaker model."
    return did_you_mean(suffix, FORMATS).strip()


def writable_suffixes() -> list[str]:
    """Return the endings of names of files that can be written."""
    return [suffix for suffix, each in FORMATS.items() if each.writable]
