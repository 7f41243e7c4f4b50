"""The job of `modeseek segment`: read the picture, find regions, write and tell them."""

from __future__ import annotations

import os
import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.progress import show_progress
from modeseek._storage import LABEL_SUFFIXES, atomic_path, check_target, read_picture, write_json, write_picture
from modeseek.cli.settings import Problem
from modeseek.cli.steps import PIPE_WIDTH, STANDARD_STREAM, note

__all__ = ["Request", "segment_file"]

OVERLAYS = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
MOST_ROWS = 20
MOST_CHANNELS = 8
ROWS = 256


@dataclass(frozen=True)
class Request:
    """What the command was asked to do; fields are its parameters."""

    picture: str
    output: str | None
    overlay: str | None
    json: str | None
    quiet: bool
    spatial_bandwidth: float | None
    colour_bandwidth: float
    prominence: float
    min_size: float | None
    connected: bool
    spacing: str | None
    channel_axis: str | None


def segment_file(request: Request) -> None:
    """Segment a picture and write what was asked for."""
    try:
        from modeseek.images.scikit_image import require_scikit_image

        require_scikit_image()
    except ImportError as error:
        raise Problem(f"modeseek segment: {error}") from None
    _check_targets(request)
    values, said = read_picture(request.picture)
    if said:
        note(said)
    axis = _axis(request, values)
    space = values.ndim if axis is None else values.ndim - 1
    if request.overlay is not None and space != 2:
        raise Problem(f"--overlay is for pictures: {request.picture} is a volume of shape {values.shape}.")
    start = time.perf_counter()
    labels = _labels(request, values, axis)
    seconds = time.perf_counter() - start
    if request.overlay is not None:
        from modeseek.images import overlay

        write_picture(request.overlay, overlay(values, labels, channel_axis=axis))
    found = _found(labels, values, axis)
    if request.json is not None:
        write_json(request.json, _record(request, labels, found, seconds))
    if not request.quiet:
        _show(request, labels, found, seconds)


def _check_targets(request: Request) -> None:
    if request.output is not None:
        check_target(request.output, LABEL_SUFFIXES)
    if request.overlay is not None:
        check_target(request.overlay, OVERLAYS)
    if request.json not in (None, STANDARD_STREAM):
        check_target(str(request.json), [".json"])
    named = [Path(name) for name in (request.output, request.overlay) if name is not None]
    if any(each.exists() and Path(request.picture).exists() and each.samefile(request.picture) for each in named):
        raise Problem(f"{request.picture} is the file that is read: give the result another name.")
    if len(named) == 2 and named[0] == named[1]:
        raise Problem(f"-o and --overlay are both {request.output}: give one of them another name.")


def _axis(request: Request, values: NDArray) -> int | None:
    given = request.channel_axis
    if given is None:
        if values.ndim > 2 and 2 <= values.shape[-1] <= MOST_CHANNELS:
            return -1
        if values.ndim > 2:
            size = " x ".join(map(str, values.shape))
            note(f"read as a grey volume of {size} voxels; --channel-axis can say otherwise.")
        return None
    if given.lower() == "none":
        return None
    try:
        return int(given)
    except ValueError:
        raise Problem(f"--channel-axis must be a whole number or none; got '{given}'.") from None


def _labels(request: Request, values: NDArray, axis: int | None) -> NDArray:
    if request.output is None or Path(request.output).suffix.lower() != ".npy":
        labels = _segment(request, values, axis, None)
        if request.output is not None:
            write_picture(request.output, labels)
        return labels
    # as a memory map, so that neither pixels nor labels need fit into memory
    shape = values.shape if axis is None else tuple(int(n) for n in np.delete(values.shape, axis))
    with atomic_path(request.output) as part:
        target = np.lib.format.open_memmap(part, "w+", np.int32, shape)
        _segment(request, values, axis, target)
        target.flush()
    return np.load(request.output, mmap_mode="r")


