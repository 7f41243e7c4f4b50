"""Image files: PNG, JPEG, TIFF, BMP, WebP, and arrays as NPY, which are mapped into memory."""

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from modeseek._storage.atomic import atomic_path
from modeseek._storage.errors import DataError
from modeseek._storage.reading import check_exists
from modeseek._storage.unpacking import check_unpacked

TIFF_SUFFIXES = (".tif", ".tiff")
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", *TIFF_SUFFIXES, ".npy", ".bmp", ".webp")
# formats that hold integers of more than 8 bits without loss
LABEL_SUFFIXES = (".png", *TIFF_SUFFIXES, ".npy")
# BMP files compress little, and Pillow decompresses them slowly: if the pixels have more bytes than the first number,
# the ratio of these bytes to the size of the file must not exceed the second number
ALWAYS_BITMAP_BYTES = 1 << 20
MOST_BITMAP_RATIO = 2_000
# Pillow may open only these formats, for any ending: one of its other readers starts an external program
PILLOW_FORMATS = ("PNG", "JPEG", "BMP", "DIB", "WEBP")
# modes of Pillow that are grey or RGB arrays
PLAIN_MODES = ("L", "RGB", "I;16")


class ImageFile(NamedTuple):
    """The pixels of a file, and a remark about them ("" if there is none)."""

    values: NDArray
    note: str = ""


def read_image(path: str | os.PathLike[str]) -> ImageFile:
    """Read an image or a volume; the alpha channel is dropped, and the note says so.

    Raises
    ------
    DataError
        If the file is missing, of another format, or cannot be read.
    """
    source = Path(path)
    check_exists(source)
    suffix = source.suffix.lower()
    if suffix not in IMAGE_SUFFIXES:
        raise DataError(f"'{path}' is not an image that can be read; supported: {', '.join(IMAGE_SUFFIXES)}.")
    read = _read_array if suffix == ".npy" else _read_tiff if suffix in TIFF_SUFFIXES else _read_pixels
    try:
        image = read(source)
    except DataError:
        raise
    except Exception as error:  # damaged bytes can make image readers raise any exception
        reason = "it is damaged or needs more memory than there is" if isinstance(error, MemoryError) else error
        raise DataError(f"'{path}' cannot be read as {suffix[1:].upper()}: {reason or 'it is empty'}.") from error
    if image.values.dtype.kind not in "biuf" or not image.values.size:
        shape = f"{image.values.dtype} of shape {image.values.shape}"
        raise DataError(f"'{path}' holds {shape}, which is not an image: save numbers in rows and columns.")
    return image


def write_image(path: str | os.PathLike[str], values: NDArray, colors: Sequence[str] = ()) -> None:
    """Write colours or labels as an image; labels have 8 or 16 bits in PNG, 32 bits in TIFF, and their type in NPY.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    values : array
        The pixels: colours if they are uint8, otherwise labels.
    colors : sequence of str, optional
        Colours ("#rrggbb") of the labels 0, 1, ... A PNG of up to 256 labels is then a palette image: viewers show the
        colours, and `numpy.asarray(PIL.Image.open(path))` returns the labels.

    Raises
    ------
    DataError
        If labels do not fit into a PNG, because they exceed 16 bits or are a volume.
    """
    suffix = Path(path).suffix.lower()
    is_label = values.dtype != np.uint8
    if suffix == ".png" and is_label and values.ndim != 2:
        raise DataError(f"cannot write '{path}': labels of a volume need .tif or .npy.")
    if suffix == ".png" and is_label and (values.min() < 0 or values.max() > 65_535):
        raise DataError(
            f"cannot write '{path}': PNG holds labels from 0 to 65,535, and these are from {values.min():,} to "
            f"{values.max():,}. Use the ending .tif or .npy, or a larger minimum size."
        )
    with atomic_path(path) as part:
        if suffix == ".npy":
            with part.open("wb") as file:
                np.save(file, values)
        elif suffix in TIFF_SUFFIXES:
            from tifffile import imwrite

            if is_label:
                # otherwise, three planes of labels would be stored as RGB
                imwrite(part, values.astype(np.int32), compression="zlib", photometric="minisblack")
            else:
                imwrite(part, values, compression="zlib")
        else:
            from PIL import Image

            if is_label and values.max() < min(256, len(colors)):
                picture = Image.fromarray(values.astype(np.uint8))
                picture.putpalette(b"".join(bytes.fromhex(color[1:]) for color in colors[:256]))
            else:
                picture = Image.fromarray(values.astype(np.uint16) if is_label else values)
            picture.save(part)


def _read_array(source: Path) -> ImageFile:
    with source.open("rb") as file:
        if file.read(2) == b"PK":
            raise DataError(f"'{source}' is an archive of arrays, not one array: save the image with numpy.save.")
    return ImageFile(np.load(source, mmap_mode="r", allow_pickle=False))


def _read_tiff(source: Path) -> ImageFile:
    import tifffile

    _check_pages(source)
    try:
        return ImageFile(tifffile.memmap(source, mode="r"))
    except ValueError:  # the file cannot be mapped, because it is compressed or in tiles
        pass
    with tifffile.TiffFile(source) as file:
        # before anything is allocated: a few bytes can declare a terabyte
        check_unpacked(f"'{source}'", sum(series.nbytes for series in file.series[:1]), source.stat().st_size)
        return ImageFile(file.asarray())


def _check_pages(source: Path) -> None:
    """Raise a `DataError` for a TIFF whose list of pages is a cycle, which tifffile would follow without end."""
    with source.open("rb") as file:
        head = file.read(16)
        order: Any = "big" if head[:2] == b"MM" else "little"
        # bytes of an offset, of the count of tags, and of a tag; version 43 is BigTIFF
        wide, counted, tag = (8, 8, 20) if int.from_bytes(head[2:4], order) == 43 else (4, 2, 12)
        at, seen = int.from_bytes(head[wide : 2 * wide], order), set[int]()
        while at:
            if at in seen:
                raise DataError(f"'{source}' cannot be read as TIFF: its list of pages is a cycle; it is damaged.")
            seen.add(at)
            file.seek(at)
            tags = int.from_bytes(file.read(counted), order)
            try:
                file.seek(at + counted + tags * tag)
            except (OSError, OverflowError, ValueError):
                return  # the position is beyond the end of any file: tifffile stops there, too
            at = int.from_bytes(file.read(wide), order)


def _read_pixels(source: Path) -> ImageFile:
    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            with Image.open(source, formats=PILLOW_FORMATS) as opened:
                size, held = opened.width * opened.height * 3, source.stat().st_size
                check_unpacked(f"'{source}'", size, held)
                bitmap = opened.format in ("BMP", "DIB")
                if bitmap and size > max(ALWAYS_BITMAP_BYTES, MOST_BITMAP_RATIO * held):
                    raise DataError(
                        f"'{source}' declares {size:,} bytes of pixels in a file of {held:,}: it is damaged."
                    )
                image: Any = ImageOps.exif_transpose(opened)
                has_alpha = image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info
                if image.mode not in PLAIN_MODES and not image.mode.startswith("I"):
                    image = image.convert("L" if image.mode in ("1", "LA", "La") else "RGB")
                values = np.asarray(image)
        except Image.DecompressionBombError as error:
            message = f"'{source}' has more pixels than Pillow reads safely: save it as TIFF or NPY ({error})."
            raise DataError(message) from error
    if values.dtype == np.int32 and values.min() >= 0 and values.max() <= 65_535:
        values = values.astype(np.uint16)
    return ImageFile(values, "the alpha channel is left out." if has_alpha else "")
