"""Compare segmentations of photographs with those by people: `segment` at its defaults, and other libraries.

    python benchmarks/pictures.py --data DIR --out benchmarks/results/pictures.csv --report docs/how-to-pictures.md

DIR has files NAME.npz with `jpeg_bytes`, the photograph, and `segs`, one label image for each person. A hash of the
name puts each photograph into one of two halves. Every setting of every method is scored on the choosing half; the
setting with the largest covering is then scored on the judging half. `segment` runs at its defaults only.
`--half choosing` leaves the judging half alone; `--count` and `--shrink` make quick looks cheap. Times are CPU
seconds, so that other programs on the machine disturb them less.

Rows are written to --out as they are measured, and a run with the same --out resumes; delete the file to measure
again.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from skimage import data

from common import machine, measured, parser_of, read_csv, replace_section, table
from modeseek.images import segment
from picture_methods import METHODS, OURS, Method, scores

SECTION = "pictures"
METRICS = ("covering", "rand", "ari", "vi")
HALVES = ("choosing", "judging")

Pictures = dict[str, tuple[np.ndarray, list[np.ndarray]]]


def half_of(name: str) -> str:
    """Return the half that a photograph belongs to, from a hash of its name."""
    return HALVES[hashlib.sha256(name.encode()).digest()[0] % 2]


def read_pictures(folder: Path, half: str, count: int | None = None, shrink: int = 1) -> Pictures:
    """Return photographs of one half and people's segmentations, by name; every `shrink`-th pixel of the latter."""
    paths = [path for path in sorted(folder.glob("*.npz")) if half_of(path.stem) == half]
    found = {}
    for path in itertools.islice(paths, count):
        with np.load(path) as arrays:
            picture = Image.open(io.BytesIO(arrays["jpeg_bytes"].tobytes())).convert("RGB")
            people = [one[::shrink, ::shrink] for one in arrays["segs"]]
        rows, columns = people[0].shape
        found[path.stem] = np.asarray(picture if shrink == 1 else picture.resize((columns, rows))), people
    if not found:
        raise SystemExit(f"{folder} has no NPZ file of the {half} half: --data must be a folder of photographs")
    return found


