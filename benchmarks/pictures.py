"""Compare segmentations of photographs with those by people: `segment` at its defaults, and other libraries.

    python benchmarks/pictures.py --data DIR --out benchmarks/results/pictures.csv --report docs/how-to-pictures.md

DIR has files NAME.npz with `jpeg_bytes`, the photograph, and `segs`, one label image for each person. Every method is
scored against every person at the photograph's full size. Times are medians of three
calls in the same run. The last lines choose the constants of `segment` on all pictures but one, and score that one.
"""

from __future__ import annotations

import io
import itertools
import statistics
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from skimage import data
from skimage.segmentation import quickshift

from common import machine, measured, parser_of, replace_section, table, write_csv
from modeseek.images import segment
from picture_methods import METHODS, scores

SECTION = "pictures"
# the constants, and their neighbours on both sides
PARTS, COLOURS, PROMINENCES = (12, 16, 20), (8.0, 10.0, 12.0), (0.4, 0.5, 0.6)
CUTS = ((0, 0), (3, 0), (0, 5), (6, 2), (1, 9), (8, 8), (4, 11))
METRICS = ("ari", "covering", "rand", "vi")


def read_pictures(folder: Path) -> dict[str, tuple[np.ndarray, list[np.ndarray]]]:
    """Return photographs and people's segmentations, by name."""
    found = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            if {"jpeg_bytes", "segs"} <= set(arrays.files):
                picture = np.asarray(Image.open(io.BytesIO(arrays["jpeg_bytes"].tobytes())).convert("RGB"))
                found[path.stem] = picture, list(arrays["segs"])
    if not found:
        raise SystemExit(f"{folder} has no NPZ file with jpeg_bytes and segs: --data must be a folder of such files")
    return found


def compared(pictures: dict[str, Any], repeats: int) -> list[dict[str, Any]]:
    """Return a row for each picture and method, and for people against each other."""
    rows = []
    for method in METHODS:
        method.run(next(iter(pictures.values()))[0][:64, :64])  # compiles what is to be compiled
        for name, (image, people) in pictures.items():
            seconds = []
            for _ in range(repeats):
                start = time.perf_counter()
                labels = method.run(image)
                seconds.append(time.perf_counter() - start)
            row = {"picture": name, "method": method.name, **scores(labels, people)}
            rows.append({**row, "regions": len(np.unique(labels)), "seconds": statistics.median(seconds)})
        print_mean(rows, method.name)
    for name, (_, people) in pictures.items():
        others = [scores(one, [p for p in people if p is not one]) for one in people]
        row = {"picture": name, "method": "people", **{m: float(np.mean([o[m] for o in others])) for m in METRICS}}
        rows.append({**row, "regions": float(np.mean([len(np.unique(one)) for one in people]))})
    print_mean(rows, "people")
    return rows


def mean_of(rows: list[dict[str, Any]], method: str) -> dict[str, float]:
    mine = [row for row in rows if row["method"] == method]
    return {
        key: float(np.mean([row[key] for row in mine])) for key in (*METRICS, "regions", "seconds") if key in mine[0]
    }


def print_mean(rows: list[dict[str, Any]], method: str) -> None:
    print(f"{method:32s}", "  ".join(f"{key} {value:.3f}" for key, value in mean_of(rows, method).items()), flush=True)


