"""Pictures inside a page."""

from __future__ import annotations

import base64
import os
import struct
from pathlib import Path
from typing import NamedTuple

from modeseek._storage import DataError, read_bytes
from modeseek.report.blocks import ImageBlock

__all__ = ["Inlined", "inline_picture"]

MOST_BYTES = 1_500_000
PNG_START, SCREEN_DPI, METRES_PER_INCH = b"\x89PNG\r\n\x1a\n", 96, 0.0254


class Inlined(NamedTuple):
    """A picture as a data URI, and how large it is on a page, in CSS pixels."""

    uri: str
    width: int
    height: int


def inline_picture(picture: ImageBlock, folder: str | os.PathLike[str]) -> Inlined:
    """Read a picture; of its PNG and its SVG the smaller is taken.

    Raises
    ------
    DataError
        If the PNG is missing or is none, or both are too large for a page.
    """
    path = Path(folder, f"{picture.stem}.png")
    png = read_bytes(path)
    width, height = _size(png, path)
    kind, data = "png", png
    drawing = path.with_name(path.name.removesuffix(".png") + ".svg")
    if drawing.exists() and len(svg := read_bytes(drawing)) < len(png):
        kind, data = "svg+xml", svg
    if len(data) > MOST_BYTES:
        raise DataError(
            f"'{path}' is too large for a page: {len(data):,} bytes, and at most {MOST_BYTES:,} can be; "
            "draw it smaller, or with fewer points."
        )
    return Inlined(f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}", width, height)


def _size(png: bytes, path: Path) -> tuple[int, int]:
    """Return width and height in CSS pixels, by the resolution where the file tells one."""
    if not png.startswith(PNG_START) or len(png) < 33:
        raise DataError(f"'{path}' is not a PNG: write it again.")
    width, height = struct.unpack(">II", png[16:24])
    at, per_pixel = 8, 1.0
    while at + 21 <= len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        if name == b"pHYs":
            per_metre, unit = struct.unpack(">I4xB", png[at + 8 : at + 17])
            per_pixel = SCREEN_DPI / (per_metre * METRES_PER_INCH) if unit == 1 and per_metre else 1.0
        if name in (b"pHYs", b"IDAT"):
            break
        at += 12 + length
    return round(width * per_pixel), round(height * per_pixel)