class Measured:
    """The rows of the CSV file: those of earlier runs, and new ones, which are added to the file at once."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = [_figures(row) for row in read_csv(path)] if path and path.exists() else []

    def of(self, half: str, method: Method, pictures: Pictures) -> list[dict[str, Any]]:
        """Return a row for each picture; measure those that are missing."""
        known = {row["picture"]: row for row in self.rows if _key(row) == (half, method.name, method.setting)}
        found = [known.get(name) or self._measure(half, method, name, *pictures[name]) for name in pictures]
        print(f"{half:9s} {method.name:24s} {method.setting:28s}", _line(mean_of(found)), flush=True)
        return found

    def _measure(
        self, half: str, method: Method, name: str, image: np.ndarray, people: list[np.ndarray]
    ) -> dict[str, Any]:
        start = time.process_time()
        labels = method.run(image)
        row = {"half": half, "picture": name, "method": method.name, "setting": method.setting}
        row |= {"seconds": time.process_time() - start, "regions": len(np.unique(labels)), **scores(labels, people)}
        if self.path:
            new = not self.path.exists()
            with self.path.open("a", newline="") as file:
                writer = csv.DictWriter(file, row, lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerow({key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()})
        self.rows.append(row)
        return row


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["half"], row["method"], row["setting"]


def _figures(row: dict[str, str]) -> dict[str, Any]:
    return {**row, **{key: float(row[key]) for key in (*METRICS, "regions", "seconds")}}


def among_people(pictures: Pictures, half: str) -> list[dict[str, Any]]:
    """Return the scores of each person against the others."""
    rows = []
    for name, (_, people) in pictures.items():
        others = [scores(one, [p for p in people if p is not one]) for one in people]
        row = {"half": half, "picture": name, "method": "people", "setting": ""}
        row |= {metric: float(np.mean([other[metric] for other in others])) for metric in METRICS}
        rows.append({**row, "regions": float(np.mean([len(np.unique(one)) for one in people]))})
    print(f"{half:9s} {'people':24s} {'':28s}", _line(mean_of(rows)), flush=True)
    return rows


def mean_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {
        key: float(np.mean([row[key] for row in rows])) for key in (*METRICS, "regions", "seconds") if key in rows[0]
    }


def _line(means: dict[str, float]) -> str:
    return "  ".join(f"{key} {value:.3f}" for key, value in means.items())


def compared(given: Any) -> list[dict[str, Any]]:
    """Score all settings on the choosing half, and the best setting of each method on the judging half."""
    methods = [method for method in METHODS if not given.methods or method.name in given.methods]
    for method in methods:
        method.run(data.astronaut()[:64, :64])  # compile and import before times are taken
    file, rows = Measured(given.out), []
    if given.half != "judging":
        pictures = read_pictures(given.data, "choosing", given.choose or given.count, given.shrink)
        rows = [row for method in methods for row in file.of("choosing", method, pictures)]
    if given.half != "choosing":
        pictures = read_pictures(given.data, "judging", given.count, given.shrink)
        best = {name: best_setting(rows, name) for name in dict.fromkeys(method.name for method in methods)}
        chosen = [method for method in methods if best[method.name] in (None, method.setting)]
        rows += [row for method in chosen for row in file.of("judging", method, pictures)]
        rows += among_people(pictures, "judging")
    return rows


def best_setting(rows: list[dict[str, Any]], name: str) -> str | None:
    """Return the setting with the largest mean covering on the choosing half; None if it was not run."""
    settings = list(dict.fromkeys(row["setting"] for row in rows if row["method"] == name))
    each = {s: mean_of([r for r in rows if (r["method"], r["setting"]) == (name, s)])["covering"] for s in settings}
    return max(each, key=lambda s: each[s]) if each else None


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


def speed(repeats: int) -> str:
    """Return the time for an image of 512 x 512 pixels."""
    image, took = data.astronaut(), []
    for _ in range(repeats + 1):
        start = time.process_time(), time.perf_counter()
        segment(image)
        took.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    cpu, wall = (statistics.median(one[i] for one in took[1:]) for i in (0, 1))
    return f"A colour image of 512 x 512 pixels takes {cpu:.2f} CPU seconds ({wall:.2f} s on the clock)."


def page(rows: list[dict[str, Any]], given: Any, lines: list[str]) -> str:
    """Return the section of the page: the judging half."""
    judged = [row for row in rows if row["half"] == "judging"]
    body = []
    for name, setting in dict.fromkeys((row["method"], row["setting"]) for row in judged):
        mean = mean_of([row for row in judged if (row["method"], row["setting"]) == (name, setting)])
        took = f"{mean['seconds']:.2f}" if "seconds" in mean else ""
        cells = [*(f"{mean[key]:.3f}" for key in METRICS), f"{mean['regions']:,.0f}", took]
        body.append([f"**{name}**" if name == OURS else name, setting, *cells])
    heads = ["method", "setting", "covering", "PRI", "ARI", "VI (nats)", "regions", "CPU s"]
    n = {half: len({row["picture"] for row in rows if row["half"] == half}) for half in HALVES}
    size = "full size" if given.shrink == 1 else f"sides divided by {given.shrink}"
    intro = f"Mean over {n['judging']} photographs of the judging half ({size})"
    intro += f"; settings from {n['choosing']} others." if n["choosing"] else "."
    return "\n\n".join([f"{intro} {machine()}.", table(heads, body), *lines])


def main() -> None:
    parser = parser_of(__doc__)
    names = list(dict.fromkeys(method.name for method in METHODS))
    parser.add_argument("--data", type=Path, required=True, help="folder with the photographs")
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both", help="photographs to use")
    parser.add_argument("--count", type=int, help="number of photographs of each half; all by default")
    parser.add_argument("--choose", type=int, help="number of photographs of the choosing half, if others than --count")
    parser.add_argument("--shrink", type=int, default=1, help="divide the sides of the photographs by this number")
    parser.add_argument("--methods", nargs="+", choices=names, help="measure these only")
    parser.add_argument("--large", action="store_true", help="also measure an image of 24 million pixels")
    parser.add_argument("--report", type=Path, help="page whose section is replaced")
    given = parser.parse_args()
    if given.quick:
        given.count, given.shrink = 2, 4
    warnings.simplefilter("ignore")
    rows = compared(given)
    if given.report or given.half == "both":
        lines = [speed(1 if given.quick else 5)] + ([large(10)] if given.large else [])
        print("\n".join(lines))
        if given.report:
            replace_section(given.report, SECTION, page(rows, given, lines))


if __name__ == "__main__":
    main()