def left_out(pictures: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Score every setting of the grid; then for each picture the setting that was best on the others."""
    rows = []
    for parts, colour, prominence in itertools.product(PARTS, COLOURS, PROMINENCES):
        for name, (image, people) in pictures.items():
            side = float(np.sqrt(image.shape[0] * image.shape[1]))
            labels = segment(image, spatial_bandwidth=side / parts, color_bandwidth=colour, prominence=prominence)
            setting = f"side / {parts}, colour {colour:g}, prominence {prominence:g}"
            rows.append({"picture": name, "method": setting, **scores(labels, people), "regions": int(labels.max())})
    settings = list(dict.fromkeys(row["method"] for row in rows))
    value = {(row["method"], row["picture"]): row for row in rows}

    def mean(setting: str, names: list[str], key: str) -> float:
        return float(np.mean([value[setting, name][key] for name in names]))

    chosen = []
    for name in pictures:
        others = [other for other in pictures if other != name] or [name]
        best = max(settings, key=lambda s: mean(s, others, "ari") + mean(s, others, "covering"))
        chosen.append(value[best, name])
    ari, covering = (np.array([mean(s, list(pictures), key) for s in settings]) for key in ("ari", "covering"))
    around = [f"spatial bandwidth the side over {', '.join(map(str, PARTS))}"]
    around += [f"colour {', '.join(f'{c:g}' for c in COLOURS)}", f"prominence {', '.join(map(str, PROMINENCES))}"]
    text = (
        f"With settings chosen on all other images, the mean ARI is "
        f"{np.mean([row['ari'] for row in chosen]):.2f} and the mean covering "
        f"{np.mean([row['covering'] for row in chosen]):.2f}. Over all {len(settings)} settings around the defaults "
        f"({'; '.join(around)}) the mean ARI ranges from {ari.min():.2f} to {ari.max():.2f} (median "
        f"{np.median(ari):.2f}) and the covering from {covering.min():.2f} to {covering.max():.2f} (median "
        f"{np.median(covering):.2f})."
    )
    return rows, text


def shaken(pictures: dict[str, Any], cuts: Sequence[tuple[int, int]]) -> str:
    """Return the scores after cutting off a few rows and columns, which shifts the grid of cells."""
    means = []
    for rows, columns in cuts:
        for turn in (1, -1):
            part = np.s_[rows:, columns:], np.s_[::turn, ::turn]
            each = [
                scores(segment(image[part[0]][part[1]]), [person[part[0]][part[1]] for person in people])
                for image, people in pictures.values()
            ]
            means.append([np.mean([one[key] for one in each]) for key in ("ari", "covering")])
    (ari, covering), (least, lowest), (most, highest) = (f(means, axis=0) for f in (np.mean, np.min, np.max))
    return (
        f"Over {len(means)} variants with up to {max(map(max, cuts))} rows and columns removed, or turned by 180 "
        f"degrees, which shifts all cells, the mean ARI is {ari:.2f} ({least:.2f} to {most:.2f}) and the mean covering "
        f"{covering:.2f} ({lowest:.2f} to {highest:.2f})."
    )


def large(times: int) -> str:
    """Return time and memory of a large picture, from a memory map into another."""
    small = data.coffee()
    with tempfile.TemporaryDirectory() as folder:
        shape = (times * small.shape[0], times * small.shape[1])
        target = np.lib.format.open_memmap(f"{folder}/image.npy", "w+", np.uint8, (*shape, 3))
        rng = np.random.default_rng(0)
        for row in range(small.shape[0]):
            wide = np.repeat(np.repeat(small[row : row + 1], times, axis=0), times, axis=1)
            target[row * times : (row + 1) * times] = np.clip(wide + rng.normal(0, 4, wide.shape), 0, 255)
        target.flush()
        del target
        image = np.load(f"{folder}/image.npy", mmap_mode="r")
        labels = np.lib.format.open_memmap(f"{folder}/labels.npy", "w+", np.int32, shape)
        figures, _ = measured(lambda: segment(image, out=labels), 1, 600.0, 600.0)
    return (
        f"An image of {shape[0]:,} x {shape[1]:,} pixels, from one memory map into another, takes "
        f"{figures['wall_s']:.0f} s and {figures['added_mb']:.0f} MB at peak, including the pages of both maps."
    )


def beside_quickshift(rows: list[dict[str, Any]]) -> str:
    """Return the largest share of quickshift's time on any picture."""
    took = {(row["method"], row["picture"]): row["seconds"] for row in rows if "seconds" in row}
    names = {name for _, name in took}
    share = max(took[METHODS[0].name, name] / took["quickshift", name] for name in names)
    return f"On every image `segment` takes at most {share:.0%} of the time of quickshift."


def speed(repeats: int) -> str:
    """Return the time for an image of 512 x 512 pixels."""
    image, took = data.astronaut(), {}
    for name, run in (("segment", segment), ("quickshift", quickshift)):
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            run(image)
            times.append(time.perf_counter() - start)
        took[name] = statistics.median(times)
    ours, theirs = took["segment"], took["quickshift"]
    return f"A colour image of 512 x 512 pixels takes {ours:.1f} s, and {theirs:.1f} s with quickshift."


def page(rows: list[dict[str, Any]], lines: list[str]) -> str:
    """Return the section of the page."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    body = []
    for name in names:
        mean = mean_of(rows, name)
        head = f"**{name}**" if name == METHODS[0].name else name
        took = f"{mean['seconds']:.2f}" if "seconds" in mean else ""
        body.append([head, *(f"{mean[key]:.2f}" for key in METRICS), f"{mean['regions']:,.0f}", took])
    heads = ["method", "ARI", "covering", "probabilistic Rand", "VI (nats)", "regions", "seconds"]
    n = len({row["picture"] for row in rows})
    return "\n\n".join([f"Mean over {n} photographs. {machine()}.", table(heads, body), *lines])


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the photographs")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    pictures = read_pictures(given.data)
    if given.quick:
        pictures = dict(itertools.islice(pictures.items(), 2))
    rows = compared(pictures, 1 if given.quick else 3)
    lines = [beside_quickshift(rows), speed(1 if given.quick else 3), large(2 if given.quick else 10)]
    if not given.quick:
        more, text = left_out(pictures)
        lines += [text, shaken(pictures, CUTS)]
    print("\n".join(lines))
    if given.out:
        write_csv(given.out, rows + ([] if given.quick else more))
    if given.report:
        replace_section(given.report, SECTION, page(rows, lines))


if __name__ == "__main__":
    main()
