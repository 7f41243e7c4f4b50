"""The command `modeseek segment`."""

import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modeseek._common.progress import show_progress
from modeseek._common.text import counted, printable
from modeseek._common.version import __version__
from modeseek._storage.atomic import atomic_path, write_json
from modeseek._storage.image_files import LABEL_SUFFIXES, read_image, write_image
from modeseek._storage.input_file import STANDARD_STREAM
from modeseek.cli.commands import UsageError
from modeseek.cli.messages import library_errors, print_note
from modeseek.cli.options import SegmentOptions
from modeseek.cli.screen import make_console, print_lines, print_table, print_written
from modeseek.images import overlay, segment
from modeseek.images.segmentation import require_scikit_image
from modeseek.pipeline.outputs import check_targets
from modeseek.plots import palette
from modeseek.prepare import Note

OVERLAY_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
# the last axis is an axis of channels if it has at most this number of entries
MAX_CHANNELS = 8
# rows of the image that `_measure` processes at a time
BAND_ROWS = 256


def run(options: SegmentOptions) -> None:
    """Segment the image, write the outputs and print the regions."""
    targets = {
        "rows": (options.output, LABEL_SUFFIXES),
        "overlay": (options.overlay, OVERLAY_SUFFIXES),
        "json": (options.json, [".json"]),
    }
    with library_errors():
        require_scikit_image()
        check_targets(targets, [options.picture])
    n_regions = _n_regions(options)
    values, remark = read_image(options.picture)
    if remark:
        print_note(Note(remark))
    axis = _channel_axis(options, values)
    if options.overlay is not None and values.ndim - (axis is not None) != 2:
        raise UsageError(f"--overlay is for images: {options.picture} is a volume of shape {values.shape}.")
    start = time.perf_counter()
    labels = _labels(options, n_regions, values, axis)
    seconds = time.perf_counter() - start
    if options.overlay is not None:
        write_image(options.overlay, overlay(values, labels, channel_axis=axis))
    layers = [_measure(layer, values, axis) for layer in (labels if isinstance(n_regions, list) else [labels])]
    most = max(len(layer.sizes) for layer in layers)
    if n_regions is not None and np.max(n_regions) > most:
        text = f"no more than {counted(most, 'region')} found; smaller bandwidths or a smaller minimum size give more"
        print_note(Note(f"{text} (--spatial-bandwidth, --colour-bandwidth, --min-size)"))
    if options.json is not None:
        write_json(options.json, _record(options, labels, layers, seconds))
    if not options.quiet:
        _show(options, layers, seconds)


def _n_regions(options: SegmentOptions) -> int | list[int] | None:
    """Return the numbers of --n-regions: an integer, a list if several are given, or None."""
    if options.n_regions is None:
        return None
    try:
        numbers = [int(part) for part in options.n_regions.split(",")]
    except ValueError:
        raise UsageError(
            f"--n-regions must be an integer, or several separated by commas, such as 5,20,80; got "
            f"'{options.n_regions}'."
        ) from None
    if len(numbers) == 1:
        return numbers[0]
    if options.output is not None and Path(options.output).suffix.lower() == ".png":
        raise UsageError(
            f"{options.output} can hold one label image, but --n-regions has {len(numbers)} numbers: use the ending "
            ".tif or .npy, or give one number."
        )
    if options.overlay is not None:
        raise UsageError(
            f"--overlay shows one label image, but --n-regions has {len(numbers)} numbers: give one number."
        )
    return numbers


def _channel_axis(options: SegmentOptions, values: NDArray) -> int | None:
    given = options.channel_axis
    if given is None:
        if values.ndim > 2 and 2 <= values.shape[-1] <= MAX_CHANNELS:
            return -1
        if values.ndim > 2:
            size = " x ".join(map(str, values.shape))
            print_note(Note(f"read as a grey volume of {size} voxels; --channel-axis changes this"))
        return None
    if given.lower() == "none":
        return None
    try:
        axis = int(given)
    except ValueError:
        raise UsageError(f"--channel-axis must be an integer or none; got '{given}'.") from None
    if not -values.ndim <= axis < values.ndim:
        raise UsageError(f"--channel-axis must be an axis of {options.picture}, of shape {values.shape}; got {axis}.")
    return axis


