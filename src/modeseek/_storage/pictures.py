"""Picture files: PNG, JPEG, TIFF, and arrays as NPY, which are read and written as memory maps."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._common.hints import did_you_mean
from modeseek._storage.atomic import atomic_path
from modeseek._storage.errors import DataError

__all__ = ["LABEL_SUFFIXES", "PICTURE_FILES", "PictureFile", "read_picture", "write_picture"]

TIFF = (".tif", ".tiff")
PICTURE_FILES = (".png", ".jpg", ".jpeg", *TIFF, ".npy", ".bmp", ".webp")
# what holds whole numbers as they are
LABEL_SUFFIXES = (".png", *TIFF, ".npy")
# bytes of pixels that are unpacked in any case, and beyond them how many times the file they may be: the most that
# deflate can pack is about 1,030
ALWAYS, MOST_PACKED = 1 << 26, 2_000
# the same for bitmaps, which are hardly packed, and unpacked slowly
ALWAYS_BITMAP = 1 << 20
# what is looked for in a file that is no TIFF, whatever its ending says: of all that Pillow knows, one starts a program
FORMATS = ("PNG", "JPEG", "BMP", "DIB", "WEBP")
# modes of Pillow that are arrays of grey or RGB already
PLAIN = ("L", "RGB", "I;16")


class PictureFile(NamedTuple):
    """What a file holds, and what the reader should know of it ("" where nothing)."""

    values: NDArray
    note: str = ""


def read_picture(path: str | os.PathLike[str]) -> PictureFile:
    """Read a picture or a volume; opacity is dropped, and the note says so.

    Raises
    ------
    DataError
        If the file is missing, of another kind, or cannot be read.
    """
    source = Path(path)
    if source.is_dir():
        raise DataError(f"'{path}' is a folder: give the name of a picture in it.")
    if not source.is_file():
        near = did_you_mean(
            source.name, [each.name for each in source.parent.glob("*")] if source.parent.is_dir() else []
        )
        raise DataError(f"there is no file '{path}'.{near}")
    suffix = source.suffix.lower()
    if suffix not in PICTURE_FILES:
        raise DataError(f"'{path}' is no picture that can be read: known are {', '.join(PICTURE_FILES)}.")
    try:
        if suffix == ".npy":
            picture = PictureFile(_array(source))
        else:
            picture = PictureFile(_tiff(source)) if suffix in TIFF else _pixels(source)
    except DataError:
        raise
    except Exception as error:  # readers of pictures raise whatever the bytes led them to
        reason = "it is damaged or needs more memory than there is" if isinstance(error, MemoryError) else error
        raise DataError(f"'{path}' cannot be read as {suffix[1:].upper()}: {reason or 'it is empty'}.") from error
    if picture.values.dtype.kind not in "biuf" or not picture.values.size:
        shape = f"{picture.values.dtype} of shape {picture.values.shape}"
        raise DataError(f"'{path}' holds {shape}, which is no picture: save numbers, in rows and columns.")
    return picture


def write_picture(path: str | os.PathLike[str], values: NDArray) -> None:
    """Write whole numbers: uint8 colours, or labels as 16 bits (PNG), 32 (TIFF) or as they are (NPY).

    Raises
    ------
    DataError
        If a PNG would have to hold more than 16 bits, or a volume.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        with atomic_path(path) as part, open(part, "wb") as file:
            np.save(file, values)
        return
    if suffix in TIFF:
        from tifffile import imwrite

        with atomic_path(path) as part:
            imwrite(part, values if values.dtype == np.uint8 else values.astype(np.int32), compression="zlib")
        return
    from PIL import Image

    if values.dtype != np.uint8:
        if values.ndim != 2:
            raise DataError(f"cannot write '{path}': labels of a volume need .tif or .npy.")
        if values.min() < 0 or values.max() > 65_535:
            raise DataError(
                f"cannot write '{path}': PNG holds labels from 0 to 65,535, and these are from {values.min():,} to "
                f"{values.max():,}. Give it the ending .tif or .npy, or take a larger minimum size."
            )
        values = values.astype(np.uint16)
    with atomic_path(path) as part:
        Image.fromarray(values).save(part)


def _array(source: Path) -> NDArray:
    with source.open("rb") as file:
        if file.read(2) == b"PK":
            raise DataError(f"'{source}' is an archive of arrays, not one array: save the picture with numpy.save.")
    return np.load(source, mmap_mode="r", allow_pickle=False)


def _tiff(source: Path) -> NDArray:
    import tifffile

    _check_pages(source)
    try:
        return tifffile.memmap(source, mode="r")
    except ValueError:  # compressed, or in pieces
        pass
    with tifffile.TiffFile(source) as file:
        # asked before anything is allocated: a few bytes can say that they are a terabyte
        _check_size(source, sum(series.nbytes for series in file.series[:1]))
        return file.asarray()


def _check_size(source: Path, size: int, always: int = ALWAYS) -> None:
    held = source.stat().st_size
    if size > always and size > MOST_PACKED * held:
        raise DataError(f"'{source}' says it holds {size:,} bytes of pixels in a file of {held:,}: it is damaged.")


def _check_pages(source: Path) -> None:
    """Refuse a TIFF whose pages follow each other in a ring, which its reader would walk for ever."""
    with source.open("rb") as file:
        head = file.read(16)
        order: Literal["little", "big"] = "big" if head[:2] == b"MM" else "little"
        big = int.from_bytes(head[2:4], order) == 43
        # bytes of an offset, of the count of tags and of a tag
        wide, counted, tag = (8, 8, 20) if big else (4, 2, 12)
        at, seen = int.from_bytes(head[wide : 2 * wide], order), set[int]()
        while at:
            if at in seen:
                raise DataError(f"'{source}' cannot be read as TIFF: its pages go round in a ring; it is damaged.")
            seen.add(at)
            file.seek(at)
            tags = int.from_bytes(file.read(counted), order)
            try:
                file.seek(at + counted + tags * tag)
            except (OSError, OverflowError, ValueError):
                return  # beyond any file: the reader stops there too
            at = int.from_bytes(file.read(wide), order)


def _pixels(source: Path) -> PictureFile:
    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        # a large picture is no attack
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            with Image.open(source, formats=FORMATS) as opened:
                _check_size(
                    source,
                    opened.width * opened.height * 3,
                    ALWAYS_BITMAP if opened.format in ("BMP", "DIB") else ALWAYS,
                )
                picture: Any = ImageOps.exif_transpose(opened)
                opacity = picture.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info
                if picture.mode not in PLAIN and not picture.mode.startswith("I"):
                    picture = picture.convert("L" if picture.mode in ("1", "LA", "La") else "RGB")
                values = np.asarray(picture)
        except Image.DecompressionBombError as error:
            raise DataError(f"'{source}' is too large for this format: save it as TIFF or NPY ({error}).") from error
    if values.dtype == np.int32 and values.min() >= 0 and values.max() <= 65_535:
        values = values.astype(np.uint16)
    return PictureFile(values, "the channel of opacity is left out." if opacity else "")