def _segment(request: Request, values: NDArray, axis: int | None, out: NDArray | None) -> NDArray:
    from modeseek.images import segment

    shown = nullcontext() if request.quiet else show_progress("segment")
    with warnings.catch_warnings(record=True) as caught, shown as line:
        warnings.simplefilter("always")
        try:
            labels = segment(
                values,
                spatial_bandwidth=request.spatial_bandwidth,
                color_bandwidth=request.colour_bandwidth,
                prominence=request.prominence,
                min_size=request.min_size,
                enforce_connectivity=request.connected,
                spacing=_spacing(request.spacing),
                channel_axis=axis,
                out=out,
                progress=line,
            )
        except (TypeError, ValueError) as error:
            raise Problem(f"{request.picture}: {error}") from error
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        note(message)
    return labels


def _spacing(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise Problem(f"--spacing must be numbers with commas between, such as 2.5,1,1; got '{text}'.") from None
    return numbers * 3 if len(numbers) == 1 else numbers


@dataclass(frozen=True, eq=False)
class _Found:
    """Pixels of each region, and the mean of their values."""

    sizes: NDArray
    means: NDArray


def _found(labels: NDArray, values: NDArray, axis: int | None) -> _Found:
    pixels = values[..., None] if axis is None else np.moveaxis(values, axis, -1)
    channels = pixels.shape[-1]
    sizes, sums = np.zeros(0), np.zeros((0, channels))
    for start in range(0, len(labels), ROWS):
        flat = np.asarray(labels[start : start + ROWS]).ravel() - 1
        k = max(len(sizes), int(flat.max()) + 1)
        rows = np.asarray(pixels[start : start + ROWS], dtype=float).reshape(-1, channels)
        sizes = np.append(sizes, np.zeros(k - len(sizes))) + np.bincount(flat, minlength=k)
        more = np.stack([np.bincount(flat, rows[:, c], k) for c in range(channels)], axis=1)
        sums = np.vstack([sums, np.zeros((k - len(sums), channels))]) + more
    return _Found(sizes.astype(int), sums / sizes[:, None])


def _record(request: Request, labels: NDArray, found: _Found, seconds: float) -> dict[str, Any]:
    from modeseek import __version__

    regions = [
        {"label": label, "pixels": int(size), "share": float(size / labels.size), "mean": mean.tolist()}
        for label, (size, mean) in enumerate(zip(found.sizes, found.means, strict=True), 1)
    ]
    settings = {name: value for name, value in vars(request).items() if name not in ("picture", "quiet")}
    return {
        "version": __version__,
        "file": request.picture,
        "settings": settings,
        "shape": list(labels.shape),
        "n_regions": len(regions),
        "regions": regions,
        "seconds": seconds,
    }


def _show(request: Request, labels: NDArray, found: _Found, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=request.json == STANDARD_STREAM)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        # nobody wraps the lines of a pipe or a file
        console.width = PIPE_WIDTH
    k, unit = len(found.sizes), "voxels" if labels.ndim == 3 else "pixels"
    size = " x ".join(f"{n:,}" for n in labels.shape)
    title = f"{k:,} region{'s' if k != 1 else ''} in {size} {unit} of {Path(request.picture).name}"
    console.print(Text(title, style="bold"), soft_wrap=True)
    table = Table(header_style="bold")
    for name in ("region", unit, "share", "mean value" if found.means.shape[1] == 1 else "mean values"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, (pixels, mean) in enumerate(zip(found.sizes[:MOST_ROWS], found.means, strict=False), 1):
        told = " ".join(f"{value:>6.4g}" for value in mean)
        table.add_row(str(label), f"{pixels:,}", f"{pixels / labels.size:.1%}", told)
    console.print(table)
    if k > MOST_ROWS:
        console.print(f"and {k - MOST_ROWS:,} smaller regions; --json or -o has them all", soft_wrap=True)
    console.print(f"took {seconds:.1f} s", soft_wrap=True)
    for name, written in (("labels", request.output), ("overlay", request.overlay)):
        if written is not None:
            console.print(Text(f"{name}: {written}"), soft_wrap=True)
