"""Embed image files in a page as data URIs."""

import base64
import os
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image, UnidentifiedImageError

from modeseek._storage.errors import DataError
from modeseek._storage.reading import read_bytes

MAX_IMAGE_BYTES = 1_500_000
SCREEN_DPI = 96


class EmbeddedImage(NamedTuple):
    """An image as a data URI, with its size on the page in CSS pixels."""

    uri: str
    width: int
    height: int


def embed_image(stem: str, folder: str | os.PathLike[str]) -> EmbeddedImage:
    """Read the image `stem.png` of a folder, or `stem.svg` if that file exists and is smaller.

    Raises
    ------
    DataError
        If the PNG is missing or is not a PNG, or if both files are too large for a page.
    """
    path = Path(folder, f"{stem}.png")
    png = read_bytes(path)
    width, height = _size(png, path)
    kind, data = "png", png
    drawing = Path(folder, f"{stem}.svg")
    if drawing.exists() and len(svg := read_bytes(drawing)) < len(png):
        kind, data = "svg+xml", svg
    if len(data) > MAX_IMAGE_BYTES:
        raise DataError(
            f"'{path}' is too large for a page: {len(data):,} bytes, and the limit is {MAX_IMAGE_BYTES:,}; "
            "make the image smaller, or draw fewer points."
        )
    return EmbeddedImage(f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}", width, height)


def _size(png: bytes, path: Path) -> tuple[int, int]:
    """Return width and height in CSS pixels, by the resolution that the file states."""
    try:
        with Image.open(BytesIO(png), formats=["PNG"]) as image:
            per_inch = image.info.get("dpi", (0, 0))[0] or SCREEN_DPI
            return round(image.width * SCREEN_DPI / per_inch), round(image.height * SCREEN_DPI / per_inch)
    except UnidentifiedImageError as error:
        raise DataError(f"'{path}' is not a PNG: write it again.") from error