def _labels(options: SegmentOptions, n_regions: int | list[int] | None, values: NDArray, axis: int | None) -> NDArray:
    if options.output is None or Path(options.output).suffix.lower() != ".npy":
        labels = _segment(options, n_regions, values, axis, None)
        if options.output is not None:
            write_image(options.output, labels, palette(min(256, int(labels.max()) + 1)))
        return labels
    # a memory map: neither pixels nor labels have to fit into memory
    shape = values.shape if axis is None else tuple(int(n) for n in np.delete(values.shape, axis))
    if isinstance(n_regions, list):
        shape = (len(n_regions), *shape)
    with atomic_path(options.output) as part:
        target = np.lib.format.open_memmap(part, "w+", np.int32, shape)
        _segment(options, n_regions, values, axis, target)
        target.flush()
    return np.load(options.output, mmap_mode="r")


def _segment(
    options: SegmentOptions,
    n_regions: int | list[int] | None,
    values: NDArray,
    axis: int | None,
    out: NDArray | None,
) -> NDArray:
    shown = nullcontext() if options.quiet else show_progress("segment")
    with warnings.catch_warnings(record=True) as caught, shown as line:
        warnings.simplefilter("always")
        try:
            labels = segment(
                values,
                spatial_bandwidth=options.spatial_bandwidth,
                color_bandwidth=options.colour_bandwidth,
                threshold=options.threshold,
                n_regions=n_regions,
                min_size=options.min_size,
                enforce_connectivity=options.connected,
                spacing=_spacing(options.spacing),
                channel_axis=axis,
                out=out,
                progress=line,
            )
        except (TypeError, ValueError) as error:
            raise UsageError(f"{options.picture}: {error}") from error
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print_note(Note(message))
    return labels


def _spacing(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--spacing must be numbers separated by commas, such as 2.5,1,1; got '{text}'.") from None
    return numbers * 3 if len(numbers) == 1 else numbers


@dataclass(frozen=True, eq=False)
class _Regions:
    """Shape of a label image, and for each region its number of pixels and the mean values of its channels."""

    shape: tuple[int, ...]
    sizes: NDArray
    means: NDArray

    @property
    def pixels(self) -> int:
        return int(self.sizes.sum())


def _measure(labels: NDArray, values: NDArray, axis: int | None) -> _Regions:
    pixels = values[..., None] if axis is None else np.moveaxis(values, axis, -1)
    k, channels = int(labels.max()), pixels.shape[-1]
    sizes, sums = np.zeros(k, int), np.zeros((k, channels))
    for start in range(0, len(labels), BAND_ROWS):
        flat = np.asarray(labels[start : start + BAND_ROWS]).ravel() - 1
        values = np.asarray(pixels[start : start + BAND_ROWS], dtype=float).reshape(-1, channels)
        sizes += np.bincount(flat, minlength=k)
        sums += np.stack([np.bincount(flat, values[:, c], k) for c in range(channels)], axis=1)
    return _Regions(labels.shape, sizes, sums / sizes[:, None])


def _record(options: SegmentOptions, labels: NDArray, layers: list[_Regions], seconds: float) -> dict[str, Any]:
    """Return the summary for --json; if there are several layers (label images), each has a list of regions."""
    found = [
        [
            {"label": label, "pixels": int(size), "share": float(size / layer.pixels), "mean": mean.tolist()}
            for label, (size, mean) in enumerate(zip(layer.sizes, layer.means, strict=True), 1)
        ]
        for layer in layers
    ]
    counted_regions = [{"n_regions": len(regions), "regions": regions} for regions in found]
    return {
        "version": __version__,
        "file": options.picture,
        "settings": {name: value for name, value in vars(options).items() if name not in ("picture", "quiet")},
        "shape": list(labels.shape),
        **(counted_regions[0] if len(layers) == 1 else {"layers": counted_regions}),
        "seconds": seconds,
    }


def _show(options: SegmentOptions, layers: list[_Regions], seconds: float) -> None:
    console = make_console(stderr=options.json == STANDARD_STREAM)
    for layer in layers:
        unit = "voxels" if len(layer.shape) == 3 else "pixels"
        size = " x ".join(f"{n:,}" for n in layer.shape)
        title = f"{counted(len(layer.sizes), 'region')} in {size} {unit} of {printable(Path(options.picture).name)}"
        print_lines(console, title, style="bold")
        names = ("region", unit, "share", "mean value" if layer.means.shape[1] == 1 else "mean values")
        rows = [
            (str(label), f"{pixels:,}", f"{pixels / layer.pixels:.1%}", " ".join(f"{value:>6.4g}" for value in mean))
            for label, (pixels, mean) in enumerate(zip(layer.sizes, layer.means, strict=True), 1)
        ]
        print_table(console, names, rows, "smaller regions")
    print_lines(console, f"took {seconds:.1f} s")
    print_written(console, options.output, options.overlay, options.json)
